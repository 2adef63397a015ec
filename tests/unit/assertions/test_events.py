"""Conditions and events, from history alone."""

from muster.assertions.events import event_contains, failed_scheduling_event_names, scheduling_failure_names
from muster.assertions.pods import unschedulable
from muster.recording.questions import eventually
from tests.support.history_builder import PENDING, TRUE, HistoryBuilder, ask, full_node


def test_conditions_and_events_of_an_unschedulable_pod() -> None:
    builder = full_node().pod("urgent", 1, 100)
    assert ask(eventually(unschedulable("urgent")), builder) is PENDING
    builder.unschedulable("urgent").event("urgent", "FailedScheduling", "1 Insufficient nvidia.com/gpu", "Warning")
    assert ask(eventually(unschedulable("urgent")), builder) is TRUE
    assert ask(scheduling_failure_names("urgent", ("Unschedulable", "nvidia.com/gpu")), builder) is TRUE
    assert ask(scheduling_failure_names("urgent", ("taint",)), builder) is PENDING
    assert ask(failed_scheduling_event_names("urgent", ("nvidia.com/gpu",)), builder) is TRUE
    assert ask(failed_scheduling_event_names("urgent", ("taint",)), builder) is PENDING


def test_events_about_a_pod() -> None:
    builder = HistoryBuilder().node("tainted", 2).running_pod("tolerant", "tainted", 1)
    builder.event("tolerant", "TaintManagerEviction", "Marking for deletion Pod test/tolerant")
    assert ask(event_contains("tolerant", "TaintManagerEviction", "Marking for deletion"), builder) is TRUE
    assert ask(event_contains("tolerant", "TaintManagerEviction", "Cancelling"), builder) is PENDING
    assert ask(event_contains("tolerant", "Killing", "Marking"), builder) is PENDING
    assert ask(event_contains("missing", "TaintManagerEviction", "Marking"), builder) is PENDING
