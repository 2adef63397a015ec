"""Which behaviours a run tests: by id, by tag, by keyword, and by operator and client.

Decided here once, for `--list` and for the run alike. pytest's own -k cannot do it: test functions are named after
ids, so it would never match a title.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches

from muster.errors import UsageError
from muster.run_options import DEFAULT_CLIENT, DEFAULT_OPERATOR
from muster.suite.behaviours import CAPABILITIES, CLOSED_TAGS, LEVELS, Behaviour

Condition = Callable[[Behaviour], bool]

_USER_RUNS = "the user runs:"  # the step that runs a command, with output of its client
_TOKEN = re.compile(r"\s*(?:(\(|\))|\"([^\"]*)\"|([^\s()\"]+))")


def select(
    behaviours: Sequence[Behaviour], *, only: Sequence[str] = (), tags: Sequence[str] = (), keyword: str | None = None
) -> list[Behaviour]:
    """The behaviours that satisfy all three; a UsageError names what is unknown."""
    known = {behaviour.id for behaviour in behaviours}
    ids = _known_ids(only, known)
    _check_tags(tags)
    conditions: list[Condition] = [lambda b: not ids or b.id in ids, lambda b: has_tags(b, tags)]
    if keyword is not None:
        conditions.append(_Expression(keyword).matches)
    return [behaviour for behaviour in behaviours if all(condition(behaviour) for condition in conditions)]


def split_ids(values: Iterable[str]) -> list[str]:
    """Ids as users write them: with commas, with spaces, in lower case."""
    return [each.upper() for value in values for each in re.split(r"[,\s]+", value) if each]


def has_tags(behaviour: Behaviour, tags: Sequence[str]) -> bool:
    """Whether it has one of the levels asked for, and one of the capabilities, and one of the other tags."""
    for group in (LEVELS, CAPABILITIES, tuple(set(CLOSED_TAGS) - set(LEVELS) - set(CAPABILITIES))):
        accepted = [tag for tag in tags if tag in group]
        if accepted and not any(tag in behaviour.tags for tag in accepted):
            return False
    return True


def inapplicable(behaviour: Behaviour, behaviours: Sequence[Behaviour], operator: str, client: str) -> str:
    """Why it is not tested with this operator and client; empty when it is.

    A scenario tagged @variant-NAME is tested when NAME is the operator or the client, in place of the scenario of the
    same walk-through, or of those that it @replaces; NAME-1.7.0 is NAME@1.7.0, as tags have no @. Other walk-throughs
    that run commands state the output of the default client.
    """
    chosen = {operator.replace("@", "-"), client} - {DEFAULT_OPERATOR, DEFAULT_CLIENT}
    if behaviour.variants:
        missing = [name for name in behaviour.variants if name not in chosen]
        return f"it is for {', '.join(missing)}, which was not chosen" if missing else ""
    for other in behaviours:
        if other.is_variant_of(behaviour) and chosen.issuperset(other.variants):
            return f"{other.id} is its variant for {', '.join(other.variants)}"
    if client != DEFAULT_CLIENT and any(step.text == _USER_RUNS for step in behaviour.steps):
        return f"the output of {client} differs from the walk-through's"
    return ""


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
    """Terms joined by and, or, not and parentheses; a term matches as part of the id, title, feature or a tag."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [quoted or paren or plain for paren, quoted, plain in _TOKEN.findall(text)]
        self._position = 0
        self.matches = self._parse_or()
        if self._position < len(self._tokens):
            raise self._error()

    def _parse_or(self) -> Condition:
        parts = [self._conjunction()]
        while self._accept("or"):
            parts.append(self._conjunction())
        return lambda behaviour: any(part(behaviour) for part in parts)

    def _conjunction(self) -> Condition:
        parts = [self._operand()]
        while self._accept("and"):
            parts.append(self._operand())
        return lambda behaviour: all(part(behaviour) for part in parts)

    def _operand(self) -> Condition:
        if self._accept("not"):
            negated = self._operand()
            return lambda behaviour: not negated(behaviour)
        if self._accept("("):
            inner = self._parse_or()
            if not self._accept(")"):
                raise self._error()
            return inner
        term = self._tokens[self._position].lower() if self._position < len(self._tokens) else ""
        if term in ("", "and", "or", ")"):
            raise self._error()
        self._position += 1
        return lambda behaviour: term in _searched_text(behaviour)

    def _accept(self, token: str) -> bool:
        accepted = self._position < len(self._tokens) and self._tokens[self._position].lower() == token
        self._position += accepted
        return accepted

    def _error(self) -> UsageError:
        return UsageError(f"-k {self._text!r} is not an expression: write terms with and, or, not and parentheses")


def _searched_text(behaviour: Behaviour) -> str:
    return "\n".join((behaviour.title, behaviour.feature_title, behaviour.feature_file.stem, *behaviour.tags)).lower()
