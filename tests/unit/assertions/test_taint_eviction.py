"""Eviction by taints, from history alone. Each record of a builder comes 0.1 s after the one before."""

import pytest

from muster.assertions.taint_eviction import BY_TAINT, evicted_by_taint_after, has_taint
from muster.recording.questions import Outcome
from muster.schedulers.dialect import Dialect
from muster.schedulers.requests import PodRequest, Toleration
from tests.support.history_builder import FALSE, PENDING, TRUE, HistoryBuilder, ask

TAINT = [{"key": "gpu", "value": "true", "effect": "NoExecute"}]


def tainted() -> HistoryBuilder:
    return HistoryBuilder().node("fickle", 2).running_pod("tolerant", "fickle", 1).node("fickle", 2, TAINT)


def after(records: int) -> HistoryBuilder:
    builder = tainted()
    for _ in range(records - 2):
        builder.event("tolerant", "Noise", "a tenth of a second passes")
    return builder.mark_disruption_target("tolerant", BY_TAINT).delete("tolerant")


@pytest.mark.parametrize(("records", "outcome"), [(5, FALSE), (9, TRUE), (10, TRUE), (30, TRUE), (70, FALSE)])
def test_a_pod_is_evicted_after_toleration_seconds(records: int, outcome: Outcome) -> None:
    assert ask(evicted_by_taint_after("tolerant", "fickle", 1), after(records)) is outcome


def test_it_is_pending_until_the_pod_is_deleted() -> None:
    question = evicted_by_taint_after("tolerant", "fickle", 1)
    assert ask(question, HistoryBuilder().node("fickle", 2)) is PENDING
    assert ask(question, HistoryBuilder().node("fickle", 2).running_pod("tolerant", "fickle", 1)) is PENDING
    assert ask(question, tainted()) is PENDING


def test_only_an_eviction_by_the_taint_counts() -> None:
    builder = tainted()
    for _ in range(10):
        builder.event("tolerant", "Noise", "a tenth of a second passes")
    assert (
        ask(
            evicted_by_taint_after("tolerant", "fickle", 1),
            builder.mark_disruption_target("tolerant").delete("tolerant"),
        )
        is FALSE
    )


def test_a_taint_from_before_the_binding_does_not_count() -> None:
    builder = HistoryBuilder().node("fickle", 2, TAINT).node("fickle", 2).running_pod("tolerant", "fickle", 1)
    assert (
        ask(
            evicted_by_taint_after("tolerant", "fickle", 1),
            builder.mark_disruption_target("tolerant", BY_TAINT).delete("tolerant"),
        )
        is PENDING
    )


def test_the_taints_of_a_node() -> None:
    assert ask(has_taint("fickle", "gpu", "NoExecute"), tainted()) is TRUE
    assert ask(has_taint("fickle", "gpu", "NoSchedule"), tainted()) is PENDING
    assert ask(has_taint("fickle", "gpu", "NoExecute"), tainted().node("fickle", 2)) is PENDING


def test_a_toleration_has_a_time_only_if_one_is_given() -> None:
    ever, soon = Toleration("gpu", effect="NoExecute"), Toleration("gpu", effect="NoExecute", seconds=0)
    spec = Dialect("mine").pod_manifest(PodRequest("tolerant", tolerations=(ever, soon)), "test")["spec"]
    common = {"key": "gpu", "operator": "Exists", "effect": "NoExecute"}
    assert spec["tolerations"] == [common, {**common, "tolerationSeconds": 0}]
