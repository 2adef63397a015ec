"""Gangs with constraints on large, fragmented clusters: a placement was planted, so they are bound without evictions.

The brute-force tests reach five nodes. What is searched within a limit must be compared on large clusters, too: none
of its constants may be a size at which gangs stop being bound.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from scheduler.core.pod_constraints import PodConstraints
from tests.unit.core.planted_gangs import GPUS, PORT, RACK, ZONE, ZONES, Fragmented, apart, near, spread

HIGH, LOW = 1000, 0


def in_the_empty_zone(there: Fragmented) -> None:
    """The fifth zone is empty; in the others one node of ten has 4 GPUs free, the others fewer."""
    for zone in range(ZONES - 1):
        names = there.names(zone)
        there.free(names, 1)
        there.free(names[: max(1, len(names) // 50)], 4)
    there.free(there.names(ZONES - 1), GPUS)


def self_affine(there: Fragmented) -> int:
    in_the_empty_zone(there)
    return there.gang(("worker", 32, 4, near("worker", ZONE)))


def master_and_workers(there: Fragmented) -> int:
    in_the_empty_zone(there)
    return there.gang(("worker", 31, 4, near("master", ZONE)), ("master", 1, 0, None))


def master_beside_a_rack(there: Fragmented) -> int:
    """The workers need each other in one rack, and the master one of them in its zone."""
    rack = there.names(3, 7)
    there.free(there.place, 1)
    there.free(there.names(1), 2)  # enough for them in the zone, in none of its racks
    there.free(rack, 6)
    return there.gang(("worker", 3 * len(rack), 2, near("worker", RACK)), ("master", 1, 1, near("worker", ZONE)))


def two_roles_in_racks(there: Fragmented) -> int:
    """Each role in one rack: the one in which both fit is the only one for the second role."""
    there.free(there.place, 1)
    there.free(there.names(0, 0), 4)
    there.free(there.names(4, 9), 8)
    hosts = len(there.names(0, 0))
    return there.gang(("prefill", hosts, 4, near("prefill", RACK)), ("decode", hosts, 8, near("decode", RACK)))


def one_on_each_host_of_a_zone(there: Fragmented) -> int:
    """Together in a zone, apart on its hosts: the zone with the fewest free GPUs has enough hosts."""
    there.free(there.place, 1)
    hosts = len(there.names(4)) // 4
    for zone in range(4):
        there.free(there.names(zone)[:hosts], 8)
    there.free(there.names(4)[: 2 * hosts], 2)
    both = PodConstraints(affinity=near("worker", ZONE).affinity, anti_affinity=apart("worker").anti_affinity)
    return there.gang(("worker", 2 * hosts, 2, both))


def sizes_that_fill_a_zone(there: Fragmented) -> int:
    """24 nodes of one zone take a 5 with a 3, or two 4s: every GPU that is free there is needed."""
    there.free(there.place, 3)
    there.free([name for zone in (0, 1, 3) for name in there.names(zone)[:10]], 8)
    there.free(there.names(2), 0)
    there.free(there.names(2)[:24], 8)
    zone = near("five", ZONE)
    return there.gang(("three", 12, 3, zone), ("four", 24, 4, zone), ("five", 12, 5, zone))


def spread_over_zones(there: Fragmented) -> int:
    """60 members, 12 in each zone, on 6 nodes there."""
    there.free(there.place, 1)
    for zone in range(ZONES):
        there.free(there.names(zone)[3:9], 4)
    return there.gang(("worker", 60, 2, spread("worker", ZONE)))


def with_host_ports(there: Fragmented) -> int:
    """80 members with one port: so many nodes have 4 GPUs free."""
    there.free(there.place, 1)
    there.free(sorted(there.place)[:: len(there.place) // 80][:80], 4)
    return there.gang(("worker", 80, 4, PORT), ("other", 20, 1, apart("other")))


PLANTED = [
    self_affine,
    master_and_workers,
    master_beside_a_rack,
    two_roles_in_racks,
    one_on_each_host_of_a_zone,
    sizes_that_fill_a_zone,
    spread_over_zones,
    with_host_ports,
]


@pytest.mark.parametrize("priority", [LOW, HIGH])
@pytest.mark.parametrize("nodes", [200, 1000])
@pytest.mark.parametrize("plant", PLANTED)
def test_a_gang_with_a_planted_placement_is_bound(
    plant: Callable[[Fragmented], int], nodes: int, priority: int
) -> None:
    """Whether the running pods could be preempted or not."""
    there = Fragmented(nodes, Random(nodes))
    members = plant(there)
    decision = there.build(priority).plan()
    assert not decision.evicted
    assert len(decision.bound) == members, decision.reasons


@pytest.mark.parametrize("plant", [self_affine, master_and_workers])
def test_the_number_of_nodes_is_no_limit(plant: Callable[[Fragmented], int]) -> None:
    there = Fragmented(5000, Random(1), one_pod_per_node=True)
    members = plant(there)
    assert len(there.build(LOW).plan().bound) == members


def test_the_number_of_members_is_no_limit() -> None:
    """400 workers need the master, which is smaller and would come after them."""
    there = Fragmented(1000, Random(2))
    there.free(there.place, 1)
    there.free(there.names(3), 8)
    members = there.gang(("worker", 399, 4, near("master", ZONE)), ("master", 1, 0, None))
    decision = there.build(HIGH).plan()
    assert len(decision.bound) == members, decision.reasons
