"""Queues: whom they take, what their work may use, and who goes first in them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.core.model import CPU, GPU
from scheduler.core.policy import Policy
from tests.core_worlds import World, key


def research(gpus: int | None = 8, offered: int = 16, policy: Policy | None = None, **more: Any) -> World:
    world = World(policy)
    world.node("n", offered)
    world.queue("research", gpus, **more)
    return world


def test_a_queue_never_uses_more_than_its_capability() -> None:
    world = research(8, 24)
    for name in ("first", "second", "third"):
        world.gang(name, 6, 1, queue="research")
    decision = world.step()
    assert {name[:-2] for name in decision.bound} == {"first"}
    wanted = "gang team/second: queue research uses 6 of 8 nvidia.com/gpu, 6 more are asked for"
    assert decision.why["second-0"].startswith(wanted)


def test_who_leaves_uses_its_share_until_it_is_gone() -> None:
    world = research(4)
    world.pod("old", 4, on="n", queue="research", leaving=True)
    world.pod("new", 4, queue="research")
    decision = world.step()
    assert decision.bound == {}
    assert decision.nominated == {"new": "n"}
    world.let_go()
    assert world.step().bound == {"new": "n"}


def test_a_limit_on_one_resource_limits_nothing_else() -> None:
    world = World()
    world.node("n", 8, cpu=64)
    world.queue("research", 4)
    world.pod("hungry", 1, cpu=60, queue="research")
    assert world.plan().bound == {"hungry": "n"}


def test_every_limit_counts() -> None:
    world = World()
    world.node("n", 8, cpu=64_000)
    world.queue("research", capability={GPU: 8, CPU: 4_000})
    world.pod("hungry", 1, cpu=5_000, queue="research")
    assert "queue research uses 0 of 4 cpu, 5 more are asked for" in world.plan().why["hungry"]


def test_a_gang_that_fits_no_node_does_not_keep_others_out_of_the_queue() -> None:
    world = research(16, 8)
    world.gang("giant", 1, 9, queue="research")
    world.gang("modest", 8, 1, queue="research")
    assert len(world.plan().bound) == 8


def test_gated_pods_and_waiting_gangs_hold_no_share() -> None:
    world = research(4)
    for pod in world.gang("gated", 4, 1, queue="research"):
        world.change(pod.key[1], gated=True)
    world.gang("waiting", 5, 1, queue="research")
    world.gang("ready", 4, 1, queue="research")
    assert {name[:-2] for name in world.plan().bound} == {"ready"}


def test_the_group_says_in_which_queue_its_pods_are() -> None:
    world = research(1)
    world.gang("train", 2, 1, queue="research")
    world.change("train-0", queue="elsewhere")
    assert world.plan().bound == {}


def test_of_two_waiting_gangs_the_more_important_one_goes_first() -> None:
    world = research()
    world.gang("first", 6, 1, 100, "n", queue="research")
    world.gang("modest", 6, 1, 10, queue="research")
    world.gang("urgent", 6, 1, 100, queue="research")
    assert world.step().bound == {}
    world.finish(*(f"first-{number}" for number in range(6)))
    assert {name[:-2] for name in world.step().bound} == {"urgent"}


def test_a_small_gang_starts_while_a_large_one_before_it_still_waits() -> None:
    world = research()
    world.gang("first", 6, 1, on="n", queue="research")
    world.gang("large", 6, 1, queue="research")
    world.gang("small", 1, 1, queue="research")
    assert world.plan().bound == {"small-0": "n"}


@pytest.mark.parametrize(("of_queue", "of_policy"), [(True, False), (None, True)])
def test_where_a_queue_is_served_strictly_in_order_nobody_overtakes_its_head(
    of_queue: bool | None, of_policy: bool
) -> None:
    world = research(policy=Policy(strict_queues=of_policy), strict=of_queue)
    world.gang("first", 6, 1, on="n", queue="research")
    world.gang("large", 6, 1, queue="research")
    world.gang("small", 1, 1, queue="research")
    decision = world.step()
    assert decision.bound == {}
    assert decision.why["small-0"] == "queue research is served strictly in order, and team/large waits before it"
    world.finish(*(f"first-{number}" for number in range(6)))
    assert {name[:-2] for name in world.step().bound} == {"large"}
    assert world.step().bound == {"small-0": "n"}


def test_in_a_strict_queue_nobody_starts_before_the_bindings_of_others_are_done() -> None:
    world = research(strict=True)
    world.gang("large", 3, 1, on="n", queue="research")
    world.gang("small", 1, 1, queue="research")
    world.change("large-1", binding=True)
    decision = world.step()
    assert decision.bound == {}
    assert decision.why["small-0"] == "queue research is served strictly in order, and team/large starts before it"
    world.change("large-1", binding=False)
    assert world.step().bound == {"small-0": "n"}


def test_a_gang_does_not_wait_for_its_own_bindings() -> None:
    world = research(strict=True)
    world.gang("large", 3, 1, on="n", queue="research")
    world.change("large-0", binding=True)
    world.change("large-1", node="")  # its binding was refused
    decision = world.step()
    assert decision.bound == {"large-1": "n"}
    assert not decision.released


def test_a_queue_may_be_served_loosely_against_the_policy() -> None:
    world = research(policy=Policy(strict_queues=True), strict=False)
    world.pod("large", 9, queue="research")
    world.pod("small", 1, queue="research")
    assert world.plan().bound == {"small": "n"}


def test_the_head_of_one_queue_stops_nobody_in_another() -> None:
    world = research(strict=True)
    world.queue("teaching", 4, strict=True)
    world.pod("large", 9, queue="research")
    world.pod("other", 1, queue="teaching")
    assert world.plan().bound == {"other": "n"}


def test_nobody_overtakes_a_head_that_waits_for_its_victims_either() -> None:
    world = research(strict=True, gpus=None)
    world.pod("low", 15, 10, "n", queue="research")
    world.pod("head", 16, 100, queue="research")
    world.pod("small", 1, 50, queue="research")
    decision = world.plan()
    assert decision.evicted == {"low"}
    assert "is served strictly in order" in decision.why["small"]


def test_an_object_that_could_not_be_read_holds_nobody_up() -> None:
    world = research(strict=True)
    world.pod("broken", 1, 100, queue="research", problem="'many' is no quantity of nvidia.com/gpu")
    world.pod("sound", 1, queue="research")
    assert world.plan().bound == {"sound": "n"}


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"opened": False}, "queue research is closed"),
        ({"problem": "spec.capability: nonsense"}, "queue research: spec.capability: nonsense"),
    ],
)
def test_a_queue_that_takes_nothing_says_why(more: dict[str, Any], why: str) -> None:
    world = research(**more)
    world.pod("early", 1, on="n", queue="research")
    world.pod("single", 1, queue="research")
    world.gang("late", 2, 1, queue="research")
    decision = world.step()
    assert decision.bound == {}
    assert decision.evicted == set()
    assert set(decision.why.values()) == {why}
    world.queue("research", 8)
    assert len(world.step().bound) == 3


def test_nothing_starts_from_a_missing_queue_until_it_is_created() -> None:
    world = World()
    world.node("n", 4)
    world.gang("lost", 2, 1, queue="teaching")
    assert world.step().why["lost-0"] == "queue teaching does not exist"
    world.queue("teaching", 4)
    assert len(world.step().bound) == 2


def test_the_default_queue_need_not_exist_and_is_limited_if_it_does() -> None:
    world = World()
    world.node("n", 4)
    world.pod("single", 1)
    assert world.step().bound == {"single": "n"}
    world.queue("default", 1)
    world.pod("next", 1)
    assert world.step().bound == {}


def test_a_closed_queue_lets_a_member_of_a_running_gang_return() -> None:
    world = research(opened=False)
    world.gang("train", 2, 1, on="n", queue="research")
    world.pod("train-2", 1, group=key("train"))
    assert world.plan().bound == {"train-2": "n"}


def test_an_important_gang_takes_room_from_its_own_queue_only() -> None:
    world = World()
    world.node("n", 8)
    world.queue("ours", 4)
    world.queue("theirs", 4)
    world.gang("mild", 4, 1, 10, "n", queue="ours")
    world.gang("neighbour", 4, 1, 1, "n", queue="theirs")
    world.gang("urgent", 4, 1, 100, queue="ours")
    assert world.plan().evicted == {f"mild-{number}" for number in range(4)}


def test_where_the_share_is_short_as_many_go_as_it_takes_though_there_is_room() -> None:
    world = research(4)
    for name, priority in (("dear", 50), ("cheap", 10)):
        world.pod(name, 2, priority, "n", queue="research")
    world.pod("urgent", 2, 100, queue="research")
    assert world.step().evicted == {"cheap"}
    world.settle()
    assert world.where() == {"dear": "n", "urgent": "n"}


def test_who_asks_for_more_than_the_queue_may_ever_use_evicts_nobody() -> None:
    world = research(4)
    world.pod("low", 4, 10, "n", queue="research")
    world.pod("giant", 5, 100, queue="research")
    assert world.plan().evicted == set()


def test_nobody_goes_from_a_queue_that_would_still_be_above_its_capability() -> None:
    world = research(4)
    world.pod("boss", 4, 1000, "n", queue="research")
    world.pod("low", 4, 10, "n", queue="research")
    world.pod("urgent", 4, 100, queue="research")
    assert world.plan().evicted == set()


def test_a_gang_without_a_minimum_does_not_start_from_a_closed_queue() -> None:
    world = research(opened=False)
    world.gang("loose", 1, 1, minimum=0, queue="research")
    assert world.plan().bound == {}
