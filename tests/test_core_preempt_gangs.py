"""Preemption for a gang: one decision. Everybody it needs goes, or nobody does."""

from __future__ import annotations

from scheduler.core.model import Taint, Toleration
from tests.core_worlds import World, key


def two_nodes(east: int = 10, west: int = 10) -> World:
    """Two nodes of 4 GPUs, each taken whole by a pod of this priority."""
    world = World()
    for name, priority in (("east", east), ("west", west)):
        world.node(name, 4)
        world.pod(f"low-{name}", 4, priority, name)
    return world


def test_a_gang_takes_the_places_of_less_important_pods_on_two_nodes() -> None:
    world = two_nodes()
    world.gang("train", 2, 3, 100)
    decision = world.step()
    assert decision.evicted == {"low-east", "low-west"}
    assert set(decision.nominated.values()) == {"east", "west"}
    world.settle()
    assert set(world.where("train-0", "train-1").values()) == {"east", "west"}


def test_every_victim_is_told_of_the_gang_and_of_the_member_that_takes_its_place() -> None:
    world = two_nodes()
    world.gang("train", 2, 3, 100)
    decision = world.plan()
    for eviction in decision.evictions:
        assert eviction.beneficiary == "team/train"
        assert decision.nominated[eviction.trigger.key[1]] == eviction.pod.node
        told = f"preemptor: team/train, triggerpod: {'/'.join(eviction.trigger.key)}"
        assert eviction.message == f"muster-scheduler: preempting to accommodate higher priority pods, {told}"


def test_nobody_goes_when_only_a_part_of_the_gang_would_fit() -> None:
    world = two_nodes(west=1000)
    world.gang("train", 2, 3, 100)
    assert world.plan().evicted == set()
    world.finish("low-west")
    assert world.plan().evicted == {"low-east"}


def test_nobody_goes_for_a_gang_that_is_not_complete() -> None:
    world = two_nodes()
    world.group("train", 2)
    world.pod("train-0", 2, 100, group=key("train"))
    assert world.plan().evicted == set()
    world.pod("train-1", 2, 100, group=key("train"))
    assert len(world.plan().evicted) == 1


def test_nobody_goes_for_a_gang_that_is_larger_than_the_cluster() -> None:
    world = two_nodes()
    world.gang("giant", 3, 4, 100)
    assert world.plan().evicted == set()
    world.gang("modest", 2, 2, 100)
    assert len(world.plan().evicted) == 1


def test_nobody_goes_from_a_node_that_the_gang_may_not_use() -> None:
    world = World()
    world.node("closed", 4, taints=(Taint("soon", "", "NoSchedule"),))
    world.pod("low", 4, 10, "closed", tolerations=(Toleration("soon", "Exists"),))
    world.gang("train", 2, 2, 100)
    assert world.plan().evicted == set()


def test_each_member_gets_a_place_of_its_own_size() -> None:
    world = World()
    world.node("large", 4)
    world.node("small", 2)
    world.pod("low-large", 4, 10, "large")
    world.pod("low-small", 2, 10, "small")
    world.group("train", 2)
    world.pod("master", 2, 100, group=key("train"))
    world.pod("worker", 4, 100, group=key("train"))
    assert world.plan().nominated == {"worker": "large", "master": "small"}


def test_gangs_that_start_together_make_room_together_or_not_at_all() -> None:
    world = two_nodes(west=1000)
    for name, partner in (("actors", "learners"), ("learners", "actors")):
        world.gang(name, 1, 3, 100, partners=frozenset({key(partner)}))
    assert world.plan().evicted == set()
    world.change("low-west", priority=10)
    assert world.plan().evicted == {"low-east", "low-west"}


def test_a_gang_with_a_member_that_never_preempts_evicts_nobody() -> None:
    world = two_nodes()
    world.gang("train", 2, 3, 100)
    world.change("train-1", preempts=False)
    assert world.plan().evicted == set()


def test_the_word_of_the_groups_class_counts_not_that_of_its_pods() -> None:
    world = two_nodes()
    world.gang("train", 2, 3)
    world.change_group("train", priority=100, preempts=False)
    assert world.plan().evicted == set()
    world.change_group("train", preempts=True)
    assert world.plan().evicted == {"low-east", "low-west"}


def test_equal_importance_is_no_reason_to_go_for_a_gang() -> None:
    world = two_nodes(east=100, west=99)
    world.gang("train", 2, 3, 100)
    assert world.plan().evicted == set()


def test_where_a_pod_may_not_be_evicted_the_gang_goes_elsewhere() -> None:
    world = two_nodes()
    world.change("low-east", protected=True)
    world.gang("train", 2, 2, 100)
    assert world.plan().evicted == {"low-west"}


def test_no_victim_goes_for_a_gang_that_could_have_stayed() -> None:
    world = World()
    for name in ("east", "west"):
        world.node(name, 4)
        world.pod(f"{name}-one", 1, 10, name)
        world.pod(f"{name}-three", 3, 10, name)
    world.gang("train", 2, 3, 100)
    assert world.plan().evicted == {"east-three", "west-three"}


def test_on_a_node_the_least_important_pods_go_first() -> None:
    world = World()
    world.node("n", 4)
    world.pod("middle", 2, 50, "n")
    world.pod("low", 2, 10, "n")
    world.gang("train", 2, 1, 100)
    assert world.plan().evicted == {"low"}


def test_the_nodes_with_the_least_important_pods_are_chosen() -> None:
    world = two_nodes()
    world.node("a", 4)
    world.pod("dearest", 4, 90, "a")
    world.gang("train", 2, 3, 100)
    assert world.plan().evicted == {"low-east", "low-west"}


def test_free_room_is_used_before_anybody_goes() -> None:
    world = two_nodes()
    world.node("free", 4)
    world.gang("train", 2, 3, 100)
    assert len(world.plan().evicted) == 1


def test_members_are_placed_anew_if_that_lets_a_victim_stay() -> None:
    """The large member by itself would go where less is lost; beside the picky one it costs nothing at all."""
    world = World()
    world.node("east", 3)
    world.node("west", 8, labels={"zone": "west"})
    world.pod("slight", 3, 1, "east")
    world.pod("weighty", 8, 10, "west")
    world.group("train", 2)
    world.pod("large", 3, 100, group=key("train"))
    world.pod("picky", 2, 100, group=key("train"), selector=(("zone", "west"),))
    decision = world.plan()
    assert decision.evicted == {"weighty"}
    assert decision.nominated == {"large": "west", "picky": "west"}


def test_where_members_differ_every_arrangement_is_tried_before_room_is_refused() -> None:
    """One after the other, the four would go where less is lost, and one of the threes would be left over."""
    world = World()
    world.node("a", 7)
    world.node("b", 6)
    world.pod("dear", 7, 20, "a")
    world.pod("cheap", 6, 10, "b")
    world.group("train", 4)
    for number, gpus in enumerate((4, 3, 3, 3)):
        world.pod(f"train-{number}", gpus, 100, group=key("train"))
    decision = world.plan()
    assert decision.evicted == {"dear", "cheap"}
    assert decision.nominated["train-0"] == "a"


def test_victims_that_come_back_wait_behind_the_gang() -> None:
    world = two_nodes()
    world.gang("train", 2, 3, 100)
    steps = world.settle(replaced=True)
    assert [len(step.evicted) for step in steps if step.evicted] == [2]
    assert world.where("low-east", "low-west") == {"low-east": "", "low-west": ""}


def test_only_the_minimum_is_made_room_for_at_first() -> None:
    world = two_nodes()
    world.gang("train", 3, 4, 100, minimum=1)
    assert len(world.step().evicted) == 1
    world.settle()
    assert sorted(world.where("train-0", "train-1", "train-2").values()) == ["", "east", "west"]


def test_a_gang_does_not_evict_its_own_members() -> None:
    world = World()
    world.node("n", 1)
    world.group("train", 2)
    world.pod("train-0", 1, 10, "n", group=key("train"))
    world.pod("train-1", 1, 100, group=key("train"))
    assert world.plan().evicted == set()


def test_nobody_goes_for_a_gang_that_starts_together_with_its_own() -> None:
    world = World()
    world.node("n", 1)
    world.group("a", 1, partners=frozenset({key("b")}))
    world.group("b", 1, partners=frozenset({key("a")}), phase="Running")
    world.pod("b-0", 1, on="n", group=key("b"))
    world.pod("a-0", 1, 100, group=key("a"))
    assert world.plan().evicted == set()


def test_one_who_may_not_evict_its_fellow_does_not_stand_for_others() -> None:
    world = World()
    world.node("n", 1)
    world.gang("train", 1, 1, on="n")
    world.pod("late", 1, 100, group=key("train"))
    world.pod("other", 1, 100)
    assert world.plan().evicted == {"train-0"}
