"""From neutral nouns to the objects that a scheduler understands. This is plain Kubernetes; others build on it."""

from __future__ import annotations

from typing import Any

from muster.chronicle.quantities import GPU
from muster.subject.requests import PodRequest

_IMAGE = "muster.dev/nothing-runs-here"  # the nodes are simulated: an image is named, never pulled
_LEAVES_WITHIN = "200ms"  # long enough to be seen terminating, short enough not to be waited for


class Dialect:
    """How this scheduler wants to be spoken to."""

    def __init__(self, scheduler_name: str) -> None:
        self.scheduler_name = scheduler_name

    def pod(self, request: PodRequest, namespace: str) -> dict[str, Any]:
        metadata: dict[str, Any] = {
            "name": request.name,
            "namespace": namespace,
            "labels": dict(request.labels),
            "annotations": {"muster.dev/termination": request.leaves_within or _LEAVES_WITHIN},
        }
        container: dict[str, Any] = {"name": "main", "image": _IMAGE}
        if request.gpus:
            container["resources"] = {"limits": {GPU: str(request.gpus)}}
        spec: dict[str, Any] = {"schedulerName": self.scheduler_name, "containers": [container]}
        if request.node:
            spec["nodeSelector"] = {"kubernetes.io/hostname": request.node}
        if request.tolerations:
            spec["tolerations"] = [
                {field: value for field, value in vars(toleration).items() if value}
                for toleration in request.tolerations
            ]
        if request.priority_class:
            spec["priorityClassName"] = request.priority_class
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
