"""Volcano's words: PodGroup and Queue of scheduling.volcano.sh, tied to pods by an annotation.

A job's importance is that of its PodGroup, never that of its pods. A pod without the annotation gets a PodGroup of its
own from Volcano's controller, with the queue that its own annotation names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muster.chronicle.objects import Pod, Thing
from muster.chronicle.quantities import GPU
from muster.cluster.resources import VOLCANO_COMMAND, VOLCANO_GROUP, VOLCANO_QUEUE, Resource
from muster.errors import NotSupported
from muster.subject.dialect import Dialect, Manifest
from muster.subject.requests import GangRequest, PodRequest, QueueRequest

_GROUP_NAME = "scheduling.k8s.io/group-name"
_PHASES = {"": "queued", "Pending": "queued", "Inqueue": "admitted", "Running": "running", "Completed": "finished"}


class VolcanoDialect(Dialect):
    """scheduling.volcano.sh/v1beta1"""

    gang_words = "volcano"
    reads: tuple[Resource, ...] = (VOLCANO_GROUP, VOLCANO_QUEUE)
    group_kind: Resource | None = VOLCANO_GROUP
    queue_kind: Resource | None = VOLCANO_QUEUE
    tells_why_a_queue_refuses = False  # its admission webhook does, and does not run here
    eviction_reason = "Evict"
    eviction_names_preemptor = False

    def __init__(self, scheduler_name: str = "volcano", *, reclaims: bool = False) -> None:
        super().__init__(scheduler_name)
        self.reclaims = reclaims  # whether lent room is taken back

    def pod(self, request: PodRequest, namespace: str) -> Manifest:
        manifest = super().pod(request, namespace)
        annotations = manifest["metadata"]["annotations"]
        if request.gang:
            annotations[_GROUP_NAME] = request.gang
        elif request.queue:
            annotations["scheduling.volcano.sh/queue-name"] = request.queue
        if request.role:
            annotations["volcano.sh/task-spec"] = request.role
        if request.protected:
            annotations["volcano.sh/preemptable"] = "false"
        return manifest

    def gang(self, request: GangRequest, namespace: str) -> Manifest:
        if request.with_gangs:
            raise NotSupported(f"{self.scheduler_name} has no word for gangs that start together")
        self.refuse_to_leave_whole(request)
        spec: Manifest = {"minMember": request.minimum, "queue": request.queue or "default"}
        if request.roles:
            spec["minTaskMember"] = request.roles
        if request.priority_class:
            spec["priorityClassName"] = request.priority_class
        if request.asks_gpus:
            spec["minResources"] = {GPU: str(request.asks_gpus), **request.asks_beside}
        metadata = {"name": request.name, "namespace": namespace}
        return {"apiVersion": VOLCANO_GROUP.api_version, "kind": "PodGroup", "metadata": metadata, "spec": spec}

    def resized(self, request: GangRequest) -> Manifest:
        return {"spec": {"minMember": request.minimum, "minResources": {GPU: str(request.asks_gpus)}}}

    def queue(self, request: QueueRequest) -> Manifest:
        if request.strictly_in_order:
            raise NotSupported("Volcano's Queue has the field dequeueStrategy, and no scheduler that reads it")
        if request.lends and not self.reclaims:
            raise NotSupported("lent room is taken back by Volcano's action reclaim, which is not switched on")
        if request.protects_head:
            raise NotSupported("Volcano has no word for a reservation of the job at the head of a queue")
        asked = {GPU: request.gpus, "cpu": request.cpus, "memory": request.memory}
        capability = {resource: str(amount) for resource, amount in asked.items() if amount is not None}
        spec: Manifest = {"weight": request.weight, "reclaimable": request.lends}
        if capability:
            spec["capability"] = capability
        if request.guaranteed_gpus:
            spec["guarantee"] = {"resource": {GPU: str(request.guaranteed_gpus)}}
        return {
            "apiVersion": VOLCANO_QUEUE.api_version,
            "kind": "Queue",
            "metadata": {"name": request.name},
            "spec": spec,
        }

    def phase(self, group: Mapping[str, Any]) -> str:
        return _PHASES.get(group.get("status", {}).get("phase", ""), "running")

    def running_members(self, group: Thing) -> int:
        return int(group.status.get("running", 0))

    def gang_of(self, pod: Pod) -> str:
        return pod.metadata.annotations.get(_GROUP_NAME, "")

    def queue_of(self, group: Thing) -> str:
        return str(group.spec.get("queue", ""))

    def capability(self, queue: Thing) -> dict[str, str]:
        return {resource: str(amount) for resource, amount in queue.spec.get("capability", {}).items()}

    def is_open(self, queue: Thing) -> bool:
        return bool(queue.status.get("state") == "Open")

    def operate(self, queue: Thing, *, opened: bool, namespace: str) -> Manifest:
        """What vcctl does: a Command to the queue's controller, which deletes it when it is carried out."""
        action = "OpenQueue" if opened else "CloseQueue"
        owner: Manifest = {
            "apiVersion": VOLCANO_QUEUE.api_version,
            "kind": VOLCANO_QUEUE.kind,
            "name": queue.metadata.name,
            "uid": queue.metadata.uid,
            "controller": True,
        }
        metadata = {"name": f"{queue.metadata.name}-{action.lower()}", "namespace": namespace}
        command = {"metadata": {**metadata, "ownerReferences": [owner]}, "target": owner, "action": action}
        return {"apiVersion": VOLCANO_COMMAND.api_version, "kind": VOLCANO_COMMAND.kind, **command}

    def promotion(self, priority_class: str) -> Manifest:
        return {"spec": {"priorityClassName": priority_class}}
