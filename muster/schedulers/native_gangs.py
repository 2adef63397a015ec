"""kube-scheduler with its own gangs (feature gate GenericWorkload): PodGroups, and preemption for whole PodGroups.

The gate must be on everywhere: an API server without it silently drops a pod's group, and the pod simply runs.

Its API: PodGroup of scheduling.k8s.io, Kubernetes 1.37, named in the spec of its pods. A PodGroup and its pods must
have the same priority, or the scheduler binds none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from muster.cluster.resources import Resource, custom_resource
from muster.recording.conventions import KUBERNETES, Conventions
from muster.recording.objects import CustomObject
from muster.schedulers.dialect import Dialect, Manifest
from muster.schedulers.differences import Difference
from muster.schedulers.excuses import Excuse
from muster.schedulers.kube_scheduler import KubeScheduler
from muster.schedulers.requests import GangRequest, PodRequest
from muster.schedulers.unsupported import NATIVE_GANGS, Feature, Unsupported

NATIVE_GROUP = custom_resource("scheduling.k8s.io/v1beta1", "PodGroup", "podgroups")
_DOCUMENTATION = "https://kubernetes.io/docs/concepts/scheduling-eviction/"


def _min_count(spec: Mapping[str, Any]) -> int:
    count = spec.get("schedulingPolicy", {}).get("gang", {}).get("minCount")
    return count if isinstance(count, int) else 0


def _is_evicted_as_unit(group: CustomObject) -> bool:
    """The disruption mode All; Single is the default."""
    return "all" in group.spec.get("disruptionMode", {})


class NativeGangsDialect(Dialect):
    """scheduling.k8s.io/v1beta1"""

    project = "Kubernetes"
    unsupported: tuple[Unsupported, ...] = NATIVE_GANGS
    kinds_read: tuple[Resource, ...] = (NATIVE_GROUP,)
    group_kind: Resource | None = NATIVE_GROUP
    conventions: Conventions = replace(KUBERNETES, min_member=_min_count, is_evicted_as_unit=_is_evicted_as_unit)
    group_phases: frozenset[str] = frozenset({"queued", "running"})  # a PodGroup of Kubernetes never finishes
    victim_event_names_preemptor = False  # it names the uid of the PodGroup, and no node

    def pod_manifest(self, request: PodRequest, namespace: str) -> Manifest:
        if request.non_preemptible:
            raise self.not_supported(Feature.NON_PREEMPTIBLE)
        if request.role:
            raise self.not_supported(Feature.ROLE_MINIMA)
        manifest = super().pod_manifest(request, namespace)
        if request.gang:
            manifest["spec"]["schedulingGroup"] = {"podGroupName": request.gang}
        return manifest

    def gang_manifest(self, request: GangRequest, namespace: str) -> Manifest:
        if request.linked_gangs:
            raise self.not_supported(Feature.LINKED_GANGS)
        if request.roles:
            raise self.not_supported(Feature.ROLE_MINIMA)
        if any(replace(pod, name="") != replace(request.members[0], name="") for pod in request.members):
            raise self.not_supported(Feature.MIXED_GANGS)
        spec: Manifest = {"schedulingPolicy": {"gang": {"minCount": request.min_member}}}
        if request.priority_class:
            spec["priorityClassName"] = request.priority_class
        if request.disruption_mode_all:
            spec["disruptionMode"] = {"all": {}}
        metadata = {"name": request.name, "namespace": namespace}
        return {"apiVersion": NATIVE_GROUP.api_version, "kind": "PodGroup", "metadata": metadata, "spec": spec}

    def min_member_patch(self, request: GangRequest) -> Manifest:
        return {"spec": {"schedulingPolicy": {"gang": {"minCount": request.min_member}}}}

    def phase(self, group: Mapping[str, Any]) -> str:
        conditions = group.get("status", {}).get("conditions") or ()
        scheduled = any(
            each["type"] == "PodGroupInitiallyScheduled" and each["status"] == "True" for each in conditions
        )
        return "running" if scheduled else "queued"


class NativeGangs(KubeScheduler):
    """The same configurations as kube-scheduler's, on a cluster with the gate on."""

    name: ClassVar[str] = "kube-scheduler-gangs"
    dialect_class: ClassVar[type[Dialect]] = NativeGangsDialect
    capabilities: ClassVar[Mapping[str, str]] = {
        **KubeScheduler.capabilities,
        "gangs": _DOCUMENTATION + "gang-scheduling/",
        "job-preemption": _DOCUMENTATION + "workload-aware-preemption/",
    }
    excuses: ClassVar[tuple[Excuse, ...]] = (
        Excuse(
            ("JPR-19",),
            "its page on PodGroup scheduling says under Limitations that a heterogeneous gang may not be placed",
            _DOCUMENTATION + "podgroup-scheduling/",
        ),
        Excuse(
            ("JPR-18",),
            "its event Preempted names the uid of the PodGroup, and no node",
            _DOCUMENTATION + "workload-aware-preemption/",
            part="that the event names a pod of the gang and the node",
        ),
    )
    differences: ClassVar[tuple[Difference, ...]] = (
        *KubeScheduler.differences,
        Difference(
            "feature gate GenericWorkload, and the API scheduling.k8s.io/v1beta1",
            "off",
            "on",
            "there are no gangs without them",
        ),
    )
    feature_gates: ClassVar[Mapping[str, bool]] = {"GenericWorkload": True}
    runtime_config: ClassVar[tuple[str, ...]] = ("scheduling.k8s.io/v1beta1=true",)
    controllers: ClassVar[tuple[str, ...]] = ("podgroup-protection-controller",)  # exists only where the gate is on
    existing_cluster_backoff: ClassVar[float | None] = None
