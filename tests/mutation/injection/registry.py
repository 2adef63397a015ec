"""Injections, and the wrong writes that they may choose from.

A write returns a question that is true once the recording has it: the step that comes next must not be asked before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from muster.environment import ScenarioContext
from muster.recording.history import History
from muster.recording.questions import Answer, Outcome, Question

Write = Callable[[ScenarioContext, tuple[str, ...]], Question]


@dataclass(frozen=True)
class Injection:
    """What is written before which step, and the pods, gangs or jobs that it is about."""

    position: int
    write: str
    about: tuple[str, ...] = ()


WRITES: dict[str, Write] = {}
UNDO: list[Callable[[], None]] = []  # called at the end of the scenario: what would outlive it


def wrong_write(write: Write) -> Write:
    """Register a function as a wrong write, with its name and its docstring as the description."""
    WRITES[name_of(write)] = write
    return write


def name_of(write: Write) -> str:
    return write.__name__.replace("_", "-")


def description_of(name: str) -> str:
    return (WRITES[name].__doc__ or "").strip()


def recorded(text: str, seen: Callable[[History], object]) -> Question:
    """True once the recording has what was written."""
    return Question(text, lambda history: Answer(Outcome.TRUE if seen(history) else Outcome.PENDING))
