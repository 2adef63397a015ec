"""Order: who is looked at first."""

from __future__ import annotations

from tests.core_worlds import World


def one_place() -> World:
    world = World()
    world.node("n", 1)
    return world


def test_the_more_important_goes_first_though_it_came_later() -> None:
    world = one_place()
    world.pod("modest", 1, 10)
    world.pod("important", 1, 100)
    assert world.plan().bound == {"important": "n"}


def test_among_equals_the_older_goes_first() -> None:
    world = one_place()
    world.pod("z-older", 1, 10)
    world.pod("a-newer", 1, 10)
    assert world.plan().bound == {"z-older": "n"}


def test_among_those_of_one_age_the_name_decides() -> None:
    world = one_place()
    world.pod("b", 1, created=5.0)
    world.pod("a", 1, created=5.0)
    assert world.plan().bound == {"a": "n"}


def test_among_equals_those_for_whom_room_is_being_made_go_before_older_ones() -> None:
    world = one_place()
    world.pod("older", 1, 10)
    world.pod("promised", 1, 10, nominated="n")
    assert world.plan().bound == {"promised": "n"}


def test_a_promise_is_worth_nothing_against_somebody_more_important() -> None:
    world = one_place()
    world.pod("promised", 1, 10, nominated="n")
    world.pod("important", 1, 11)
    decision = world.plan()
    assert decision.bound == {"important": "n"}
    assert decision.nominated == {"promised": ""}


def test_a_gang_is_as_old_as_its_group() -> None:
    world = one_place()
    world.group("late", 1, created=50.0)
    world.pod("late-0", 1, group=("team", "late"), created=1.0)
    world.pod("single", 1, created=10.0)
    assert world.plan().bound == {"single": "n"}


def test_a_gang_is_as_important_as_its_least_important_member() -> None:
    world = World()
    world.node("n", 2)
    world.group("mixed", 2)
    world.pod("mixed-0", 1, 1000, group=("team", "mixed"))
    world.pod("mixed-1", 1, 10, group=("team", "mixed"))
    world.pod("single", 1, 11)
    assert world.plan().bound == {"single": "n"}


def test_the_class_of_a_group_comes_before_those_of_its_pods() -> None:
    world = one_place()
    world.gang("raised", 1, 1, priority=0, created=99.0)
    world.change_group("raised", priority=100)
    world.pod("single", 1, 50)
    assert world.plan().bound == {"raised-0": "n"}


def test_who_does_not_preempt_is_still_first_in_line() -> None:
    world = one_place()
    world.pod("ordinary", 1, 50)
    world.pod("polite", 1, 100, preempts=False)
    assert world.plan().bound == {"polite": "n"}


def test_a_gated_pod_is_not_looked_at() -> None:
    world = World()
    world.node("n", 2)
    world.pod("low", 1, 10, "n")
    world.pod("gated", 2, 100, gated=True)
    assert world.plan().actions == ()
    world.change("gated", gated=False)
    assert world.plan().evicted == {"low"}


def test_the_order_in_which_objects_were_met_does_not_matter() -> None:
    world = World()
    for name in ("b", "a"):
        world.node(name, 2)
    world.gang("train", 3, 1, 10)
    world.pod("single", 1, 5)
    world.pod("giant", 3, 5)
    assert world.copy().plan().actions == world.plan().actions
