"""Every invariant is broken once, and holds in the nearest story that does not break it."""

from muster.chronicle.invariants import (
    no_eviction_is_in_vain,
    no_node_is_overcommitted,
    no_pod_ignores_a_taint,
    no_victim_is_as_important,
)
from tests.tales import Tale

TAINT = [{"key": "gpu", "value": "true", "effect": "NoSchedule"}]


def test_a_binding_beyond_the_room_is_told_with_its_excess() -> None:
    tale = Tale().node("gpu-1", 2).settled("one", "gpu-1", 2).pod("two", 1).bind("two", "gpu-1")
    assert no_node_is_overcommitted(tale.history) == [
        "two was bound to gpu-1 at 0.6 s although the node had no room for it (1 nvidia.com/gpu too many)"
    ]


def test_a_terminating_pod_still_counts() -> None:
    tale = Tale().node("gpu-1", 1).settled("old", "gpu-1", 1).delete("old").pod("new", 1).bind("new", "gpu-1")
    assert len(no_node_is_overcommitted(tale.history)) == 1


def test_a_pod_that_is_gone_or_ended_does_not_count() -> None:
    gone = Tale().node("n", 1).settled("old", "n", 1).delete("old").gone("old").pod("new", 1).bind("new", "n")
    ended = Tale().node("n", 1).settled("old", "n", 1).end("old").pod("new", 1).bind("new", "n")
    assert no_node_is_overcommitted(gone.history) == no_node_is_overcommitted(ended.history) == []


def test_what_counts_is_the_room_of_that_moment() -> None:
    shrunk_later = Tale().node("n", 2).settled("a", "n", 2).node("n", 1)
    shrunk_before = Tale().node("n", 2).node("n", 1).settled("a", "n", 2)
    assert no_node_is_overcommitted(shrunk_later.history) == []
    assert len(no_node_is_overcommitted(shrunk_before.history)) == 1


def test_a_victim_must_be_less_important() -> None:
    def told(priority: int) -> list[str]:
        tale = Tale().node("gpu-1", 1).settled("victim", "gpu-1", 1, priority).pod("boss", 1, 100)
        return no_victim_is_as_important(tale.preempted("victim", by="boss").history)

    assert told(99) == []
    assert told(100) == ["victim (priority 100) was preempted for boss (priority 100)"]


def test_a_taint_that_was_there_before_is_respected() -> None:
    broken = Tale().node("n", 1, TAINT).pod("stranger", 1).bind("stranger", "n")
    assert no_pod_ignores_a_taint(broken.history) == ["stranger was bound to n against its taint gpu"]


def test_a_toleration_lets_in_and_a_later_taint_does_not_count() -> None:
    guest = Tale().node("n", 1, TAINT)
    guest.pod("guest", 1, tolerations=[{"key": "gpu", "operator": "Exists"}]).bind("guest", "n")
    late = Tale().node("n", 1).pod("quick", 1).node("n", 1, TAINT).bind("quick", "n")
    assert no_pod_ignores_a_taint(guest.history) == no_pod_ignores_a_taint(late.history) == []


def test_a_taint_seen_by_a_refusal_counts() -> None:
    tale = Tale().node("n", 1).pod("stranger", 1).node("n", 1, TAINT).refuse("stranger").bind("stranger", "n")
    assert len(no_pod_ignores_a_taint(tale.history)) == 1


def test_a_cordoned_node_is_a_tainted_node() -> None:
    tale = Tale().node("n", 1, unschedulable=True).pod("stranger", 1).bind("stranger", "n")
    assert no_pod_ignores_a_taint(tale.history) == [
        "stranger was bound to n against its taint node.kubernetes.io/unschedulable"
    ]


def test_an_eviction_without_use_is_told() -> None:
    tale = Tale().node("gpu-1", 1).settled("victim", "gpu-1", 1, 1).pod("boss", 1, 9).preempted("victim", by="boss")
    assert no_eviction_is_in_vain(tale.history) == []  # the victim is still leaving
    tale.gone("victim")
    assert no_eviction_is_in_vain(tale.history) == ["victim was evicted for boss, which is still not placed"]
    tale.bind("boss", "gpu-1")
    assert no_eviction_is_in_vain(tale.history) == []
