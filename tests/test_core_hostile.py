"""Values that nobody sane would write: a plan never fails over them, and everybody who waits is told why."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest

from scheduler.core.model import GPU, PODS, Node, Pod, Requirement, Shape
from tests.core_worlds import World, key

SECONDS_FOR_A_LARGE_GANG = 5.0


def asking(world: World, name: str, **amounts: int) -> None:
    """A pod with exactly these requests, in whatever amounts."""
    requests = tuple(sorted({PODS: 1, **amounts}.items()))
    world.cluster.set_pod(
        Pod(key=key(name), uid=name, shape=Shape(requests), created=world.tick(), scheduler="volcano")
    )


def test_an_empty_cluster_has_nothing_to_decide() -> None:
    assert World().plan().actions == ()


def test_without_nodes_everybody_waits_and_is_told_why() -> None:
    world = World()
    world.pod("single", 1, 100)
    world.gang("train", 2, 1)
    assert set(world.plan().why) == {"single", "train-0", "train-1"}


def test_nodes_that_offer_nothing_take_nobody() -> None:
    world = World()
    world.cluster.set_node(Node("bare", {}))
    world.pod("single")
    assert set(world.plan().why) == {"single"}


@pytest.mark.parametrize("amount", [2**53, 2**63 - 1, 2**63, 2**64, 10**30])
def test_who_asks_for_more_than_there_can_be_waits(amount: int) -> None:
    world = World()
    world.node("n", 8)
    world.pod("low", 1, -1, "n")
    asking(world, "huge", **{GPU: amount})
    decision = world.plan()
    assert set(decision.why) == {"huge"}
    assert decision.evicted == set()


def test_amounts_as_large_as_can_be_read_are_placed_without_running_over() -> None:
    world = World()
    world.cluster.set_node(Node("n", {PODS: 9, "memory": 2**53}))
    asking(world, "first", memory=2**53)
    asking(world, "second", memory=2**53)
    decision = world.step()
    assert decision.bound == {"first": "n"}
    assert set(decision.why) == {"second"}


def test_a_node_filled_by_others_above_all_measure_takes_nobody() -> None:
    world = World()
    world.cluster.set_node(Node("n", {PODS: 9, "memory": 2**53}))
    for name in ("first", "second", "third", "fourth"):
        asking(world, name, memory=2**53)
        world.change(name, node="n")
    asking(world, "modest", memory=1)
    assert set(world.plan().why) == {"modest"}


def test_negative_amounts_that_slipped_through_break_nothing() -> None:
    world = World()
    world.cluster.set_node(Node("n", {PODS: 9, GPU: -2}))
    world.queue("research", -1)
    asking(world, "giver", **{GPU: -8})
    asking(world, "taker", **{GPU: 4})
    world.pod("queued", 1, queue="research")
    for _ in range(2):
        decision = world.step()
    assert {*decision.why, *(name for name, node in world.where().items() if node)} == {"giver", "taker", "queued"}


@pytest.mark.parametrize("minimum", [0, -1])
def test_a_gang_of_nobody_lets_its_pods_start_one_by_one(minimum: int) -> None:
    world = World()
    world.node("n", 1)
    world.gang("loose", 2, 1, minimum=minimum)
    decision = world.step()
    assert decision.bound == {"loose-0": "n"}
    assert set(decision.why) == {"loose-1"}


def test_a_gang_that_asks_for_more_members_than_it_can_have_waits() -> None:
    world = World()
    world.node("n", 4)
    world.gang("train", 2, 1, minimum=10**12)
    assert "2 of 1000000000000 pods exist" in world.plan().why["train-0"]


def test_a_role_that_nobody_has_keeps_a_gang_waiting() -> None:
    world = World()
    world.node("n", 4)
    world.gang("train", 2, 1, roles={"": 1, "⛵": 1})
    assert "0 of 1 ⛵ pods exist" in world.plan().why["train-0"]


def test_partners_in_a_circle_are_one_family() -> None:
    world = World()
    world.node("n", 3)
    for name, partner in (("a", "b"), ("b", "c"), ("c", "a")):
        world.gang(name, 1, 1, partners=frozenset({key(partner), key(name)}))
    assert len(world.plan().bound) == 3


def test_names_may_be_in_any_script_and_contain_what_separates() -> None:
    world = World()
    world.node("узел", 2, labels={"зона": "東"})
    world.pod("größe-✓", 1, selector=(("зона", "東"),))
    world.pod("a/b:c", 8)
    world.gang("koordinator:乗組", 1, 9)
    decision = world.plan()
    assert decision.bound == {"größe-✓": "узел"}
    assert "gang team/乗組" in decision.why["koordinator:乗組-0"]


def test_a_selector_of_nonsense_matches_nothing_and_breaks_nothing() -> None:
    world = World()
    world.node("n", 2, labels={"rank": "first"})
    world.pod("pod", 1, affinity=((Requirement("rank", "Gt", ("1e9",)), Requirement("", "", ())),))
    assert set(world.plan().why) == {"pod"}


def test_bound_pods_on_a_node_that_is_gone_disturb_nobody() -> None:
    world = World()
    world.node("n", 1)
    world.gang("ghosts", 2, 1, -5, on="gone", leaves_whole=True)
    world.change("ghosts-1", node="n")
    world.pod("urgent", 1, 100)
    assert set(world.plan().why) == {"urgent"}


def test_extreme_priorities_are_compared_exactly() -> None:
    world = World()
    world.node("n", 1)
    world.pod("lowest", 1, -(2**31), "n")
    world.pod("low", 1, -(2**31) + 1)
    assert world.plan().evicted == {"lowest"}


def large(nodes: int) -> World:
    world = World()
    for number in range(nodes):
        world.node(f"node-{number:04}", 8)
    return world


def seconds_for(world: World) -> float:
    began = time.process_time()
    world.plan()
    return time.process_time() - began


def calls_for(world: World) -> int:
    """What a plan costs, whatever else the machine does: the functions that are called for it."""
    made: list[str] = []
    sys.setprofile(lambda _frame, event, _what: made.append(event))
    try:
        world.plan()
    finally:
        sys.setprofile(None)
    return made.count("call") + made.count("c_call")


def train(nodes: int, pods: int, **group: Any) -> World:
    world = large(nodes)
    world.gang("train", pods, 1, **group)
    return world


def crew(*, leaves_whole: bool) -> World:
    world = large(10)
    world.gang("crew", 80, 1, 0, "node-0000", leaves_whole=leaves_whole)
    for number in range(80):
        world.change(f"crew-{number}", node=f"node-{number // 8:04}")
    world.pod("urgent", 1, 100)
    return world


def test_a_gang_of_5000_pods_is_decided_in_seconds() -> None:
    assert seconds_for(train(625, 5000)) < SECONDS_FOR_A_LARGE_GANG


def test_a_gang_with_roles_costs_little_more_than_one_without() -> None:
    assert calls_for(train(125, 1000, roles={"": 1000})) < 3 * calls_for(train(125, 1000))


def test_a_gang_that_leaves_as_one_costs_little_more_than_one_that_does_not() -> None:
    """On every node its 80 members are in the way of one pod, and the whole of it is weighed there."""
    assert calls_for(crew(leaves_whole=True)) < 16 * calls_for(crew(leaves_whole=False))
