"""What a mutant is aimed at: a scenario, the step of it that must fail, and a part of the message.

A scenario that fails is no proof by itself: it may have failed at a Given, or at a Then that is about something else. A
kill is the failure of the step that states the broken behaviour. Written as text, "PRE-01: no other pod" means that
PRE-01 fails at a step that begins so, "PRE-01: at the end" that it fails after its last step, and "PRE-01" alone that
the step is not declared yet. Trap: what a Then found is asked again before the next When and at the end, so a change
that comes late fails there; it still counts for that Then.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import msgspec

AT_THE_END = "at the end"


class Effect(StrEnum):
    """What a mutant did to a scenario that it is aimed at."""

    KILLED = "killed"
    UNDECLARED = "failed, step not declared"
    ELSEWHERE = "failed elsewhere"
    MISSED = "not failed"


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """The verdict of one scenario, and where it failed."""

    verdict: str
    step: str = ""  # the text of the failing step, or AT_THE_END
    occurrence: int = 1  # of the steps with this text the first, the second, …: positions change with the feature
    seen: str = ""
    invariant: bool = False  # an invariant was violated there: the step's own statement may be true
    no_longer: list[str] = []  # the Thens of which one was true and is no longer; noticed at the step after them
    seconds: float = 0.0  # how long the scenario took
    scale: str = ""  # of the time limits; empty in results from before it was kept
    commit: str = ""  # that was checked out, with a + where files differed; empty in results from before it was kept

    @property
    def failed(self) -> bool:
        return self.verdict == "failed"


@dataclass(frozen=True)
class Aim:
    """One scenario that must fail on a mutant. `step` begins the failing step; `seen` is a part of what was seen.

    An invariant that is violated at the step counts only where `seen` says so.
    """

    id: str
    step: str = ""
    seen: str = ""
    also: tuple[str, ...] = ()  # other steps that the same fault fails, where the speed of the machine decides

    def effect(self, outcome: Outcome | None) -> Effect:
        if outcome is None or not outcome.failed:
            return Effect.MISSED
        if not self.step:
            return Effect.UNDECLARED
        right_reason = self.seen in outcome.seen if self.seen else not outcome.invariant
        hit = right_reason and any(
            text.startswith((self.step, *self.also)) for text in (outcome.step, *outcome.no_longer)
        )
        return Effect.KILLED if hit else Effect.ELSEWHERE


def aims_of(*aims: str | Aim) -> tuple[Aim, ...]:
    """Aims from their text: an id, or an id and the beginning of a step. Several steps of one scenario are allowed."""
    return tuple(aim if isinstance(aim, Aim) else _parse(aim) for aim in aims)


def _parse(text: str) -> Aim:
    id_, _, step = text.partition(": ")
    return Aim(id_, step)
