"""Nodes as objects: capacity declared, never guessed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from muster.chronicle.quantities import GPU
from muster.subject.requests import NodeRequest, Taint

_MEMORY = "256Gi"
_PODS = "110"


def node_manifest(request: NodeRequest, labels: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """A Node that is ready from its first moment, with its GPUs as an extended resource."""
    offers = {"cpu": str(request.cpus), "memory": _MEMORY, "pods": _PODS}
    if request.gpus:
        offers[GPU] = str(request.gpus)
    known_by = {"kubernetes.io/hostname": request.name, **labels, **request.labels}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": request.name, "labels": known_by},
        "spec": {"taints": [taint_manifest(taint) for taint in request.taints]},
        "status": {
            "capacity": offers,
            "allocatable": offers,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }


def taint_manifest(taint: Taint) -> dict[str, str]:
    return {"key": taint.key, "value": taint.value, "effect": taint.effect}
