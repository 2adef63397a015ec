"""Preemption for a pod: minimal, lowest priority first, on the node with the lowest cost."""

from __future__ import annotations

import pytest

from scheduler.core.pod_constraints import SelectorRequirement
from scheduler.core.policy import Policy
from scheduler.core.scheduling_types import Taint, Toleration
from tests.support.cluster_builder import FakeCluster, key


def full_node(*priorities: int) -> FakeCluster:
    cluster = FakeCluster()
    cluster.node("n", len(priorities))
    for number, priority in enumerate(priorities):
        cluster.pod(f"pod-{number}", 1, priority, "n")
    return cluster


def test_no_more_pods_are_preempted_than_needed() -> None:
    cluster = full_node(10, 10)
    cluster.pod("urgent", 1, 100)
    decision = cluster.step()
    assert len(decision.evicted) == 1
    assert decision.nominated == {"urgent": "n"}
    cluster.settle()
    assert cluster.where("urgent") == {"urgent": "n"}


def test_no_preemption_while_the_pod_fits_on_another_node() -> None:
    cluster = full_node(10)
    cluster.node("z-free", 1)
    cluster.pod("urgent", 1, 100)
    decision = cluster.plan()
    assert decision.bound == {"urgent": "z-free"}
    assert decision.evicted == set()


def test_a_pod_does_not_preempt_pods_of_equal_priority() -> None:
    cluster = full_node(50, 50)
    cluster.pod("equal", 1, 50)
    decision = cluster.plan()
    assert decision.evicted == set()
    assert decision.reasons["equal"].endswith("no lower-priority pods to preempt")


def test_the_lowest_priority_pod_is_preempted_first() -> None:
    cluster = full_node(30, 10, 20)
    cluster.pod("urgent", 1, 100)
    assert cluster.plan().evicted == {"pod-1"}


def test_at_equal_priority_the_most_recently_started_pod_is_preempted() -> None:
    cluster = full_node(10, 10)
    cluster.change("pod-0", started=99.0)
    cluster.pod("urgent", 1, 100)
    assert cluster.plan().evicted == {"pod-0"}


def test_victims_that_still_fit_are_reprieved() -> None:
    cluster = FakeCluster()
    cluster.node("n", 8)
    for name, gpus in (("four", 4), ("two", 2), ("one", 1), ("uno", 1)):
        cluster.pod(name, gpus, 10, "n")
    cluster.pod("urgent", 3, 100)
    assert cluster.plan().evicted == {"two", "uno"}


def test_no_preemption_if_the_pod_would_still_not_fit() -> None:
    cluster = full_node(10, 10)
    cluster.pod("giant", 8, 100)
    decision = cluster.plan()
    assert decision.evicted == set()
    assert decision.reasons["giant"].endswith("preempting all lower-priority pods would not free enough resources")


def test_no_preemption_on_a_node_that_the_pod_cannot_use() -> None:
    cluster = FakeCluster()
    cluster.node("n", 1, taints=(Taint("soon", "", "NoSchedule"),))
    cluster.pod("low", 1, 10, "n", tolerations=(Toleration("soon", "Exists"),))
    cluster.pod("urgent", 1, 100)
    assert cluster.plan().evicted == set()


def test_free_resources_of_two_nodes_are_not_summed() -> None:
    cluster = FakeCluster()
    for name in ("east", "west"):
        cluster.node(name, 4)
        cluster.pod(f"{name}-half", 2, 10, name)
    cluster.pod("patient", 4, 10)
    assert cluster.plan().evicted == set()
    cluster.pod("urgent", 4, 100)
    assert len(cluster.plan().evicted) == 1


def test_the_node_whose_highest_priority_victim_is_lowest_is_chosen() -> None:
    cluster = FakeCluster()
    for name, priority in (("grand", 30), ("humble", 10), ("middling", 20)):
        cluster.node(name, 1)
        cluster.pod(f"on-{name}", 1, priority, name)
    cluster.pod("urgent", 1, 100)
    cluster.pod("pressing", 1, 100)
    assert cluster.plan().nominated == {"urgent": "humble", "pressing": "middling"}


def test_at_equal_priority_the_node_with_the_fewest_victims_is_chosen() -> None:
    cluster = FakeCluster()
    cluster.node("crowded", 2)
    cluster.node("single", 2)
    cluster.pod("a", 1, 10, "crowded")
    cluster.pod("b", 1, 10, "crowded")
    cluster.pod("alone", 2, 10, "single")
    cluster.pod("urgent", 2, 100)
    assert cluster.plan().evicted == {"alone"}


def test_negative_priorities_do_not_make_more_victims_cheaper() -> None:
    cluster = FakeCluster()
    cluster.node("crowded", 2)
    cluster.node("single", 2)
    cluster.pod("a", 1, -10, "crowded")
    cluster.pod("b", 1, -1000, "crowded")
    cluster.pod("alone", 2, -10, "single")
    cluster.pod("urgent", 2, 0)
    assert cluster.plan().evicted == {"alone"}


def test_at_equal_cost_the_node_whose_victim_started_last_is_chosen() -> None:
    cluster = FakeCluster()
    for name in ("long", "while", "short"):
        cluster.node(name, 1)
        cluster.pod(f"on-{name}", 1, 10, name)
    cluster.pod("urgent", 1, 100)
    assert cluster.plan().evicted == {"on-short"}


def test_the_start_time_of_the_highest_priority_victim_decides() -> None:
    cluster = FakeCluster()
    for name, first, second in (("a", 1.0, 9.0), ("b", 2.0, 3.0)):
        cluster.node(name, 2)
        cluster.pod(f"{name}-high", 1, 20, name, started=first)
        cluster.pod(f"{name}-low", 1, 10, name, started=second)
    cluster.pod("urgent", 2, 100)
    assert cluster.plan().evicted == {"b-high", "b-low"}


def test_victims_without_a_pdb_violation_are_preferred() -> None:
    cluster = FakeCluster()
    cluster.node("mixed", 2)
    cluster.node("only-covered", 1)
    cluster.pod("loose", 1, 10, "mixed")
    cluster.pod("covered", 1, 10, "mixed", labels={"app": "protected"})
    cluster.pod("covered-alone", 1, 10, "only-covered", labels={"app": "protected"})
    cluster.budget("protected", 0, {}, SelectorRequirement("app", "In", ("protected",)))
    cluster.pod("urgent", 1, 100)
    assert cluster.plan().evicted == {"loose"}


def test_evictions_of_the_same_plan_consume_the_pdb() -> None:
    cluster = FakeCluster()
    for name in ("a", "b"):
        cluster.node(name, 1)
        cluster.pod(f"covered-{name}", 1, 10, name, labels={"app": "protected"})
    cluster.node("c", 1)
    cluster.pod("higher-priority", 1, 20, "c")
    cluster.budget("protected", 1, {"app": "protected"})
    cluster.pod("first", 1, 100)
    cluster.pod("second", 1, 100)
    assert cluster.plan().evicted == {"covered-b", "higher-priority"}


def test_a_pdb_of_another_namespace_does_not_count() -> None:
    cluster = full_node(10)
    cluster.change("pod-0", labels={"app": "protected"}, key=("other", "pod-0"))
    cluster.node("z", 1)
    cluster.pod("higher-priority", 1, 20, "z")
    cluster.budget("protected", 0, {"app": "protected"})
    cluster.pod("urgent", 1, 100)
    assert cluster.plan().evicted == {"pod-0"}


def test_a_pdb_is_violated_when_no_other_victim_exists() -> None:
    cluster = full_node(10)
    cluster.change("pod-0", labels={"app": "protected"})
    cluster.budget("protected", 0, {"app": "protected"})
    cluster.pod("urgent", 1, 100)
    assert cluster.plan().evicted == {"pod-0"}


def test_a_pod_with_policy_never_stays_pending_and_can_be_preempted() -> None:
    cluster = full_node(10)
    cluster.change("pod-0", preempts=False)
    cluster.pod("never-preempts", 1, 100, preempts=False)
    decision = cluster.plan()
    assert decision.evicted == set()
    assert decision.reasons["never-preempts"].endswith("preemptionPolicy is Never")
    cluster.pod("urgent", 1, 100)
    assert cluster.plan().evicted == {"pod-0"}


def test_nothing_is_preempted_when_preemption_is_disabled() -> None:
    cluster = FakeCluster(Policy(preemption=False))
    cluster.node("n", 1)
    cluster.pod("low", 1, 10, "n")
    cluster.pod("urgent", 1, 100)
    decision = cluster.plan()
    assert decision.evicted == set()
    assert decision.reasons["urgent"].endswith("preemption is disabled")


def test_a_non_preemptible_pod_is_not_preempted() -> None:
    cluster = full_node(10)
    cluster.change("pod-0", non_preemptible=True)
    cluster.pod("urgent", 1, 100)
    assert cluster.plan().evicted == set()


def test_an_eviction_names_the_preemptor() -> None:
    cluster = full_node(10)
    cluster.pod("urgent", 1, 100)
    (eviction,) = cluster.plan().evictions
    assert eviction.beneficiary == "team/urgent"
    assert eviction.trigger.key == key("urgent")
    assert eviction.message == "muster-scheduler: preempting to accommodate a higher priority pod"


def test_pods_of_another_queue_are_not_preempted() -> None:
    cluster = full_node(10)
    cluster.queue("ours")
    cluster.pod("urgent", 1, 100, queue="ours")
    assert cluster.plan().evicted == set()


def test_pods_of_other_schedulers_are_not_preempted() -> None:
    cluster = FakeCluster()
    cluster.node("n", 2)
    cluster.pod("other", 1, 1, on="n", scheduler="default-scheduler")
    cluster.pod("own", 1, 10, on="n")
    cluster.pod("urgent", 1, 100)
    assert cluster.plan().evicted == {"own"}
    cluster.pod("large", 2, 1000)
    assert cluster.plan().evicted == {"own"}


def test_a_gang_with_disruption_mode_all_is_evicted_as_a_unit() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.gang("train", 4, 1, 10, "n", disruption_mode_all=True)
    cluster.pod("urgent", 1, 100)
    assert cluster.plan().evicted == {f"train-{number}" for number in range(4)}


def test_a_gang_with_disruption_mode_all_and_a_non_preemptible_member_is_kept() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.gang("train", 4, 1, 10, "n", disruption_mode_all=True)
    cluster.change("train-3", non_preemptible=True)
    cluster.pod("urgent", 1, 100)
    assert cluster.plan().evicted == set()


def test_a_single_pod_is_preempted_rather_than_a_whole_gang() -> None:
    cluster = FakeCluster()
    for name in ("a", "b", "c"):
        cluster.node(name, 1)
    cluster.gang("train", 2, 1, 10, "a", disruption_mode_all=True)
    cluster.change("train-1", node="b")
    cluster.pod("alone", 1, 10, "c", started=0.0)
    cluster.pod("urgent", 1, 100)
    assert cluster.plan().evicted == {"alone"}


def test_a_recreated_victim_stays_pending_and_does_not_preempt() -> None:
    cluster = full_node(10, 20)
    cluster.pod("urgent", 1, 100)
    steps = cluster.settle(replaced=True)
    assert [step.evicted for step in steps if step.evicted] == [{"pod-0"}]
    assert cluster.where() == {"pod-0": "", "pod-1": "n", "urgent": "n"}


def test_an_overcommitted_resource_that_is_not_requested_causes_no_eviction() -> None:
    cluster = FakeCluster()
    cluster.node("elsewhere", cpu=1, cordoned=True)
    cluster.node("shrunk", 2)
    for name in ("left", "right"):
        cluster.pod(name, 1, 10, "shrunk", cpu=1)
    cluster.pod("urgent", 1, 100)
    assert len(cluster.plan().evicted) == 1


@pytest.mark.parametrize("nodes", [100, 101, 150])
def test_pdb_violations_are_avoided_on_a_cluster_of_any_size(nodes: int) -> None:
    cluster = FakeCluster()
    for number in range(nodes - 1):
        cluster.node(f"n{number}", 1)
        cluster.pod(f"protected-{number}", 1, 1, on=f"n{number}", labels={"app": "protected"})
    cluster.node("z", 1)
    cluster.pod("plain", 1, 2, on="z")
    cluster.budget("protected", 0, {"app": "protected"})
    cluster.pod("urgent", 1, 100)
    assert cluster.plan().evicted == {"plain"}


def test_many_preemptions_in_one_plan_equal_one_plan_each() -> None:
    def crowded() -> FakeCluster:
        cluster = FakeCluster()
        for number in range(6):
            cluster.node(f"n{number}", 3)
            for size, priority in ((1, number), (2, 6 - number)):
                cluster.pod(f"low-{number}-{size}", size, priority, on=f"n{number}", labels={"app": "protected"})
        cluster.budget("protected", 3, {"app": "protected"})
        return cluster

    at_once, in_turn = crowded(), crowded()
    names = [f"urgent-{number}" for number in range(8)]
    for name in names:
        at_once.pod(name, 1 + int(name[-1]) % 2, 100)
    together = at_once.plan().evicted
    separately: set[str] = set()
    for name in names:
        in_turn.pod(name, 1 + int(name[-1]) % 2, 100)
        separately |= in_turn.step().evicted
        in_turn.budget("protected", 3 - len(separately), {"app": "protected"})
    assert together == separately
