"""What is asked of all bound pods at once is the same as asking each of them."""

from __future__ import annotations

import random

import pytest

from scheduler.core.disruption_budgets import DisruptionBudgets
from scheduler.core.node_table import term_matches
from scheduler.core.pod_constraints import NODE_NAME, SelectorRequirement
from scheduler.core.scheduling_types import GPU, Pod
from scheduler.core.snapshot import Snapshot
from scheduler.core.victims import Candidates
from scheduler.core.volume_requirements import NO_VOLUME, VolumeRequirement
from tests.support.cluster_builder import FakeCluster, key

_PRIORITY, _QUEUES = 50, frozenset({"default", "a"})


@pytest.mark.parametrize("seed", range(30))
def test_candidates_are_the_pods_that_may_be_preempted_one_by_one(seed: int) -> None:
    cluster = random_cluster(seed)
    snapshot = Snapshot(cluster.state)
    evicted = [pod for pod in cluster.state.bound() if pod.key[1].endswith("7") and pod.node != "gone"]
    snapshot.evict(evicted)
    candidates = Candidates(_PRIORITY, _QUEUES, snapshot)
    wanted = {pod.uid for pod in cluster.state.bound() if may_be_preempted(pod, cluster, {one.uid for one in evicted})}
    assert {pod.uid for pod in candidates.all_pods()} == wanted
    for row, node in enumerate(snapshot.table.nodes):
        on_node = candidates.on(row)
        assert {pod.node for pod in on_node} <= {node.name}
        assert on_node == sorted(on_node, key=candidates.priority_key)
        freed = sum(dict(pod.requests).get(GPU, 0) for pod in on_node)
        assert candidates.freeable[snapshot.table.column[GPU], row] == freed


def may_be_preempted(pod: Pod, cluster: FakeCluster, evicted: set[str]) -> bool:
    def itself(one: Pod) -> bool:
        state = cluster.state
        lower = state.priority_of(one) < _PRIORITY and state.queue_of(one) in _QUEUES
        free = not one.terminating and not one.non_preemptible and one.uid not in evicted
        return lower and free and one.node in state.nodes

    group = cluster.state.group_of(pod)
    if group is None or not group.disruption_mode_all:
        return itself(pod)
    others = [one for one in cluster.state.members(group.key) if not one.terminating and one.uid not in evicted]
    return itself(pod) and all(itself(one) for one in others)


@pytest.mark.parametrize("seed", range(10))
def test_the_usage_of_queues_is_the_sum_over_their_pods(seed: int) -> None:
    cluster = random_cluster(seed)
    usage = Snapshot(cluster.state).queue_usage
    for queue in ("default", "a", "b"):
        pods = [pod for pod in cluster.state.bound() if cluster.state.queue_of(pod) == queue]
        assert usage.used(queue, GPU) == sum(dict(pod.requests).get(GPU, 0) for pod in pods)


def random_cluster(seed: int) -> FakeCluster:
    """With gangs, queues, terminating pods, and pods on a node that is gone."""
    chance, cluster = random.Random(seed), FakeCluster()
    for name in ("default", "a", "b"):
        cluster.queue(name, 1000)
    for number in range(5):
        cluster.node(f"n{number}", 8)
        priority = chance.choice([None, 10, 90])
        mode_all, queue = chance.random() < 0.5, chance.choice(["", "a", "b"])
        cluster.group(f"g{number}", 1, priority=priority, disruption_mode_all=mode_all, queue=queue)
    for number in range(40):
        cluster.pod(
            f"p{number}",
            chance.randint(0, 2),
            chance.choice([0, 40, 50, 60]),
            chance.choice(["n0", "n1", "n2", "n3", "n4", "n4", "gone"]),
            queue=chance.choice(["", "a", "b"]),
            group=chance.choice([None, None, key(f"g{chance.randrange(5)}"), key("missing")]),
            terminating=chance.random() < 0.1,
            non_preemptible=chance.random() < 0.1,
        )
    return cluster


@pytest.mark.parametrize("seed", range(20))
def test_budgets_found_by_a_label_are_those_that_select_the_pod(seed: int) -> None:
    chance, cluster = random.Random(seed), FakeCluster()
    for number in range(6):
        selector = {name: chance.choice("xy") for name in ("app", "tier") if chance.random() < 0.6}
        lines = [SelectorRequirement("app", "In", ("x",))] if chance.random() < 0.3 else []
        cluster.budget(f"b{number}", chance.randint(0, 1), selector, *lines)
    labels = [{name: chance.choice("xyz") for name in ("tier", "app") if chance.random() < 0.8} for _ in range(12)]
    pods = [cluster.pod(f"p{number}", labels=one) for number, one in enumerate(labels)]
    left, violating = {one.key: one.allowed for one in cluster.state.budgets.values()}, []
    for pod in pods:
        selecting = [
            one
            for one in cluster.state.budgets.values()
            if all(pod.labels.get(name) == value for name, value in one.selector.items())
            and all(pod.labels.get(line.key) in line.values for line in one.expressions)
        ]
        for budget in selecting:
            left[budget.key] -= 1
        if any(left[one.key] < 0 for one in selecting):
            violating.append(pod)
    assert DisruptionBudgets(cluster.state.budgets, ()).violations(pods) == violating


def test_volumes_are_counted_on_each_node_that_a_term_matches() -> None:
    cluster = FakeCluster()
    for number in range(6):
        cluster.node(f"n{number}", 1, labels={"zone": f"z{number % 2}"} if number else {})
    terms = (
        (SelectorRequirement("zone", "In", ("z0", "z1", "z0")),),
        (SelectorRequirement(NODE_NAME, "In", ("n0", "n3", "none")),),
        (SelectorRequirement("zone", "In", ("z1",)), SelectorRequirement(NODE_NAME, "NotIn", ("n1",))),
        (SelectorRequirement("zone", "DoesNotExist"),),
    )
    limits = (1, 10, 100, 1000)
    slots = cluster.state.table.volume_slots(VolumeRequirement(NO_VOLUME, terms, limits))
    for node, found in zip(cluster.state.table.nodes, slots.tolist(), strict=True):
        wanted = sum(limit for term, limit in zip(terms, limits, strict=True) if term_matches(node, term))
        assert found == wanted, node.name
