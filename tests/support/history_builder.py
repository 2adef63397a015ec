"""Builds histories for tests: nodes, pods and what happens to them, one resourceVersion after the other."""

from __future__ import annotations

from typing import Any, Self

import msgspec

from muster.recording.conventions import KUBERNETES, Conventions
from muster.recording.history import History
from muster.recording.objects import CustomObject, Event, Node, Pod
from muster.recording.questions import Outcome, Question
from muster.recording.records import Moment, Record

NAMESPACE = "test"
TRUE, FALSE, PENDING = Outcome.TRUE, Outcome.FALSE, Outcome.PENDING


class HistoryBuilder:
    """Each call appends one record, 0.1 s after the one before."""

    def __init__(self, conventions: Conventions = KUBERNETES) -> None:
        self.history = History(NAMESPACE, conventions=conventions)
        self.history.began = 0.0
        self._version = 0
        self._pods: dict[str, dict[str, Any]] = {}
        self._nodes: dict[str, dict[str, Any]] = {}

    def node(
        self,
        name: str,
        gpus: int = 0,
        taints: list[dict[str, str]] | None = None,
        address: str = "",
        labels: dict[str, str] | None = None,
        **spec: Any,
    ) -> Self:
        is_new = name not in self._nodes
        allocatable = {"nvidia.com/gpu": str(gpus), "pods": "110"}
        status: dict[str, Any] = {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]}
        if address:
            status["addresses"] = [{"type": "InternalIP", "address": address}]
        self._nodes[name] = {
            "metadata": {"name": name, "labels": labels or {}},
            "spec": {"taints": taints or [], **spec},
            "status": status,
        }
        return self._record("Node", self._nodes[name], "ADDED" if is_new else "MODIFIED")

    def pod(
        self,
        name: str,
        gpus: int = 0,
        priority: int = 0,
        uid: str = "",
        labels: dict[str, str] | None = None,
        namespace: str = NAMESPACE,
        **spec: Any,
    ) -> Self:
        limits = {"limits": {"nvidia.com/gpu": str(gpus)}} if gpus else {}
        self._pods[name] = {
            "metadata": {"name": name, "namespace": namespace, "uid": uid or f"uid-{name}", "labels": labels or {}},
            "spec": {"priority": priority, "containers": [{"resources": limits}], **spec},
            "status": {"phase": "Pending", "conditions": []},
        }
        return self._record("Pod", self._pods[name], "ADDED")

    def bind(self, name: str, node: str) -> Self:
        return self._change(name, "spec", nodeName=node)

    def run(self, name: str, node: str) -> Self:
        return self.bind(name, node)._change(name, "status", phase="Running")

    def running_pod(self, name: str, node: str, gpus: int = 0, priority: int = 0) -> Self:
        return self.pod(name, gpus, priority).run(name, node)

    def nominate(self, name: str, node: str) -> Self:
        return self._change(name, "status", nominatedNodeName=node)

    def unschedulable(
        self, name: str, message: str = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
    ) -> Self:
        return self._condition(name, "PodScheduled", "False", "Unschedulable", message)

    def finish(self, name: str, phase: str = "Succeeded") -> Self:
        return self._change(name, "status", phase=phase)

    def mark_disruption_target(
        self, name: str, reason: str = "PreemptionByScheduler", message: str = "preempting"
    ) -> Self:
        return self._condition(name, "DisruptionTarget", "True", reason, message)

    def delete(self, name: str) -> Self:
        return self._change(name, "metadata", deletionTimestamp="2026-01-01T00:00:00Z")

    def gone(self, name: str) -> Self:
        return self._record("Pod", self._pods[name], "DELETED")

    def preempt(self, victim: str, by: str, node: str = "gpu-1") -> Self:
        """Marked, deleted, and with the event that names its preemptor; still terminating."""
        return (
            self.mark_disruption_target(victim)
            .delete(victim)
            .event(victim, "Preempted", f"Preempted by pod uid-{by} on node {node}")
        )

    def event(
        self,
        about: str,
        reason: str,
        message: str,
        kind: str = "Normal",
        related: str = "",
        component: str = "",
        when: str = "",
    ) -> Self:
        body: dict[str, Any] = {
            "metadata": {"name": f"{about}.{self._version}", "namespace": NAMESPACE},
            "involvedObject": {"kind": "Pod", "name": about, "uid": f"uid-{about}"},
            "reason": reason,
            "message": message,
            "type": kind,
            "reportingComponent": component,
            "firstTimestamp": when or None,
        }
        if related:
            body["related"] = {"kind": "Pod", "uid": f"uid-{related}"}
        return self._record("Event", body, "ADDED")

    def _condition(self, name: str, kind: str, status: str, reason: str, message: str) -> Self:
        kept = [one for one in self._pods[name]["status"]["conditions"] if one["type"] != kind]
        condition = {"type": kind, "status": status, "reason": reason, "message": message}
        return self._change(name, "status", conditions=[*kept, condition])

    def _change(self, name: str, part: str, **fields: Any) -> Self:
        self._pods[name][part].update(fields)
        return self._record("Pod", self._pods[name], "MODIFIED")

    def _record(self, kind: str, body: dict[str, Any], change: str) -> Self:
        self._version += 1
        body["metadata"]["resourceVersion"] = str(self._version)
        raw = msgspec.json.encode(body)
        types: dict[str, type[Pod | Node | Event | CustomObject]] = {"Pod": Pod, "Node": Node, "Event": Event}
        decoded = msgspec.json.decode(raw, type=types.get(kind, CustomObject))
        self.history.append(Record(kind, change, Moment(self._version, self._version / 10), decoded, raw))
        return self

    def gated(self, name: str) -> Self:
        message = "Scheduling is blocked due to non-empty scheduling gates"
        return self._condition(name, "PodScheduled", "False", "SchedulingGated", message)

    def custom_object(
        self,
        kind: str,
        name: str,
        status: dict[str, Any],
        spec: dict[str, Any] | None = None,
        owner: str = "",
        annotations: dict[str, str] | None = None,
        change: str = "",
    ) -> Self:
        """An object of a scheduler's own kind, in a new state; `owner` is the name of a pod."""
        owners = [{"kind": "Pod", "name": owner, "uid": f"uid-{owner}"}] if owner else []
        metadata = {
            "name": name,
            "namespace": NAMESPACE,
            "ownerReferences": owners,
            "annotations": annotations or {},
        }
        body = {"metadata": metadata, "spec": spec or {}, "status": status}
        return self._record(kind, body, change or ("MODIFIED" if self.history.custom_objects(kind, name) else "ADDED"))

    def custom_object_event(self, kind: str, name: str, reason: str, message: str) -> Self:
        """An event about such an object."""
        metadata = {"name": f"{name}.{self._version}", "namespace": NAMESPACE}
        about = {"kind": kind, "name": name, "namespace": NAMESPACE}
        body = {"metadata": metadata, "involvedObject": about, "reason": reason, "message": message}
        return self._record("Event", body, "ADDED")


def ask(question: Question, builder: HistoryBuilder) -> Outcome:
    """The outcome of a question on the history that was built."""
    return question.ask(builder.history).outcome


def full_node() -> HistoryBuilder:
    """A node with 2 GPUs and two pods of priority 10 that use them."""
    return HistoryBuilder().node("gpu-1", 2).running_pod("left", "gpu-1", 1, 10).running_pod("right", "gpu-1", 1, 10)
