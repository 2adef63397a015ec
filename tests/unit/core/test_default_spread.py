"""Default topology spread: the pods of a Service or a controller are spread over hosts and zones, as a preference."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from scheduler.core.pod_constraints import PodConstraints, SelectorRequirement, SpreadConstraint
from scheduler.core.policy import LEAST_ALLOCATED, Policy
from scheduler.core.scheduling_types import Taint
from tests.support.cluster_builder import NAMESPACE, FakeCluster

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
WEB = {"app": "web"}
IS_WEB = (SelectorRequirement("app", "In", ("web",)),)


def cluster_of(zones: dict[str, str], *, policy: Policy | None = None, **node: Any) -> FakeCluster:
    """Nodes by name with their zone; an empty zone is none."""
    cluster = FakeCluster(policy)
    for name, zone in zones.items():
        cluster.node(name, labels={HOST: name, **({ZONE: zone} if zone else {})}, **({"cpu": 32} | node))
    return cluster


def start(cluster: FakeCluster, pods: int, **more: Any) -> Counter[str]:
    """How many of these pods were bound to each node."""
    for number in range(pods):
        cluster.pod(f"web-{number}", **({"labels": WEB, "default_spread": IS_WEB} | more))
    return Counter(cluster.step().bound.values())


SIX = {"a1": "a", "a2": "a", "b1": "b", "b2": "b", "c1": "c", "c2": "c"}


@pytest.mark.parametrize("policy", [Policy(), Policy(scoring_strategy=LEAST_ALLOCATED)])
def test_a_default_spread_comes_before_the_strategy(policy: Policy) -> None:
    cluster = cluster_of(SIX, policy=policy)
    cluster.pod("other", on="a1", cpu=8)
    assert start(cluster, 15, cpu=1).keys() == SIX.keys()
    zones = Counter(SIX[pod.node] for pod in cluster.state.bound() if pod.labels == WEB)
    assert zones == {"a": 5, "b": 5, "c": 5}


def test_pods_that_request_nothing_are_spread_too() -> None:
    assert start(cluster_of({"a1": "a", "b1": "b", "c1": "c"}), 15) == {"a1": 5, "b1": 5, "c1": 5}


def test_pods_of_one_zone_are_spread_over_its_hosts() -> None:
    assert start(cluster_of({"a1": "a", "a2": "a", "a3": "a"}), 6, cpu=1) == {"a1": 2, "a2": 2, "a3": 2}


def test_nodes_without_a_zone_are_ranked_by_their_host() -> None:
    """Their zone adds nothing, so that the first pods are bound there, as with kube-scheduler."""
    found = start(cluster_of({"a1": "a", "b1": "b", "n1": "", "n2": ""}), 12, cpu=1)
    assert found["n1"] == found["n2"] > found["a1"] == found["b1"] > 0


def test_without_a_default_spread_nothing_changes() -> None:
    cluster = cluster_of(SIX)
    cluster.pod("other", on="b2", cpu=8)
    assert start(cluster, 6, default_spread=(), cpu=1) == {"b2": 6}


def test_a_pod_that_a_default_spread_of_others_counts_is_packed_as_before() -> None:
    cluster = cluster_of(SIX)
    assert start(cluster, 1, cpu=1) == {"a1": 1}
    for number in range(3):
        cluster.pod(f"bare-{number}", labels=WEB, cpu=1)
    cluster.pod("last", labels=WEB, default_spread=IS_WEB, cpu=1)
    assert cluster.step().bound == {"bare-0": "a1", "bare-1": "a1", "bare-2": "a1", "last": "b1"}


def test_a_default_spread_excludes_no_node() -> None:
    assert start(cluster_of({"a1": "a"}), 12, cpu=1) == {"a1": 12}


def test_preferences_come_before_a_default_spread() -> None:
    cluster = cluster_of({"a1": "a", "b1": "b"})
    cluster.node("c1", cpu=32, labels={HOST: "c1", ZONE: "c"}, taints=(Taint("old", "", "PreferNoSchedule"),))
    prefers = ((1, (SelectorRequirement(HOST, "In", ("b1",)),)),)
    assert start(cluster, 4, cpu=1, preferred=prefers) == {"b1": 4}
    cluster.pod("next", labels=WEB, default_spread=IS_WEB, cpu=1)
    cluster.pod("last", labels=WEB, default_spread=IS_WEB, cpu=1)
    assert set(cluster.step().bound.values()) == {"a1"}


def test_a_pod_without_gpus_is_spread_over_the_nodes_without_gpus() -> None:
    cluster = cluster_of({"b1": "b", "c1": "c"})
    cluster.node("a-gpu", 8, cpu=32, labels={HOST: "a-gpu", ZONE: "a"})
    assert start(cluster, 4, cpu=1) == {"b1": 2, "c1": 2}


def test_a_pod_with_gpus_is_packed_before_it_is_spread() -> None:
    cluster = cluster_of(SIX, gpus=8)
    cluster.pod("other", 1, on="b2")
    assert start(cluster, 7, gpus=1) == {"b2": 7}


def test_nodes_that_are_equal_in_packing_are_chosen_by_the_default_spread() -> None:
    """Each pod needs a whole node: all free nodes are equally full."""
    found = start(cluster_of(SIX, gpus=8), 3, gpus=8)
    assert {SIX[node] for node in found} == {"a", "b", "c"}


def test_terminating_pods_do_not_count() -> None:
    cluster = cluster_of({"a1": "a", "b1": "b"})
    cluster.pod("gone", on="b1", labels=WEB, terminating=True)
    cluster.pod("one", on="a1", labels=WEB)
    assert start(cluster, 1, cpu=1) == {"b1": 1}


def test_a_default_spread_does_not_change_which_pods_are_preempted() -> None:
    """It neither excludes nodes nor takes part in the choice of victims."""
    victims = []
    for selector in ((), IS_WEB):
        cluster = cluster_of({"a1": "a", "b1": "b"}, gpus=2)
        for node, priority in (("a1", 5), ("b1", 1)):
            cluster.pod(f"old-{node}", 2, priority, on=node, labels=WEB)
        cluster.pod("urgent", 1, 100, labels=WEB, default_spread=selector)
        victims.append(cluster.step().evicted)
    assert victims == [{"old-b1"}, {"old-b1"}]


def test_a_required_spread_of_another_pod_still_counts_these_pods() -> None:
    cluster = cluster_of({"a1": "a", "b1": "b"})
    start(cluster, 2, cpu=1)
    cluster.pod("more", on="a1", labels=WEB)
    spread = PodConstraints(spread=(SpreadConstraint(ZONE, 1, NAMESPACE, IS_WEB),))
    cluster.pod("strict", labels=WEB, constraints=spread, cpu=1)
    assert cluster.step().bound == {"strict": "b1"}


def test_the_members_of_a_gang_are_packed() -> None:
    cluster = cluster_of(SIX, gpus=8)
    cluster.group("train", 4)
    assert start(cluster, 4, gpus=1, group=(NAMESPACE, "train")) == {"a1": 4}


@pytest.mark.parametrize("operator", ["In", "Exists", "NotIn"])
def test_pods_are_counted_that_match_every_requirement(operator: str) -> None:
    values = {"In": ("web", "api"), "Exists": (), "NotIn": ("db",)}[operator]
    selector = (SelectorRequirement("app", operator, values), SelectorRequirement("tier", "In", ("front",)))
    cluster = cluster_of({"a1": "a", "b1": "b", "c1": "c"})
    cluster.pod("back", on="a1", labels={"app": "web", "tier": "back"})
    cluster.pod("front", on="b1", labels={"app": "api", "tier": "front"})
    cluster.pod("elsewhere", on="a1", labels={"app": "web", "tier": "front"}, key=("other", "elsewhere"))
    assert start(cluster, 2, default_spread=selector, labels={"app": "web", "tier": "front"}) == {"a1": 1, "c1": 1}
