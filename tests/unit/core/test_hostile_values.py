"""Hostile values: a plan never fails over them, and every pending pod has a reason."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.core.pod_constraints import SelectorRequirement
from scheduler.core.scheduling_types import GPU, PODS, Node, Pod, PodRequirements
from tests.support.call_count import calls_of
from tests.support.cluster_builder import FakeCluster, key


def pod_requesting(cluster: FakeCluster, name: str, **amounts: int) -> None:
    """A pod with exactly these requests, whatever the amounts."""
    requests = tuple(sorted({PODS: 1, **amounts}.items()))
    cluster.state.set_pod(
        Pod(
            key=key(name), uid=name, requirements=PodRequirements(requests), created=cluster.tick(), scheduler="volcano"
        )
    )


def test_an_empty_cluster_gives_an_empty_plan() -> None:
    assert FakeCluster().plan().actions == ()


def test_without_nodes_all_pods_are_pending_with_a_reason() -> None:
    cluster = FakeCluster()
    cluster.pod("single", 1, 100)
    cluster.gang("train", 2, 1)
    assert set(cluster.plan().reasons) == {"single", "train-0", "train-1"}


def test_nodes_without_resources_accept_no_pod() -> None:
    cluster = FakeCluster()
    cluster.state.set_node(Node("bare", {}))
    cluster.pod("single")
    assert set(cluster.plan().reasons) == {"single"}


@pytest.mark.parametrize("amount", [2**53, 2**63 - 1, 2**63, 2**64, 10**30])
def test_an_excessive_request_stays_pending(amount: int) -> None:
    cluster = FakeCluster()
    cluster.node("n", 8)
    cluster.pod("low", 1, -1, "n")
    pod_requesting(cluster, "huge", **{GPU: amount})
    decision = cluster.plan()
    assert set(decision.reasons) == {"huge"}
    assert decision.evicted == set()


def test_the_largest_amounts_are_placed_without_overflow() -> None:
    cluster = FakeCluster()
    cluster.state.set_node(Node("n", {PODS: 9, "memory": 2**53}))
    pod_requesting(cluster, "first", memory=2**53)
    pod_requesting(cluster, "second", memory=2**53)
    decision = cluster.step()
    assert decision.bound == {"first": "n"}
    assert set(decision.reasons) == {"second"}


def test_an_overcommitted_node_accepts_no_pod() -> None:
    cluster = FakeCluster()
    cluster.state.set_node(Node("n", {PODS: 9, "memory": 2**53}))
    for name in ("first", "second", "third", "fourth"):
        pod_requesting(cluster, name, memory=2**53)
        cluster.change(name, node="n")
    pod_requesting(cluster, "modest", memory=1)
    assert set(cluster.plan().reasons) == {"modest"}


def test_negative_amounts_do_not_break_a_plan() -> None:
    cluster = FakeCluster()
    cluster.state.set_node(Node("n", {PODS: 9, GPU: -2}))
    cluster.queue("research", -1)
    pod_requesting(cluster, "giver", **{GPU: -8})
    pod_requesting(cluster, "taker", **{GPU: 4})
    cluster.pod("queued", 1, queue="research")
    for _ in range(2):
        decision = cluster.step()
    assert {*decision.reasons, *(name for name, node in cluster.where().items() if node)} == {
        "giver",
        "taker",
        "queued",
    }


@pytest.mark.parametrize("min_member", [0, -1])
def test_a_gang_with_min_member_below_one_starts_pod_by_pod(min_member: int) -> None:
    cluster = FakeCluster()
    cluster.node("n", 1)
    cluster.gang("loose", 2, 1, min_member=min_member)
    decision = cluster.step()
    assert decision.bound == {"loose-0": "n"}
    assert set(decision.reasons) == {"loose-1"}


def test_a_gang_with_an_unreachable_min_member_stays_pending() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.gang("train", 2, 1, min_member=10**12)
    assert "2 of 1000000000000 pods exist" in cluster.plan().reasons["train-0"]


def test_a_role_without_pods_keeps_a_gang_pending() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.gang("train", 2, 1, roles={"": 1, "⛵": 1})
    assert "0 of 1 ⛵ pods exist" in cluster.plan().reasons["train-0"]


def test_gangs_linked_in_a_ring_start_together() -> None:
    cluster = FakeCluster()
    cluster.node("n", 3)
    for name, partner in (("a", "b"), ("b", "c"), ("c", "a")):
        cluster.gang(name, 1, 1, linked_groups=frozenset({key(partner), key(name)}))
    assert len(cluster.plan().bound) == 3


def test_names_may_contain_any_characters_and_separators() -> None:
    cluster = FakeCluster()
    cluster.node("узел", 2, labels={"зона": "東"})
    cluster.pod("größe-✓", 1, selector=(("зона", "東"),))
    cluster.pod("a/b:c", 8)
    cluster.gang("koordinator:乗組", 1, 9)
    decision = cluster.plan()
    assert decision.bound == {"größe-✓": "узел"}
    assert "gang team/乗組" in decision.reasons["koordinator:乗組-0"]


def test_an_invalid_selector_matches_nothing() -> None:
    cluster = FakeCluster()
    cluster.node("n", 2, labels={"rank": "first"})
    cluster.pod("pod", 1, affinity=((SelectorRequirement("rank", "Gt", ("1e9",)), SelectorRequirement("", "", ())),))
    assert set(cluster.plan().reasons) == {"pod"}


def test_pods_bound_to_a_deleted_node_are_ignored() -> None:
    cluster = FakeCluster()
    cluster.node("n", 1)
    cluster.gang("ghosts", 2, 1, -5, on="gone", disruption_mode_all=True)
    cluster.change("ghosts-1", node="n")
    cluster.pod("urgent", 1, 100)
    assert set(cluster.plan().reasons) == {"urgent"}


def test_extreme_priorities_are_compared_exactly() -> None:
    cluster = FakeCluster()
    cluster.node("n", 1)
    cluster.pod("lowest", 1, -(2**31), "n")
    cluster.pod("low", 1, -(2**31) + 1)
    assert cluster.plan().evicted == {"lowest"}


def large(nodes: int) -> FakeCluster:
    cluster = FakeCluster()
    for number in range(nodes):
        cluster.node(f"node-{number:04}", 8)
    return cluster


def train(nodes: int, pods: int, **group: Any) -> FakeCluster:
    cluster = large(nodes)
    cluster.gang("train", pods, 1, **group)
    return cluster


def running_gang(*, disruption_mode_all: bool) -> FakeCluster:
    cluster = large(10)
    cluster.gang("running", 80, 1, 0, "node-0000", disruption_mode_all=disruption_mode_all)
    for number in range(80):
        cluster.change(f"running-{number}", node=f"node-{number // 8:04}")
    cluster.pod("urgent", 1, 100)
    return cluster


def test_a_gang_of_five_times_the_pods_costs_five_times_as_much() -> None:
    assert calls_of(train(625, 5000).plan) < 6 * calls_of(train(125, 1000).plan)


def test_a_gang_with_roles_costs_little_more_than_one_without() -> None:
    assert calls_of(train(125, 1000, roles={"": 1000}).plan) < 3 * calls_of(train(125, 1000).plan)


def test_a_gang_with_disruption_mode_all_costs_little_more_to_plan() -> None:
    """Its 80 members are candidates on every node, and the whole gang is counted on each."""
    as_a_unit, one_by_one = running_gang(disruption_mode_all=True), running_gang(disruption_mode_all=False)
    assert calls_of(as_a_unit.plan) < 16 * calls_of(one_by_one.plan)
