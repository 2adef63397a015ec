"""Every invariant is violated once, and holds in the nearest history that does not violate it."""

from muster.assertions.invariants import (
    no_eviction_in_vain,
    no_node_overcommitted,
    no_pod_bound_against_taint,
    no_victim_has_equal_or_higher_priority,
)
from tests.support.history_builder import HistoryBuilder

TAINT = [{"key": "gpu", "value": "true", "effect": "NoSchedule"}]


def test_an_overcommitting_binding_is_reported_with_its_excess() -> None:
    builder = HistoryBuilder().node("gpu-1", 2).running_pod("one", "gpu-1", 2).pod("two", 1).bind("two", "gpu-1")
    assert no_node_overcommitted(builder.history) == [
        "two was bound to gpu-1 at 0.6 s although it did not fit (1 nvidia.com/gpu too many)"
    ]


def test_a_terminating_pod_still_counts() -> None:
    builder = (
        HistoryBuilder()
        .node("gpu-1", 1)
        .running_pod("old", "gpu-1", 1)
        .delete("old")
        .pod("new", 1)
        .bind("new", "gpu-1")
    )
    assert len(no_node_overcommitted(builder.history)) == 1


def test_a_pod_that_is_gone_or_ended_does_not_count() -> None:
    gone = (
        HistoryBuilder()
        .node("n", 1)
        .running_pod("old", "n", 1)
        .delete("old")
        .gone("old")
        .pod("new", 1)
        .bind("new", "n")
    )
    ended = HistoryBuilder().node("n", 1).running_pod("old", "n", 1).finish("old").pod("new", 1).bind("new", "n")
    assert no_node_overcommitted(gone.history) == no_node_overcommitted(ended.history) == []


def test_what_counts_is_what_was_allocatable_at_that_moment() -> None:
    shrunk_later = HistoryBuilder().node("n", 2).running_pod("a", "n", 2).node("n", 1)
    shrunk_before = HistoryBuilder().node("n", 2).node("n", 1).running_pod("a", "n", 2)
    assert no_node_overcommitted(shrunk_later.history) == []
    assert len(no_node_overcommitted(shrunk_before.history)) == 1


def test_a_victim_must_have_lower_priority() -> None:
    def violations(priority: int) -> list[str]:
        builder = HistoryBuilder().node("gpu-1", 1).running_pod("victim", "gpu-1", 1, priority).pod("preemptor", 1, 100)
        return no_victim_has_equal_or_higher_priority(builder.preempt("victim", by="preemptor").history)

    assert violations(99) == []
    assert violations(100) == ["victim (priority 100) was preempted for preemptor (priority 100)"]


def test_a_taint_that_was_there_before_is_respected() -> None:
    builder = HistoryBuilder().node("n", 1, TAINT).pod("intolerant", 1).bind("intolerant", "n")
    assert no_pod_bound_against_taint(builder.history) == ["intolerant was bound to n against its taint gpu"]


def test_a_toleration_allows_binding_and_a_later_taint_does_not_count() -> None:
    tolerant = HistoryBuilder().node("n", 1, TAINT)
    tolerant.pod("tolerant", 1, tolerations=[{"key": "gpu", "operator": "Exists"}]).bind("tolerant", "n")
    late = HistoryBuilder().node("n", 1).pod("quick", 1).node("n", 1, TAINT).bind("quick", "n")
    assert no_pod_bound_against_taint(tolerant.history) == no_pod_bound_against_taint(late.history) == []


def test_a_taint_before_the_last_attempt_counts() -> None:
    builder = (
        HistoryBuilder()
        .node("n", 1)
        .pod("intolerant", 1)
        .node("n", 1, TAINT)
        .unschedulable("intolerant")
        .bind("intolerant", "n")
    )
    assert len(no_pod_bound_against_taint(builder.history)) == 1


def test_a_cordoned_node_is_a_tainted_node() -> None:
    builder = HistoryBuilder().node("n", 1, unschedulable=True).pod("intolerant", 1).bind("intolerant", "n")
    assert no_pod_bound_against_taint(builder.history) == [
        "intolerant was bound to n against its taint node.kubernetes.io/unschedulable"
    ]


def test_an_eviction_in_vain_is_reported() -> None:
    builder = (
        HistoryBuilder()
        .node("gpu-1", 1)
        .running_pod("victim", "gpu-1", 1, 1)
        .pod("preemptor", 1, 9)
        .preempt("victim", by="preemptor")
    )
    assert no_eviction_in_vain(builder.history) == []  # the victim is still terminating
    builder.gone("victim")
    assert no_eviction_in_vain(builder.history) == ["victim was evicted for preemptor, which is still not bound"]
    builder.bind("preemptor", "gpu-1")
    assert no_eviction_in_vain(builder.history) == []
