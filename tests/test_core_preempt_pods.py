"""Preemption for a pod: no more than needed, the least important first, where it weighs least."""

from __future__ import annotations

import pytest

from scheduler.core.model import Requirement, Taint, Toleration
from scheduler.core.policy import Policy
from tests.core_worlds import World, key


def full_node(*priorities: int) -> World:
    world = World()
    world.node("n", len(priorities))
    for number, priority in enumerate(priorities):
        world.pod(f"pod-{number}", 1, priority, "n")
    return world


def test_exactly_the_room_that_is_needed_is_made() -> None:
    world = full_node(10, 10)
    world.pod("urgent", 1, 100)
    decision = world.step()
    assert len(decision.evicted) == 1
    assert decision.nominated == {"urgent": "n"}
    world.settle()
    assert world.where("urgent") == {"urgent": "n"}


def test_nobody_goes_while_there_is_room_elsewhere() -> None:
    world = full_node(10)
    world.node("z-free", 1)
    world.pod("urgent", 1, 100)
    decision = world.plan()
    assert decision.bound == {"urgent": "z-free"}
    assert decision.evicted == set()


def test_equal_importance_is_no_reason_to_go() -> None:
    world = full_node(50, 50)
    world.pod("equal", 1, 50)
    decision = world.plan()
    assert decision.evicted == set()
    assert decision.why["equal"].endswith("nobody is less important")


def test_the_least_important_goes_first() -> None:
    world = full_node(30, 10, 20)
    world.pod("urgent", 1, 100)
    assert world.plan().evicted == {"pod-1"}


def test_among_equals_the_one_that_started_last_goes() -> None:
    world = full_node(10, 10)
    world.change("pod-0", started=99.0)
    world.pod("urgent", 1, 100)
    assert world.plan().evicted == {"pod-0"}


def test_no_victim_goes_that_could_have_stayed() -> None:
    world = World()
    world.node("n", 8)
    for name, gpus in (("four", 4), ("two", 2), ("one", 1), ("uno", 1)):
        world.pod(name, gpus, 10, "n")
    world.pod("urgent", 3, 100)
    assert world.plan().evicted == {"two", "uno"}


def test_nobody_goes_when_that_would_not_help() -> None:
    world = full_node(10, 10)
    world.pod("giant", 8, 100)
    decision = world.plan()
    assert decision.evicted == set()
    assert decision.why["giant"].endswith("evicting everybody less important would not make enough room")


def test_nobody_goes_from_a_node_that_the_pod_may_not_use() -> None:
    world = World()
    world.node("n", 1, taints=(Taint("soon", "", "NoSchedule"),))
    world.pod("low", 1, 10, "n", tolerations=(Toleration("soon", "Exists"),))
    world.pod("urgent", 1, 100)
    assert world.plan().evicted == set()


def test_free_room_on_two_nodes_is_not_room_for_one_pod() -> None:
    world = World()
    for name in ("east", "west"):
        world.node(name, 4)
        world.pod(f"{name}-half", 2, 10, name)
    world.pod("patient", 4, 10)
    assert world.plan().evicted == set()
    world.pod("urgent", 4, 100)
    assert len(world.plan().evicted) == 1


def test_the_node_with_the_least_important_victim_gives_way() -> None:
    world = World()
    for name, priority in (("grand", 30), ("humble", 10), ("middling", 20)):
        world.node(name, 1)
        world.pod(f"on-{name}", 1, priority, name)
    world.pod("urgent", 1, 100)
    world.pod("pressing", 1, 100)
    assert world.plan().nominated == {"urgent": "humble", "pressing": "middling"}


def test_as_few_victims_as_possible_of_equal_importance() -> None:
    world = World()
    world.node("crowd", 2)
    world.node("single", 2)
    world.pod("a", 1, 10, "crowd")
    world.pod("b", 1, 10, "crowd")
    world.pod("alone", 2, 10, "single")
    world.pod("urgent", 2, 100)
    assert world.plan().evicted == {"alone"}


def test_negative_priorities_do_not_make_more_victims_cheaper() -> None:
    world = World()
    world.node("crowd", 2)
    world.node("single", 2)
    world.pod("a", 1, -10, "crowd")
    world.pod("b", 1, -1000, "crowd")
    world.pod("alone", 2, -10, "single")
    world.pod("urgent", 2, 0)
    assert world.plan().evicted == {"alone"}


def test_of_equal_nodes_the_one_whose_victim_started_last_gives_way() -> None:
    world = World()
    for name in ("long", "while", "short"):
        world.node(name, 1)
        world.pod(f"on-{name}", 1, 10, name)
    world.pod("urgent", 1, 100)
    assert world.plan().evicted == {"on-short"}


def test_the_start_of_the_most_important_victim_decides() -> None:
    world = World()
    for name, first, second in (("a", 1.0, 9.0), ("b", 2.0, 3.0)):
        world.node(name, 2)
        world.pod(f"{name}-high", 1, 20, name, started=first)
        world.pod(f"{name}-low", 1, 10, name, started=second)
    world.pod("urgent", 2, 100)
    assert world.plan().evicted == {"b-high", "b-low"}


def test_a_pod_whose_budget_would_break_is_spared_while_another_would_do() -> None:
    world = World()
    world.node("mixed", 2)
    world.node("vault", 1)
    world.pod("loose", 1, 10, "mixed")
    world.pod("treasure", 1, 10, "mixed", labels={"app": "gold"})
    world.pod("jewel", 1, 10, "vault", labels={"app": "gold"})
    world.budget("gold", 0, {}, Requirement("app", "In", ("gold",)))
    world.pod("urgent", 1, 100)
    assert world.plan().evicted == {"loose"}


def test_a_budget_is_spent_by_what_the_same_plan_has_decided() -> None:
    world = World()
    for name in ("a", "b"):
        world.node(name, 1)
        world.pod(f"covered-{name}", 1, 10, name, labels={"app": "gold"})
    world.node("c", 1)
    world.pod("dearer", 1, 20, "c")
    world.budget("gold", 1, {"app": "gold"})
    world.pod("first", 1, 100)
    world.pod("second", 1, 100)
    assert world.plan().evicted == {"covered-b", "dearer"}


def test_a_budget_of_another_namespace_protects_nobody() -> None:
    world = full_node(10)
    world.change("pod-0", labels={"app": "gold"}, key=("other", "pod-0"))
    world.node("z", 1)
    world.pod("dearer", 1, 20, "z")
    world.budget("gold", 0, {"app": "gold"})
    world.pod("urgent", 1, 100)
    assert world.plan().evicted == {"pod-0"}


def test_a_budget_does_not_stop_a_more_important_pod() -> None:
    world = full_node(10)
    world.change("pod-0", labels={"app": "gold"})
    world.budget("gold", 0, {"app": "gold"})
    world.pod("urgent", 1, 100)
    assert world.plan().evicted == {"pod-0"}


def test_a_pod_that_never_preempts_waits_and_can_be_a_victim() -> None:
    world = full_node(10)
    world.change("pod-0", preempts=False)
    world.pod("polite", 1, 100, preempts=False)
    decision = world.plan()
    assert decision.evicted == set()
    assert decision.why["polite"].endswith("it does not preempt")
    world.pod("urgent", 1, 100)
    assert world.plan().evicted == {"pod-0"}


def test_where_preemption_is_switched_off_nobody_goes() -> None:
    world = World(Policy(preemption=False))
    world.node("n", 1)
    world.pod("low", 1, 10, "n")
    world.pod("urgent", 1, 100)
    decision = world.plan()
    assert decision.evicted == set()
    assert decision.why["urgent"].endswith("preemption is switched off")


def test_a_protected_pod_stays() -> None:
    world = full_node(10)
    world.change("pod-0", protected=True)
    world.pod("urgent", 1, 100)
    assert world.plan().evicted == set()


def test_a_victim_is_told_for_whom_it_goes() -> None:
    world = full_node(10)
    world.pod("urgent", 1, 100)
    (eviction,) = world.plan().evictions
    assert eviction.beneficiary == "team/urgent"
    assert eviction.trigger.key == key("urgent")
    assert eviction.message == "muster-scheduler: preempting to accommodate a higher priority pod"


def test_pods_of_another_queue_stay() -> None:
    world = full_node(10)
    world.queue("ours")
    world.pod("urgent", 1, 100, queue="ours")
    assert world.plan().evicted == set()


def test_a_gang_that_leaves_as_one_leaves_whole() -> None:
    world = World()
    world.node("n", 4)
    world.gang("crew", 4, 1, 10, "n", leaves_whole=True)
    world.pod("urgent", 1, 100)
    assert world.plan().evicted == {f"crew-{number}" for number in range(4)}


def test_a_gang_that_leaves_as_one_stays_if_one_of_it_may_not_go() -> None:
    world = World()
    world.node("n", 4)
    world.gang("crew", 4, 1, 10, "n", leaves_whole=True)
    world.change("crew-3", protected=True)
    world.pod("urgent", 1, 100)
    assert world.plan().evicted == set()


def test_a_single_pod_goes_rather_than_a_whole_gang() -> None:
    world = World()
    for name in ("a", "b", "c"):
        world.node(name, 1)
    world.gang("crew", 2, 1, 10, "a", leaves_whole=True)
    world.change("crew-1", node="b")
    world.pod("alone", 1, 10, "c", started=0.0)
    world.pod("urgent", 1, 100)
    assert world.plan().evicted == {"alone"}


def test_a_replaced_victim_waits_and_does_not_push_back() -> None:
    world = full_node(10, 20)
    world.pod("urgent", 1, 100)
    steps = world.settle(replaced=True)
    assert [step.evicted for step in steps if step.evicted] == [{"pod-0"}]
    assert world.where() == {"pod-0": "", "pod-1": "n", "urgent": "n"}


def test_a_node_that_has_shrunk_below_its_use_loses_no_more_than_is_asked_for() -> None:
    world = World()
    world.node("elsewhere", cpu=1, cordoned=True)
    world.node("shrunk", 2)
    for name in ("left", "right"):
        world.pod(name, 1, 10, "shrunk", cpu=1)
    world.pod("urgent", 1, 100)
    assert len(world.plan().evicted) == 1


@pytest.mark.parametrize("nodes", [100, 101, 150])
def test_budgets_are_spared_on_a_cluster_of_any_size(nodes: int) -> None:
    world = World()
    for number in range(nodes - 1):
        world.node(f"n{number}", 1)
        world.pod(f"gold-{number}", 1, 1, on=f"n{number}", labels={"app": "gold"})
    world.node("z", 1)
    world.pod("plain", 1, 2, on="z")
    world.budget("gold", 0, {"app": "gold"})
    world.pod("urgent", 1, 100)
    assert world.plan().evicted == {"plain"}


def test_many_evictions_of_one_plan_are_what_they_would_be_one_by_one() -> None:
    def crowded() -> World:
        world = World()
        for number in range(6):
            world.node(f"n{number}", 3)
            for size, priority in ((1, number), (2, 6 - number)):
                world.pod(f"low-{number}-{size}", size, priority, on=f"n{number}", labels={"app": "gold"})
        world.budget("gold", 3, {"app": "gold"})
        return world

    at_once, in_turn = crowded(), crowded()
    names = [f"urgent-{number}" for number in range(8)]
    for name in names:
        at_once.pod(name, 1 + int(name[-1]) % 2, 100)
    together = at_once.plan().evicted
    separately: set[str] = set()
    for name in names:
        in_turn.pod(name, 1 + int(name[-1]) % 2, 100)
        separately |= in_turn.step().evicted
        in_turn.budget("gold", 3 - len(separately), {"app": "gold"})
    assert together == separately
