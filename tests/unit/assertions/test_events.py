"""Conditions and events, from history alone."""

from muster.assertions.events import (
    event_contains,
    failed_scheduling_event_names,
    or_by_group,
    scheduling_failure_names,
)
from muster.assertions.pods import unschedulable
from muster.recording.questions import Question, eventually
from muster.schedulers.kueue.dialect import KUEUE
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


NO_QUOTA = "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor default"
PENDING_WORKLOAD = {"conditions": [{"type": "QuotaReserved", "status": "False", "message": NO_QUOTA}]}
WITHOUT_REASON = {"conditions": [{"type": "QuotaReserved", "status": "False", "message": "The workload is pending"}]}
RESERVED = {"conditions": [{"type": "QuotaReserved", "status": "True"}]}


def by_group(*terms: str) -> Question:
    """The step's question about the gated pod "large"."""
    return or_by_group(scheduling_failure_names("large", terms), "large", terms)


def test_a_gated_pod_is_reported_by_its_group_object() -> None:
    question = by_group("nvidia.com/gpu")
    builder = HistoryBuilder(KUEUE).pod("large", 3).pod("other", 1).gated("large").gated("other")
    assert ask(question, builder) is PENDING
    assert ask(question, builder.custom_object("Workload", "pod-other", PENDING_WORKLOAD, owner="other")) is PENDING
    assert ask(question, builder.custom_object("Workload", "pod-large", PENDING_WORKLOAD, owner="large")) is TRUE
    assert ask(question, builder.custom_object("Workload", "pod-large", RESERVED, owner="large")) is PENDING


def test_the_group_object_of_a_gated_pod_must_name_the_reason() -> None:
    builder = HistoryBuilder(KUEUE).pod("large", 3).gated("large")
    builder.custom_object("Workload", "pod-large", WITHOUT_REASON, owner="large")
    assert ask(by_group("nvidia.com/gpu"), builder) is PENDING
    assert "The workload is pending" in by_group("nvidia.com/gpu").ask(builder.history).seen
    builder.custom_object("Workload", "pod-large", PENDING_WORKLOAD, owner="large")
    assert ask(by_group("nvidia.com/gpu"), builder) is TRUE
    assert ask(by_group("taint"), builder) is PENDING
    assert ask(by_group("nvidia.com/gpu", "taint"), builder) is PENDING


def test_a_pod_without_gates_reports_for_itself() -> None:
    """Also where another pod of the same scheduler is gated, and where groups do not speak for pods."""
    question = by_group("nvidia.com/gpu")
    ungated = HistoryBuilder(KUEUE).pod("large", 3).unschedulable("large", "no reason")
    assert ask(question, ungated.custom_object("Workload", "pod-large", PENDING_WORKLOAD, owner="large")) is PENDING
    assert ask(question, ungated.unschedulable("large", "Insufficient nvidia.com/gpu")) is TRUE
    plain = HistoryBuilder().pod("large", 3).gated("large")
    assert ask(question, plain.custom_object("Workload", "pod-large", PENDING_WORKLOAD, owner="large")) is PENDING


TOPOLOGY = (
    "couldn't assign flavors to pod set main: topology \"muster\" doesn't allow to fit any of 1 pod(s). Total nodes: 3"
)


def workload(message: str) -> HistoryBuilder:
    status = {"conditions": [{"type": "QuotaReserved", "status": "False", "message": message}]}
    builder = HistoryBuilder(KUEUE).pod("large", 3).gated("large")
    return builder.custom_object("Workload", "pod-large", status, owner="large")


def test_a_term_is_asked_in_the_wording_of_the_group_object() -> None:
    of_probe = 'taint "muster.dev/probe:NoExecute": 1'
    full = workload(f'{TOPOLOGY}; excluded: resource "nvidia.com/gpu": 2, {of_probe}')
    tainted = workload(f'{TOPOLOGY}; excluded: taint "gpu=true:NoSchedule": 2, {of_probe}')
    assert ask(by_group("Unschedulable", "nvidia.com/gpu"), full) is TRUE
    assert ask(by_group("Insufficient nvidia.com/gpu"), full) is TRUE
    assert ask(by_group("untolerated taint"), full) is PENDING
    assert ask(by_group("untolerated taint"), tainted) is TRUE
    assert ask(by_group("Insufficient nvidia.com/gpu"), tainted) is PENDING
    assert ask(by_group("Insufficient nvidia.com/gpu"), workload("insufficient quota for nvidia.com/gpu")) is PENDING
