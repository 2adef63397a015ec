"""Nomination: capacity is reserved between a preemption decision and the binding."""

from __future__ import annotations

from tests.support.cluster_builder import FakeCluster, key


def node_with_terminating_pod(gpus: int = 4, allocatable: int = 4) -> FakeCluster:
    """A node with a terminating pod of this size."""
    cluster = FakeCluster()
    cluster.node("n", allocatable)
    cluster.pod("old", gpus, 10, "n", terminating=True)
    return cluster


def test_a_pod_that_fits_after_terminations_is_nominated_and_preempts_nothing() -> None:
    cluster = node_with_terminating_pod(2)
    cluster.pod("stays", 2, 10, "n")
    cluster.pod("urgent", 2, 100)
    decision = cluster.step()
    assert decision.evicted == set()
    assert decision.nominated == {"urgent": "n"}
    assert decision.reasons["urgent"] == "team/urgent is nominated to n: waiting for pods there to terminate"


def test_a_nomination_is_written_once() -> None:
    cluster = node_with_terminating_pod()
    cluster.pod("urgent", 4, 100)
    assert cluster.step().nominated == {"urgent": "n"}
    assert cluster.step().changes == []


def test_no_further_preemption_while_a_victim_is_terminating() -> None:
    cluster = FakeCluster()
    cluster.node("n", 2)
    cluster.pod("first", 1, 10, "n")
    cluster.pod("second", 1, 10, "n")
    cluster.pod("urgent", 1, 100)
    assert len(cluster.step().evicted) == 1
    assert cluster.step().changes == []


def test_reserved_capacity_is_not_given_to_lower_priority_pods() -> None:
    cluster = node_with_terminating_pod(3)
    cluster.pod("urgent", 4, 100)
    cluster.pod("small", 1, 50)
    decision = cluster.step()
    assert decision.bound == {}
    assert decision.nominated == {"urgent": "n"}
    cluster.delete_terminating()
    assert cluster.step().bound == {"urgent": "n"}


def test_capacity_beside_a_reservation_is_free() -> None:
    cluster = node_with_terminating_pod(2)
    cluster.pod("urgent", 3, 100)
    cluster.pod("small", 1, 50)
    assert cluster.plan().bound == {"small": "n"}


def test_capacity_is_reserved_for_all_members_of_a_gang() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.pod("early", 2, 10, "n")
    cluster.pod("late", 2, 10, "n")
    cluster.gang("train", 2, 2, 100)
    assert cluster.step().evicted == {"early", "late"}
    cluster.delete("early")
    cluster.pod("lesser", 2, 50)
    cluster.pod("equal", 2, 100)
    decision = cluster.step()
    assert decision.bound == {}
    assert decision.nominated == {}
    cluster.delete_terminating()
    assert set(cluster.step().bound) == {"train-0", "train-1"}


def test_a_higher_priority_pod_takes_over_a_nominated_node() -> None:
    cluster = node_with_terminating_pod()
    cluster.pod("urgent", 4, 100)
    cluster.step()
    cluster.pod("critical", 4, 200)
    decision = cluster.step()
    assert decision.nominated == {"critical": "n", "urgent": ""}
    cluster.delete_terminating()
    assert cluster.step().bound == {"critical": "n"}


def test_a_higher_priority_gang_takes_over_nominated_nodes() -> None:
    cluster = node_with_terminating_pod()
    cluster.gang("first", 2, 2, 100)
    cluster.step()
    cluster.gang("better", 2, 2, 200)
    decision = cluster.step()
    assert decision.nominated == {"better-0": "n", "better-1": "n", "first-0": "", "first-1": ""}
    assert decision.evicted == set()


def test_of_two_concurrent_preemptors_the_higher_priority_one_is_nominated() -> None:
    cluster = FakeCluster()
    cluster.node("n", 1)
    cluster.pod("victim", 1, 10, "n")
    cluster.pod("urgent", 1, 100)
    cluster.pod("critical", 1, 200)
    decision = cluster.step()
    assert decision.nominated == {"critical": "n"}
    assert [eviction.beneficiary for eviction in decision.evictions] == ["team/critical"]


def test_two_concurrent_preemptors_do_not_reserve_the_same_capacity() -> None:
    cluster = FakeCluster()
    cluster.node("n", 2)
    cluster.pod("left", 1, 10, "n")
    cluster.pod("right", 1, 10, "n")
    cluster.pod("urgent", 1, 100)
    cluster.pod("pressing", 1, 100)
    assert cluster.step().evicted == {"left", "right"}


def test_a_nominated_pod_prefers_its_nominated_node() -> None:
    cluster = FakeCluster()
    cluster.node("a", 4)
    cluster.node("b", 4)
    cluster.pod("urgent", 1, 100, nominated="b")
    assert cluster.plan().bound == {"urgent": "b"}


def test_a_nominated_pod_uses_another_node_that_is_free_earlier() -> None:
    cluster = node_with_terminating_pod()
    cluster.pod("urgent", 4, 100)
    cluster.step()
    cluster.node("z-free", 4)
    assert cluster.step().bound == {"urgent": "z-free"}
    assert cluster["urgent"].nominated == ""


def test_a_nomination_to_a_deleted_node_is_cleared() -> None:
    cluster = node_with_terminating_pod()
    cluster.pod("urgent", 4, 100)
    cluster.step()
    cluster.state.remove_node("n")
    assert cluster.step().nominated == {"urgent": ""}


def test_a_nomination_to_a_cordoned_node_is_cleared() -> None:
    cluster = node_with_terminating_pod()
    cluster.pod("urgent", 4, 100)
    cluster.step()
    cluster.node("n", 4, cordoned=True)
    assert cluster.step().nominated == {"urgent": ""}


def test_a_partially_started_gang_that_is_nominated_keeps_its_bound_members() -> None:
    cluster = node_with_terminating_pod(2)
    cluster.gang("train", 2, 2, 100)
    cluster.change("train-0", node="n")
    decision = cluster.step()
    assert decision.released == set()
    assert decision.nominated == {"train-1": "n"}


def test_nominations_of_members_above_min_member_are_cleared() -> None:
    cluster = node_with_terminating_pod(3, 3)
    cluster.gang("train", 3, 1, 100)
    cluster.step()
    cluster.change_group("train", min_member=2)
    cluster.step()
    nominated = [name for name in ("train-0", "train-1", "train-2") if cluster[name].nominated]
    assert nominated == ["train-0", "train-1"]


def test_a_late_member_of_a_running_gang_is_nominated_like_a_single_pod() -> None:
    cluster = node_with_terminating_pod(2)
    cluster.gang("train", 2, 1, 100, on="n")
    cluster.pod("train-2", 2, 100, group=key("train"))
    assert cluster.step().nominated == {"train-2": "n"}


def test_a_gang_that_has_timed_out_gives_up_its_reservation_and_starts_only_where_it_fits() -> None:
    cluster = FakeCluster()
    cluster.node("a", 4)
    cluster.node("b", 4)
    cluster.pod("low", 4, on="a")
    gang = cluster.gang("gang", 2, 4, priority=10)
    assert set(cluster.step().nominated.values()) == {"a", "b"}
    cluster.group("gang", 2, timed_out=True)
    decision = cluster.step()
    assert decision.nominated == {pod.key[1]: "" for pod in gang}
    assert "scheduleTimeoutSeconds" in decision.reasons["gang-0"]
    cluster.pod("other", 4)
    assert set(cluster.step().bound) == {"other"}
    assert cluster.plan().evicted == set()  # nor does it preempt for now
    cluster.group("gang", 2)
    assert cluster.plan().evicted == {"other"}
