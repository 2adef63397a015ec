"""Words that several sentences share: names in quotes, amounts of GPUs, tolerations, tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from pytest_bdd import parsers

from muster.errors import HarnessError
from muster.subject.requests import PodRequest, Toleration

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_POD_COLUMNS = ("pod", "GPUs", "priority", "node", "leaves within", "tolerates")
_Converter = TypeVar("_Converter", bound=Callable[[str], object])


def _word(pattern: str) -> Callable[[_Converter], _Converter]:
    """What the word looks like; the `parse` library reads it from this attribute."""

    def attach(converter: _Converter) -> _Converter:
        converter.pattern = pattern  # type: ignore[attr-defined]
        return converter

    return attach


@_word(r'"[^"]+"(?:(?:,| and|, and) "[^"]+")*')
def names(text: str) -> tuple[str, ...]:
    """`"left", "right" and "middle"` to three names."""
    return tuple(re.findall(r'"([^"]+)"', text))


@_word(r"\d+ GPUs?")
def gpus(text: str) -> int:
    return int(text.split()[0])


@_word(r"one|two|three|\d+")
def count(text: str) -> int:
    return {"one": 1, "two": 2, "three": 3}.get(text) or int(text)


@_word(r'[^"]+')
def name(text: str) -> str:
    """One name without its quotes, where a sentence goes on after it."""
    return text


@_word(r"\d+ pods? with \d+ GPUs?(?:, \d+ CPUs? and \w+ of memory)?(?: each)?")
def shape(text: str) -> tuple[PodRequest, ...]:
    """`4 pods with 1 GPU, 2 CPUs and 100Mi of memory each` to four pods that have no names yet."""
    asked = {noun: amount for amount, noun in re.findall(r"(\w+) (GPU|CPU|of memory)", text)}
    one = PodRequest("", int(asked["GPU"]), cpus=asked.get("CPU", ""), memory=asked.get("of memory", ""))
    return (one,) * int(text.split()[0])


def sentence(pattern: str) -> parsers.parse:
    """A step's pattern with the words above: {pods:Names}, {asked:GPUs}, {number:Count}, {queue:Name}, {pods:Shape}."""
    words = {"Names": names, "GPUs": gpus, "Count": count, "Name": name, "Shape": shape}
    return parsers.parse(pattern, extra_types=words)


def toleration(text: str) -> Toleration:
    """`all`, `key`, `key=value`, `key:Effect` or `key=value:Effect`, as Arena's --toleration writes it."""
    if text == "all":
        return Toleration()
    rest, _, effect = text.partition(":")
    if effect and effect not in _EFFECTS:
        raise HarnessError(f"{text!r} is not a toleration: the effect must be one of {', '.join(_EFFECTS)}")
    key, equals, value = rest.partition("=")
    return Toleration(key, "Equal" if equals else "Exists", value, effect)


def rows(datatable: list[list[str]]) -> list[dict[str, str]]:
    """A data table as one dictionary per row."""
    header, *lines = datatable
    return [dict(zip(header, line, strict=True)) for line in lines]


def pods_of(datatable: list[list[str]], *, priority: int | None = None) -> list[PodRequest]:
    """A table of pods; columns that are left out take the usual value."""
    unknown = [column for column in datatable[0] if column not in _POD_COLUMNS]
    if unknown:
        raise HarnessError(f"a table of pods has no column {unknown[0]!r}: use {', '.join(_POD_COLUMNS)}")
    return [
        PodRequest(
            row["pod"],
            gpus=int(row.get("GPUs", "0")),
            priority=int(row["priority"]) if "priority" in row else priority,
            node=row.get("node", ""),
            leaves_within=row.get("leaves within", ""),
            tolerations=tuple(toleration(word) for word in row.get("tolerates", "").split()),
        )
        for row in rows(datatable)
    ]
