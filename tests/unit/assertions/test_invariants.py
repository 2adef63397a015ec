"""Every invariant is violated once, and holds in the nearest history that does not violate it."""

from dataclasses import replace

from muster.assertions.invariants import (
    no_node_overcommitted,
    no_pod_bound_against_taint,
    no_pod_of_another_scheduler_bound,
)
from muster.recording.conventions import KUBERNETES
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


def test_a_pod_of_another_scheduler_is_not_bound() -> None:
    own = replace(KUBERNETES, accepts_scheduler_name=lambda name: name == "mine")
    builder = HistoryBuilder(own).node("n").pod("foreign", schedulerName="other").pod("own", schedulerName="mine")
    builder.pod("static", schedulerName="other", nodeName="n").bind("own", "n")
    assert no_pod_of_another_scheduler_bound(builder.history) == []
    assert no_pod_of_another_scheduler_bound(builder.bind("foreign", "n").history) == [
        "foreign has schedulerName other and was bound to n"
    ]
