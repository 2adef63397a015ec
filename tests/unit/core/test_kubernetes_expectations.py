"""What Kubernetes' own sig-scheduling tests expect of affinity, spread, host ports, taints and preemption.

Each test is one expectation of test/e2e/scheduling (predicates.go, priorities.go, preemption.go, ubernetes_lite.go) for
the core alone.
"""

from __future__ import annotations

from collections import Counter

import pytest

from scheduler.core.pod_constraints import (
    ANY_ADDRESS,
    HostPort,
    PodConstraints,
    PodSelection,
    PodTerm,
    Selector,
    SelectorRequirement,
    SpreadConstraint,
)
from scheduler.core.scheduling_types import Taint, Toleration
from tests.support.cluster_builder import NAMESPACE, FakeCluster

HOST = "kubernetes.io/hostname"
ON_BOTH = ((SelectorRequirement("pair", "In", ("first", "second")),),)  # required node affinity
LABELLED = (SelectorRequirement("spread", "Exists"),)
LOW, MEDIUM, HIGH = 1, 100, 1000


def two_nodes(**amounts: int) -> FakeCluster:
    """Two nodes of a pair, and a third one outside of it."""
    cluster = FakeCluster()
    for name in ("first", "second"):
        cluster.node(name, **amounts, labels={"pair": name, HOST: name})
    cluster.node("third", **amounts, labels={HOST: "third"})
    return cluster


def spread(*, required: bool) -> PodConstraints:
    return PodConstraints(spread=(SpreadConstraint("pair", 1, NAMESPACE, LABELLED, required=required),))


class TestPredicates:
    """SchedulerPredicates."""

    def test_a_node_selector_that_matches_no_node_keeps_the_pod_pending(self) -> None:
        cluster = two_nodes(cpu=4)
        cluster.pod("restricted", selector=(("label", "nonempty"),))
        assert "didn't match Pod's node affinity/selector" in cluster.plan().reasons["restricted"]

    def test_required_node_affinity_terms_are_alternatives(self) -> None:
        cluster = two_nodes(cpu=4)
        wrong = (SelectorRequirement("foo", "In", ("bar", "value2")),)
        cluster.pod("restricted", affinity=(wrong, (SelectorRequirement("diffkey", "In", ("wrong",)),)))
        cluster.pod("matching", affinity=(wrong, (SelectorRequirement("pair", "In", ("second",)),)))
        assert cluster.plan().bound == {"matching": "second"}

    @pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
    def test_a_taint_must_be_tolerated_until_it_is_removed(self, effect: str) -> None:
        cluster = two_nodes(cpu=4)
        taint = Taint("e2e-taint", "testing", effect)
        cluster.node("tainted", cpu=4, labels={"random": "label"}, taints=(taint,))
        cluster.pod("without", selector=(("random", "label"),))
        exact = Toleration("e2e-taint", "Equal", "testing", effect)
        cluster.pod("with", selector=(("random", "label"),), tolerations=(exact,))
        other = Toleration("e2e-taint", "Equal", "other", effect)
        cluster.pod("other-value", selector=(("random", "label"),), tolerations=(other,))
        assert cluster.step().bound == {"with": "tainted"}
        cluster.node("tainted", cpu=4, labels={"random": "label"})
        assert set(cluster.step().bound) == {"without", "other-value"}

    def test_no_conflict_between_the_same_port_on_another_address_or_protocol(self) -> None:
        cluster = FakeCluster()
        cluster.node("node", cpu=4)
        ports = [("127.0.0.1", "TCP"), ("10.1.2.3", "TCP"), ("10.1.2.3", "UDP")]
        for number, (address, protocol) in enumerate(ports):
            port = PodConstraints(ports=frozenset({HostPort(address, protocol, 54321)}))
            cluster.pod(f"pod{number}", constraints=port)
        assert len(cluster.plan().bound) == 3

    @pytest.mark.parametrize("addresses", [(ANY_ADDRESS, "10.1.2.3"), ("10.1.2.3", ANY_ADDRESS)])
    def test_a_port_on_all_addresses_conflicts_with_one_address(self, addresses: tuple[str, str]) -> None:
        cluster = FakeCluster()
        cluster.node("node", cpu=4)
        for number, address in enumerate(addresses):
            port = PodConstraints(ports=frozenset({HostPort(address, "TCP", 54322)}))
            cluster.pod(f"pod{number}", constraints=port)
        assert set(cluster.plan().bound) == {"pod0"}

    def test_four_pods_with_a_maximum_skew_of_one_are_evenly_spread_over_two_nodes(self) -> None:
        cluster = two_nodes(cpu=40)
        for number in range(4):
            labels = {"spread": ""}
            cluster.pod(f"pod{number}", affinity=ON_BOTH, labels=labels, constraints=spread(required=True), cpu=1)
        assert Counter(cluster.plan().bound.values()) == {"first": 2, "second": 2}


class TestPriorities:
    """SchedulerPriorities. Ours fills nodes up, so the node with the other pods is the better one otherwise."""

    @pytest.mark.parametrize("weight", [1, 10, 100])
    def test_a_pod_avoids_the_node_that_its_preferred_anti_affinity_means(self, weight: int) -> None:
        cluster = two_nodes(cpu=10)
        for name in ("first", "second", "third"):
            cluster.pod(f"balance-{name}", on=name, cpu=6)
        cluster.pod("s1", on="first", labels={"security": "S1"})
        selector: Selector = (
            SelectorRequirement("security", "In", ("S1", "value2")),
            SelectorRequirement("security", "NotIn", ("S2",)),
            SelectorRequirement("security", "Exists"),
        )
        term = PodTerm(HOST, PodSelection(selector, frozenset({NAMESPACE})))
        cluster.pod("avoids", cpu=1, constraints=PodConstraints(preferred=((-weight, term),)))
        assert cluster.plan().bound["avoids"] != "first"

    def test_a_pod_prefers_the_node_whose_taints_it_tolerates(self) -> None:
        cluster = FakeCluster()
        for name in ("first", "second", "third"):
            taints = tuple(Taint(f"{name}-{number}", "value", "PreferNoSchedule") for number in range(10))
            cluster.node(name, cpu=10, taints=taints)
        tolerations = tuple(Toleration(f"third-{number}", "Equal", "value", "PreferNoSchedule") for number in range(10))
        cluster.pod("tolerates", tolerations=tolerations)
        assert cluster.plan().bound == {"tolerates": "third"}

    def test_spread_that_is_not_required_prefers_the_node_with_fewer_matching_pods(self) -> None:
        cluster = two_nodes(cpu=40)
        for number in range(4):
            cluster.pod(f"replica{number}", on="first", labels={"spread": "foo"})
        cluster.pod("test", affinity=ON_BOTH, labels={"spread": "bar"}, constraints=spread(required=False))
        assert cluster.plan().bound == {"test": "second"}


class TestMultiZone:
    """Multi-AZ Clusters."""

    @pytest.mark.parametrize("nodes_of_zone", [(1, 1), (2, 2, 2), (3, 2, 2), (1, 1, 1, 1)])
    def test_the_pods_of_a_service_or_replication_controller_are_spread_over_zones(
        self, nodes_of_zone: tuple[int, ...]
    ) -> None:
        """Five pods for each zone, on nodes of balanced usage: the zones differ by at most two pods."""
        cluster, zone_of, labels = FakeCluster(), dict[str, int](), {"service": "test-service"}
        for zone, count in enumerate(nodes_of_zone):
            for number in range(count):
                name = f"zone{zone}-{number}"
                zone_of[name] = zone
                cluster.node(name, cpu=4000, labels={HOST: name, "topology.kubernetes.io/zone": str(zone)})
                cluster.pod(f"balanced-{name}", on=name, cpu=2000)
        for number in range(5 * len(nodes_of_zone)):
            cluster.pod(f"pod{number}", labels=labels, default_spread=(SelectorRequirement("service", "Exists"),))
            cluster.step()
        pods = Counter(zone_of[pod.node] for pod in cluster.state.bound() if pod.labels == labels)
        assert len(pods) == len(nodes_of_zone)
        assert max(pods.values()) - min(pods.values()) <= 2


class TestPreemption:
    """SchedulerPreemption."""

    @pytest.mark.parametrize("priority", [HIGH, 2_000_000_000])
    def test_the_lowest_priority_pod_is_preempted_also_for_a_critical_pod(self, priority: int) -> None:
        cluster = two_nodes(gpus=3)
        for name in ("first", "second", "third"):
            cluster.pod(f"on-{name}", 2, LOW if name == "first" else MEDIUM, name)
        cluster.pod("preemptor", 2, priority, key=("kube-system", "preemptor"))
        assert cluster.step().evicted == {"on-first"}
        cluster.delete_terminating()
        assert cluster.step().bound == {"preemptor": "first"}

    def test_spread_preempts_two_pods_where_the_resources_need_one(self) -> None:
        cluster = two_nodes(gpus=10)
        cluster.pod("high", 9, HIGH, "first", labels={"spread": ""}, affinity=ON_BOTH)
        for number in range(3):
            cluster.pod(f"low-{number}", 3, LOW, "second", labels={"spread": ""}, affinity=ON_BOTH)
        cluster.pod("medium", 3, MEDIUM, labels={"spread": ""}, affinity=ON_BOTH, constraints=spread(required=True))
        assert len(cluster.step().evicted) == 2
        cluster.delete_terminating()
        assert cluster.step().bound == {"medium": "second"}
        left = {pod.key[1].split("-")[0] for pod in cluster.state.pods.values()}
        assert left == {"high", "medium", "low"}

    def test_replicas_of_two_priorities_are_preempted_once_and_the_third_never(self) -> None:
        """200 + 300 + 450 of 1000 in use; 500 are wanted. The controllers re-create what was preempted."""
        cluster = FakeCluster()
        cluster.node("node", cpu=1000)
        for priority, cpu in ((1, 200), (2, 300), (3, 450)):
            cluster.pod(f"pod{priority}", 0, priority, "node", cpu=cpu)
        cluster.pod("pod4", 0, 4, cpu=500)
        evicted: Counter[str] = Counter()
        for decision in cluster.settle(replaced=True):
            evicted.update(decision.evicted)
        assert evicted == {"pod1": 1, "pod2": 1}
        assert cluster.where("pod3", "pod4") == {"pod3": "node", "pod4": "node"}
