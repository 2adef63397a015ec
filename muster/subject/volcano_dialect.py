"""Volcano's words: PodGroup and Queue of scheduling.volcano.sh, tied to pods by an annotation.

A job's importance is that of its PodGroup, never that of its pods. A pod without the annotation gets a PodGroup of its
own from Volcano's controller, with the queue that its own annotation names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muster.chronicle.quantities import GPU
from muster.cluster.resources import VOLCANO_GROUP, VOLCANO_QUEUE, Resource
from muster.subject.dialect import Dialect, Manifest
from muster.subject.requests import GangRequest, PodRequest, QueueRequest

_PHASES = {"": "queued", "Pending": "queued", "Inqueue": "admitted", "Running": "running", "Completed": "finished"}


class VolcanoDialect(Dialect):
    """scheduling.volcano.sh/v1beta1"""

    group_kind: Resource | None = VOLCANO_GROUP
    queue_kind: Resource | None = VOLCANO_QUEUE

    def __init__(self) -> None:
        super().__init__("volcano")

    def pod(self, request: PodRequest, namespace: str) -> Manifest:
        manifest = super().pod(request, namespace)
        annotations = manifest["metadata"]["annotations"]
        if request.gang:
            annotations["scheduling.k8s.io/group-name"] = request.gang
        elif request.queue:
            annotations["scheduling.volcano.sh/queue-name"] = request.queue
        if request.role:
            annotations["volcano.sh/task-spec"] = request.role
        if request.protected:
            annotations["volcano.sh/preemptable"] = "false"
        return manifest

    def gang(self, request: GangRequest, namespace: str) -> Manifest:
        spec: Manifest = {"minMember": request.minimum, "queue": request.queue or "default"}
        if request.roles:
            spec["minTaskMember"] = request.roles
        if request.priority_class:
            spec["priorityClassName"] = request.priority_class
        if request.asks_gpus:
            spec["minResources"] = {GPU: str(request.asks_gpus)}
        metadata = {"name": request.name, "namespace": namespace}
        return {"apiVersion": VOLCANO_GROUP.api_version, "kind": "PodGroup", "metadata": metadata, "spec": spec}

    def queue(self, request: QueueRequest) -> Manifest:
        asked = {GPU: request.gpus, "cpu": request.cpus}
        capability = {resource: str(amount) for resource, amount in asked.items() if amount is not None}
        spec: Manifest = {"weight": request.weight, "reclaimable": False}
        if capability:
            spec["capability"] = capability
        return {
            "apiVersion": VOLCANO_QUEUE.api_version,
            "kind": "Queue",
            "metadata": {"name": request.name},
            "spec": spec,
        }

    def phase(self, group: Mapping[str, Any]) -> str:
        return _PHASES.get(group.get("status", {}).get("phase", ""), "running")
