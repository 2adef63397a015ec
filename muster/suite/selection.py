"""Which behaviours a run is about: by id, by tag, by words. Decided here once, for `--list` and for the run alike.

pytest's own -k cannot do it: test functions are named after ids, so it would never match a word of a title.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches

from muster.catalogue import CAPABILITIES, CLOSED_TAGS, LEVELS, Behaviour
from muster.errors import UsageError

Wanted = Callable[[Behaviour], bool]

_TOKEN = re.compile(r"\s*(?:(\(|\))|\"([^\"]*)\"|([^\s()\"]+))")


def select(
    behaviours: Sequence[Behaviour], *, only: Sequence[str] = (), tags: Sequence[str] = (), words: str | None = None
) -> list[Behaviour]:
    """The behaviours that satisfy all three; a UsageError names what is unknown."""
    known = {behaviour.id for behaviour in behaviours}
    ids = _known_ids(only, known)
    _check_tags(tags)
    wanted: list[Wanted] = [lambda b: not ids or b.id in ids, lambda b: has_tags(b, tags)]
    if words is not None:
        wanted.append(_Expression(words).matches)
    return [behaviour for behaviour in behaviours if all(test(behaviour) for test in wanted)]


def split_ids(values: Iterable[str]) -> list[str]:
    """Ids as people type them: with commas, with spaces, in lower case."""
    return [each.upper() for value in values for each in re.split(r"[,\s]+", value) if each]


def has_tags(behaviour: Behaviour, tags: Sequence[str]) -> bool:
    """Several levels or several capabilities widen the choice; a level and a capability narrow it."""
    for group in (LEVELS, CAPABILITIES, tuple(set(CLOSED_TAGS) - set(LEVELS) - set(CAPABILITIES))):
        asked = [tag for tag in tags if tag in group]
        if asked and not any(tag in behaviour.tags for tag in asked):
            return False
    return True


def _known_ids(only: Sequence[str], known: set[str]) -> set[str]:
    ids = set(split_ids(only))
    for unknown in sorted(ids - known):
        near = get_close_matches(unknown, sorted(known), n=3)
        hint = f"did you mean {', '.join(near)}?" if near else "muster run --list shows all"
        raise UsageError(f"there is no behaviour {unknown}: {hint}")
    return ids


def _check_tags(tags: Sequence[str]) -> None:
    for tag in tags:
        if tag not in CLOSED_TAGS:
            near = get_close_matches(tag, CLOSED_TAGS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(CLOSED_TAGS)}"
            raise UsageError(f"-m {tag}: there is no such level or capability: {hint}")


class _Expression:
    """Words joined by and, or, not and parentheses; a word matches as part of the id, title, feature or a tag."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [quoted or paren or word for paren, quoted, word in _TOKEN.findall(text)]
        self._position = 0
        self.matches = self._either()
        if self._position < len(self._tokens):
            raise self._wrong()

    def _either(self) -> Wanted:
        parts = [self._both()]
        while self._accept("or"):
            parts.append(self._both())
        return lambda behaviour: any(part(behaviour) for part in parts)

    def _both(self) -> Wanted:
        parts = [self._one()]
        while self._accept("and"):
            parts.append(self._one())
        return lambda behaviour: all(part(behaviour) for part in parts)

    def _one(self) -> Wanted:
        if self._accept("not"):
            refused = self._one()
            return lambda behaviour: not refused(behaviour)
        if self._accept("("):
            inner = self._either()
            if not self._accept(")"):
                raise self._wrong()
            return inner
        word = self._tokens[self._position].lower() if self._position < len(self._tokens) else ""
        if word in ("", "and", "or", ")"):
            raise self._wrong()
        self._position += 1
        return lambda behaviour: word in _searched(behaviour)

    def _accept(self, token: str) -> bool:
        accepted = self._position < len(self._tokens) and self._tokens[self._position].lower() == token
        self._position += accepted
        return accepted

    def _wrong(self) -> UsageError:
        return UsageError(f"-k {self._text!r} is not an expression: write words with and, or, not and parentheses")


def _searched(behaviour: Behaviour) -> str:
    return "\n".join((behaviour.title, behaviour.feature_title, behaviour.feature_file.stem, *behaviour.tags)).lower()
