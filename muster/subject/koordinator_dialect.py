"""Koordinator's words: PodGroup of scheduling.sigs.k8s.io, tied to pods by a label; GPUs need a Device per node.

Koordinator counts GPUs by the devices that its agent reports. Nodes without an agent have none, whatever they offer, so
the harness reports them in the agent's place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from muster.cluster.resources import KOORDINATOR_DEVICE, KOORDINATOR_GROUP, Resource
from muster.subject.dialect import Dialect, Manifest
from muster.subject.requests import GangRequest, NodeRequest, PodRequest

_GPU_MEMORY = "80Gi"
_PHASES = {"Running": "running", "Finished": "finished", "Failed": "finished", "Scheduled": "running"}


class KoordinatorDialect(Dialect):
    """scheduling.sigs.k8s.io/v1alpha1"""

    gang_words = "koordinator"
    reads: tuple[Resource, ...] = (KOORDINATOR_GROUP,)
    group_kind: Resource | None = KOORDINATOR_GROUP

    def __init__(self, scheduler_name: str = "koord-scheduler") -> None:
        super().__init__(scheduler_name)

    def pod(self, request: PodRequest, namespace: str) -> Manifest:
        manifest = super().pod(request, namespace)
        if request.gang:
            manifest["metadata"]["labels"]["pod-group.scheduling.sigs.k8s.io"] = request.gang
        if request.protected:
            manifest["metadata"]["labels"]["scheduling.koordinator.sh/disable-preemptible"] = "true"
        return manifest

    def gang(self, request: GangRequest, namespace: str) -> Manifest:
        self.refuse_to_leave_whole(request)
        metadata: Manifest = {"name": request.name, "namespace": namespace}
        if request.with_gangs:
            together = [f"{namespace}/{name}" for name in (request.name, *request.with_gangs)]
            metadata["annotations"] = {"gang.scheduling.koordinator.sh/groups": json.dumps(sorted(together))}
        spec = {"minMember": request.minimum, "scheduleTimeoutSeconds": 300}
        return {"apiVersion": KOORDINATOR_GROUP.api_version, "kind": "PodGroup", "metadata": metadata, "spec": spec}

    def resized(self, request: GangRequest) -> Manifest:
        return {"spec": {"minMember": request.minimum}}

    def blames(self, gang: str, namespace: str) -> tuple[str, ...]:
        return self.scheduler_name, f"preemptor: {namespace}/{gang},"

    def beside(self, node: NodeRequest) -> list[Manifest]:
        whole = {
            "koordinator.sh/gpu-core": "100",
            "koordinator.sh/gpu-memory-ratio": "100",
            "koordinator.sh/gpu-memory": _GPU_MEMORY,
        }
        devices = [
            {"type": "gpu", "id": f"{node.name}-{minor}", "minor": minor, "health": True, "resources": whole}
            for minor in range(node.gpus)
        ]
        if not devices:
            return []
        metadata = {"name": node.name}
        spec = {"devices": devices}
        return [{"apiVersion": KOORDINATOR_DEVICE.api_version, "kind": "Device", "metadata": metadata, "spec": spec}]

    def phase(self, group: Mapping[str, Any]) -> str:
        return _PHASES.get(group.get("status", {}).get("phase", ""), "queued")
