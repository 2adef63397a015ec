"""Preemption on large clusters: no bound on effort makes it evict more, or on other nodes, than on a small one."""

from __future__ import annotations

import random

import pytest

from scheduler.core.scheduling_types import Pod
from scheduler.core.snapshot import Snapshot
from scheduler.core.victims import Candidates
from tests.support.call_count import calls_of
from tests.support.cluster_builder import FakeCluster, key


@pytest.mark.parametrize(("nodes", "free", "members"), [(140, 139, 149), (240, 99, 101), (300, 250, 260)])
def test_a_gang_uses_free_capacity_before_victims(nodes: int, free: int, members: int) -> None:
    cluster = FakeCluster()
    for number in range(nodes):
        cluster.node(f"n{number:04}", 8)
        cluster.pod(f"low-{number:04}-0", 4, 10, f"n{number:04}")
        if number >= free:
            cluster.pod(f"low-{number:04}-1", 4, 5, f"n{number:04}")
    cluster.gang("train", members, 4, 100)
    decision = cluster.plan()
    assert len(decision.nominated) == members
    assert len(decision.evicted) == members - free


@pytest.mark.parametrize("nodes", [99, 101, 240])
def test_the_cheapest_of_all_nodes_is_chosen(nodes: int) -> None:
    """The node whose victims have the lowest priority also has a pod of the highest priority."""
    cluster = FakeCluster()
    for number in range(nodes):
        cluster.node(f"n{number:04}", 4)
        cluster.pod(f"a-{number:04}", 2, 20, f"n{number:04}")
        cluster.pod(f"b-{number:04}", 2, 20, f"n{number:04}")
    cluster.node("z", 4)
    cluster.pod("z-low", 2, 1, "z")
    cluster.pod("z-high", 2, 90, "z")
    cluster.pod("urgent", 2, 100)
    assert cluster.plan().evicted == {"z-low"}


@pytest.mark.parametrize("seed", range(6))
def test_no_single_victim_of_a_large_gang_could_have_been_kept(seed: int) -> None:
    chance, cluster = random.Random(seed), FakeCluster()
    for number in range(240):
        name = f"n{number:04}"
        cluster.node(name, 8, pods=8)
        left = 8 - chance.randint(0, 2)
        while left > 0:
            gpus = min(left, chance.randint(1, 4))
            cluster.pod(f"p{number:04}-{left}", gpus, chance.choice([0, 5, 10, 200]), name)
            left -= gpus
    members = cluster.gang("train", 120, 4, 100)
    decision = cluster.plan()
    assert len(decision.nominated) == len(members)
    victims = [pod for pod in cluster.state.pods.values() if pod.key[1] in decision.evicted]
    assert places_of_four(cluster, victims) >= len(members)
    for pod in victims:
        assert places_of_four(cluster, [one for one in victims if one is not pod]) < len(members), pod.key


def places_of_four(cluster: FakeCluster, victims: list[Pod]) -> int:
    free, gone = dict.fromkeys(cluster.state.nodes, 8), {pod.uid for pod in victims}
    for pod in cluster.state.pods.values():
        if pod.node and pod.uid not in gone:
            free[pod.node] -= dict(pod.requests)["nvidia.com/gpu"]
    return sum(left // 4 for left in free.values())


def test_one_victim_for_quota_is_enough_although_150_are_candidates() -> None:
    cluster = FakeCluster()
    cluster.queue("default", 1200)
    for number in range(150):
        cluster.node(f"a{number:04}", 4)
        cluster.pod(f"low-{number:04}", 4, 10, f"a{number:04}")
    cluster.group("train", 151)
    for number in range(150):
        cluster.pod(f"worker-{number:04}", 4, 100, group=key("train"))
    cluster.pod("master", 1, 100, group=key("train"))
    for number in range(76):
        cluster.node(f"b{number:04}", 8)
    assert len(cluster.plan().evicted) == 1


def test_quota_for_a_large_gang_costs_one_pass_over_its_victims() -> None:
    """Queue at its capability: each of the victims was compared with all others."""
    few, many = gang_at_the_capability(60), gang_at_the_capability(240)
    assert calls_of(many.plan) < 6 * calls_of(few.plan)
    assert len(many.plan().evicted) == 8 * 240


def gang_at_the_capability(members: int) -> FakeCluster:
    cluster = FakeCluster()
    cluster.queue("q", 8 * (members + 6))
    for number in range(members + 10):
        cluster.node(f"n{number:04}", 8)
    for number in range(8 * (members + 6)):
        cluster.pod(f"low-{number:04}", 1, 0, f"n{number % (members + 6):04}", queue="q")
    cluster.gang("train", members, 8, 100, queue="q")
    return cluster


def test_late_members_of_many_gangs_share_their_candidates() -> None:
    """100 gangs with one late member each: the candidates of the whole cluster are collected once."""
    cluster = FakeCluster()
    for number in range(1000):
        cluster.node(f"n{number:04}", 8)
        for gpu in range(8):
            cluster.pod(f"low-{number:04}-{gpu}", 1, 50, f"n{number:04}", non_preemptible=True)
    for number in range(100):
        cluster.gang(f"g{number}", 1, 0, 100, f"n{number:04}")
        cluster.pod(f"late-{number}", 1, 100, group=key(f"g{number}"))
    collected = calls_of(lambda: Candidates(100, frozenset({"default"}), Snapshot(cluster.state)))
    assert cluster.plan().bound == {}
    assert calls_of(cluster.plan) < 3 * collected
