"""Topology spread: required constraints limit the skew, others rank the nodes."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.core.pod_constraints import PodConstraints, SelectorRequirement, SpreadConstraint
from scheduler.core.scheduling_types import Taint
from tests.support.cluster_builder import NAMESPACE, FakeCluster

SERVER = {"app": "server"}
SELECTOR = (SelectorRequirement("app", "In", ("server",)),)
TOO_MUCH = "node(s) didn't match pod topology spread constraints"


def spread(key: str = "zone", skew: int = 1, **more: Any) -> PodConstraints:
    more.setdefault("selector", SELECTOR)
    return PodConstraints(spread=(SpreadConstraint(key, skew, NAMESPACE, **more),))


@pytest.fixture
def cluster() -> FakeCluster:
    """Two zones of one node each; the one in the east has a server."""
    cluster = FakeCluster()
    cluster.node("east", cpu=4, labels={"zone": "east"})
    cluster.node("west", cpu=2, labels={"zone": "west"})
    cluster.pod("first", on="east", labels=SERVER)
    return cluster


def test_a_required_spread_excludes_the_domain_with_more_pods(cluster: FakeCluster) -> None:
    cluster.pod("second", labels=SERVER, constraints=spread(), cpu=1)
    assert cluster.step().bound == {"second": "west"}
    cluster.pod("huge", labels=SERVER, constraints=spread(skew=2), cpu=4)
    assert cluster.plan().bound == {"huge": "east"}


def test_a_pod_that_the_selector_does_not_match_does_not_count_itself(cluster: FakeCluster) -> None:
    cluster.pod("client", constraints=spread(), cpu=4)
    assert cluster.plan().bound == {"client": "east"}


def test_the_reasons_are_those_of_kube_scheduler(cluster: FakeCluster) -> None:
    cluster.node("nowhere", cpu=4)
    cluster.pod("second", labels=SERVER, constraints=spread(), cpu=3)
    reason = cluster.plan().reasons["second"]
    assert f"1 {TOO_MUCH}, " not in reason.replace(f"{TOO_MUCH} (", "")
    assert f"1 {TOO_MUCH} (missing required label), 1 {TOO_MUCH}" in reason
    assert "1 Insufficient cpu" in reason


def test_terminating_pods_are_left_out(cluster: FakeCluster) -> None:
    cluster.change("first", terminating=True)
    cluster.pod("second", labels=SERVER, constraints=spread(), cpu=3)
    assert cluster.plan().bound == {"second": "east"}


def test_with_fewer_domains_than_min_domains_the_fewest_is_zero(cluster: FakeCluster) -> None:
    cluster.pod("other", on="west", labels=SERVER)
    cluster.pod("second", labels=SERVER, constraints=spread(min_domains=3))
    assert TOO_MUCH in cluster.plan().reasons["second"]
    cluster.change("second", requirements=cluster.pod("two", labels=SERVER, constraints=spread()).requirements)
    assert set(cluster.plan().bound) == {"second", "two"}


@pytest.mark.parametrize("honor", [True, False])
def test_nodes_with_untolerated_taints_make_up_domains_unless_the_policy_is_honor(*, honor: bool) -> None:
    cluster = FakeCluster()
    cluster.node("east", cpu=4, labels={"zone": "east"})
    cluster.node("south", cpu=4, labels={"zone": "south"}, taints=(Taint("key", "", "NoSchedule"),))
    cluster.pod("first", on="east", labels=SERVER)
    cluster.pod("second", labels=SERVER, constraints=spread(honor_taints=honor))
    assert bool(cluster.plan().bound) == honor


@pytest.mark.parametrize("honor", [True, False])
def test_nodes_outside_the_node_selector_make_up_domains_if_the_policy_is_ignore(
    cluster: FakeCluster, *, honor: bool
) -> None:
    cluster.pod("second", labels=SERVER, constraints=spread(honor_affinity=honor), selector=(("zone", "east"),))
    assert bool(cluster.plan().bound) == honor


def test_a_spread_that_is_not_required_ranks_the_nodes(cluster: FakeCluster) -> None:
    cluster.pod("second", labels=SERVER, constraints=spread(required=False))
    assert cluster.plan().bound == {"second": "west"}
    cluster.change("first", labels={})
    assert cluster.plan().bound == {"second": "east"}, "nothing to spread: the fullest node"
    cluster.change("first", labels=SERVER)
    cluster.pod("large", labels=SERVER, constraints=spread(required=False), cpu=3)
    assert cluster.plan().bound["large"] == "east"


def test_the_topology_keys_of_pods_that_are_gone_are_forgotten(cluster: FakeCluster) -> None:
    """Each of them takes 40 KB at 5,000 nodes, and a tenant may write as many as it likes."""
    for number in range(50):
        cluster.pod("once", uid=f"once-{number}", labels=SERVER, constraints=spread(f"key-{number}"))
        cluster.plan()
        cluster.delete("once")
    assert len(cluster.state.table._domains) <= 2


def test_members_of_a_gang_count_for_each_other() -> None:
    cluster = FakeCluster()
    for number in range(3):
        cluster.node(f"n{number}", cpu=8, labels={"host": f"n{number}"})
    cluster.group("gang", 3)
    for number in range(3):
        cluster.pod(
            f"member{number}", labels=SERVER, constraints=spread("host"), cpu=1, group=(NAMESPACE, "gang")
        )  # fmt: skip
    assert sorted(cluster.plan().bound.values()) == ["n0", "n1", "n2"]
