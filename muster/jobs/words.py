"""The words of `muster submit`, checked one by one before anything is asked of a cluster.

Each function is an argparse type: it returns what the word means, or complains in words that say how to write it.
Nothing heavy may be imported here: the parser is built for every command, `muster --help` included.
"""

from __future__ import annotations

import re
from argparse import ArgumentTypeError

from muster.jobs.durations import seconds_in

LONGEST_NAME = 49  # room for -launcher-xxxxx and -worker-NNNN in the 63 characters of a host name
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?", re.ASCII)
_VALUE = re.compile(r"([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?", re.ASCII)
_TOLERATION = re.compile(r"(?P<key>[^=:]+)(=(?P<value>[^=:]*):(?P<effect>[^=:]+))?")
_QUANTITY = re.compile(r"\d+(\.\d+)?(m|[kMGTPE]|[KMGTPE]i)?", re.ASCII)
_VARIABLE = re.compile(r"[-._A-Za-z][-._A-Za-z0-9]*")
_OURS = ("app", "release")  # how the pods of a job are found


def job_name(word: str) -> str:
    if len(word) > LONGEST_NAME or not _NAME.fullmatch(word):
        raise ArgumentTypeError(
            f"{word!r} cannot be the name of a job: up to {LONGEST_NAME} lower-case letters, digits and '-', "
            "a letter first and no '-' last"
        )
    return word


def count(word: str) -> int:
    if not word.isdecimal():
        raise ArgumentTypeError(f"{word!r} is not a number from 0 upwards")
    return int(word)


def at_least_one(word: str) -> int:
    if not word.isdecimal() or int(word) == 0:
        raise ArgumentTypeError(f"{word!r} is not a number from 1 upwards")
    return int(word)


def quantity(word: str) -> str:
    if not _QUANTITY.fullmatch(word):
        raise ArgumentTypeError(f"{word!r} is not a quantity: write 4, 500m or 16Gi")
    return word


def timeout(word: str) -> int:
    try:
        return seconds_in(word)
    except ValueError as problem:
        raise ArgumentTypeError(str(problem)) from None


def toleration(word: str) -> dict[str, str]:
    """`all` tolerates everything, a bare key every taint with that key, the long form exactly one taint."""
    if word == "all":
        return {"operator": "Exists"}
    match = _TOLERATION.fullmatch(word)
    if not match or not _KEY.fullmatch(match["key"]) or not _VALUE.fullmatch(match["value"] or ""):
        raise ArgumentTypeError(f"{word!r} is not a toleration: write KEY, KEY=VALUE:EFFECT or all")
    if match["effect"] is None:
        return {"key": match["key"], "operator": "Exists"}
    if match["effect"] not in EFFECTS:
        raise ArgumentTypeError(f"{word!r}: there is no effect {match['effect']!r}, only {', '.join(EFFECTS)}")
    return {"key": match["key"], "operator": "Equal", "value": match["value"], "effect": match["effect"]}


def label(word: str) -> tuple[str, str]:
    key, value = selector(word)
    if key in _OURS:
        raise ArgumentTypeError(f"{word!r}: the label {key} says whose pods they are, choose another key")
    return key, value


def selector(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals or not _KEY.fullmatch(key) or not _VALUE.fullmatch(value):
        raise ArgumentTypeError(f"{word!r} is not a label: write KEY=VALUE")
    return key, value


def annotation(word: str) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals or not _KEY.fullmatch(key):
        raise ArgumentTypeError(f"{word!r} is not an annotation: write KEY=VALUE")
    return key, value


def variable(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals or not _VARIABLE.fullmatch(name):
        raise ArgumentTypeError(f"{word!r} is not an environment variable: write NAME=VALUE")
    return name, value


def trainer(word: str) -> str:
    """`pytorch` and `pytorchjob` are the same."""
    kinds = {"pytorch": "pytorchjob", "mpi": "mpijob"}
    known = kinds.get(word, word)
    if known not in kinds.values():
        raise ArgumentTypeError(f"there is no type {word!r}, only {' and '.join(kinds.values())}")
    return known
