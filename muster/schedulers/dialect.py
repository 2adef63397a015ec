"""Requests to the objects that a scheduler reads, and back. This one is Kubernetes' own; others extend it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muster.cluster.resources import Resource
from muster.errors import NotSupported
from muster.recording.conventions import KUBERNETES, Conventions
from muster.recording.objects import CustomObject, Pod
from muster.recording.quantities import GPU
from muster.schedulers.requests import GangRequest, NodeRequest, PodRequest, QueueRequest, Toleration
from muster.schedulers.unsupported import Feature, Unsupported, not_supported

Manifest = dict[str, Any]

_IMAGE = "muster.dev/nothing-runs-here"  # the nodes are simulated: an image is named, never pulled
_TERMINATES_WITHIN = "200ms"  # long enough to be seen terminating, short enough not to delay a scenario
_LONG = "1h"  # longer than any scenario
GATE = "muster.dev/not-yet"
FINALIZER = "muster.dev/held"
_APP = "app"
_HOSTNAME = "kubernetes.io/hostname"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class Dialect:
    """How requests are written for one scheduler. What it cannot express raises NotSupported, and is never left out."""

    scheduler_name: str = "default-scheduler"  # spec.schedulerName of its pods
    project: str = ""  # as its project spells it; empty: the scheduler name
    unsupported: tuple[Unsupported, ...] = ()  # what its objects cannot express, and by which text
    other_scheduler_names: tuple[str, ...] = ()  # further names that it schedules pods for

    # Kinds of its own API.
    kinds_read: tuple[Resource, ...] = ()  # those that a walk-through's manifests may use
    group_kind: Resource | None = None  # the object that makes pods a gang
    conventions: Conventions = KUBERNETES  # how it marks victims and reports a gang as unschedulable
    queue_kind: Resource | None = None
    node_kinds: tuple[Resource, ...] = ()  # of the objects that `node_objects` creates
    queue_control_kinds: tuple[Resource, ...] = ()  # of the objects that open and close queues
    gang_api: str = "none"  # the PodGroup API that a training operator uses for its jobs: volcano, koordinator or none

    # Where names of objects are found in other objects: a run on an existing cluster renames what is cluster-wide.
    group_name_keys: tuple[str, ...] = ()  # labels and annotations of a pod that name its group
    queue_name_keys: tuple[str, ...] = ()  # labels and annotations that name a queue
    namespaced_name_keys: tuple[str, ...] = ()  # annotations with a JSON list of namespace/name

    # What it reports.
    group_phases: frozenset[str] = frozenset({"queued", "admitted", "running", "finished"})
    victim_event_reason: str = "Preempted"
    victim_event_names_preemptor: bool = True  # and the node

    node_labels: Mapping[str, str] = {}  # that a node must have for this scheduler to use it

    def __init__(self, scheduler_name: str = "") -> None:
        self.scheduler_name = scheduler_name or self.scheduler_name

    @classmethod
    def recorded_kinds(cls) -> tuple[Resource, ...]:
        """The kinds of its own that the recorder must watch."""
        return tuple(kind for kind in (cls.group_kind, cls.queue_kind) if kind)

    @classmethod
    def created_kinds(cls) -> tuple[Resource, ...]:
        """The kinds of its own that scenarios create."""
        return (*cls.recorded_kinds(), *cls.node_kinds, *cls.queue_control_kinds)

    def accepts_scheduler_name(self, name: str) -> bool:
        """Whether it schedules a pod with this spec.schedulerName."""
        return name == self.scheduler_name or name in self.other_scheduler_names

    # Requests to manifests.

    def pod_manifest(self, request: PodRequest, namespace: str) -> Manifest:
        metadata: Manifest = {
            "name": request.name,
            "namespace": namespace,
            "labels": dict(request.labels),
            "annotations": {"muster.dev/termination": _LONG if request.long_grace_period else _TERMINATES_WITHIN},
        }
        if request.app:
            metadata["labels"][_APP] = request.app
        if request.finalizer:
            metadata["finalizers"] = [FINALIZER]
        amounts = {GPU: str(request.gpus) if request.gpus else "", "cpu": request.cpus, "memory": request.memory}
        limits = {resource: amount for resource, amount in amounts.items() if amount}
        container: Manifest = {"name": "main", "image": _IMAGE}
        if limits:
            container["resources"] = {"limits": limits}
        spec: Manifest = {"schedulerName": self.scheduler_name, "containers": [container], **_placement(request)}
        if request.bound_to:
            spec["nodeName"] = request.bound_to
        if request.resource_claim:
            spec["resourceClaims"] = [{"name": "device", "resourceClaimName": request.resource_claim}]
            container.setdefault("resources", {})["claims"] = [{"name": "device"}]
        if request.volume_claim:
            spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": request.volume_claim}}]
            container["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
        if request.priority_class:
            spec["priorityClassName"] = request.priority_class
        if request.long_grace_period:
            spec["terminationGracePeriodSeconds"] = 3600
        if request.gated:
            spec["schedulingGates"] = [{"name": GATE}]
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

    def gang_manifest(self, request: GangRequest, namespace: str) -> Manifest | None:
        """The group object; None where pods declare their gang themselves, and the dialect remembers it for them."""
        raise self._unsupported("gangs")

    def min_member_patch(self, request: GangRequest) -> Manifest:
        """The patch that changes minMember of a group object."""
        raise self.not_supported(Feature.MIN_MEMBER_CHANGE)

    def priority_patch(self, priority_class: str) -> Manifest:
        """The patch that changes the priority class of a pending group object."""
        raise self.not_supported(Feature.GANG_PRIORITY_CHANGE)

    def queue_manifest(self, request: QueueRequest) -> Manifest:
        raise self._unsupported("queues")

    def queues_without(self, name: str) -> Manifest:
        """The object of all queues after one was removed, where all queues are one object."""
        raise self._unsupported("queues")

    def queue_objects_in_namespace(self, request: QueueRequest, namespace: str) -> list[Manifest]:
        """Objects that let the pods of a namespace use a queue."""
        return []

    def open_or_close_queue(self, queue: CustomObject, *, opened: bool, namespace: str) -> Manifest:
        """The object that opens or closes a queue."""
        raise self.not_supported(Feature.CLOSING)

    def namespace_objects(self, namespace: str) -> list[Manifest]:
        """Objects that a namespace must have for this scheduler to schedule its pods."""
        return []

    def node_objects(self, node: NodeRequest) -> list[Manifest]:
        """Objects that must exist beside a node for this scheduler to see its devices."""
        return []

    # What a scenario must not do with this scheduler.

    def refuse_disruption_mode_all(self, request: GangRequest) -> None:
        """For schedulers that preempt gangs pod by pod and have no setting for it."""
        if request.disruption_mode_all:
            raise self.not_supported(Feature.GANG_AS_UNIT)

    def refuse_role_minima(self, request: GangRequest) -> None:
        """For schedulers whose group object has one minimum for all pods."""
        if request.roles:
            raise self.not_supported(Feature.ROLE_MINIMA)

    def check_pod_deletion(self, request: PodRequest) -> None:
        """Raise NotSupported if a pod that its owner deletes would not be removed."""
        return

    def check_direct_binding(self) -> None:
        """Raise NotSupported if the API server would refuse a binding that is written in the scheduler's name."""
        return

    def check_phase_supported(self, phase: str) -> None:
        """Raise NotSupported for a phase that no group object of this scheduler ever reports."""
        if phase not in self.group_phases:
            raise self.not_supported(Feature.PHASE, phase)

    # Objects and status back to neutral terms.

    def victim_message_parts(self, gang: str, namespace: str) -> tuple[str, ...]:
        """Texts in the condition of a victim: the scheduler, and where this one says so, the preempting gang."""
        return (self.scheduler_name,)

    def phase(self, group: Mapping[str, Any]) -> str:
        """The phase of a group object, from its status: queued, admitted, running or finished."""
        raise self.not_supported(Feature.PHASE, "reported")

    def running_members(self, group: CustomObject) -> int:
        """The number of running members according to the group object."""
        raise self.not_supported(Feature.RUNNING_COUNT)

    def gang_of(self, pod: Pod) -> str:
        """The name of the group object that a pod belongs to, or an empty string."""
        raise self._unsupported("gangs")

    def queue_of(self, group: CustomObject) -> str:
        """The queue whose quota the pods of a gang use."""
        raise self._unsupported("queues")

    def queue_of_pod(self, pod: Pod) -> str:
        """The queue whose quota a pod uses, where there are no group objects."""
        raise self._unsupported("queues")

    def limits_of(self, queue: str) -> dict[str, str]:
        """The capability of a queue, where a queue is not an object of its own."""
        raise self._unsupported("queues")

    def capability(self, queue: CustomObject) -> dict[str, str]:
        """The capability of a queue object; a resource that is left out is not limited."""
        raise self._unsupported("queues")

    def is_open(self, queue: CustomObject) -> bool:
        raise self.not_supported(Feature.CLOSING)

    def not_supported(self, feature: Feature, detail: str = "") -> NotSupported:
        """For a scenario that asks for a feature which its objects cannot express."""
        return not_supported(self.project or self.scheduler_name, self.unsupported, feature, detail)

    def _unsupported(self, capability: str) -> NotSupported:
        """For a capability that it does not claim: no scenario that is run asks for it."""
        return NotSupported(f"{self.scheduler_name} does not support {capability}")


def _placement(request: PodRequest) -> Manifest:
    """The fields of a pod's spec that restrict the nodes it may be bound to."""
    hostname = {_HOSTNAME: request.node} if request.node else {}
    affinity: Manifest = {}
    if request.node_affinity:
        terms = [{"key": key, "operator": "In", "values": [value]} for key, value in request.node_affinity.items()]
        affinity["nodeAffinity"] = {_REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": terms}]}}
    if request.anti_affinity_app:
        term = {"topologyKey": _HOSTNAME, "labelSelector": {"matchLabels": {_APP: request.anti_affinity_app}}}
        affinity["podAntiAffinity"] = {_REQUIRED: [term]}
    spread = {
        "maxSkew": 1,
        "topologyKey": _HOSTNAME,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {_APP: request.app}},
    }
    fields: Manifest = {
        "nodeSelector": {**hostname, **request.node_selector},
        "tolerations": [_toleration(toleration) for toleration in request.tolerations],
        "affinity": affinity,
        "topologySpreadConstraints": [spread] if request.spread else [],
    }
    return {name: value for name, value in fields.items() if value}


def _toleration(request: Toleration) -> Manifest:
    fields = {"key": request.key, "operator": request.operator, "value": request.value, "effect": request.effect}
    manifest: Manifest = {field: value for field, value in fields.items() if value}
    if request.seconds is not None:
        manifest["tolerationSeconds"] = request.seconds
    return manifest
