"""Retired words: what a title, a step, a message or a name must not say, and what to write instead.

The list is data, vocabulary.toml. The collection lint uses it for features, a test for everything else.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

WHERE = ("features", "help", "messages", "identifiers")
_FILE = Path(__file__).with_name("vocabulary.toml")
_PART_OF_IDENTIFIER = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@dataclass(frozen=True)
class Retired:
    """A retired word or phrase as it was found."""

    found: str
    write: str

    def __str__(self) -> str:
        return f'"{self.found}": write {self.write}'


@dataclass(frozen=True)
class _Entry:
    terms: frozenset[str]
    texts: re.Pattern[str]
    write: str
    only: tuple[str, ...]


@dataclass(frozen=True)
class _Vocabulary:
    entries: tuple[_Entry, ...]
    right_texts: re.Pattern[str]
    right_identifiers: tuple[str, ...]
    right_in_files: dict[str, list[str]]


def retired(text: str, where: str) -> Iterator[Retired]:
    """The retired words and phrases of a text."""
    vocabulary = _read()
    text = vocabulary.right_texts.sub("", text)
    for entry in vocabulary.entries:
        if where in entry.only and (match := entry.texts.search(text)):
            yield Retired(match[0], entry.write)


def retired_in_identifier(name: str, file: str = "") -> Iterator[Retired]:
    """The retired words that an identifier is made of; `file` is relative to the repository, for exceptions."""
    vocabulary = _read()
    for right_part in vocabulary.right_identifiers:
        name = name.replace(right_part, "")
    right = vocabulary.right_in_files.get(file, ())
    parts = [part for part in map(str.lower, _PART_OF_IDENTIFIER.findall(name)) if part not in right]
    for entry in vocabulary.entries:
        if "identifiers" in entry.only:
            yield from (Retired(part, entry.write) for part in parts if part in entry.terms)


@cache
def _read() -> _Vocabulary:
    data = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    exceptions = data["exception"]
    return _Vocabulary(
        tuple(map(_entry, data["retired"])),
        _any_of([text for each in exceptions for text in each.get("texts", ())]),
        tuple(name for each in exceptions for name in each.get("identifiers", ())),
        {file: each["terms"] for each in exceptions for file in each.get("files", ())},
    )


def _entry(table: dict[str, list[str]]) -> _Entry:
    terms, phrases = table.get("terms", []), table.get("phrases", [])
    return _Entry(frozenset(terms), _any_of([*terms, *phrases]), str(table["write"]), tuple(table.get("only", WHERE)))


def _any_of(texts: list[str]) -> re.Pattern[str]:
    longest_first = sorted(texts, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", re.IGNORECASE)
