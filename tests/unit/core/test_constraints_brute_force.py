"""Constraints regarding other pods, on random small clusters: every decision is there by code of its own."""

from __future__ import annotations

import os
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler.core.actions import Bind
from tests.unit.core.constraint_examples import add, cluster_of, world

THOROUGH = os.environ.get("MUSTER_HYPOTHESIS") == "thorough"
bounded = settings(
    max_examples=5000 if THOROUGH else 400,
    deadline=None,
    derandomize=not THOROUGH,
    suppress_health_check=list(HealthCheck),
)
seeds = st.integers(0, 2**32)


@bounded
@given(seeds)
def test_a_pod_is_bound_exactly_where_it_may_join(seed: int) -> None:
    random = Random(seed)
    cluster = cluster_of(random, terminating=False)
    add(cluster, "new", random, preempts=False)
    allowed = {name for name in cluster.state.nodes if not world(cluster).objection(cluster["new"], name)}
    bound = cluster.plan().bound
    assert set(bound.values()) <= allowed
    assert bool(bound) == bool(allowed)


@bounded
@given(seeds)
def test_a_terminating_pod_still_counts_where_it_must_be_avoided(seed: int) -> None:
    """It is bound only where it may join those that are there, and those that will be."""
    random = Random(seed)
    cluster = cluster_of(random)
    add(cluster, "new", random, preempts=False)
    now, later = world(cluster), world(cluster, terminating=False)
    new = cluster["new"]
    decision = cluster.plan()
    for node in decision.bound.values():
        assert not now.objection(new, node)
    allowed_later = {name for name in cluster.state.nodes if not later.objection(new, name)}
    assert set(decision.nominated.values()) <= allowed_later
    if not decision.bound and not decision.nominated:
        assert not allowed_later


@bounded
@given(seeds)
def test_pods_of_one_cycle_count_for_each_other(seed: int) -> None:
    random = Random(seed)
    cluster = cluster_of(random)
    for number in range(4):
        add(cluster, f"new{number}", random, preempts=False)
    there = world(cluster)
    for action in cluster.plan().actions:
        if isinstance(action, Bind):
            assert not there.objection(action.pod, action.node)
            there = there.with_pod(action.pod, action.node)


@bounded
@given(seeds)
def test_counters_are_those_of_a_fresh_start(seed: int) -> None:
    """A scheduler that saw the pods come and go counts what a restarted one counts."""
    random = Random(seed)
    cluster = cluster_of(random)
    assert cluster.state.table is not None
    for number in range(3):
        add(cluster, f"new{number}", random, preempts=False)
        cluster.step()
    cluster.delete_terminating()
    for name in [running.key[1] for running in cluster.state.pods.values()][::2]:
        cluster.delete(name)
    cluster.state.set_namespace("other", {"team": random.choice(["blue", "red"])})
    fresh = cluster.copy()
    for name, labels in cluster.state.counters.namespaces.items():
        fresh.state.set_namespace(name, labels)
    mine, theirs = cluster.state.table, fresh.state.table
    for counter in fresh.state.counters:
        assert mine.used[mine.counter_column[counter]].tolist() == theirs.used[theirs.counter_column[counter]].tolist()


@bounded
@given(seeds)
def test_no_pod_is_preempted_where_that_does_not_help(seed: int) -> None:
    random = Random(seed)
    cluster = cluster_of(random, terminating=False)
    add(cluster, "new", random, priority=100, cpu=random.choice([0, 1, 2]))
    decision = cluster.plan()
    victims = [pod.uid for pod in cluster.state.pods.values() if pod.key[1] in decision.evicted]
    for node in decision.nominated.values():
        assert not world(cluster).without(victims).objection(cluster["new"], node)
