"""Kueue's objects: a pod or a pod group becomes a Workload, and stays gated until the Workload is admitted.

Kueue's webhooks would write the gates, the finalizer and the hash of a pod's role. They do not run here, because a
paused Kueue would refuse every pod; so the dialect writes the same. Pods declare their pod group, all of which is
admitted together: the dialect remembers each gang for its pods.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from muster.cluster.resources import Resource
from muster.recording.conventions import KUBERNETES, Conventions
from muster.recording.objects import Condition, CustomObject, Pod
from muster.recording.pod_history import PROBE_ROLE, ROLE_LABEL
from muster.schedulers.dialect import Dialect, Manifest
from muster.schedulers.kueue.objects import (
    DEFAULT_QUEUE,
    KUEUE_CLUSTER_QUEUE,
    KUEUE_WORKLOAD,
    NODE_LABELS,
    PROBE_QUEUE,
    cluster_queue,
    limits,
    local_queue,
)
from muster.schedulers.requests import GangRequest, PodRequest, QueueRequest
from muster.schedulers.unsupported import KUEUE as KUEUE_UNSUPPORTED
from muster.schedulers.unsupported import Feature, Unsupported

_OWN = "kueue.x-k8s.io/"
_GROUP = _OWN + "pod-group-name"
# Kueue 0.18.4 panics if a pod requests nothing and there is a topology.
_SMALLEST_REQUEST = {"requests": {"cpu": "1m"}}
_SHAPE = ("nodeSelector", "tolerations", "priorityClassName")
_PREEMPTED, _FOR_ANOTHER_WORKLOAD = "WorkloadEvictedDueToPreempted", "Preempted to accommodate"


def _is_preemption(condition: Condition) -> bool:
    if condition.reason == _PREEMPTED:
        return condition.message.startswith(_FOR_ANOTHER_WORKLOAD)
    return KUBERNETES.is_preemption(condition)


def _is_group_unschedulable(condition: Mapping[str, Any]) -> bool:
    without_quota = str(condition.get("type", "")).endswith("QuotaReserved") and condition.get("status") == "False"
    return without_quota or KUBERNETES.is_group_unschedulable(condition)


# The Workload's message counts the nodes that topology-aware scheduling has excluded, by the reason; other nodes than
# the scenario's do not count: the probe's has a taint that no pod tolerates.
_WORDINGS = {
    "Unschedulable": "QuotaReserved=False",
    "Insufficient nvidia.com/gpu": r'excluded:.* resource "nvidia\.com/gpu": [1-9]',
    "untolerated taint": r'excluded:.* taint "(?!muster\.dev/)[^"]+:NoSchedule": [1-9]',
}

KUEUE = Conventions(
    disruption_conditions=("DisruptionTarget", "TerminationTarget"),
    is_preemption=_is_preemption,
    group_kinds=(KUEUE_WORKLOAD.kind,),
    is_group_unschedulable=_is_group_unschedulable,
    reports_gated_pods_on_groups=True,
    group_wordings=_WORDINGS,
)


class KueueDialect(Dialect):
    """kueue.x-k8s.io/v1beta2, for pods."""

    project = "Kueue"
    unsupported: tuple[Unsupported, ...] = KUEUE_UNSUPPORTED
    kinds_read: tuple[Resource, ...] = (KUEUE_WORKLOAD, KUEUE_CLUSTER_QUEUE)
    group_kind: Resource | None = KUEUE_WORKLOAD
    queue_kind: Resource | None = KUEUE_CLUSTER_QUEUE
    conventions: Conventions = KUEUE  # conditions of its own on pods and on Workloads
    group_name_keys: tuple[str, ...] = (_GROUP,)
    queue_name_keys: tuple[str, ...] = (_OWN + "queue-name",)
    node_labels: Mapping[str, str] = NODE_LABELS
    victim_event_reason = "Stopped"
    victim_event_names_preemptor = False  # it names the uid of a Workload's owner, and no node

    def __init__(self, *, preempts: bool = False) -> None:
        super().__init__()
        self.preempts = preempts  # whether queues preempt their lower-priority workloads; then every pod is in one
        self._gangs: dict[tuple[str, str], GangRequest] = {}

    def pod_manifest(self, request: PodRequest, namespace: str) -> Manifest:
        if request.non_preemptible:
            raise self.not_supported(Feature.NON_PREEMPTIBLE)
        manifest = super().pod_manifest(request, namespace)
        queue = self._queue_for(request, namespace)
        if not queue:
            return manifest
        meta, spec = manifest["metadata"], manifest["spec"]
        spec["containers"][0].setdefault("resources", dict(_SMALLEST_REQUEST))
        if request.gang:
            meta["labels"][_GROUP] = request.gang
            meta["annotations"][_OWN + "pod-group-total-count"] = str(
                self._declared(request.gang, namespace).min_member
            )
        meta["labels"] |= {_OWN + "queue-name": queue, _OWN + "managed": "true"}
        meta["annotations"][_OWN + "podset-unconstrained-topology"] = "true"
        meta["annotations"][_OWN + "role-hash"] = _role_hash(manifest, request.role)
        meta["finalizers"] = [*meta.get("finalizers", []), _OWN + "managed"]
        gates = [{"name": _OWN + "admission"}, {"name": _OWN + "topology"}]
        spec["schedulingGates"] = [*spec.get("schedulingGates", []), *gates]
        return manifest

    def gang_manifest(self, request: GangRequest, namespace: str) -> None:
        if request.linked_gangs:
            raise self.not_supported(Feature.LINKED_GANGS)
        if len(request.members) > request.min_member:
            raise self.not_supported(Feature.SURPLUS_MEMBERS)
        self._gangs[namespace, request.name] = request

    def check_pod_deletion(self, request: PodRequest) -> None:
        if request.gang:
            raise self.not_supported(Feature.MEMBER_DELETION)

    def check_direct_binding(self) -> None:
        raise self.not_supported(Feature.DIRECT_BINDING)

    def queue_manifest(self, request: QueueRequest) -> Manifest:
        if request.reserves_for_head:
            raise self.not_supported(Feature.HEAD_RESERVATION)
        if request.lends:
            raise self.not_supported(Feature.LENDING)
        if request.weight != 1:
            raise self.not_supported(Feature.WEIGHTS)
        return cluster_queue(request, preempts=self.preempts)

    def queue_objects_in_namespace(self, request: QueueRequest, namespace: str) -> list[Manifest]:
        return [local_queue(request.name, namespace)]

    def namespace_objects(self, namespace: str) -> list[Manifest]:
        return [local_queue(DEFAULT_QUEUE, namespace), local_queue(PROBE_QUEUE, namespace)]

    def phase(self, group: Mapping[str, Any]) -> str:
        """It does not report that a workload runs, unless configured to wait for pods to be ready."""
        true = {each["type"] for each in group.get("status", {}).get("conditions", []) if each["status"] == "True"}
        return "finished" if "Finished" in true else "admitted" if "Admitted" in true else "queued"

    def gang_of(self, pod: Pod) -> str:
        return pod.metadata.labels.get(_GROUP, "")

    def queue_of(self, group: CustomObject) -> str:
        return str(group.spec.get("queueName", ""))

    def capability(self, queue: CustomObject) -> dict[str, str]:
        return limits(queue.spec)

    def is_open(self, queue: CustomObject) -> bool:
        return any(one["type"] == "Active" and one["status"] == "True" for one in queue.status.get("conditions", []))

    def open_or_close_queue(self, queue: CustomObject, *, opened: bool, namespace: str) -> Manifest:
        """Hold: nothing new is admitted, and admitted workloads continue."""
        kind = {"apiVersion": KUEUE_CLUSTER_QUEUE.api_version, "kind": KUEUE_CLUSTER_QUEUE.kind}
        spec = {"stopPolicy": "None" if opened else "Hold"}
        return {**kind, "metadata": {"name": queue.metadata.name}, "spec": spec}

    def _queue_for(self, request: PodRequest, namespace: str) -> str:
        """Empty for a pod that Kueue leaves to kube-scheduler, as it does with all pods that name no queue."""
        if request.gang:
            return self._declared(request.gang, namespace).queue or DEFAULT_QUEUE
        if request.labels.get(ROLE_LABEL) == PROBE_ROLE:
            return PROBE_QUEUE
        return request.queue or (DEFAULT_QUEUE if self.preempts and not request.system else "")

    def _declared(self, gang: str, namespace: str) -> GangRequest:
        try:
            return self._gangs[namespace, gang]
        except KeyError:
            raise self.not_supported(Feature.PODS_BEFORE_GANG) from None


def _role_hash(manifest: Manifest, role: str) -> str:
    """Pods of one hash are interchangeable; it must be set before Kueue changes the pod's selector."""
    spec = manifest["spec"]
    shape = [role, spec["containers"][0].get("resources", {}), *(spec.get(field) for field in _SHAPE)]
    return hashlib.sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:8]
