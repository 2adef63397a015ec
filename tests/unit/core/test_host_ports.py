"""Host ports: a port of a node is used by one pod, on each address or on all."""

from __future__ import annotations

import pytest

from scheduler.core.pod_constraints import ANY_ADDRESS, HostPort, PodConstraints
from tests.support.cluster_builder import FakeCluster, key


def port(address: str = ANY_ADDRESS, protocol: str = "TCP", number: int = 80) -> PodConstraints:
    return PodConstraints(ports=frozenset({HostPort(address, protocol, number)}))


@pytest.mark.parametrize(
    ("used", "wanted", "conflict"),
    [
        (port(), port(), True),
        (port(), port("10.0.0.1"), True),
        (port("10.0.0.1"), port(), True),
        (port("10.0.0.1"), port("10.0.0.1"), True),
        (port("10.0.0.1"), port("10.0.0.2"), False),
        (port(), port(protocol="UDP"), False),
        (port(), port(number=81), False),
    ],
)
def test_which_ports_conflict(used: PodConstraints, wanted: PodConstraints, *, conflict: bool) -> None:
    cluster = FakeCluster()
    cluster.node("node")
    cluster.pod("old", on="node", constraints=used)
    cluster.pod("new", constraints=wanted)
    decision = cluster.plan()
    assert bool(decision.bound) != conflict
    if conflict:
        reason = "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports"
        assert decision.reasons["new"].startswith(reason)


def test_a_terminating_pod_keeps_its_port_and_the_nominated_pod_gets_it() -> None:
    cluster = FakeCluster()
    cluster.node("node")
    cluster.pod("old", on="node", constraints=port(), terminating=True)
    cluster.pod("new", constraints=port())
    cluster.pod("late", constraints=port())
    decision = cluster.step()
    assert decision.nominated == {"new": "node"}
    assert not decision.bound
    cluster.delete_terminating()
    assert cluster.step().bound == {"new": "node"}


def test_members_of_a_gang_with_the_same_port_need_a_node_each() -> None:
    cluster = FakeCluster()
    for name in ("one", "two"):
        cluster.node(name)
    cluster.group("gang", 3)
    for number in range(3):
        cluster.pod(f"member{number}", constraints=port(), group=key("gang"))
    assert not cluster.plan().bound
    cluster.node("three")
    assert sorted(cluster.plan().bound.values()) == ["one", "three", "two"]
