"""Argument types of step patterns: quoted names, GPU counts, tolerations, tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from pytest_bdd import parsers

from muster.arena.argument_types import parse_toleration
from muster.errors import HarnessError
from muster.schedulers.requests import PodRequest, Toleration

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_POD_COLUMNS = ("pod", "GPUs", "priority", "node", "grace period", "tolerates", "app", "finalizer")
_Converter = TypeVar("_Converter", bound=Callable[[str], object])

Names = tuple[str, ...]
"""What `{pods:Names}` becomes."""


def _matches(pattern: str) -> Callable[[_Converter], _Converter]:
    """Attach the regular expression of an argument type, where the `parse` library looks for it."""

    def attach(converter: _Converter) -> _Converter:
        converter.pattern = pattern  # type: ignore[attr-defined]
        return converter

    return attach


@_matches(r'"[^"]+"(?:(?:,| and|, and) "[^"]+")*')
def names(text: str) -> Names:
    """`"left", "right" and "middle"` to three names."""
    return tuple(re.findall(r'"([^"]+)"', text))


@_matches(r"\d+ GPUs?")
def gpus(text: str) -> int:
    return int(text.split()[0])


@_matches(r"one|two|three|\d+")
def count(text: str) -> int:
    return {"one": 1, "two": 2, "three": 3}.get(text) or int(text)


@_matches(r'[^"]+')
def name(text: str) -> str:
    """One name without its quotes; stops at the quote, so that the pattern can go on after it."""
    return text


@_matches(r"\d+ pods? with \d+ GPUs?(?:, \d+ CPUs? and \w+ of memory)?(?: each)?")
def shape(text: str) -> tuple[PodRequest, ...]:
    """`4 pods with 1 GPU, 2 CPUs and 100Mi of memory each` to four pods that have no names yet."""
    amounts = {resource: amount for amount, resource in re.findall(r"(\w+) (GPU|CPU|of memory)", text)}
    pod = PodRequest("", int(amounts["GPU"]), cpus=amounts.get("CPU", ""), memory=amounts.get("of memory", ""))
    return (pod,) * int(text.split()[0])


def step_pattern(pattern: str) -> parsers.parse:
    """A step's text with the types above: {pods:Names}, {gpus:GPUs}, {number:Count}, {queue:Name}, {pods:Shape}."""
    types = {"Names": names, "GPUs": gpus, "Count": count, "Name": name, "Shape": shape}
    return parsers.parse(pattern, extra_types=types)


def toleration(text: str) -> Toleration:
    """`all`, `key`, `key=value`, `key:Effect` or `key=value:Effect`: the grammar of --toleration, and more."""
    try:
        parsed = parse_toleration(text)
    except ValueError as error:
        raise HarnessError(str(error)) from None
    return Toleration(parsed.get("key", ""), parsed["operator"], parsed.get("value", ""), parsed.get("effect", ""))


def label(text: str) -> dict[str, str]:
    """`zone=west` to a label."""
    key, separator, value = text.partition("=")
    if not separator:
        raise HarnessError(f"{text!r} is not a label: write key=value")
    return {key: value}


def rows(datatable: list[list[str]]) -> list[dict[str, str]]:
    """A data table as one dictionary per row."""
    header, *lines = datatable
    return [dict(zip(header, line, strict=True)) for line in lines]


def pods_of(datatable: list[list[str]], *, priority: int | None = None) -> list[PodRequest]:
    """A table of pods; a missing column means the default."""
    unknown = [column for column in datatable[0] if column not in _POD_COLUMNS]
    if unknown:
        raise HarnessError(f"a table of pods has no column {unknown[0]!r}: use {', '.join(_POD_COLUMNS)}")
    return [
        PodRequest(
            row["pod"],
            gpus=int(row.get("GPUs", "0")),
            priority=int(row["priority"]) if "priority" in row else priority,
            node=row.get("node", ""),
            long_grace_period=row.get("grace period", "") == "long",
            tolerations=tuple(toleration(text) for text in row.get("tolerates", "").split()),
            app=row.get("app", ""),
            finalizer=row.get("finalizer", "") == "yes",
        )
        for row in rows(datatable)
    ]
