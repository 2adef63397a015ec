"""Outcomes of a run's results: where each scenario failed, and what was seen there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from muster.report.results import Result, StepResult
from tests.mutation.aims import AT_THE_END, Outcome

_NOT_TESTED = ("not-supported", "not-staged")
_SEEN_LENGTH = 160
_NO_LONGER = "this was so, and is no longer"
_INVARIANT = re.compile(r"^wanted +the invariants hold", re.MULTILINE)

Outcomes = dict[str, list[Outcome]]  # by scenario; an outline has one per row


def outcomes(results: Iterable[Result], scale: str = "", commit: str = "") -> Outcomes:
    """The outcome of every scenario that was tested, with the scale of its time limits and the commit."""
    found: Outcomes = {}
    for result in results:
        if result.verdict not in _NOT_TESTED:
            outcome = msgspec.structs.replace(_outcome(result), scale=scale, commit=commit)
            found.setdefault(result.id, []).append(outcome)
    return found


def _outcome(result: Result) -> Outcome:
    if result.verdict == "passed":
        return Outcome("passed", seconds=round(result.seconds, 1))
    number, failing = next(
        ((number, step) for number, step in enumerate(result.steps) if step.status != "passed"),
        (len(result.steps), None),
    )
    where, violated = failing.text if failing else AT_THE_END, bool(_INVARIANT.search(result.message))
    occurrence = sum(step.text == where for step in result.steps[: number + 1]) if failing else 1
    seen = _seen(result.message)
    no_longer = _thens_before(result.steps[:number]) if seen.startswith(_NO_LONGER) else []
    return Outcome(str(result.verdict), where, occurrence, seen, violated, no_longer, round(result.seconds, 1))


def _thens_before(steps: Sequence[StepResult]) -> list[str]:
    """The Thens since the last When."""
    found: list[str] = []
    for step in reversed(steps):
        if step.keyword in ("Given", "When"):
            break
        found.append(step.text)
        if step.keyword == "Then":
            return found
    return []  # an And of a When


def _seen(message: str) -> str:
    """What the failure report says was seen, in one line."""
    lines = message.splitlines() or [""]
    seen = next((line.removeprefix("seen").strip() for line in lines if line.startswith("seen")), lines[0])
    return seen if len(seen) <= _SEEN_LENGTH else f"{seen[: _SEEN_LENGTH - 1]}…"
