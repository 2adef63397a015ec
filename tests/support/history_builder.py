"""Histories made up for tests: nodes, pods and what happened to them, one resourceVersion after the other."""

from __future__ import annotations

from typing import Any

import msgspec

from muster.chronicle.history import History
from muster.chronicle.objects import Event, Node, Pod, Thing
from muster.chronicle.records import Moment, Record

NAMESPACE = "tale"


class Tale:
    """Each call appends one record, 0.1 s after the one before."""

    def __init__(self) -> None:
        self.history = History(NAMESPACE)
        self.history.began = 0.0
        self._version = 0
        self._pods: dict[str, dict[str, Any]] = {}
        self._nodes: dict[str, dict[str, Any]] = {}

    def node(self, name: str, gpus: int = 0, taints: list[dict[str, str]] | None = None, **spec: Any) -> Tale:
        fresh = name not in self._nodes
        offers = {"nvidia.com/gpu": str(gpus), "pods": "110"}
        self._nodes[name] = {
            "metadata": {"name": name},
            "spec": {"taints": taints or [], **spec},
            "status": {"allocatable": offers, "conditions": [{"type": "Ready", "status": "True"}]},
        }
        return self._record("Node", self._nodes[name], "ADDED" if fresh else "MODIFIED")

    def pod(self, name: str, gpus: int = 0, priority: int = 0, uid: str = "", **spec: Any) -> Tale:
        limits = {"limits": {"nvidia.com/gpu": str(gpus)}} if gpus else {}
        self._pods[name] = {
            "metadata": {"name": name, "namespace": NAMESPACE, "uid": uid or f"uid-{name}"},
            "spec": {"priority": priority, "containers": [{"resources": limits}], **spec},
            "status": {"phase": "Pending", "conditions": []},
        }
        return self._record("Pod", self._pods[name], "ADDED")

    def bind(self, name: str, node: str) -> Tale:
        return self._change(name, "spec", nodeName=node)

    def run(self, name: str, node: str) -> Tale:
        return self.bind(name, node)._change(name, "status", phase="Running")

    def settled(self, name: str, node: str, gpus: int = 0, priority: int = 0) -> Tale:
        return self.pod(name, gpus, priority).run(name, node)

    def nominate(self, name: str, node: str) -> Tale:
        return self._change(name, "status", nominatedNodeName=node)

    def refuse(self, name: str, message: str = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.") -> Tale:
        return self._condition(name, "PodScheduled", "False", "Unschedulable", message)

    def end(self, name: str, phase: str = "Succeeded") -> Tale:
        return self._change(name, "status", phase=phase)

    def mark(self, name: str, reason: str = "PreemptionByScheduler") -> Tale:
        return self._condition(name, "DisruptionTarget", "True", reason, "preempting")

    def delete(self, name: str) -> Tale:
        return self._change(name, "metadata", deletionTimestamp="2026-01-01T00:00:00Z")

    def gone(self, name: str) -> Tale:
        return self._record("Pod", self._pods[name], "DELETED")

    def preempted(self, victim: str, by: str, node: str = "gpu-1") -> Tale:
        """Marked, asked to go, and the event that ties it to its preemptor; not gone yet."""
        return self.mark(victim).delete(victim).event(victim, "Preempted", f"Preempted by pod uid-{by} on node {node}")

    def event(self, about: str, reason: str, message: str, kind: str = "Normal", related: str = "") -> Tale:
        body: dict[str, Any] = {
            "metadata": {"name": f"{about}.{self._version}", "namespace": NAMESPACE},
            "involvedObject": {"kind": "Pod", "name": about, "uid": f"uid-{about}"},
            "reason": reason,
            "message": message,
            "type": kind,
        }
        if related:
            body["related"] = {"kind": "Pod", "uid": f"uid-{related}"}
        return self._record("Event", body, "ADDED")

    def _condition(self, name: str, kind: str, status: str, reason: str, message: str) -> Tale:
        kept = [one for one in self._pods[name]["status"]["conditions"] if one["type"] != kind]
        condition = {"type": kind, "status": status, "reason": reason, "message": message}
        return self._change(name, "status", conditions=[*kept, condition])

    def _change(self, name: str, part: str, **fields: Any) -> Tale:
        self._pods[name][part].update(fields)
        return self._record("Pod", self._pods[name], "MODIFIED")

    def _record(self, kind: str, body: dict[str, Any], change: str) -> Tale:
        self._version += 1
        body["metadata"]["resourceVersion"] = str(self._version)
        raw = msgspec.json.encode(body)
        types: dict[str, type[Pod | Node | Event | Thing]] = {"Pod": Pod, "Node": Node, "Event": Event}
        decoded = msgspec.json.decode(raw, type=types.get(kind, Thing))
        self.history.append(Record(kind, change, Moment(self._version, self._version / 10), decoded, raw))
        return self

    def thing(self, kind: str, name: str, status: dict[str, Any], spec: dict[str, Any] | None = None) -> Tale:
        """An object of a scheduler's own kind, in a new state."""
        body = {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec or {}, "status": status}
        return self._record(kind, body, "MODIFIED" if self.history.thing(kind, name) else "ADDED")

    def thing_event(self, kind: str, name: str, reason: str, message: str) -> Tale:
        """An event about such an object."""
        metadata = {"name": f"{name}.{self._version}", "namespace": NAMESPACE}
        about = {"kind": kind, "name": name, "namespace": NAMESPACE}
        body = {"metadata": metadata, "involvedObject": about, "reason": reason, "message": message}
        return self._record("Event", body, "ADDED")

    def confess(self, name: str, message: str, reason: str = "PreemptionByScheduler") -> Tale:
        """Marked as a victim, in the words of its scheduler."""
        return self._condition(name, "DisruptionTarget", "True", reason, message)
