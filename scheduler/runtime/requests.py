"""The requests that carry out decisions: which bodies go where, in the API's own words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from scheduler.client import ApiError, Client, Metadata
from scheduler.client.client import MERGE_PATCH, STRATEGIC_PATCH
from scheduler.core.actions import SetGroupPhase
from scheduler.core.model import Group, Pod
from scheduler.runtime.customs import VOLCANO
from scheduler.runtime.objects import ApiPod, Custom
from scheduler.runtime.world import GROUP_PATHS


class _Answer(msgspec.Struct):
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    status: Any = None


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def pod_path(pod: Pod, subresource: str = "") -> str:
    namespace, name = pod.key
    return f"/api/v1/namespaces/{namespace}/pods/{name}{subresource}"


async def bind(client: Client, pod: Pod, node: str) -> None:
    """The uid makes sure that a namesake which has come meanwhile is not bound by mistake."""
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    metadata = {"name": pod.key[1], "uid": pod.uid}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}
    try:
        await client.request("POST", pod_path(pod, "/binding"), body)
    except ApiError as refusal:
        if not (refusal.is_conflict and f'already assigned to node "{node}"' in refusal.message):
            raise  # else an earlier attempt got through, and only its answer was lost


async def node_of(client: Client, pod: Pod) -> str:
    """Where the pod is bound by the word of the API server itself; nowhere if it is gone."""
    try:
        found = msgspec.json.decode(await client.request("GET", pod_path(pod)), type=ApiPod)
    except ApiError as refusal:
        if refusal.is_missing:
            return ""
        raise
    return found.spec.node_name if found.metadata.uid == pod.uid else ""


async def mark_as_victim(client: Client, pod: Pod, message: str) -> None:
    await _condition(client, pod, "DisruptionTarget", "True", "PreemptionByScheduler", message)


async def mark_as_released(client: Client, pod: Pod, message: str) -> None:
    """Not a preemption: nobody more important asked for the room."""
    await _condition(client, pod, "DisruptionTarget", "True", "ReleasedByScheduler", message)


async def delete(client: Client, pod: Pod) -> None:
    await client.delete(pod_path(pod), uid=pod.uid)


async def say_why_it_waits(client: Client, pod: Pod, message: str) -> None:
    await _condition(client, pod, "PodScheduled", "False", "Unschedulable", message)


async def nominate(client: Client, pod: Pod, node: str) -> int:
    """The version of the pod that shows it."""
    change = {"metadata": {"uid": pod.uid}, "status": {"nominatedNodeName": node or None}}
    answer = await client.request("PATCH", pod_path(pod, "/status"), change, content_type=MERGE_PATCH)
    return _version(answer)


async def set_group_status(client: Client, group: Group, status: Mapping[str, Any]) -> int:
    """Neither family has a status subresource, so that status is a field like others; where somebody has given the
    kind one, the API server drops the field without a word, and it is written there."""
    namespace, name = group.key
    path = f"{GROUP_PATHS[group.kind]}/namespaces/{namespace}/podgroups/{name}"
    change = {"metadata": {"uid": group.uid}, "status": status}
    answer = await client.request("PATCH", path, change, content_type=MERGE_PATCH)
    written = msgspec.json.decode(answer, type=_Answer).status
    if not isinstance(written, dict) or any(written.get(field) != value for field, value in status.items()):
        answer = await client.request("PATCH", f"{path}/status", change, content_type=MERGE_PATCH)
    return _version(answer)


def group_status(action: SetGroupPhase, found: Custom | None, scheduled: int) -> dict[str, Any]:
    """In the words of the group's family; conditions are Volcano's, the number of members with a node Koordinator's."""
    counts = action.counts
    status: dict[str, Any] = {"phase": action.phase, "running": counts.running}
    status |= {"succeeded": counts.succeeded, "failed": counts.failed}
    if action.group.kind != VOLCANO:
        return status | {"scheduled": scheduled}
    before = found.status.get("conditions") if found and isinstance(found.status, dict) else None
    conditions = _conditions(before if isinstance(before, list) else [], action.phase, action.message)
    return status | {"conditions": conditions} if conditions else status


def _conditions(before: list[Any], phase: str, why: str) -> list[dict[str, Any]]:
    """One entry per type. Unlike Volcano, a reason that no longer holds is taken back."""
    by_type = {one["type"]: one for one in before if isinstance(one, dict) and isinstance(one.get("type"), str)}
    if why:
        _set(by_type, "Unschedulable", "True", "NotEnoughResources", why)
    elif phase in {"Running", "Completed"}:
        _set(by_type, "Scheduled", "True", "tasks in gang are ready to be scheduled", "")
        if "Unschedulable" in by_type:
            _set(by_type, "Unschedulable", "False", "Scheduled", "")
    return list(by_type.values())


def _set(by_type: dict[str, dict[str, Any]], kind: str, status: str, reason: str, message: str) -> None:
    said = {"type": kind, "status": status, "reason": reason, "message": message}
    if said.items() <= by_type.get(kind, {}).items():
        return
    by_type[kind] = said | {"lastTransitionTime": now()}


async def _condition(client: Client, pod: Pod, kind: str, status: str, reason: str, message: str) -> None:
    condition = {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": now()}
    change = {"metadata": {"uid": pod.uid}, "status": {"conditions": [condition]}}
    await client.request("PATCH", pod_path(pod, "/status"), change, content_type=STRATEGIC_PATCH)


def _version(answer: bytes) -> int:
    return int(msgspec.json.decode(answer, type=_Answer).metadata.resource_version or 0)
