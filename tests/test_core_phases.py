"""Phases: how a group stands, in the words of its kind."""

from __future__ import annotations

import pytest

from scheduler.core.actions import SetGroupPhase
from scheduler.core.model import GPU, Counts
from tests.core_worlds import World, key


def standing(world: World, name: str = "train") -> str:
    return world.cluster.groups[key(name)].phase


def test_a_volcano_group_goes_from_inqueue_to_running_to_completed() -> None:
    world = World()
    world.group("train", 2)
    world.step()
    assert standing(world) == "Inqueue"
    world.pod("train-0", 1, group=key("train"))
    world.pod("train-1", 1, group=key("train"))
    world.settle()
    assert standing(world) == "Inqueue"
    world.node("n", 2)
    world.settle()
    assert standing(world) == "Running"
    assert world.cluster.groups[key("train")].counts == Counts(running=2)
    world.finish("train-0", "train-1")
    world.settle()
    assert standing(world) == "Completed"
    assert world.cluster.groups[key("train")].counts == Counts(succeeded=2)


@pytest.mark.parametrize(("kind", "phase"), [("volcano", "Running"), ("koordinator", "Scheduled")])
def test_a_gang_has_started_with_the_plan_that_starts_it_whatever_happens_to_its_members_next(
    kind: str, phase: str
) -> None:
    world = World()
    world.node("n", 3)
    world.gang("train", 3, 1, kind=kind)
    decision = world.step()
    assert (len(decision.bound), decision.phases) == (3, {"train": phase})
    world.change("train-1", leaving=True)
    assert not world.step().released


def test_a_koordinator_group_goes_from_pending_to_finished() -> None:
    world = World()
    world.group("train", 1, kind="koordinator")
    world.settle()
    assert standing(world) == "Pending"
    world.pod("train-0", 1, group=key("train"))
    world.settle()
    assert standing(world) == "Scheduling"
    world.change("train-0", node="n")
    world.step()
    assert standing(world) == "Scheduled"
    world.settle()
    assert standing(world) == "Running"
    world.finish("train-0")
    world.settle()
    assert standing(world) == "Finished"


def test_a_koordinator_group_with_a_failed_member_has_failed() -> None:
    world = World()
    world.gang("train", 2, 1, on="n", kind="koordinator")
    world.finish("train-0")
    world.finish("train-1", failed=True)
    world.settle()
    assert standing(world) == "Failed"


def test_a_group_is_not_at_its_end_while_a_member_is_left() -> None:
    world = World()
    world.node("n", 2)
    world.gang("train", 2, 1, on="n")
    world.finish("train-0")
    world.settle()
    assert standing(world) == "Running"


@pytest.mark.parametrize("end", ["Completed", "Finished", "Failed"])
def test_what_has_ended_stays_ended(end: str) -> None:
    world = World()
    world.node("n", 4)
    world.gang("train", 2, 1, phase=end)
    world.settle()
    assert standing(world) == end


@pytest.mark.parametrize(
    ("queue", "why"),
    [
        ({"opened": False}, "queue research is closed"),
        ({"problem": "nonsense"}, "queue research: nonsense"),
        ({"capability": {GPU: 1}}, "asks for more nvidia.com/gpu than queue research may ever use"),
    ],
)
def test_a_group_that_is_not_admitted_is_pending_and_says_why(queue: dict[str, object], why: str) -> None:
    world = World()
    world.queue("research", **queue)  # type: ignore[arg-type]
    world.group("train", 2, queue="research", least={GPU: 2})
    (phase,) = world.step().actions
    assert isinstance(phase, SetGroupPhase)
    assert (phase.phase, phase.message) == ("Pending", why)
    world.queue("research", 2)
    world.step()
    assert standing(world) == "Inqueue"


def test_a_group_that_could_not_be_read_is_pending_and_its_pods_are_told() -> None:
    world = World()
    world.node("n", 2)
    world.gang("train", 1, 1, problem="spec.minMember is no whole number")
    decision = world.step()
    assert decision.phases == {"train": "Pending"}
    assert decision.why == {"train-0": "group team/train: spec.minMember is no whole number"}


def test_a_phase_is_told_once() -> None:
    world = World()
    world.group("train", 2)
    assert world.step().phases == {"train": "Inqueue"}
    world.change_group("train", created=7.0)
    assert world.step().phases == {}


def test_only_groups_that_something_happened_to_are_looked_at() -> None:
    world = World()
    world.group("train", 2)
    world.cluster.settle()
    assert world.plan().phases == {}


def test_an_admitted_gang_reserves_nothing() -> None:
    world = World()
    world.node("n", 2)
    world.queue("research", 2)
    world.gang("train", 3, 1, 100, queue="research")
    world.pod("single", 2, queue="research")
    decision = world.step()
    assert decision.phases == {"train": "Inqueue"}
    assert decision.bound == {"single": "n"}


def test_a_running_gang_stays_running_when_its_minimum_is_raised() -> None:
    world = World()
    world.node("n", 2)
    world.gang("train", 2, 1, on="n")
    world.change_group("train", minimum=5)
    world.settle()
    assert standing(world) == "Running"
    assert world.where() == {"train-0": "n", "train-1": "n"}
