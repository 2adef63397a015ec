"""Fit: which nodes a pod may use, and which of them it gets."""

from __future__ import annotations

import pytest

from scheduler.core.model import Requirement, Taint, Toleration
from tests.core_worlds import World

OLD = Taint("gpu", "old", "NoSchedule")


def test_a_pod_gets_the_fullest_node_that_fits() -> None:
    world = World()
    world.node("empty", 8)
    world.node("half", 8)
    world.node("nearly", 8)
    world.pod("four", 4, on="half")
    world.pod("seven", 7, on="nearly")
    world.pod("two", 2)
    assert world.plan().bound == {"two": "half"}


def test_of_equal_nodes_the_first_by_name_is_taken() -> None:
    world = World()
    for name in ("c", "a", "b"):
        world.node(name, 4)
    world.pod("one", 1)
    assert world.plan().bound == {"one": "a"}


def test_a_pod_without_gpus_keeps_away_from_gpu_nodes_while_there_are_others() -> None:
    world = World()
    world.node("a-gpu", 8, cpu=8)
    world.node("b-plain", cpu=8)
    world.pod("small", cpu=8)
    assert world.step().bound == {"small": "b-plain"}
    world.pod("next", cpu=1)
    assert world.step().bound == {"next": "a-gpu"}


def test_what_a_node_does_not_offer_at_all_never_fits() -> None:
    world = World()
    world.node("plain", cpu=8)
    world.pod("one", 1)
    decision = world.plan()
    assert decision.bound == {}
    assert "Insufficient nvidia.com/gpu" in decision.why["one"]


def test_a_node_takes_so_many_pods_and_no_more() -> None:
    world = World()
    world.node("n", 8, pods=2)
    for name in ("a", "b", "c"):
        world.pod(name)
    decision = world.plan()
    assert set(decision.bound) == {"a", "b"}
    assert "1 Too many pods" in decision.why["c"]


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_a_taint_keeps_out_who_does_not_tolerate_it(effect: str) -> None:
    world = World()
    world.node("tainted", 8, taints=(Taint("gpu", "old", effect),))
    world.pod("plain", 1)
    world.pod("hardy", 1, tolerations=(Toleration("gpu", value="old"),))
    decision = world.plan()
    assert decision.bound == {"hardy": "tainted"}
    assert "1 node(s) had untolerated taint(s)" in decision.why["plain"]


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        (Toleration("gpu", value="old"), True),
        (Toleration("gpu", value="new"), False),
        (Toleration("gpu"), False),
        (Toleration("gpu", "Exists"), True),
        (Toleration("disk", "Exists"), False),
        (Toleration(operator="Exists"), True),
        (Toleration(value="old"), False),
        (Toleration("gpu", "Exists", effect="NoSchedule"), True),
        (Toleration("gpu", "Exists", effect="NoExecute"), False),
    ],
)
def test_a_toleration_means_what_kubernetes_says(toleration: Toleration, tolerated: bool) -> None:
    world = World()
    world.node("tainted", 8, taints=(OLD,))
    world.pod("pod", 1, tolerations=(toleration,))
    assert bool(world.plan().bound) is tolerated


def test_a_taint_that_only_asks_is_respected_while_there_is_another_node() -> None:
    world = World()
    world.node("a", 1, taints=(Taint("gpu", "old", "PreferNoSchedule"),))
    world.node("b", 8)
    world.pod("first", 8)
    world.pod("second", 1)
    assert world.plan().bound == {"first": "b", "second": "a"}


def test_a_cordoned_node_takes_nobody_but_those_who_tolerate_it() -> None:
    world = World()
    world.node("n", 8, cordoned=True)
    world.pod("plain", 1)
    world.pod("daemon", 1, tolerations=(Toleration("node.kubernetes.io/unschedulable", "Exists"),))
    decision = world.plan()
    assert decision.bound == {"daemon": "n"}
    assert "1 node(s) were unschedulable" in decision.why["plain"]


def test_a_selector_must_match() -> None:
    world = World()
    world.node("a", 1, labels={"zone": "east"})
    world.node("b", 1, labels={"zone": "west"})
    world.pod("picky", 1, selector=(("zone", "west"),))
    world.pod("pickier", 1, selector=(("zone", "north"),))
    decision = world.plan()
    assert decision.bound == {"picky": "b"}
    assert "2 node(s) didn't match Pod's node affinity/selector" in decision.why["pickier"]


@pytest.mark.parametrize(
    ("line", "nodes"),
    [
        (Requirement("zone", "In", ("east", "west")), {"east", "west"}),
        (Requirement("zone", "NotIn", ("east",)), {"west", "bare"}),
        (Requirement("zone", "Exists"), {"east", "west"}),
        (Requirement("zone", "DoesNotExist"), {"bare"}),
        (Requirement("rank", "Gt", ("3",)), {"west"}),
        (Requirement("rank", "Lt", ("5",)), {"east"}),
        (Requirement("rank", "Gt", ("many",)), set()),
        (Requirement("rank", "Gt"), set()),
        (Requirement("metadata.name", "In", ("bare",)), {"bare"}),
        (Requirement("zone", "Like", ("east",)), set()),
    ],
)
def test_a_line_of_affinity_means_what_kubernetes_says(line: Requirement, nodes: set[str]) -> None:
    world = World()
    world.node("east", 1, labels={"zone": "east", "rank": "3"})
    world.node("west", 1, labels={"zone": "west", "rank": "5"})
    world.node("bare", 1)
    for number in range(3):
        world.pod(f"pod-{number}", 1, affinity=((line,),))
    assert set(world.plan().bound.values()) == nodes


def test_one_of_several_terms_is_enough_and_an_empty_term_matches_nothing() -> None:
    world = World()
    world.node("east", 4, labels={"zone": "east"})
    east, north = Requirement("zone", "In", ("east",)), Requirement("zone", "In", ("north",))
    world.pod("either", 1, affinity=((north,), (east,)))
    world.pod("both", 1, affinity=((north, east),))
    world.pod("nowhere", 1, affinity=((),))
    assert world.plan().bound == {"either": "east"}


def test_a_preference_decides_among_those_that_fit_and_excludes_nobody() -> None:
    world = World()
    world.node("a", 1)
    world.node("z", 8, labels={"zone": "west"})
    liking = ((50, (Requirement("zone", "In", ("west",)),)),)
    world.pod("first", 8, preferred=liking)
    assert world.step().bound == {"first": "z"}
    world.pod("second", 1, preferred=liking)
    assert world.step().bound == {"second": "a"}


def test_a_leaving_pod_holds_its_room_until_it_is_gone() -> None:
    world = World()
    world.node("n", 4)
    world.pod("old", 4, on="n", leaving=True)
    world.pod("new", 1)
    assert world.step().bound == {}
    world.let_go()
    assert world.step().bound == {"new": "n"}


def test_pods_of_other_schedulers_are_none_of_our_business_but_hold_their_room() -> None:
    world = World()
    world.node("n", 4)
    world.pod("foreign", 2, on="n", scheduler="default-scheduler")
    world.pod("waiting", 1, scheduler="default-scheduler")
    world.pod("ours", 3)
    decision = world.plan()
    assert decision.bound == {}
    assert set(decision.why) == {"ours"}
