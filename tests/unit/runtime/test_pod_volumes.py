"""What claims mean for a pod: the reasons in kube-scheduler's words, the nodes that are left, and who is told."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.client import DELETED
from scheduler.core.plan import plan
from scheduler.core.policy import Policy
from scheduler.runtime.cache import Cache
from tests.support.cluster_builder import Decision
from tests.support.volume_objects import (
    claim,
    observe_claim,
    observe_class,
    observe_node,
    observe_pod,
    observe_volume,
    term,
    volume,
)

_AFFINITY = "node(s) didn't match PersistentVolume's node affinity"
_NO_VOLUME = "node(s) didn't find available persistent volumes to bind"


class World:
    """A cache with two nodes, and what a cycle would decide on it."""

    def __init__(self) -> None:
        self.wakes = 0
        self.cache = Cache(self._wake)
        for name, zone in (("a", "1"), ("b", "2")):
            observe_node(self.cache, name, **{"topology.kubernetes.io/zone": zone})

    def _wake(self) -> None:
        self.wakes += 1

    def decide(self) -> Decision:
        self.cache.update_pods()
        return Decision(tuple(plan(self.cache.cluster, Policy())))

    def reason(self, pod: str = "p") -> str:
        return self.decide().reasons.get(pod, "")


@pytest.fixture
def world() -> World:
    found = World()
    observe_pod(found.cache, "p", "data")
    return found


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({}, "pod has unbound immediate PersistentVolumeClaims"),
        ({"storage_class": "immediate"}, "pod has unbound immediate PersistentVolumeClaims"),
        ({"storage_class": "wait", "volumeName": "v"}, "pod has unbound immediate PersistentVolumeClaims"),
        ({"storage_class": "none"}, "pod has unbound immediate PersistentVolumeClaims"),
        ({"volume": "gone"}, 'persistentvolume "gone" not found'),
        ({"volume": "v", "phase": "Lost"}, 'persistentvolumeclaim "data" bound to non-existent persistentvolume "v"'),
        (
            {"volume": "v", "deletionTimestamp": "2026-01-01T00:00:00Z"},
            'persistentvolumeclaim "data" is being deleted',
        ),
        ({"storage_class": "wait"}, f"2 {_NO_VOLUME}"),
    ],
)
def test_a_claim_that_cannot_be_used_keeps_the_pod_pending(world: World, fields: dict[str, Any], wanted: str) -> None:
    assert world.reason() == 'persistentvolumeclaim "data" not found'
    observe_class(world.cache, "wait")
    observe_class(world.cache, "immediate", waits=False, provisioner="csi")
    observe_volume(world.cache, volume("v"))
    observe_claim(world.cache, claim("data", **fields))
    decision = world.decide()
    assert wanted in decision.reasons["p"]
    assert not decision.bound


def test_a_bound_claim_restricts_the_nodes(world: World) -> None:
    observe_volume(world.cache, volume("v", "b", claim="data", phase="Bound"))
    observe_claim(world.cache, claim("data", volume="v", phase="Bound"))
    assert world.decide().bound == {"p": "b"}
    observe_volume(world.cache, volume("v", "elsewhere", claim="data", phase="Bound", version=6))
    assert f"2 {_AFFINITY}" in world.reason()


def test_terms_are_alternatives_and_volumes_are_not(world: World) -> None:
    terms = {"required": {"nodeSelectorTerms": [term("kubernetes.io/hostname", "a"), term("pool", "x")]}}
    observe_node(world.cache, "c", pool="x")
    observe_volume(world.cache, volume("v", nodeAffinity=terms))
    observe_claim(world.cache, claim("data", volume="v"))
    observe_volume(world.cache, volume("w", "b", "c"))
    observe_claim(world.cache, claim("more", volume="w"))
    assert world.decide().bound == {"p": "a"}
    observe_pod(world.cache, "p", "data", "more")
    assert world.decide().bound == {"p": "c"}


def test_a_volume_without_terms_in_its_affinity_is_on_no_node(world: World) -> None:
    observe_volume(world.cache, volume("v", nodeAffinity={"required": {"nodeSelectorTerms": [{}]}}))
    observe_claim(world.cache, claim("data", volume="v"))
    assert f"2 {_AFFINITY}" in world.reason()


@pytest.mark.parametrize("label", ["topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"])
def test_the_zone_labels_of_a_volume_count(world: World, label: str) -> None:
    observe_volume(world.cache, volume("v", labels={label: "2__3"}))
    observe_claim(world.cache, claim("data", volume="v"))
    assert world.decide().bound == {"p": "b"}
    observe_volume(world.cache, volume("v", labels={label: "3"}, version=6))
    assert "2 node(s) had no available volume zone" in world.reason()
    observe_node(world.cache, "without-any-zone")
    assert world.decide().bound == {"p": "without-any-zone"}


def test_the_claim_of_an_ephemeral_volume_is_the_pods_own() -> None:
    world = World()
    volumes = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]
    observe_pod(world.cache, "p", volumes=volumes)
    created = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-scratch"'
    assert world.reason() == created
    observe_volume(world.cache, volume("v", "b"))
    observe_claim(world.cache, claim("p-scratch", volume="v"))
    assert world.reason() == "PVC ns/p-scratch was not created for pod ns/p (pod is not owner)"
    owner = {"uid": "p", "kind": "Pod", "name": "p", "apiVersion": "v1", "controller": True}
    observe_claim(world.cache, claim("p-scratch", volume="v", ownerReferences=[owner], version=6))
    assert world.decide().bound == {"p": "b"}


def test_a_pod_without_claims_is_not_converted_again(world: World) -> None:
    observe_pod(world.cache, "plain")
    world.decide()
    before, wakes = world.cache.cluster.pods["plain"], world.wakes
    observe_claim(world.cache, claim("other", storage_class="wait"))
    observe_volume(world.cache, volume("unrelated"))
    observe_class(world.cache, "wait")
    assert world.wakes == wakes
    observe_claim(world.cache, claim("data"))
    assert world.wakes == wakes + 1
    assert world.cache.volumes.take_outdated() == ["p"]
    assert world.cache.cluster.pods["plain"] is before


def test_a_change_that_means_nothing_wakes_no_cycle(world: World) -> None:
    observe_volume(world.cache, volume("v", "b"))
    observe_claim(world.cache, claim("data", volume="v"))
    world.decide()
    wakes = world.wakes
    observe_claim(world.cache, claim("data", volume="v", version=9))
    observe_volume(world.cache, volume("v", "b", version=9))
    assert (world.wakes, world.cache.volumes.take_outdated()) == (wakes, [])


def test_nothing_is_kept_of_objects_that_are_gone(world: World) -> None:
    observe_class(world.cache, "wait")
    for name in ("data", "other"):
        observe_claim(world.cache, claim(name, storage_class="wait"))
        observe_volume(world.cache, volume(name, "a", storage_class="wait"))
    world.decide()
    for name in ("data", "other"):
        observe_claim(world.cache, claim(name, storage_class="wait"), DELETED)
        observe_volume(world.cache, volume(name, "a", storage_class="wait"), DELETED)
    world.cache.observe_pod(DELETED, world.cache.api_pods["p"])
    world.decide()
    kept = vars(world.cache.volumes)
    assert not any(kept[name] for name in kept if name.startswith("_") and name != "_changed"), kept


def test_claims_choose_the_smallest_volume_of_their_class_that_fits(world: World) -> None:
    observe_class(world.cache, "wait")
    observe_claim(world.cache, claim("data", storage_class="wait", size="5Gi"))
    for name, size, more in (
        ("too-small", "4Gi", {}),
        ("large", "9Gi", {}),
        ("fits", "6Gi", {}),
        ("other-class", "5Gi", {"storage_class": "other"}),
        ("block", "5Gi", {"volumeMode": "Block"}),
        ("other-access", "5Gi", {"accessModes": ["ReadOnlyMany"]}),
        ("released", "5Gi", {"phase": "Released"}),
        ("taken", "5Gi", {"claim": "somebody-elses"}),
    ):
        fields: dict[str, Any] = {"storage_class": "wait", **more}
        observe_volume(world.cache, volume(name, "b", size=size, **fields))
    assert world.decide().nominated == {"p": "b"}
    found, node = world.cache.volumes, world.cache.cluster.nodes["b"]
    data = found.claims.get(("ns", "data"))
    assert data is not None
    assert [one.name for one in found.free("wait").match([data], node).values()] == ["fits"]


def test_two_claims_of_a_pod_need_two_volumes_on_one_node() -> None:
    world = World()
    observe_class(world.cache, "wait")
    for name in ("one", "two"):
        observe_claim(world.cache, claim(name, storage_class="wait"))
    observe_pod(world.cache, "p", "one", "two")
    observe_volume(world.cache, volume("on-a", "a", storage_class="wait"))
    observe_volume(world.cache, volume("on-b", "b", storage_class="wait"))
    assert f"2 {_NO_VOLUME}" in world.reason()
    observe_volume(world.cache, volume("also-on-b", "b", storage_class="wait"))
    assert world.decide().nominated == {"p": "b"}


def test_a_volume_can_be_provisioned_where_its_class_allows(world: World) -> None:
    allowed = {"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone", "values": ["2"]}]}
    observe_class(world.cache, "fast", provisioner="csi", allowedTopologies=[allowed])
    observe_claim(world.cache, claim("data", storage_class="fast"))
    assert world.decide().nominated == {"p": "b"}
    observe_volume(world.cache, volume("on-a", "a", storage_class="fast"))
    assert world.decide().nominated == {"p": "a"}  # both would do: the first by name


def test_a_selected_node_is_the_only_one(world: World) -> None:
    observe_class(world.cache, "fast", provisioner="csi")
    selected = {"volume.kubernetes.io/selected-node": "b"}
    observe_claim(world.cache, claim("data", storage_class="fast", annotations=selected))
    observe_pod(world.cache, "shares", "data")
    assert world.decide().nominated == {"p": "b", "shares": "b"}


def test_a_claim_for_one_pod_is_not_used_by_two() -> None:
    world = World()
    observe_volume(world.cache, volume("v"))
    for name in ("one", "two"):
        observe_pod(world.cache, name, "data")
    observe_claim(world.cache, claim("data", volume="v", accessModes=["ReadWriteOncePod"]))
    in_use = "PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
    decision = world.decide()
    assert decision.bound == {"one": "a"}
    assert f"2 node(s) unavailable due to {in_use}" in decision.reasons["two"]
    world.cache.assumed_pods.assume_bound("one", "a")
    assert in_use in world.reason("two")
    world.cache.observe_pod(DELETED, world.cache.api_pods["one"])
    assert world.decide().bound == {"two": "a"}


def test_a_claim_for_one_pod_counts_where_another_scheduler_has_bound_it() -> None:
    world = World()
    observe_volume(world.cache, volume("v"))
    observe_pod(world.cache, "theirs", "data", nodeName="b", schedulerName="other")
    observe_pod(world.cache, "ours", "data")
    observe_claim(world.cache, claim("data", volume="v", accessModes=["ReadWriteOncePod"]))
    assert "already in-use by another pod" in world.reason("ours")


def test_a_free_volume_is_given_to_one_pod_of_a_cycle() -> None:
    world = World()
    observe_class(world.cache, "wait")
    for number in range(4):
        observe_claim(world.cache, claim(f"data-{number}", storage_class="wait"))
        observe_pod(world.cache, f"p-{number}", f"data-{number}")
    for name, node in (("one", "a"), ("two", "b"), ("three", "b")):
        observe_volume(world.cache, volume(name, node, storage_class="wait"))
    decision = world.decide()
    assert decision.nominated == {"p-0": "a", "p-1": "b", "p-2": "b"}
    assert f"2 {_NO_VOLUME}" in decision.reasons["p-3"]
