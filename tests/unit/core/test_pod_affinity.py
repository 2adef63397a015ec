"""Pod affinity and anti-affinity, required and preferred, in both directions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scheduler.core.pod_constraints import PodConstraints, PodSelection, PodTerm, SelectorRequirement
from tests.support.cluster_builder import NAMESPACE, FakeCluster

SERVER = {"app": "server"}
NEAR_SERVERS = PodTerm("zone", PodSelection((SelectorRequirement("app", "In", ("server",)),), frozenset({NAMESPACE})))
NEAR = PodConstraints(affinity=(NEAR_SERVERS,))
APART = PodConstraints(anti_affinity=(NEAR_SERVERS,))


@pytest.fixture
def cluster() -> FakeCluster:
    """A zone of two nodes in the east, a node in the west, one without a zone."""
    cluster = FakeCluster()
    for name, zone in (("east1", "east"), ("east2", "east"), ("west", "west")):
        cluster.node(name, cpu=4, labels={"zone": zone, "host": name})
    cluster.node("nowhere", cpu=4, labels={"host": "nowhere"})
    return cluster


def test_required_affinity_is_to_the_domain_of_a_matching_pod(cluster: FakeCluster) -> None:
    cluster.pod("server", on="west", labels=SERVER)
    cluster.pod("client", constraints=NEAR)
    assert cluster.plan().bound == {"client": "west"}


def test_the_first_pod_of_its_kind_may_start_anywhere_with_the_topology_key(cluster: FakeCluster) -> None:
    cluster.pod("client", constraints=NEAR)
    assert "3 node(s) didn't match pod affinity rules" not in cluster.plan().reasons["client"]
    assert "4 node(s) didn't match pod affinity rules" in cluster.plan().reasons["client"]
    cluster.change("client", labels=SERVER)
    assert cluster.plan().bound == {"client": "east1"}


def test_required_anti_affinity_holds_in_both_directions(cluster: FakeCluster) -> None:
    cluster.pod("lonely", on="east1", constraints=APART)
    cluster.pod("server", labels=SERVER, cpu=1)
    cluster.pod("second", labels=SERVER, cpu=1, constraints=APART, selector=(("zone", "west"),))
    decision = cluster.plan()
    assert decision.bound == {"server": "nowhere", "second": "west"}
    cluster.pod("third", labels=SERVER, selector=(("zone", "east"),))
    assert "2 node(s) didn't satisfy existing pods anti-affinity rules" in cluster.plan().reasons["third"]
    cluster.pod("fourth", constraints=APART, selector=(("zone", "west"),))
    cluster.step()
    assert "1 node(s) didn't match pod anti-affinity rules" in cluster.plan().reasons["fourth"]


def test_a_terminating_pod_is_avoided_until_it_is_gone(cluster: FakeCluster) -> None:
    cluster.pod("server", on="west", labels=SERVER, terminating=True)
    cluster.pod("lonely", constraints=APART, selector=(("zone", "west"),))
    assert cluster.step().nominated == {"lonely": "west"}
    cluster.pod("late", labels=SERVER, selector=(("zone", "west"),))
    assert not cluster.plan().bound, "the nominated pod must be alone"
    cluster.delete_terminating()
    assert cluster.plan().bound == {"lonely": "west"}


def test_a_namespace_selector_follows_the_labels_of_namespaces(cluster: FakeCluster) -> None:
    wide = replace(NEAR_SERVERS.pods, namespaces=frozenset(), namespace_selector=(SelectorRequirement("a", "Exists"),))
    cluster.pod("server", on="west", labels=SERVER, key=("foreign", "server"))
    cluster.pod("client", constraints=PodConstraints(affinity=(replace(NEAR_SERVERS, pods=wide),)))
    assert not cluster.plan().bound
    cluster.state.set_namespace("foreign", {"a": ""})
    assert cluster.plan().bound == {"client": "west"}
    cluster.state.set_namespace("foreign", None)
    assert not cluster.plan().bound


@pytest.mark.parametrize(("weight", "nodes"), [(50, {"east1", "east2"}), (-50, {"west", "nowhere"})])
def test_preferred_terms_rank_the_nodes_in_both_directions(cluster: FakeCluster, weight: int, nodes: set[str]) -> None:
    cluster.pod("server", on="east2", labels=SERVER)
    cluster.pod("client", constraints=PodConstraints(preferred=((weight, NEAR_SERVERS),)))
    assert set(cluster.plan().bound.values()) <= nodes
    other = FakeCluster()
    for node in cluster.state.nodes.values():
        other.state.set_node(node)
    other.pod("client", on="east2", constraints=PodConstraints(preferred=((weight, NEAR_SERVERS),)))
    other.pod("server", labels=SERVER)
    assert set(other.plan().bound.values()) <= nodes


def test_pods_that_differ_in_labels_that_no_selector_names_stay_alike(cluster: FakeCluster) -> None:
    """The pods of a job have an index in their labels: they must not become classes of one pod each."""
    pods: list[Any] = [cluster.pod(f"p{number}", labels={**SERVER, "index": str(number)}) for number in range(3)]
    cluster.pod("lonely", on="west", constraints=APART)
    assert len({id(pod.requirements) for pod in cluster.state.pending.values()}) == 1
    assert len(pods) == 3


def test_the_pod_that_it_must_be_near_is_not_preempted_for_it() -> None:
    cluster = FakeCluster()
    cluster.node("node", cpu=2, labels={"zone": "east"})
    cluster.pod("server", on="node", cpu=2, labels=SERVER)
    cluster.pod("urgent", priority=100, cpu=2, constraints=NEAR)
    assert not cluster.plan().evicted
