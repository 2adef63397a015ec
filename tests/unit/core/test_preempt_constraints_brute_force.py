"""Preemption and gangs among pods with constraints, on random small clusters, against what trying everything finds.

A single pod preempts exactly where kube-scheduler's dry run of some node works, on the node with the lowest cost. No
code is shared with the scheduler.
"""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given

from scheduler.core.scheduling_types import Pod
from tests.support.cluster_builder import FakeCluster, key
from tests.unit.core.constraint_checks import World
from tests.unit.core.constraint_examples import add, cluster_of, world
from tests.unit.core.test_brute_force import cost, priority_key
from tests.unit.core.test_constraints_brute_force import bounded, seeds

URGENT = 100


def dry_run(new: Pod, name: str, there: World) -> list[Pod] | None:
    """The victims on the node: all that are lower go, and return from the highest priority down, where they may."""
    lower = sorted(
        (pod for pod, on in there.pods.values() if on == name and pod.priority < new.priority), key=priority_key
    )
    there = there.without(pod.uid for pod in lower)
    if there.objection(new, name):
        return None
    victims = []
    for pod in lower:
        beside = there.with_pod(pod, name)
        if beside.objection(new, name):
            victims.append(pod)
        else:
            there = beside
    return victims


def can_join(members: list[Pod], there: World) -> bool:
    """Whether the members can join one after the other, in any order, on any nodes."""
    return not members or any(
        not there.objection(pod, name)
        and can_join([one for one in members if one is not pod], there.with_pod(pod, name))
        for pod in members
        for name in there.nodes
    )


def can_join_on(placement: dict[str, str], members: list[Pod], there: World) -> bool:
    """The same, each on its node."""
    return not members or any(
        not there.objection(pod, placement[pod.key[1]])
        and can_join_on(
            placement, [one for one in members if one is not pod], there.with_pod(pod, placement[pod.key[1]])
        )
        for pod in members
    )


@bounded
@given(seeds)
def test_a_pod_preempts_exactly_where_a_dry_run_of_the_node_works(seed: int) -> None:
    random = Random(seed)
    cluster = cluster_of(random, terminating=False)
    add(cluster, "new", random, priority=URGENT, cpu=random.choice([0, 1, 2]))
    there, new = world(cluster), cluster["new"]
    decision = cluster.plan()
    if any(not there.objection(new, name) for name in there.nodes):
        assert set(decision.bound) == {"new"}
        assert not decision.evicted
        return
    dry_runs = {name: victims for name in sorted(there.nodes) if (victims := dry_run(new, name, there)) is not None}
    if not dry_runs:
        assert not decision.evicted
        assert not decision.nominated
        return
    name = min(dry_runs, key=lambda name: (cost(dry_runs[name], None), name))
    assert decision.nominated == {"new": name}
    assert decision.evicted == {pod.key[1] for pod in dry_runs[name]}


def gang_of(cluster: FakeCluster, random: Random, **more: Any) -> list[Pod]:
    members = random.choice([2, 2, 3])
    cluster.group("gang", members)
    alike = random.random() < 0.4
    chance = random.randrange(2**32)
    for number in range(members):
        own = Random(chance) if alike else random
        add(cluster, f"member{number}", own, group=key("gang"), key=key(f"member{number}"), **more)
    return [cluster[f"member{number}"] for number in range(members)]


@bounded
@given(seeds)
def test_a_gang_is_bound_exactly_when_its_members_can_join(seed: int) -> None:
    random = Random(seed)
    cluster = cluster_of(random, terminating=False)
    members = gang_of(cluster, random, preempts=False, cpu=random.choice([0, 1]))
    bound = cluster.plan().bound
    if bound:
        assert can_join_on(bound, members, world(cluster))
    else:
        assert not can_join(members, world(cluster))


@bounded
@given(seeds)
def test_a_gang_preempts_no_pod_in_vain(seed: int) -> None:
    random = Random(seed)
    cluster = cluster_of(random, terminating=False)
    members = gang_of(cluster, random, priority=URGENT, cpu=random.choice([0, 1, 2]))
    decision = cluster.plan()
    if not decision.evicted:
        return
    victims = [pod for pod in cluster.state.pods.values() if pod.key[1] in decision.evicted]
    assert all(pod.priority < URGENT for pod in victims)
    assert can_join_on(decision.nominated, members, world(cluster).without(pod.uid for pod in victims))
    for pod in victims:
        gone = [one.uid for one in victims if one is not pod]
        assert not can_join(members, world(cluster).without(gone)), f"{pod.key} could have been reprieved"


@bounded
@given(seeds)
def test_a_gang_that_preempted_is_bound_when_its_victims_are_gone(seed: int) -> None:
    random = Random(seed)
    cluster = cluster_of(random, terminating=False)
    members = gang_of(cluster, random, priority=URGENT, cpu=random.choice([0, 1, 2]))
    if cluster.step().evicted:
        cluster.delete_terminating()
        assert len(cluster.step().bound) == len(members)
