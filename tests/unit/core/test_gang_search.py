"""The search for a placement of heterogeneous gangs: exact where all placements can be tried, and never slow."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from scheduler.core.effort import Effort
from scheduler.core.gang_search import search
from scheduler.core.scheduling_types import PodRequirements
from scheduler.core.snapshot import Snapshot
from tests.support.call_count import calls_of
from tests.support.cluster_builder import FakeCluster, key, requirements
from tests.unit.core.test_brute_force import bounded

sizes = st.tuples(st.integers(0, 3), st.integers(1, 4))


@bounded
@example([((0, 1), False), ((0, 2), True), ((0, 2), True)], [(0, 1)] * 4)  # the nodes have a place more than is needed
@given(st.lists(st.tuples(sizes, st.booleans()), min_size=1, max_size=5), st.lists(sizes, min_size=1, max_size=5))
def test_a_placement_is_found_exactly_when_one_exists(
    nodes: list[tuple[tuple[int, int], bool]], members: list[tuple[int, int]]
) -> None:
    cluster = FakeCluster()
    for number, ((gpus, cpu), pool) in enumerate(nodes):
        cluster.node(f"n{number}", gpus, cpu, pods=3, labels={"pool": "a"} if pool else {})
    selectors: list[dict[str, object]] = [{}, {"selector": (("pool", "a"),)}]
    classes = [requirements(gpus, cpu, **selectors[number % 2]) for number, (gpus, cpu) in enumerate(members)]
    capacity = Snapshot(cluster.state).free_now
    assume(
        all(capacity.places(one).sum() >= count for one, count in Counter(classes).items())
    )  # else it is not searched
    found = search(Counter(classes), capacity, Effort())
    names = sorted(cluster.state.nodes)
    if found is not None:
        assert Counter(one for _, one in found) == Counter(classes)
        assert fit(cluster, [(one, names[row]) for row, one in found])
    else:
        every = product(names, repeat=len(classes))
        assert not any(fit(cluster, list(zip(classes, placement, strict=True))) for placement in every)


def test_no_more_members_are_placed_than_there_are() -> None:
    """The last node has places for more of them than are left."""
    cluster = FakeCluster()
    cluster.node("n0", 0, 1, pods=3)
    cluster.node("n1", 0, 2, pods=3, labels={"pool": "a"})
    cluster.node("n2", 0, 2, pods=3, labels={"pool": "a"})
    wanted = Counter({requirements(0, 1): 2, requirements(0, 1, selector=(("pool", "a"),)): 2})
    found = search(wanted, Snapshot(cluster.state).free_now, Effort())
    assert Counter(one for _, one in found or ()) == wanted


def fit(cluster: FakeCluster, placed: list[tuple[PodRequirements, str]]) -> bool:
    free = {name: Counter(node.allocatable) for name, node in cluster.state.nodes.items()}
    for one, name in placed:
        free[name].subtract(dict(one.requests))
        labels = cluster.state.nodes[name].labels
        if any(labels.get(label) != value for label, value in one.selector):
            return False
    return all(amount >= 0 for left in free.values() for amount in left.values())


@pytest.mark.parametrize("workers", [16, 48, 64, 200])
def test_a_gang_starts_although_only_one_node_can_take_its_master(workers: int) -> None:
    """The workers fit there, too, and are larger: placed first, they would use up the master's only node."""
    cluster = FakeCluster()
    cluster.node("a-only", 4, 8, labels={"pool": "masters"})
    for number in range((workers + 3) // 4):
        cluster.node(f"n{number:03}", 4, 4)
    cluster.group("train", workers + 1)
    for number in range(workers):
        cluster.pod(f"worker-{number:03}", 1, cpu=1, group=key("train"))
    cluster.pod("master", 0, cpu=5, group=key("train"), selector=(("pool", "masters"),))
    assert len(cluster.plan().bound) == workers + 1


@pytest.mark.parametrize("pairs", [2, 20, 120])
def test_members_that_only_fit_in_pairs_are_found_at_every_size(pairs: int) -> None:
    """Each node takes a 5 with a 3, or two 4s: only one way to combine them uses every GPU."""
    cluster = FakeCluster()
    for number in range(2 * pairs):
        cluster.node(f"n{number:03}", 8, 16 if number % 2 else 11)
    cluster.group("train", 4 * pairs)
    for number in range(pairs):
        for position, (gpus, cpu) in enumerate(((5, 8), (3, 8), (4, 5), (4, 6))):
            cluster.pod(f"m{number:03}-{position}", gpus, cpu=cpu, group=key("train"))
    assert len(cluster.plan().bound) == 4 * pairs


def test_rejecting_a_gang_whose_masters_pool_is_full_costs_the_same_on_any_number_of_nodes() -> None:
    few, many = gang_without_a_place_for_its_master(400), gang_without_a_place_for_its_master(1600)
    assert few.plan().bound == many.plan().bound == {}  # and warms up caches of the node table
    assert calls_of(many.plan) < 1.1 * calls_of(few.plan)


def gang_without_a_place_for_its_master(nodes: int) -> FakeCluster:
    cluster = FakeCluster()
    for number in range(nodes):
        cluster.node(f"gpu-{number:04}", 8, 64)
    cluster.node("master-0", 0, 4, labels={"pool": "masters"})
    cluster.pod("other", cpu=4, on="master-0", priority=1000)
    cluster.group("train", 17)
    for number in range(16):
        cluster.pod(f"worker-{number}", 2, cpu=4, group=key("train"))
    cluster.pod("master", cpu=2, group=key("train"), selector=(("pool", "masters"),))
    return cluster


@pytest.mark.parametrize(("classes", "nodes"), [(2, 1000), (3, 1000), (6, 300), (48, 100), (64, 1000)])
def test_the_effort_of_the_search_is_limited(classes: int, nodes: int) -> None:
    """Hopeless or nearly: more is requested of a second resource than is left where the first one is."""
    cluster, chance = FakeCluster(), random.Random(7)
    for number in range(nodes):
        cluster.node(f"n{number:04}", chance.randint(1, 8), chance.randint(8, 40), pods=9)
    capacity = Snapshot(cluster.state).free_now
    wanted: Counter[PodRequirements] = Counter()
    while sum(dict(one.requests).get("nvidia.com/gpu", 0) * count for one, count in wanted.items()) < 4.2 * nodes:
        kind = len(wanted) if len(wanted) < classes else chance.randrange(classes)
        wanted[requirements(1 + kind % 4, 3 + kind % 7 + kind // 7)] += 1
    assert calls_of(lambda: search(wanted, capacity, Effort())) < 60 * nodes
