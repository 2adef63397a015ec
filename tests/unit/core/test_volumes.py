"""Volumes in the core: they restrict nodes as node affinity does, and are bound before any pod of the unit is."""

from __future__ import annotations

from scheduler.core.actions import Bind, BindVolumes, Nominate, Report
from scheduler.core.explain import explain
from scheduler.core.pod_constraints import NODE_NAME, SelectorRequirement
from scheduler.core.policy import Policy
from scheduler.core.volume_requirements import NO_VOLUME, VOLUME_AFFINITY, VOLUME_ZONE, VolumeRequirement
from tests.support.cluster_builder import FakeCluster, key


def on_nodes(*names: str, reason: str = VOLUME_AFFINITY) -> VolumeRequirement:
    return VolumeRequirement(reason, tuple((SelectorRequirement(NODE_NAME, "In", (name,)),) for name in names))


def in_zone(*zones: str) -> VolumeRequirement:
    return VolumeRequirement(VOLUME_ZONE, ((SelectorRequirement("zone", "In", zones),),))


def three_nodes(gpus: int = 1) -> FakeCluster:
    cluster = FakeCluster()
    for name, zone in (("a", "1"), ("b", "1"), ("c", "2")):
        cluster.node(name, gpus, labels={"zone": zone})
    return cluster


def test_a_pod_is_bound_where_all_of_its_volumes_are() -> None:
    cluster = three_nodes()
    cluster.pod("p", 1, volumes=(in_zone("1"), on_nodes("b", "c")))
    assert cluster.plan().bound == {"p": "b"}


def test_a_term_without_listed_values_is_evaluated_on_every_node() -> None:
    cluster = three_nodes()
    cluster.node("bare", 1)
    no_zone = VolumeRequirement(VOLUME_ZONE, ((SelectorRequirement("zone", "DoesNotExist"),),))
    cluster.pod("p", 1, volumes=(no_zone,))
    assert cluster.plan().bound == {"p": "bare"}


def test_the_reason_counts_each_node_once() -> None:
    cluster = three_nodes()
    cluster.node("cordoned", 1, cordoned=True)
    pod = cluster.pod("p", 1, volumes=(on_nodes("c"), in_zone("1")))
    wanted = f"0/4 nodes are available: 1 node(s) were unschedulable, 2 {VOLUME_AFFINITY}, 1 {VOLUME_ZONE}"
    assert cluster.plan().reasons["p"].startswith(wanted)
    assert "a: didn't match PersistentVolume's node affinity" in explain(cluster.state, cluster.policy, pod)


def test_no_terms_exclude_every_node() -> None:
    cluster = three_nodes()
    cluster.pod("p", 1, volumes=(VolumeRequirement(NO_VOLUME, ()),))
    assert f"3 {NO_VOLUME}" in cluster.plan().reasons["p"]


def test_no_preemption_on_a_node_that_a_volume_excludes() -> None:
    cluster = three_nodes()
    for name in ("a", "b", "c"):
        cluster.pod(f"on-{name}", 1, priority={"a": 1, "b": 5, "c": 2}[name], on=name)
    cluster.pod("p", 1, priority=10, volumes=(on_nodes("b"),))
    decision = cluster.plan()
    assert (decision.evicted, decision.nominated) == ({"on-b"}, {"p": "b"})
    cluster.change("p", priority=3)
    assert cluster.plan().evicted == set()


def test_volumes_are_bound_first_and_the_place_is_kept() -> None:
    cluster = three_nodes()
    cluster.pod("first", 1, volumes=(on_nodes("a", "b"),), unbound_claims=True)
    actions = cluster.step().actions
    assert [type(one) for one in actions] == [Nominate, BindVolumes, Report]
    assert isinstance(actions[1], BindVolumes)
    assert actions[1].node == "a"
    for number in range(3):
        cluster.pod(f"later-{number}", 1)
    decision = cluster.step()
    assert decision.bound == {"later-0": "b", "later-1": "c"}
    assert "waiting for its volumes" in decision.reasons["first"]
    assert [one for one in decision.changes if not isinstance(one, Bind)] == [BindVolumes(cluster["first"], "a")]
    cluster.change("first", unbound_claims=False)
    assert cluster.plan().bound == {"first": "a"}


def test_no_member_is_bound_before_the_volumes_of_all() -> None:
    cluster = three_nodes()
    members = cluster.gang("g", 2, 1)
    cluster.change(members[1].key[1], unbound_claims=True)
    decision = cluster.step()
    assert (decision.bound, decision.nominated) == ({}, {"g-0": "a", "g-1": "b"})
    assert decision.phases == {"g": "Inqueue"}
    assert [one.pod.key[1] for one in decision.actions if isinstance(one, BindVolumes)] == ["g-1"]
    cluster.change(members[1].key[1], unbound_claims=False)
    assert cluster.plan().bound == {"g-0": "a", "g-1": "b"}


def test_a_member_above_min_member_waits_for_the_volumes_of_the_others() -> None:
    cluster = FakeCluster()
    cluster.node("a", 2)
    for member in cluster.gang("g", 3, 1, min_member=2):
        cluster.change(member.key[1], unbound_claims=member.key[1] == "g-0")
    decision = cluster.step()
    assert (decision.bound, decision.nominated) == ({}, {"g-0": "a", "g-1": "a"})
    assert set(decision.reasons) == {"g-0", "g-1", "g-2"}


def test_a_gang_whose_volume_leaves_too_few_nodes_is_not_bound() -> None:
    cluster = three_nodes()
    cluster.group("g", 2)
    for name in ("m-0", "m-1"):
        cluster.pod(name, 1, group=key("g"), volumes=(on_nodes("b"),))
    decision = cluster.plan()
    assert decision.bound == {}
    assert VOLUME_AFFINITY in decision.reasons["m-0"]


def test_a_unit_that_waits_for_volumes_blocks_its_strict_queue() -> None:
    cluster = FakeCluster(Policy(strict_queues=True))
    cluster.node("a", 4)
    cluster.queue("q")
    cluster.pod("first", 1, queue="q", unbound_claims=True)
    cluster.pod("second", 1, queue="q")
    assert cluster.step().bound == {}
    cluster.change("first", unbound_claims=False)
    assert cluster.step().bound == {"first": "a", "second": "a"}
