"""Preemption in order to satisfy host ports, pod anti-affinity and topology spread, as in kube-scheduler's dry run."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.core.pod_constraints import (
    HostPort,
    PodConstraints,
    PodSelection,
    PodTerm,
    SelectorRequirement,
    SpreadConstraint,
)
from tests.support.cluster_builder import NAMESPACE, FakeCluster, key

SERVER, CLIENT = {"app": "server"}, {"app": "client"}
IS_SERVER = (SelectorRequirement("app", "In", ("server",)),)
PORT = PodConstraints(ports=frozenset({HostPort("0.0.0.0", "TCP", 80)}))


def term(topology_key: str = "host") -> PodTerm:
    return PodTerm(topology_key, PodSelection(IS_SERVER, frozenset({NAMESPACE})))


def apart(topology_key: str = "host") -> PodConstraints:
    return PodConstraints(anti_affinity=(term(topology_key),))


@pytest.fixture
def cluster() -> FakeCluster:
    """Two zones: one of two nodes in the east, one of one node in the west."""
    cluster = FakeCluster()
    for name, zone in (("east1", "east"), ("east2", "east"), ("west", "west")):
        cluster.node(name, cpu=4, labels={"zone": zone, "host": name})
    return cluster


def on_each(cluster: FakeCluster, prefix: str, priority: int = 0, **more: Any) -> None:
    for name in list(cluster.state.nodes):
        cluster.pod(f"{prefix}-{name}", priority=priority, on=name, **more)


def test_the_pod_that_has_the_host_port_is_preempted_and_no_other(cluster: FakeCluster) -> None:
    on_each(cluster, "idle", cpu=1)
    on_each(cluster, "port", 10, constraints=PORT)
    cluster.change("port-west", priority=5)
    cluster.pod("urgent", priority=100, constraints=PORT)
    decision = cluster.step()
    assert decision.evicted == {"port-west"}
    assert decision.nominated == {"urgent": "west"}
    cluster.delete_terminating()
    assert cluster.step().bound == {"urgent": "west"}


def test_a_host_port_of_a_pod_with_the_same_priority_is_not_preempted(cluster: FakeCluster) -> None:
    on_each(cluster, "port", 100, constraints=PORT)
    cluster.pod("urgent", priority=100, constraints=PORT)
    assert cluster.plan().evicted == set()


@pytest.mark.parametrize("own_term", [True, False])
def test_required_anti_affinity_preempts_in_both_directions(cluster: FakeCluster, *, own_term: bool) -> None:
    """It must avoid servers; or it is a server, and the others must avoid it."""
    theirs, mine = (None, apart()) if own_term else (apart(), None)
    on_each(cluster, "other", 10, labels=SERVER if own_term else {}, constraints=theirs)
    on_each(cluster, "plain", 0, labels=CLIENT)
    cluster.pod("urgent", priority=100, labels=CLIENT if own_term else SERVER, constraints=mine)
    assert cluster.plan().evicted == {"other-west"}, "the latest start"


def test_only_victims_on_the_node_itself_are_considered(cluster: FakeCluster) -> None:
    """In the east a server on the other node would be left: its zone cannot be cleared from one node."""
    on_each(cluster, "server", 0, labels=SERVER)
    cluster.change("server-west", priority=50)
    cluster.pod("urgent", priority=100, constraints=apart("zone"))
    decision = cluster.plan()
    assert decision.evicted == {"server-west"}
    cluster.change("server-west", priority=100)
    assert cluster.plan().evicted == set()
    assert "3 node(s) didn't match pod anti-affinity rules" in cluster.plan().reasons["urgent"]


def test_spread_preempts_more_than_the_resources_need() -> None:
    """One victim frees enough; but beside two others the pod would exceed the maximum skew of 1."""
    cluster = FakeCluster()
    for name in ("a", "b"):
        cluster.node(name, gpus=10, labels={"host": name})
    cluster.pod("high", 9, 1000, "a", labels=SERVER)
    for number in range(3):
        cluster.pod(f"low-{number}", 3, 1, "b", labels=SERVER)
    spread = PodConstraints(spread=(SpreadConstraint("host", 1, NAMESPACE, IS_SERVER),))
    cluster.pod("medium", 3, 100, labels=SERVER, constraints=spread)
    assert cluster.step().evicted == {"low-1", "low-2"}
    cluster.delete_terminating()
    assert cluster.step().bound == {"medium": "b"}


def test_a_pod_that_it_must_be_near_is_no_victim_and_its_node_no_choice(cluster: FakeCluster) -> None:
    """Without the server the node would not do: kube-scheduler removes all lower-priority pods there first."""
    cluster.pod("server", on="west", labels=SERVER)
    cluster.pod("hog", cpu=4, on="west")
    cluster.pod("urgent", priority=100, cpu=4, constraints=PodConstraints(affinity=(term("zone"),)))
    assert cluster.plan().evicted == set()
    cluster.change("server", priority=100)
    assert cluster.plan().evicted == {"hog"}


def test_a_victim_of_another_pod_does_not_count_any_more(cluster: FakeCluster) -> None:
    on_each(cluster, "port", 0, constraints=PORT)
    for number in range(4):
        cluster.pod(f"urgent-{number}", priority=100, constraints=PORT)
    decision = cluster.plan()
    assert len(decision.evicted) == 3
    assert len(set(decision.nominated.values())) == 3
    assert "3 node(s) didn't have free ports" in decision.reasons["urgent-3"]


@pytest.mark.parametrize("members", [2, 3, 4])
def test_members_of_a_gang_preempt_on_their_own_nodes_or_not_at_all(cluster: FakeCluster, members: int) -> None:
    on_each(cluster, "plain", 0, cpu=1)
    on_each(cluster, "server", 10, labels=SERVER)
    cluster.change("server-east2", labels={})
    cluster.group("gang", members)
    for number in range(members):
        cluster.pod(f"m{number}", priority=100, cpu=1, labels=SERVER, constraints=apart(), group=key("gang"))
    decision = cluster.step()
    if members == 4:
        assert not decision.evicted
        return
    assert decision.evicted == {"server-west", "server-east1"} if members == 3 else {"server-west"}
    cluster.delete_terminating()
    assert len(cluster.step().bound) == members


def test_the_quota_of_the_queue_is_freed_beside_the_port() -> None:
    cluster = FakeCluster()
    cluster.queue("default", 3)
    for name in ("a", "b"):
        cluster.node(name, gpus=4)
    cluster.pod("port", 1, 5, "a", constraints=PORT)
    cluster.pod("low", 1, 1, "b")
    cluster.pod("other", 1, 8, "b", constraints=PORT)
    cluster.pod("urgent", 2, 100, constraints=PORT)
    assert cluster.plan().evicted == {"low", "port"}


def test_a_port_in_use_on_a_large_cluster_costs_the_cheapest_of_all_nodes() -> None:
    """More nodes than are looked at together, each with more pods than the one that is in the way."""
    cluster = FakeCluster()
    for number in range(700):
        name = f"n{number:04}"
        cluster.node(name, cpu=8)
        cluster.pod(f"port-{name}", priority=30 if number != 650 else 20, on=name, constraints=PORT)
        cluster.pod(f"idle-{name}", priority=10, on=name)
    cluster.pod("urgent", priority=100, constraints=PORT)
    assert cluster.plan().evicted == {"port-n0650"}
