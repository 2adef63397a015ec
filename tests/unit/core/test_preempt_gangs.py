"""Preemption for a gang: one decision, all victims or none."""

from __future__ import annotations

from scheduler.core.scheduling_types import Taint, Toleration
from tests.support.cluster_builder import FakeCluster, key


def two_nodes(east: int = 10, west: int = 10) -> FakeCluster:
    """Two nodes of 4 GPUs, each used by one pod of this priority."""
    cluster = FakeCluster()
    for name, priority in (("east", east), ("west", west)):
        cluster.node(name, 4)
        cluster.pod(f"low-{name}", 4, priority, name)
    return cluster


def test_a_gang_preempts_lower_priority_pods_on_two_nodes() -> None:
    cluster = two_nodes()
    cluster.gang("train", 2, 3, 100)
    decision = cluster.step()
    assert decision.evicted == {"low-east", "low-west"}
    assert set(decision.nominated.values()) == {"east", "west"}
    cluster.settle()
    assert set(cluster.where("train-0", "train-1").values()) == {"east", "west"}


def test_every_eviction_names_the_gang_and_the_trigger_pod() -> None:
    cluster = two_nodes()
    cluster.gang("train", 2, 3, 100)
    decision = cluster.plan()
    for eviction in decision.evictions:
        assert eviction.beneficiary == "team/train"
        assert decision.nominated[eviction.trigger.key[1]] == eviction.pod.node
        messages = f"preemptor: team/train, triggerpod: {'/'.join(eviction.trigger.key)}"
        assert eviction.message == f"muster-scheduler: preempting to accommodate higher priority pods, {messages}"


def test_no_preemption_unless_the_whole_gang_would_fit() -> None:
    cluster = two_nodes(west=1000)
    cluster.gang("train", 2, 3, 100)
    assert cluster.plan().evicted == set()
    cluster.finish("low-west")
    assert cluster.plan().evicted == {"low-east"}


def test_no_preemption_for_a_gang_below_min_member() -> None:
    cluster = two_nodes()
    cluster.group("train", 2)
    cluster.pod("train-0", 2, 100, group=key("train"))
    assert cluster.plan().evicted == set()
    cluster.pod("train-1", 2, 100, group=key("train"))
    assert len(cluster.plan().evicted) == 1


def test_no_preemption_for_a_gang_larger_than_the_cluster() -> None:
    cluster = two_nodes()
    cluster.gang("giant", 3, 4, 100)
    assert cluster.plan().evicted == set()
    cluster.gang("modest", 2, 2, 100)
    assert len(cluster.plan().evicted) == 1


def test_no_preemption_on_nodes_whose_taints_the_gang_does_not_tolerate() -> None:
    cluster = FakeCluster()
    cluster.node("closed", 4, taints=(Taint("soon", "", "NoSchedule"),))
    cluster.pod("low", 4, 10, "closed", tolerations=(Toleration("soon", "Exists"),))
    cluster.gang("train", 2, 2, 100)
    assert cluster.plan().evicted == set()


def test_a_heterogeneous_gang_is_placed_by_member_size() -> None:
    cluster = FakeCluster()
    cluster.node("large", 4)
    cluster.node("small", 2)
    cluster.pod("low-large", 4, 10, "large")
    cluster.pod("low-small", 2, 10, "small")
    cluster.group("train", 2)
    cluster.pod("master", 2, 100, group=key("train"))
    cluster.pod("worker", 4, 100, group=key("train"))
    assert cluster.plan().nominated == {"worker": "large", "master": "small"}


def test_linked_gangs_preempt_as_one_or_not_at_all() -> None:
    cluster = two_nodes(west=1000)
    for name, partner in (("actors", "learners"), ("learners", "actors")):
        cluster.gang(name, 1, 3, 100, linked_groups=frozenset({key(partner)}))
    assert cluster.plan().evicted == set()
    cluster.change("low-west", priority=10)
    assert cluster.plan().evicted == {"low-east", "low-west"}


def test_a_gang_with_a_never_preempting_member_does_not_preempt() -> None:
    cluster = two_nodes()
    cluster.gang("train", 2, 3, 100)
    cluster.change("train-1", preempts=False)
    assert cluster.plan().evicted == set()


def test_the_preemption_policy_of_the_podgroup_class_counts() -> None:
    cluster = two_nodes()
    cluster.gang("train", 2, 3)
    cluster.change_group("train", priority=100, preempts=False)
    assert cluster.plan().evicted == set()
    cluster.change_group("train", preempts=True)
    assert cluster.plan().evicted == {"low-east", "low-west"}


def test_a_gang_does_not_preempt_pods_of_equal_priority() -> None:
    cluster = two_nodes(east=100, west=99)
    cluster.gang("train", 2, 3, 100)
    assert cluster.plan().evicted == set()


def test_a_gang_is_placed_around_non_preemptible_pods() -> None:
    cluster = two_nodes()
    cluster.change("low-east", non_preemptible=True)
    cluster.gang("train", 2, 2, 100)
    assert cluster.plan().evicted == {"low-west"}


def test_gang_victims_that_still_fit_are_reprieved() -> None:
    cluster = FakeCluster()
    for name in ("east", "west"):
        cluster.node(name, 4)
        cluster.pod(f"{name}-one", 1, 10, name)
        cluster.pod(f"{name}-three", 3, 10, name)
    cluster.gang("train", 2, 3, 100)
    assert cluster.plan().evicted == {"east-three", "west-three"}


def test_within_a_node_the_lowest_priority_pods_are_preempted_first() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.pod("middle", 2, 50, "n")
    cluster.pod("low", 2, 10, "n")
    cluster.gang("train", 2, 1, 100)
    assert cluster.plan().evicted == {"low"}


def test_nodes_with_the_lowest_priority_victims_are_chosen() -> None:
    cluster = two_nodes()
    cluster.node("a", 4)
    cluster.pod("dearest", 4, 90, "a")
    cluster.gang("train", 2, 3, 100)
    assert cluster.plan().evicted == {"low-east", "low-west"}


def test_free_capacity_is_used_before_any_preemption() -> None:
    cluster = two_nodes()
    cluster.node("free", 4)
    cluster.gang("train", 2, 3, 100)
    assert len(cluster.plan().evicted) == 1


def test_members_are_moved_if_that_reprieves_a_victim() -> None:
    """The large member alone would preempt the cheaper victim; beside the member with a selector it needs none."""
    cluster = FakeCluster()
    cluster.node("east", 3)
    cluster.node("west", 8, labels={"zone": "west"})
    cluster.pod("slight", 3, 1, "east")
    cluster.pod("weighty", 8, 10, "west")
    cluster.group("train", 2)
    cluster.pod("large", 3, 100, group=key("train"))
    cluster.pod("selective", 2, 100, group=key("train"), selector=(("zone", "west"),))
    decision = cluster.plan()
    assert decision.evicted == {"weighty"}
    assert decision.nominated == {"large": "west", "selective": "west"}


def test_a_heterogeneous_gang_preempts_where_only_a_search_finds_a_placement() -> None:
    """Placed one by one, the 4-GPU member would take the cheaper node, and a 3-GPU member would not fit."""
    cluster = FakeCluster()
    cluster.node("a", 7)
    cluster.node("b", 6)
    cluster.pod("dear", 7, 20, "a")
    cluster.pod("cheap", 6, 10, "b")
    cluster.group("train", 4)
    for number, gpus in enumerate((4, 3, 3, 3)):
        cluster.pod(f"train-{number}", gpus, 100, group=key("train"))
    decision = cluster.plan()
    assert decision.evicted == {"dear", "cheap"}
    assert decision.nominated["train-0"] == "a"


def test_recreated_victims_do_not_take_the_gangs_capacity() -> None:
    cluster = two_nodes()
    cluster.gang("train", 2, 3, 100)
    steps = cluster.settle(replaced=True)
    assert [len(step.evicted) for step in steps if step.evicted] == [2]
    assert cluster.where("low-east", "low-west") == {"low-east": "", "low-west": ""}


def test_a_gang_preempts_only_for_min_member_members() -> None:
    cluster = two_nodes()
    cluster.gang("train", 3, 4, 100, min_member=1)
    assert len(cluster.step().evicted) == 1
    cluster.settle()
    assert sorted(cluster.where("train-0", "train-1", "train-2").values()) == ["", "east", "west"]


def test_a_gang_does_not_preempt_its_own_members() -> None:
    cluster = FakeCluster()
    cluster.node("n", 1)
    cluster.group("train", 2)
    cluster.pod("train-0", 1, 10, "n", group=key("train"))
    cluster.pod("train-1", 1, 100, group=key("train"))
    assert cluster.plan().evicted == set()


def test_a_gang_does_not_preempt_members_of_a_linked_gang() -> None:
    cluster = FakeCluster()
    cluster.node("n", 1)
    cluster.group("a", 1, linked_groups=frozenset({key("b")}))
    cluster.group("b", 1, linked_groups=frozenset({key("a")}), phase="Running")
    cluster.pod("b-0", 1, on="n", group=key("b"))
    cluster.pod("a-0", 1, 100, group=key("a"))
    assert cluster.plan().evicted == set()


def test_a_late_member_without_victims_does_not_stop_other_preemptors() -> None:
    cluster = FakeCluster()
    cluster.node("n", 1)
    cluster.gang("train", 1, 1, on="n")
    cluster.pod("late", 1, 100, group=key("train"))
    cluster.pod("other", 1, 100)
    assert cluster.plan().evicted == {"train-0"}
