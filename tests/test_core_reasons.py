"""Reasons: everybody who waits is told why, by its own name."""

from __future__ import annotations

from scheduler.core.model import Taint
from tests.core_worlds import World, key


def test_every_node_is_counted_under_what_it_is_short_of() -> None:
    world = World()
    world.node("cordoned", 8, cordoned=True)
    world.node("tainted", 8, taints=(Taint("gpu", "old", "NoSchedule"),))
    world.node("elsewhere", 8)
    world.node("small", 1, labels={"zone": "a"})
    world.node("full", 0, cpu=1, labels={"zone": "a"})
    world.pod("picky", 2, selector=(("zone", "a"),))
    told = world.plan().why["picky"]
    assert told.startswith(
        "0/5 nodes are available: 1 node(s) were unschedulable, 1 node(s) had untolerated taint(s), "
    )
    assert "1 node(s) didn't match Pod's node affinity/selector, 2 Insufficient nvidia.com/gpu" in told


def test_without_nodes_it_is_said_that_there_are_none() -> None:
    world = World()
    world.pod("single", 1)
    world.gang("train", 2, 1)
    why = world.plan().why
    assert why["single"].startswith("no nodes are available")
    assert "room for 0 of the 2 pods that start together; then no nodes are available" in why["train-0"]


def test_room_that_is_held_for_somebody_else_is_no_room() -> None:
    world = World()
    world.node("n", 4)
    world.pod("old", 3, 10, "n", leaving=True)
    world.pod("urgent", 4, 100)
    world.pod("sneaky", 1, 50)
    assert "1 Insufficient nvidia.com/gpu" in world.plan().why["sneaky"]


def test_every_member_of_a_gang_is_told() -> None:
    world = World()
    world.node("n", 1)
    world.gang("train", 3, 1)
    assert set(world.plan().why) == {"train-0", "train-1", "train-2"}


def test_a_gang_whose_members_fit_one_by_one_in_another_order_only_is_told_so() -> None:
    world = World()
    world.node("n", 1, cpu=1)
    world.node("m", 1, cpu=1)
    world.group("train", 3)
    world.pod("train-0", 1, group=key("train"))
    world.pod("train-1", 1, group=key("train"))
    world.pod("train-2", 1, group=key("train"), cpu=1)
    assert "room for 2 of the 3 pods" in world.plan().why["train-0"]


def test_whoever_could_not_be_read_is_told_what_is_wrong() -> None:
    world = World()
    world.node("n", 1)
    world.pod("broken", 1, problem="'many' is no quantity of cpu")
    assert world.plan().why == {"broken": "'many' is no quantity of cpu"}


def test_a_gang_is_not_told_the_name_of_another() -> None:
    world = World()
    world.node("n", 3)
    world.gang("first", 4, 1)
    world.gang("second", 4, 1)
    why = world.plan().why
    assert "team/first" in why["first-0"]
    assert "team/second" in why["second-0"]


def test_a_pod_over_its_queues_share_is_not_told_the_name_of_another() -> None:
    world = World()
    world.node("n", 8)
    world.queue("research", 1)
    world.pod("first", 2, queue="research")
    world.pod("second", 2, queue="research")
    assert "first" not in world.plan().why["second"]
