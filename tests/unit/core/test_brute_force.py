"""Brute force on small clusters: a plan decides what trying all placements and victim sets finds.

No code is shared with the scheduler.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler.core.scheduling_types import Pod
from tests.support.cluster_builder import FakeCluster, key

THOROUGH = os.environ.get("MUSTER_HYPOTHESIS") == "thorough"
URGENT = 50

bounded = settings(
    max_examples=1500 if THOROUGH else 80,
    deadline=None,
    derandomize=not THOROUGH,
    suppress_health_check=list(HealthCheck),
)


class RunningPod(NamedTuple):
    """A running pod."""

    node: int
    gpus: int
    cpu: int
    priority: int
    started: int
    protected: bool  # selected by a PodDisruptionBudget


nodes = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=4)
running = st.lists(
    st.builds(
        RunningPod, st.integers(0, 3), st.integers(0, 3), st.integers(0, 2), st.sampled_from([0, 10, 20, 50, 90]),
        st.integers(1, 3), st.booleans(),
    ),
    max_size=6,
)  # fmt: skip
members = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=4)


def cluster_with(
    node_sizes: Sequence[tuple[int, int]], pods: Sequence[RunningPod], *, allowed: int | None = None
) -> FakeCluster:
    """Nodes with the pods that fit, in this order; those that do not fit are left out."""
    cluster = FakeCluster()
    free = {}
    for number, (gpus, cpu) in enumerate(node_sizes):
        cluster.node(f"n{number}", gpus, cpu, pods=4)
        free[number] = [gpus, cpu, 4]
    for number, pod in enumerate(pods):
        left = free.get(pod.node)
        requested = (pod.gpus, pod.cpu, 1)
        if left is not None and all(available >= amount for available, amount in zip(left, requested, strict=True)):
            free[pod.node] = [available - amount for available, amount in zip(left, requested, strict=True)]
            labels = {"app": "protected"} if pod.protected else {}
            more = {"cpu": pod.cpu, "started": float(pod.started), "labels": labels}
            cluster.pod(f"low{number}", pod.gpus, pod.priority, f"n{pod.node}", **more)  # type: ignore[arg-type]
    if allowed is not None:
        cluster.budget("pdb", allowed, {"app": "protected"})
    return cluster


def gang(cluster: FakeCluster, sizes: Iterable[tuple[int, int]]) -> list[Pod]:
    sizes = list(sizes)
    cluster.group("gang", len(sizes))
    return [
        cluster.pod(f"member{number}", gpus, URGENT, cpu=cpu, group=key("gang"))
        for number, (gpus, cpu) in enumerate(sizes)
    ]


def free_on(node: str, kept: Iterable[Pod], cluster: FakeCluster) -> Counter[str]:
    free = Counter(cluster.state.nodes[node].allocatable)
    for pod in kept:
        if pod.node == node:
            free.subtract(dict(pod.requests))
    return free


def fit_together(gang_members: Sequence[Pod], kept: Sequence[Pod], cluster: FakeCluster) -> bool:
    """Whether any placement of the gang fits beside the kept pods."""
    free = {name: free_on(name, kept, cluster) for name in cluster.state.nodes}
    for placement in product(free, repeat=len(gang_members)):
        requested = {name: Counter[str]() for name in free}
        for pod, node in zip(gang_members, placement, strict=True):
            requested[node].update(dict(pod.requests))
        if all(free[name][resource] >= amount for name in free for resource, amount in requested[name].items()):
            return True
    return False


@bounded
@given(nodes, running, members)
def test_a_gang_starts_or_preempts_exactly_when_a_placement_exists(
    node_sizes: list[tuple[int, int]], pods: list[RunningPod], sizes: list[tuple[int, int]]
) -> None:
    cluster = cluster_with(node_sizes, pods)
    existing = list(cluster.state.pods.values())
    gang_members = gang(cluster, sizes)
    names = {pod.key[1] for pod in gang_members}
    decision = cluster.plan()
    not_preemptible = [pod for pod in existing if pod.priority >= URGENT]
    if fit_together(gang_members, existing, cluster):
        assert set(decision.bound) == names
        assert decision.evicted == set()
    elif fit_together(gang_members, not_preemptible, cluster):
        assert decision.bound == {}
        assert set(decision.nominated) == names
        victims = decision.evicted
        kept = [pod for pod in existing if pod.key[1] not in victims]
        assert fit_together(gang_members, kept, cluster)
        for pod in existing:
            if pod.key[1] in victims:
                assert pod.priority < URGENT
                assert not fit_together(gang_members, [*kept, pod], cluster), f"{pod.key} could have been reprieved"
    else:
        assert decision.bound == decision.nominated == {}
        assert decision.evicted == set()
        assert set(decision.reasons) == names


@bounded
@given(nodes, running, members)
def test_a_nominated_gang_is_bound_when_the_victims_are_gone(
    node_sizes: list[tuple[int, int]], pods: list[RunningPod], sizes: list[tuple[int, int]]
) -> None:
    cluster = cluster_with(node_sizes, pods)
    gang(cluster, sizes)
    nominated = cluster.step().nominated
    cluster.delete_terminating(replaced=True)
    assert not nominated or cluster.step().bound.items() >= nominated.items()


@bounded
@given(nodes, running, st.tuples(st.integers(0, 4), st.integers(0, 3)), st.one_of(st.none(), st.integers(0, 1)))
def test_a_pod_preempts_on_the_node_with_the_lowest_cost(
    node_sizes: list[tuple[int, int]], pods: list[RunningPod], size: tuple[int, int], allowed: int | None
) -> None:
    cluster = cluster_with(node_sizes, pods, allowed=allowed)
    existing = list(cluster.state.pods.values())
    urgent = cluster.pod("urgent", size[0], URGENT, cpu=size[1])
    decision = cluster.plan()
    if fit_together([urgent], existing, cluster):
        assert set(decision.bound) == {"urgent"}
        return
    choices = [
        (cost(victims, allowed), name, {pod.key[1] for pod in victims})
        for name in sorted(cluster.state.nodes)
        if (victims := victims_on(name, urgent, existing, cluster, allowed)) is not None
    ]
    if not choices:
        assert decision.evicted == set()
        return
    _, name, expected = min(choices, key=lambda choice: choice[:2])
    assert decision.nominated == {"urgent": name}
    assert decision.evicted == expected


def victims_on(
    name: str, urgent: Pod, existing: Sequence[Pod], cluster: FakeCluster, allowed: int | None
) -> list[Pod] | None:
    """Evict all lower-priority pods of the node, then reprieve: PDB violations first, then the highest priority."""
    candidates = sorted((pod for pod in existing if pod.node == name and pod.priority < URGENT), key=priority_key)
    kept = [pod for pod in existing if pod not in candidates]
    if not fits_on(name, urgent, kept, cluster):
        return None
    violating = pdb_violations(candidates, allowed)
    for pod in sorted(candidates, key=lambda pod: (pod not in violating, priority_key(pod))):
        if fits_on(name, urgent, [*kept, pod], cluster):
            kept.append(pod)
    return [pod for pod in candidates if pod not in kept]


def fits_on(name: str, urgent: Pod, kept: Sequence[Pod], cluster: FakeCluster) -> bool:
    free = free_on(name, kept, cluster)
    return all(free[resource] >= amount for resource, amount in urgent.requests)


def priority_key(pod: Pod) -> tuple[int, float, tuple[str, str]]:
    return -pod.priority, pod.started, pod.key


def pdb_violations(victims: Sequence[Pod], allowed: int | None) -> list[Pod]:
    protected = [pod for pod in victims if pod.labels.get("app") == "protected"]
    return [] if allowed is None else protected[allowed:]


def cost(victims: Sequence[Pod], allowed: int | None) -> tuple[float, ...]:
    """PDB violations, highest priority, sum of priorities (more victims always cost more), number, start time."""
    highest = max(pod.priority for pod in victims)
    total = sum(pod.priority + 2**40 for pod in victims)
    earliest = min(pod.started for pod in victims if pod.priority == highest)
    return len(pdb_violations(victims, allowed)), highest, total, len(victims), -earliest


@bounded
@given(nodes, running, st.tuples(st.integers(0, 4), st.integers(0, 3)), st.tuples(st.integers(1, 4), st.integers(1, 4)))
def test_an_added_node_never_causes_a_preemption_for_a_pod(
    node_sizes: list[tuple[int, int]], pods: list[RunningPod], size: tuple[int, int], another: tuple[int, int]
) -> None:
    before = cluster_with(node_sizes, pods)
    after = cluster_with(node_sizes, pods)
    after.node("another", *another)
    for cluster in (before, after):
        cluster.pod("urgent", size[0], URGENT, cpu=size[1])
    assert after.plan().evicted <= before.plan().evicted
