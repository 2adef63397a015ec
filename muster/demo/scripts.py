"""The numbered lines of a document, as the comments of its feature file have them: `# 3: all of it runs`.

A scenario without such comments is numbered by its Whens: each begins a new line of the document.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from muster.catalogue import Behaviour

_COMMENT = re.compile(r"\s*# (?P<number>\d+(?: and \d+)?): (?P<title>.+)")
_SET_UP = "what there is"


@dataclass(frozen=True)
class Part:
    """From its first line in the feature file to the next part. The first part is what is given."""

    number: str
    title: str
    line: int


def parts_of(behaviour: Behaviour) -> list[Part]:
    first, last = behaviour.steps[0].line, behaviour.steps[-1].line
    commented = [part for part in _commented(behaviour) if first <= part.line <= last]
    return [Part("", _SET_UP, first), *(commented or _by_whens(behaviour))]


def part_at(parts: Sequence[Part], line: int) -> Part:
    """The part that a sentence on this line belongs to."""
    return parts[bisect_right([part.line for part in parts], line) - 1]


def _commented(behaviour: Behaviour) -> list[Part]:
    lines = behaviour.feature_file.read_text(encoding="utf-8").splitlines()
    found = [(number, _COMMENT.fullmatch(line)) for number, line in enumerate(lines, start=1)]
    return [Part(match["number"], match["title"], number) for number, match in found if match]


def _by_whens(behaviour: Behaviour) -> list[Part]:
    whens = [step for step in behaviour.steps if step.keyword == "When"]
    return [Part(str(number), "", step.line) for number, step in enumerate(whens, start=1)]
