"""The nodes and who holds their GPUs. Pure: nodes and pods of the API in, rows out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from muster.jobs.gpus import GPU, holds_its_gpus, limited, requested

_ROLE = "node-role.kubernetes.io/"
_CONTROL_PLANE = ("control-plane", "master")


@dataclass(frozen=True)
class Holder:
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
    holders: tuple[Holder, ...]

    @property
    def allocated(self) -> int:
        return sum(holder.limits for holder in self.holders)


def node_rows(nodes: Iterable[Mapping[str, Any]], pods: Iterable[Mapping[str, Any]]) -> list[NodeRow]:
    """Nodes without GPUs first, then by name."""
    holders: defaultdict[str, list[Holder]] = defaultdict(list)
    for pod in pods:
        if holds_its_gpus(pod) and limited(pod["spec"]):
            holders[pod["spec"]["nodeName"]].append(_holder(pod))
    rows = [_row(node, holders[node["metadata"]["name"]]) for node in nodes]
    return sorted(rows, key=lambda row: (row.total > 0, in_natural_order(row.name)))


def in_natural_order(name: str) -> list[tuple[int, str]]:
    """gpu-2 comes before gpu-10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def address_of(node: Mapping[str, Any]) -> str | None:
    addresses = {one["type"]: one["address"] for one in reversed(node.get("status", {}).get("addresses") or [])}
    return addresses.get("InternalIP") or addresses.get("ExternalIP")


def is_control_plane(node: Mapping[str, Any]) -> bool:
    return any(role in _CONTROL_PLANE for role in _roles(node))


def _row(node: Mapping[str, Any], holders: list[Holder]) -> NodeRow:
    return NodeRow(
        name=node["metadata"]["name"],
        address=address_of(node) or "N/A",
        role=",".join(_roles(node)) or "<none>",
        status=_status(node),
        total=int((node.get("status", {}).get("capacity") or {}).get(GPU, 0)),
        holders=tuple(sorted(holders, key=lambda one: (one.namespace, in_natural_order(one.name)))),
    )


def _holder(pod: Mapping[str, Any]) -> Holder:
    meta, spec = pod["metadata"], pod["spec"]
    phase = pod.get("status", {}).get("phase", "Pending")
    return Holder(meta["namespace"], meta["name"], phase, requested(spec), limited(spec))


def _roles(node: Mapping[str, Any]) -> list[str]:
    labels = node["metadata"].get("labels") or {}
    return sorted(label.removeprefix(_ROLE) for label in labels if label.startswith(_ROLE))


def _status(node: Mapping[str, Any]) -> str:
    conditions = node.get("status", {}).get("conditions") or []
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    closed = ",schedulingDisabled" if node.get("spec", {}).get("unschedulable") else ""
    return ("ready" if ready else "notReady") + closed
