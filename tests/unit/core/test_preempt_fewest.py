"""How many victims a gang takes: as few as any assignment of its members to nodes, by kube-scheduler's order on a node.

On one node kube-scheduler reprieves from the highest priority and the earliest start down, whatever the sizes are. That
can leave more victims than necessary, and is left as it is. How many members each node takes is for the scheduler to
choose.
"""

from __future__ import annotations

import random

import pytest

from scheduler.core.scheduling_types import GPU
from tests.support.cluster_builder import FakeCluster

_NODE_GPUS = 8


@pytest.mark.parametrize("nodes", [50, 240, 1000])
@pytest.mark.parametrize(("victim", "member"), [(1, 3), (2, 3), (3, 2), (2, 5), (3, 4)])
def test_a_gang_takes_the_fewest_victims_where_they_have_one_size(nodes: int, victim: int, member: int) -> None:
    chance, cluster = random.Random(nodes), FakeCluster()
    for number in range(nodes):
        cluster.node(f"n{number:04}", _NODE_GPUS)
        for pod in range(chance.randint(1, _NODE_GPUS // victim)):
            cluster.pod(f"low-{number:04}-{pod}", victim, 0, f"n{number:04}")
    members = nodes
    cluster.gang("train", members, member, 100)
    assert len(cluster.plan().evicted) == fewest_victims(cluster, members, member)


@pytest.mark.parametrize("nodes", [50, 240])
@pytest.mark.parametrize("member", [2, 3, 4, 5])
def test_no_assignment_of_members_to_nodes_takes_fewer_victims_of_mixed_sizes(nodes: int, member: int) -> None:
    chance, cluster = random.Random(member), FakeCluster()
    for number in range(nodes):
        cluster.node(f"n{number:04}", _NODE_GPUS)
        left = _NODE_GPUS - chance.randint(0, 2)
        while left > 0:
            gpus = min(left, chance.randint(1, 6))
            cluster.pod(f"low-{number:04}-{left}", gpus, 0, f"n{number:04}")
            left -= gpus
    members = nodes * 5 // 4 if member < 5 else nodes // 2
    cluster.gang("train", members, member, 100)
    assert len(cluster.plan().evicted) == fewest_victims(cluster, members, member)


def test_one_victim_that_frees_enough_for_two_members_is_better_than_two() -> None:
    """Placed one by one, both members would cost one victim on any node."""
    assert uneven_nodes().plan().evicted == {"wide-1"}


def test_fewer_victims_are_no_reason_for_a_higher_priority_victim() -> None:
    assert uneven_nodes(wide=20).plan().evicted == {"west-0", "west-1"}


def uneven_nodes(wide: int = 10) -> FakeCluster:
    """Two nodes of 6 GPUs and one of 7, with two 3-GPU pods each, for a gang of two 2-GPU members."""
    cluster = FakeCluster()
    for name, gpus, priority in (("wide", 7, wide), ("east", 6, 10), ("west", 6, 10)):
        cluster.node(name, gpus)
        cluster.pod(f"{name}-0", 3, priority, name)
        cluster.pod(f"{name}-1", 3, priority, name)
    cluster.gang("train", 2, 2, 100)
    return cluster


@pytest.mark.parametrize("members", [1, 2])
def test_the_earliest_pod_on_a_node_is_reprieved_although_it_is_the_largest(members: int) -> None:
    """kube-scheduler's order: evicting "first" alone would do, but it started earliest and fits again first."""
    cluster = FakeCluster()
    for number in range(members):
        cluster.node(f"n{number}", 5)
        for name, gpus in (("first", 2), ("second", 1), ("third", 1)):
            cluster.pod(f"{name}-{number}", gpus, 10, f"n{number}")
    cluster.gang("train", members, 3, 100)
    wanted = {f"{name}-{number}" for name in ("second", "third") for number in range(members)}
    assert cluster.plan().evicted == wanted


def fewest_victims(cluster: FakeCluster, members: int, size: int) -> int:
    """The fewest over all assignments: `reached` has, by the number of members placed so far, the victims for them."""
    reached: dict[int, int] = {0: 0}
    for node in cluster.state.nodes:
        costs = victims_by_members(cluster, node, size)
        better = dict(reached)
        for placed, victims in reached.items():
            for more, cost in enumerate(costs):
                total = min(members, placed + more)
                better[total] = min(better.get(total, victims + cost), victims + cost)
        reached = better
    return reached[members]


def victims_by_members(cluster: FakeCluster, node: str, size: int) -> list[int]:
    """How many victims so many members on this node cost, by kube-scheduler's order: all pods have one priority."""
    oldest_first = sorted((pod for pod in cluster.state.pods.values() if pod.node == node), key=lambda pod: pod.started)
    costs = []
    for members in range(_NODE_GPUS // size + 1):
        free, victims = _NODE_GPUS - members * size, 0
        for pod in oldest_first:
            gpus = dict(pod.requests)[GPU]
            free, victims = (free - gpus, victims) if gpus <= free else (free, victims + 1)
        costs.append(victims)
    return costs
