"""Nodes as objects: capacity declared, never guessed."""

from __future__ import annotations

from typing import Any

from muster.chronicle.quantities import GPU
from muster.subject.requests import NodeRequest, Taint

_MEMORY = "256Gi"
_PODS = "110"


def node_manifest(request: NodeRequest) -> dict[str, Any]:
    """A Node that is ready from its first moment, with its GPUs as an extended resource."""
    offers = {"cpu": str(request.cpus), "memory": _MEMORY, "pods": _PODS}
    if request.gpus:
        offers[GPU] = str(request.gpus)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": request.name, "labels": {"kubernetes.io/hostname": request.name, **request.labels}},
        "spec": {"taints": [taint_manifest(taint) for taint in request.taints]},
        "status": {
            "capacity": offers,
            "allocatable": offers,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }


def taint_manifest(taint: Taint) -> dict[str, str]:
    return {"key": taint.key, "value": taint.value, "effect": taint.effect}
