"""Manifests of the objects that scenarios need beside pods: nodes, PriorityClasses, namespaces and service accounts."""

from __future__ import annotations

import datetime
import zlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from muster.cluster.resources import PRIORITY_CLASS
from muster.recording.quantities import GPU
from muster.schedulers.requests import NodeRequest, Taint

_PODS = "110"
_DISK = "100Gi"  # every kubelet reports it, and launchers of MPIJobs may request some


def node_manifest(request: NodeRequest, labels: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """A Node that is complete from its creation; its GPUs are an extended resource.

    KWOK need not add anything, and with leases it might not: it ignores a node until it has seen its own lease, and
    does not look again at changes that came before.
    """
    capacity = {"cpu": str(request.cpus), "memory": request.memory, "ephemeral-storage": _DISK, "pods": _PODS}
    if request.gpus:
        capacity[GPU] = str(request.gpus)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": request.name,
            "labels": {"kubernetes.io/hostname": request.name, **labels, **request.labels},
        },
        "spec": {"taints": [taint_manifest(taint) for taint in request.taints]},
        "status": {
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
            "addresses": [{"type": "InternalIP", "address": node_address(request.name)}],
        },
    }


def unreachable_status(since: datetime.datetime) -> dict[str, Any]:
    """The patch of the condition that the node controller sets when a node's heartbeats stop."""
    at = since.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    unknown = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "lastTransitionTime": at}
    return {"status": {"conditions": [unknown]}}


def node_address(name: str) -> str:
    """A private address made of the node's name: a node has the same one in every run."""
    number = zlib.adler32(name.encode())
    return f"172.{number % 16 + 16}.{number // 16 % 256}.{number // 4096 % 254 + 1}"


def taint_manifest(taint: Taint) -> dict[str, str]:
    return {"key": taint.key, "value": taint.value, "effect": taint.effect}


def priority_class_manifest(name: str, value: int, *, preempts: bool) -> dict[str, Any]:
    return {
        "apiVersion": PRIORITY_CLASS.api_version,
        "kind": PRIORITY_CLASS.kind,
        "metadata": {"name": name},
        "value": value,
        "preemptionPolicy": "PreemptLowerPriority" if preempts else "Never",
    }


def namespace_manifests(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A namespace and its default service account.

    The controller-manager would create the account as well, some milliseconds after the first pod was refused.
    """
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, account
