"""A PodGroup as `kubectl get podgroup -o wide -w` prints it: STATUS, MINMEMBER, RUNNINGS and QUEUE, line after line.

STATUS is the phase of the API, not a neutral one: a phase that the walk-through does not show is a difference. Only the
phase Pending counts as none: a scheduler may write it before it admits the group.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from muster.assertions.gangs import podgroup_versions
from muster.recording.history import History
from muster.recording.objects import CustomObject
from muster.recording.questions import Answer, Outcome, Question

_NOT_ADMITTED = ("", "Pending")


@dataclass(frozen=True)
class PodGroupLine:
    """One line: the running members count only where the walk-through prints them."""

    status: str
    min_member: int
    queue: str
    running: int = 0

    def __str__(self) -> str:
        return f"{self.status or 'no phase'}, minMember {self.min_member}, {self.running} running, queue {self.queue}"


def podgroup_went_through(
    job: str, wanted: Sequence[PodGroupLine], running_members: Callable[[CustomObject], int]
) -> Question:
    """Through these phases and no other, up to that many running members and never more, in this queue throughout."""
    phases = _changes([line.status for line in wanted])
    members = max(line.running for line in wanted)
    constant = {(line.min_member, line.queue) for line in wanted}

    def ask(history: History) -> Answer:
        lines = [_line(group, running_members) for group in podgroup_versions(history, job)]
        went = _changes([line.status for line in lines])
        seen = " → ".join(map(str, dict.fromkeys(lines))) or f"no PodGroup of {job}"
        most = max((line.running for line in lines), default=0)
        differs = {(line.min_member, line.queue) for line in lines} - constant
        if differs or most > members or went != phases[: len(went)]:
            return Answer(Outcome.FALSE, seen)
        return Answer(Outcome.TRUE if went == phases and most == members else Outcome.PENDING, seen)

    went_through = " → ".join(phase or "no phase" for phase in phases)
    return Question(f"the PodGroup of {job} going {went_through}, in the end {wanted[-1]}", ask)


def _line(group: CustomObject, running_members: Callable[[CustomObject], int]) -> PodGroupLine:
    phase = group.status.get("phase", "")
    return PodGroupLine(
        "" if phase in _NOT_ADMITTED else phase,
        group.spec.get("minMember", 0),
        group.spec.get("queue", ""),
        running_members(group),
    )


def _changes(values: Sequence[str]) -> list[str]:
    return [value for number, value in enumerate(values) if not number or values[number - 1] != value]
