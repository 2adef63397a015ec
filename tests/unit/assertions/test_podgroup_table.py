"""A PodGroup line after line, from history alone."""

from __future__ import annotations

import pytest

from muster.assertions.podgroup_table import PodGroupLine, podgroup_went_through
from muster.recording.questions import Outcome
from tests.support.history_builder import FALSE, PENDING, TRUE, HistoryBuilder, ask

WANTED = (PodGroupLine("", 6, "test"), PodGroupLine("Inqueue", 6, "test"), PodGroupLine("Running", 6, "test", 6))
Version = tuple[str, int]  # phase, running members
WENT: tuple[Version, ...] = (("", 0), ("Inqueue", 0), ("Running", 0), ("Running", 1), ("Running", 6))


def outcome(*versions: Version, min_member: int = 6, queue: str = "test") -> Outcome:
    builder = HistoryBuilder()
    for phase, running in versions:
        spec = {"minMember": min_member, "queue": queue}
        builder.custom_object("PodGroup", "A", {"phase": phase, "running": running} if phase else {}, spec)
    question = podgroup_went_through("A", WANTED, lambda group: int(group.status.get("running", 0)))
    return ask(question, builder)


def test_all_lines_in_order() -> None:
    assert outcome(*WENT) is TRUE
    assert outcome(("", 0), ("Pending", 0), *WENT[1:]) is TRUE


@pytest.mark.parametrize("length", range(len(WENT)))
def test_the_first_lines_are_pending(length: int) -> None:
    assert outcome(*WENT[:length]) is PENDING


def test_every_column_counts() -> None:
    assert outcome(*WENT, min_member=5) is FALSE
    assert outcome(*WENT, queue="default") is FALSE
    assert outcome(*WENT, ("Running", 7)) is FALSE


def test_no_other_phase_and_never_back() -> None:
    assert outcome(("", 0), ("Running", 6)) is FALSE  # it was never admitted
    assert outcome(*WENT[:3], ("Inqueue", 0), *WENT[2:]) is FALSE
    assert outcome(*WENT[:2], ("Unknown", 3)) is FALSE
