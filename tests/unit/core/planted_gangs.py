"""Large clusters with random fragments, and a gang whose placement was planted: it fits, whatever a search finds.

Every GPU of the nodes that were not planted is random; what the planted nodes have free is just enough.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

from scheduler.core.pod_constraints import (
    HostPort,
    PodConstraints,
    PodSelection,
    PodTerm,
    SelectorRequirement,
    SpreadConstraint,
)
from tests.support.cluster_builder import NAMESPACE, FakeCluster, key

ZONE, RACK, HOST = "zone", "rack", "host"
ZONES, RACKS = 5, 10  # racks of each zone
GPUS = 8


def term(topology_key: str, role: str) -> PodTerm:
    selector = (SelectorRequirement("role", "In", (role,)),)
    return PodTerm(topology_key, PodSelection(selector, frozenset({NAMESPACE})))


def near(role: str, *topology_keys: str) -> PodConstraints:
    return PodConstraints(affinity=tuple(term(one, role) for one in topology_keys))


def apart(role: str, topology_key: str = HOST) -> PodConstraints:
    return PodConstraints(anti_affinity=(term(topology_key, role),))


def spread(role: str, topology_key: str, skew: int = 1) -> PodConstraints:
    selector = (SelectorRequirement("role", "In", (role,)),)
    return PodConstraints(spread=(SpreadConstraint(topology_key, skew, NAMESPACE, selector),))


PORT = PodConstraints(ports=frozenset({HostPort("0.0.0.0", "TCP", 29500)}))


@dataclass
class Fragmented:
    """A cluster, with the GPUs that are used on each node before its running pods are added."""

    nodes: int
    random: Random
    one_pod_per_node: bool = False  # instead of pods of one GPU
    cluster: FakeCluster = field(default_factory=FakeCluster)

    def __post_init__(self) -> None:
        names = [f"n{number:05}" for number in range(self.nodes)]
        self.random.shuffle(names)  # the zones are not in the order of the names
        self.place = {name: (number % ZONES, number // ZONES % RACKS) for number, name in enumerate(names)}
        self.used = {name: self.random.choice([5, 6, 7, 7, 8, 8]) for name in names}

    def names(self, zone: int, rack: int | None = None) -> list[str]:
        return sorted(name for name, place in self.place.items() if place[0] == zone and rack in (None, place[1]))

    def free(self, names: Iterable[str], gpus: int) -> None:
        """So many GPUs are free on each of these nodes."""
        for name in names:
            self.used[name] = GPUS - gpus

    def build(self, priority: int) -> FakeCluster:
        """The pods that run are of this priority."""
        for name, (zone, rack) in self.place.items():
            self.cluster.node(name, GPUS, labels={ZONE: f"z{zone}", RACK: f"z{zone}-r{rack}", HOST: name})
            sizes = [self.used[name]] if self.one_pod_per_node else [1] * self.used[name]
            for number, gpus in enumerate(sizes):
                self.cluster.pod(f"{name}-{number}", gpus, priority, name)
        return self.cluster

    def gang(self, *roles: tuple[str, int, int, PodConstraints | None]) -> int:
        """Roles: name, number of members, GPUs of each, constraints. The gang's priority is 100. Returns its size."""
        self.cluster.group("gang", members := sum(count for _, count, _, _ in roles), priority=100)
        for role, count, gpus, constraints in roles:
            for number in range(count):
                name, labels = f"{role}-{number:03}", {"role": role}
                self.cluster.pod(name, gpus, 100, group=key("gang"), labels=labels, constraints=constraints)
        return members
