"""Pod faults: which pods are scheduled at all, and from when on a pod uses no resources."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

import msgspec

from scheduler.client import DELETED
from scheduler.core.bound_pods import BoundPods
from scheduler.core.cluster_state import ClusterState
from scheduler.core.scheduling_types import Pod
from scheduler.runtime import convert, pod_volumes
from scheduler.runtime.api_types import ApiPod
from scheduler.runtime.cache import Cache
from scheduler.runtime.volume_cache import VolumeCache
from tests.mutation.faults.registry import Patch, fault


@fault('PRE-31: "other" stays pending')
def scheduler_names_are_ignored(patch: Patch) -> None:
    """Pods are scheduled whatever their schedulerName is."""
    read = convert.convert_pod

    def as_its_own(found: ApiPod) -> Pod:
        return replace(read(found), scheduler="muster-scheduler")

    patch.function(read, as_its_own)


@fault('PRE-37: "other" was not evicted')
def pods_of_other_schedulers_are_preempted(patch: Patch) -> None:
    """A running pod may be preempted whatever its schedulerName is."""
    begin = BoundPods.__init__

    def with_all_pods(bound: BoundPods, cluster: ClusterState, _: Set[str]) -> None:
        begin(bound, cluster, {pod.scheduler for pod in cluster.pods.values()})

    patch.attribute(BoundPods, "__init__", with_all_pods)


@fault(
    'TEN-03: "claimant" stays pending',
    'TEN-06: "claimant" is reported unschedulable, and the condition contains "claim"',
)
def resource_claims_are_ignored(patch: Patch) -> None:
    """A pod with resourceClaims is scheduled as if it had none."""
    read = convert.convert_pod

    def without_claims(found: ApiPod) -> Pod:
        for container in found.spec.containers or ():
            container.resources.claims = None
        return read(msgspec.structs.replace(found, spec=msgspec.structs.replace(found.spec, resource_claims=None)))

    patch.function(read, without_claims)


@fault(
    'VOL-01: "reader" stays pending',
    'VOL-02: "reader" is reported unschedulable, and the condition contains "persistentvolumeclaim"',
)
def volume_claims_are_ignored(patch: Patch) -> None:
    """A pod that mounts claims is scheduled as if it had none."""

    def without_volumes(pod: Pod, _found: ApiPod, _cache: VolumeCache) -> Pod:
        return pod

    patch.function(pod_volumes.with_volumes, without_volumes)


@fault('FLT-08: "urgent" runs')
def deleted_pods_use_resources_until_they_are_gone(patch: Patch) -> None:
    """A deleted pod uses its resources until the object is gone, although its containers have ended."""
    observe = Cache.observe_pod

    def observe_as_running(cache: Cache, change: str, found: ApiPod) -> None:
        if change != DELETED and found.metadata.deletion_timestamp:
            found = msgspec.structs.replace(found, status=msgspec.structs.replace(found.status, phase="Running"))
        observe(cache, change, found)

    patch.attribute(Cache, "observe_pod", observe_as_running)
