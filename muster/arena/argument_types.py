"""Argument types of the commands on jobs: each checks one argument before any request is sent to a cluster.

Each function is an argparse type: it returns the parsed value, or an error that says how to write it. Nothing heavy may
be imported here: the parser is built for every command, `muster --help` included.
"""

from __future__ import annotations

import re
from argparse import ArgumentTypeError

from muster.cluster.job_kinds import JOB_KINDS

MAX_NAME_LENGTH = 49  # -launcher-xxxxx and -worker-NNNN must fit into the 63 characters of a host name
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?", re.ASCII)
_VALUE = re.compile(r"([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?", re.ASCII)
_TOLERATION = re.compile(r"(?P<key>[^=:]+)(=(?P<value>[^=:]*))?(:(?P<effect>[^=:]+))?")
_QUANTITY = re.compile(r"\d+(\.\d+)?(m|[kMGTPE]|[KMGTPE]i)?", re.ASCII)
_VARIABLE = re.compile(r"[-._A-Za-z][-._A-Za-z0-9]*")
_RESERVED_LABELS = ("app", "release")  # the commands select the pods of a job by them
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"(\d+)([smhd])")


def job_name(text: str) -> str:
    if len(text) > MAX_NAME_LENGTH or not _NAME.fullmatch(text):
        raise ArgumentTypeError(
            f"{text!r} cannot be the name of a job: up to {MAX_NAME_LENGTH} lower-case letters, digits and '-', "
            "a letter first and no '-' last"
        )
    return text


def count(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text!r} is not a number from 0 upwards")
    return int(text)


def at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise ArgumentTypeError(f"{text!r} is not a number from 1 upwards")
    return int(text)


def quantity(text: str) -> str:
    if not _QUANTITY.fullmatch(text):
        raise ArgumentTypeError(f"{text!r} is not a quantity: write 4, 500m or 16Gi")
    return text


def timeout(text: str) -> int:
    """Seconds of `90`, `30s` or `2h30m`."""
    parts = _DURATION.findall(text)
    seconds = 0
    if text.isdecimal():
        seconds = int(text)
    elif "".join(number + unit for number, unit in parts) == text:
        seconds = sum(int(number) * _UNITS[unit] for number, unit in parts)
    if seconds == 0:
        raise ArgumentTypeError(f"{text!r} is not a duration: write 90s, 30m or 2h30m")
    return seconds


def parse_toleration(text: str) -> dict[str, str]:
    """`all`, KEY, KEY=VALUE, KEY:EFFECT or KEY=VALUE:EFFECT as a toleration; ValueError for anything else.

    The grammar of steps. It contains Arena's, to which --toleration is limited.
    """
    if text == "all":
        return {"operator": "Exists"}
    match = _TOLERATION.fullmatch(text)
    if not match or not _KEY.fullmatch(match["key"]) or not _VALUE.fullmatch(match["value"] or ""):
        raise ValueError(f"{text!r} is not a toleration: write KEY, KEY=VALUE:EFFECT or all")
    if match["effect"] not in (None, *EFFECTS):
        raise ValueError(f"{text!r}: unknown effect {match['effect']!r}: choose from {', '.join(EFFECTS)}")
    toleration = {"key": match["key"], "operator": "Exists"}
    if match["value"] is not None:
        toleration |= {"operator": "Equal", "value": match["value"]}
    return toleration | ({"effect": match["effect"]} if match["effect"] else {})


def toleration(text: str) -> dict[str, str]:
    """Arena's forms: `all` tolerates every taint, KEY every taint with that key, KEY=VALUE:EFFECT exactly one."""
    try:
        parsed = parse_toleration(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None
    if ("value" in parsed) != ("effect" in parsed):
        raise ArgumentTypeError(f"{text!r} is not a toleration: write KEY, KEY=VALUE:EFFECT or all")
    return parsed


def label(text: str) -> tuple[str, str]:
    key, value = selector(text)
    if key in _RESERVED_LABELS:
        raise ArgumentTypeError(f"{text!r}: the label {key} is reserved for the commands, choose another key")
    return key, value


def selector(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not _KEY.fullmatch(key) or not _VALUE.fullmatch(value):
        raise ArgumentTypeError(f"{text!r} is not a label: write KEY=VALUE")
    return key, value


def annotation(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not _KEY.fullmatch(key):
        raise ArgumentTypeError(f"{text!r} is not an annotation: write KEY=VALUE")
    return key, value


def variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not _VARIABLE.fullmatch(name):
        raise ArgumentTypeError(f"{text!r} is not an environment variable: write NAME=VALUE")
    return name, value


def trainer(text: str) -> str:
    """`pytorch` and `pytorchjob` are the same."""
    trainers = {kind.framework: kind.trainer for kind in JOB_KINDS}
    known = trainers.get(text, text)
    if known not in trainers.values():
        raise ArgumentTypeError(f"there is no job type {text!r}: choose from {', '.join(trainers.values())}")
    return known
