"""Kueue's words: a pod is work of its own or one of a pod group, and waits behind gates for the Workload made of it.

Kueue's webhooks would write the gates, the finalizer and the hash of a pod's role. They do not run here, for a paused
Kueue would refuse every pod; so the dialect writes what they write. A group is declared by its pods, all of which start
together: the dialect remembers it for them, and what a queue may use as well.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from muster.chronicle.lifelines import CANARY_ROLE, ROLE_LABEL
from muster.chronicle.objects import Pod, Thing
from muster.cluster.resources import KUEUE_CLUSTER_QUEUE, KUEUE_WORKLOAD, Resource
from muster.errors import NotSupported
from muster.subject.dialect import Dialect, Manifest
from muster.subject.kueue_objects import CANARIES, EVERYBODY, NODE_LABELS, cluster_queue, limits, local_queue
from muster.subject.requests import GangRequest, PodRequest, QueueRequest

_OWN = "kueue.x-k8s.io/"
_GROUP = _OWN + "pod-group-name"
# Kueue 0.18.4 panics where a pod asks for nothing and there is a topology.
_NEXT_TO_NOTHING = {"requests": {"cpu": "1m"}}
_SHAPE = ("nodeSelector", "tolerations", "priorityClassName")


class KueueDialect(Dialect):
    """kueue.x-k8s.io/v1beta2, for pods. One for the life of a subject, because it remembers gangs and queues."""

    reads: tuple[Resource, ...] = (KUEUE_WORKLOAD, KUEUE_CLUSTER_QUEUE)
    group_kind: Resource | None = KUEUE_WORKLOAD
    queue_kind: Resource | None = KUEUE_CLUSTER_QUEUE
    node_labels: Mapping[str, str] = NODE_LABELS
    tells_why_a_queue_refuses = False  # it does, on the Workload; a pod only says that it is gated
    eviction_reason = "Stopped"
    eviction_names_preemptor = False  # it names the uid of a Workload's owner, and no node

    def __init__(self, *, preempts: bool = False) -> None:
        super().__init__("default-scheduler")
        self.preempts = preempts  # whether queues evict their less important work; then every pod is in one
        self._gangs: dict[tuple[str, str], GangRequest] = {}

    def pod(self, request: PodRequest, namespace: str) -> Manifest:
        if request.protected:
            raise NotSupported("Kueue has no word for a pod that may not be evicted by those more important")
        manifest = super().pod(request, namespace)
        queue = self._queue_for(request, namespace)
        if not queue:
            return manifest
        meta, spec = manifest["metadata"], manifest["spec"]
        spec["containers"][0].setdefault("resources", dict(_NEXT_TO_NOTHING))
        if request.gang:
            meta["labels"][_GROUP] = request.gang
            meta["annotations"][_OWN + "pod-group-total-count"] = str(self._declared(request.gang, namespace).minimum)
        meta["labels"] |= {_OWN + "queue-name": queue, _OWN + "managed": "true"}
        meta["annotations"][_OWN + "podset-unconstrained-topology"] = "true"
        meta["annotations"][_OWN + "role-hash"] = _role_hash(manifest, request.role)
        meta["finalizers"] = [_OWN + "managed"]
        gates = [{"name": _OWN + "admission"}, {"name": _OWN + "topology"}]
        spec["schedulingGates"] = [*spec.get("schedulingGates", []), *gates]
        return manifest

    def gang(self, request: GangRequest, namespace: str) -> None:
        if request.with_gangs:
            raise NotSupported("Kueue has no word for gangs that start together")
        if len(request.members) > request.minimum:
            raise NotSupported("a pod group of Kueue has a size and no minimum: all of it starts together")
        self._gangs[namespace, request.name] = request

    def lose(self, request: PodRequest) -> None:
        if request.gang:
            raise NotSupported("Kueue keeps a lost pod of a group until another one, of another name, replaces it")

    def bound_by_others(self) -> None:
        raise NotSupported("a pod that Kueue has not admitted is gated, and nobody can bind it")

    def queue(self, request: QueueRequest) -> Manifest:
        if request.protects_head:
            raise NotSupported("Kueue has no word for a reservation of the job at the head of a queue")
        if request.lends or request.weight != 1:
            raise NotSupported("queues of Kueue lend and share by weight inside a cohort, and these are in none")
        return cluster_queue(request, preempts=self.preempts)

    def beside_queue(self, request: QueueRequest, namespace: str) -> list[Manifest]:
        return [local_queue(request.name, namespace)]

    def in_namespace(self, namespace: str) -> list[Manifest]:
        return [local_queue(EVERYBODY, namespace), local_queue(CANARIES, namespace)]

    def phase(self, group: Mapping[str, Any]) -> str:
        """It never says that work runs, unless told to wait for pods to be ready."""
        true = {one["type"] for one in group.get("status", {}).get("conditions", []) if one["status"] == "True"}
        return "finished" if "Finished" in true else "admitted" if "Admitted" in true else "queued"

    def gang_of(self, pod: Pod) -> str:
        return pod.metadata.labels.get(_GROUP, "")

    def queue_of(self, group: Thing) -> str:
        return str(group.spec.get("queueName", ""))

    def capability(self, queue: Thing) -> dict[str, str]:
        return limits(queue.spec)

    def is_open(self, queue: Thing) -> bool:
        return any(one["type"] == "Active" and one["status"] == "True" for one in queue.status.get("conditions", []))

    def operate(self, queue: Thing, *, opened: bool, namespace: str) -> Manifest:
        """Hold: nothing new is admitted, and what is admitted goes on."""
        kind = {"apiVersion": KUEUE_CLUSTER_QUEUE.api_version, "kind": KUEUE_CLUSTER_QUEUE.kind}
        spec = {"stopPolicy": "None" if opened else "Hold"}
        return {**kind, "metadata": {"name": queue.metadata.name}, "spec": spec}

    def _queue_for(self, request: PodRequest, namespace: str) -> str:
        """Empty for a pod that Kueue leaves to kube-scheduler, as it does with all that name no queue."""
        if request.gang:
            return self._declared(request.gang, namespace).queue or EVERYBODY
        if request.labels.get(ROLE_LABEL) == CANARY_ROLE:
            return CANARIES
        return request.queue or (EVERYBODY if self.preempts and not request.system else "")

    def _declared(self, gang: str, namespace: str) -> GangRequest:
        try:
            return self._gangs[namespace, gang]
        except KeyError:
            raise NotSupported("a pod of Kueue declares its group itself: it cannot come before that") from None


def _role_hash(manifest: Manifest, role: str) -> str:
    """Pods of one hash can take each other's place; it has to be there before Kueue changes the pod's selector."""
    spec = manifest["spec"]
    shape = [role, spec["containers"][0].get("resources", {}), *(spec.get(field) for field in _SHAPE)]
    return hashlib.sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:8]
