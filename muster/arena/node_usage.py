"""GPU usage of nodes, from nodes and pods of the API.

GPU requests equal limits, and often only the limits are set.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

GPU = "nvidia.com/gpu"
_FINISHED = ("Succeeded", "Failed")
_ROLE = "node-role.kubernetes.io/"
_CONTROL_PLANE = ("control-plane", "master")


@dataclass(frozen=True)
class GpuPod:
    """A pod that holds GPUs of a node."""

    namespace: str
    name: str
    phase: str
    requests: int
    limits: int


@dataclass(frozen=True)
class NodeRow:
    """A node as `muster top node` shows it."""

    name: str
    address: str
    role: str
    status: str
    total: int
    pods: tuple[GpuPod, ...]

    @property
    def allocated(self) -> int:
        return sum(pod.limits for pod in self.pods)


def node_rows(nodes: Iterable[Mapping[str, Any]], pods: Iterable[Mapping[str, Any]]) -> list[NodeRow]:
    """Nodes without GPUs first, then by name."""
    by_node: defaultdict[str, list[GpuPod]] = defaultdict(list)
    for pod in pods:
        if holds_gpus(pod) and gpu_limit(pod["spec"]):
            by_node[pod["spec"]["nodeName"]].append(_gpu_pod(pod))
    rows = [_row(node, by_node[node["metadata"]["name"]]) for node in nodes]
    return sorted(rows, key=lambda row: (row.total > 0, natural_key(row.name)))


def natural_key(name: str) -> list[tuple[int, str]]:
    """gpu-2 comes before gpu-10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def node_address(node: Mapping[str, Any]) -> str | None:
    addresses = {one["type"]: one["address"] for one in reversed(node.get("status", {}).get("addresses") or [])}
    return addresses.get("InternalIP") or addresses.get("ExternalIP")


def is_control_plane(node: Mapping[str, Any]) -> bool:
    return any(role in _CONTROL_PLANE for role in _roles(node))


def requested_gpus(pod_spec: Mapping[str, Any]) -> int:
    return _effective(pod_spec, "requests", "limits")


def gpu_limit(pod_spec: Mapping[str, Any]) -> int:
    return _effective(pod_spec, "limits", "requests")


def holds_gpus(pod: Mapping[str, Any]) -> bool:
    """From its binding until it has ended or is gone: a terminating pod still holds its GPUs."""
    return bool(pod["spec"].get("nodeName")) and pod.get("status", {}).get("phase") not in _FINISHED


def _row(node: Mapping[str, Any], pods: list[GpuPod]) -> NodeRow:
    return NodeRow(
        name=node["metadata"]["name"],
        address=node_address(node) or "N/A",
        role=",".join(_roles(node)) or "<none>",
        status=_status(node),
        total=int((node.get("status", {}).get("capacity") or {}).get(GPU, 0)),
        pods=tuple(sorted(pods, key=lambda one: (one.namespace, natural_key(one.name)))),
    )


def _gpu_pod(pod: Mapping[str, Any]) -> GpuPod:
    meta, spec = pod["metadata"], pod["spec"]
    phase = pod.get("status", {}).get("phase", "Pending")
    return GpuPod(meta["namespace"], meta["name"], phase, requested_gpus(spec), gpu_limit(spec))


def _roles(node: Mapping[str, Any]) -> list[str]:
    labels = node["metadata"].get("labels") or {}
    return sorted(label.removeprefix(_ROLE) for label in labels if label.startswith(_ROLE))


def _status(node: Mapping[str, Any]) -> str:
    conditions = node.get("status", {}).get("conditions") or []
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    closed = ",schedulingDisabled" if node.get("spec", {}).get("unschedulable") else ""
    return ("ready" if ready else "notReady") + closed


def _effective(pod_spec: Mapping[str, Any], *fields: str) -> int:
    """Containers run together, init containers one after the other before them; a restartable one keeps running."""
    together = sum(_gpus_of(container, fields) for container in pod_spec.get("containers", []))
    peak = 0
    for container in pod_spec.get("initContainers", []):
        if container.get("restartPolicy") == "Always":
            together += _gpus_of(container, fields)
        else:
            peak = max(peak, _gpus_of(container, fields))
    return max(together, peak)


def _gpus_of(container: Mapping[str, Any], fields: tuple[str, ...]) -> int:
    resources = container.get("resources") or {}
    return next((int(resources[field][GPU]) for field in fields if GPU in (resources.get(field) or {})), 0)
