"""The scoring strategy: the fullest node that fits (MostAllocated), or the emptiest (LeastAllocated).

The properties are asked of small random clusters, by code that is not shared with the scheduler.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.core.pod_constraints import PodConstraints, PodSelection, PodTerm, SelectorRequirement
from scheduler.core.policy import LEAST_ALLOCATED, MOST_ALLOCATED, SCORING_STRATEGIES, Policy
from scheduler.core.scheduling_types import GPU, Pod, Taint
from tests.support.cluster_builder import FakeCluster, key
from tests.unit.core.test_brute_force import bounded, fit_together, free_on

SPREAD = Policy(scoring_strategy=LEAST_ALLOCATED)

node_gpus = st.lists(st.integers(1, 8), min_size=1, max_size=5)
used_gpus = st.lists(st.integers(0, 8), min_size=5, max_size=5)


def cluster_of(policy: Policy, gpus: Sequence[int], used: Sequence[int] = ()) -> FakeCluster:
    cluster = FakeCluster(policy)
    for number, amount in enumerate(gpus):
        cluster.node(f"n{number}", amount, 64)
        if number < len(used) and used[number]:
            cluster.pod(f"running{number}", min(used[number], amount), 90, f"n{number}")
    return cluster


def test_identical_pods_fill_one_node_or_are_spread() -> None:
    bound = {}
    for strategy in SCORING_STRATEGIES:
        cluster = cluster_of(Policy(scoring_strategy=strategy), [8, 8, 8])
        for number in range(6):
            cluster.pod(f"p{number}", 1)
        bound[strategy] = sorted(cluster.plan().bound.values())
    assert bound[MOST_ALLOCATED] == ["n0"] * 6
    assert bound[LEAST_ALLOCATED] == ["n0", "n0", "n1", "n1", "n2", "n2"]


def test_least_allocated_compares_parts_of_the_nodes() -> None:
    """4 of 8 GPUs are free on the one node, 3 of 3 on the other."""
    cluster = cluster_of(SPREAD, [8, 3], [4])
    cluster.pod("pod", 1)
    assert cluster.plan().bound == {"pod": "n1"}


@pytest.mark.parametrize("strategy", SCORING_STRATEGIES)
def test_preferences_come_before_the_strategy(strategy: str) -> None:
    cluster = FakeCluster(Policy(scoring_strategy=strategy))
    cluster.node("full", 8, labels={"disk": "slow"})
    cluster.pod("running", 4, on="full")
    cluster.node("empty", 8, labels={"disk": "slow"}, taints=(Taint("old", "", "PreferNoSchedule"),))
    cluster.node("preferred", 8, labels={"disk": "fast"})
    cluster.pod("other", 2, on="preferred")
    cluster.pod("pod", 1, preferred=((5, (SelectorRequirement("disk", "In", ("fast",)),)),))
    assert cluster.plan().bound == {"pod": "preferred"}


def test_a_pod_without_gpus_avoids_nodes_with_gpus_even_if_they_are_empty() -> None:
    cluster = FakeCluster(SPREAD)
    cluster.node("gpus", 8, 64)
    cluster.node("cpus", cpu=8)
    cluster.pod("running", on="cpus", cpu=6)
    cluster.pod("pod", cpu=1)
    assert cluster.plan().bound == {"pod": "cpus"}


def test_a_gang_that_cannot_be_spread_is_packed() -> None:
    """All members must be in one zone: the emptiest node is in one that has no place for the second."""
    cluster = FakeCluster(SPREAD)
    cluster.node("east", 4, pods=1, labels={"zone": "east"})
    cluster.node("west", 4, labels={"zone": "west"})
    cluster.pod("running", 2, on="west")
    near = PodTerm("zone", PodSelection((SelectorRequirement("app", "In", ("x",)),), frozenset({"team"})))
    cluster.group("gang", 2)
    for name in ("a", "b"):
        constraints = PodConstraints(affinity=(near,))
        cluster.pod(name, 1, group=key("gang"), labels={"app": "x"}, constraints=constraints)
    assert cluster.plan().bound == {"a": "west", "b": "west"}


@bounded
@given(node_gpus, used_gpus, st.integers(0, 4))
def test_a_pod_is_bound_to_the_node_that_the_strategy_prefers(gpus: list[int], used: list[int], request: int) -> None:
    for strategy in SCORING_STRATEGIES:
        cluster = cluster_of(Policy(scoring_strategy=strategy), gpus, used)
        existing = list(cluster.state.pods.values())
        cluster.pod("pod", request, priority=50)
        free = {name: free_on(name, existing, cluster) for name in sorted(cluster.state.nodes)}
        fitting = [name for name in free if free[name][GPU] >= request]
        if not request or not fitting:
            continue
        left = {
            name: Fraction(free[name][GPU] - request, cluster.state.nodes[name].allocatable[GPU]) for name in fitting
        }
        best = (
            max(fitting, key=lambda name: left[name])
            if strategy == LEAST_ALLOCATED
            else min(fitting, key=lambda name: free[name][GPU])
        )
        assert cluster.plan().bound == {"pod": best}


@bounded
@given(node_gpus, used_gpus, st.lists(st.tuples(st.integers(0, 4), st.integers(0, 40)), min_size=2, max_size=5))
def test_the_strategy_never_decides_whether_a_gang_starts(
    gpus: list[int], used: list[int], sizes: list[tuple[int, int]]
) -> None:
    cluster = cluster_of(SPREAD, gpus, used)
    existing = list(cluster.state.pods.values())
    cluster.group("gang", len(sizes))
    members: list[Pod] = [
        cluster.pod(f"m{number}", amount, 50, cpu=cpu, group=key("gang")) for number, (amount, cpu) in enumerate(sizes)
    ]
    decision = cluster.step()
    assert bool(decision.bound) is fit_together(members, existing, cluster)
    after = list(cluster.state.pods.values())
    for name in cluster.state.nodes:
        assert min(free_on(name, [pod for pod in after if pod.node], cluster).values()) >= 0
