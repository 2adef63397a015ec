"""The API requests that actions are made of: paths, bodies and conditions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from scheduler.client import ApiError, Client, Metadata
from scheduler.client.client import MERGE_PATCH, STRATEGIC_PATCH
from scheduler.core.actions import SetGroupPhase
from scheduler.core.scheduling_types import Group, Pod
from scheduler.runtime.api_types import ApiPod, CustomResource
from scheduler.runtime.cache import GROUP_PATHS
from scheduler.runtime.podgroups_and_queues import VOLCANO
from scheduler.runtime.volume_types import BOUND_BY_CONTROLLER, SELECTED_NODE, Claim, Volume


class _Response(msgspec.Struct):
    metadata: Metadata = msgspec.field(default_factory=Metadata)
    status: Any = None


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def pod_path(pod: Pod, subresource: str = "") -> str:
    namespace, name = pod.key
    return f"/api/v1/namespaces/{namespace}/pods/{name}{subresource}"


async def bind(client: Client, pod: Pod, node: str) -> None:
    """The uid precondition prevents binding a new pod of the same name."""
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    metadata = {"name": pod.key[1], "uid": pod.uid}
    body = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}
    try:
        await client.request("POST", pod_path(pod, "/binding"), body)
    except ApiError as error:
        if not (error.is_conflict and f'already assigned to node "{node}"' in error.message):
            raise  # else an earlier attempt succeeded and only its response was lost


async def node_of(client: Client, pod: Pod) -> str:
    """The node that the API server has the pod bound to; empty if the pod is gone."""
    try:
        found = msgspec.json.decode(await client.request("GET", pod_path(pod)), type=ApiPod)
    except ApiError as error:
        if error.is_missing:
            return ""
        raise
    return found.spec.node_name if found.metadata.uid == pod.uid else ""


async def mark_preempted(client: Client, pod: Pod, message: str) -> None:
    await _condition(client, pod, "DisruptionTarget", "True", "PreemptionByScheduler", message)


async def mark_released(client: Client, pod: Pod, message: str) -> None:
    """Not a preemption: there is no preemptor."""
    await _condition(client, pod, "DisruptionTarget", "True", "ReleasedByScheduler", message)


async def delete(client: Client, pod: Pod) -> None:
    await client.delete(pod_path(pod), uid=pod.uid)


async def set_pending_reason(
    client: Client, pod: Pod, reason: str, message: str, version: int, found: ApiPod | None
) -> None:
    """A conflict (409) if the pod has changed since that resourceVersion: it may have been bound.

    A condition that was False before has not changed with its message: it keeps its lastTransitionTime.
    """
    conditions = (found.status.conditions or ()) if found is not None else ()
    before = next((one for one in conditions if (one.type, one.status) == ("PodScheduled", "False")), None)
    since = before.last_transition_time if before is not None else None
    unchanged = {"resourceVersion": str(version)}
    await _condition(client, pod, "PodScheduled", "False", reason, message, unchanged, since=since)


async def nominate(client: Client, pod: Pod, node: str) -> int:
    """Returns the resourceVersion that contains the nomination."""
    change = {"metadata": {"uid": pod.uid}, "status": {"nominatedNodeName": node or None}}
    answer = await client.request("PATCH", pod_path(pod, "/status"), change, content_type=MERGE_PATCH)
    return _version(answer)


async def select_node(client: Client, claim: Claim, node: str) -> int:
    """Ask the claim's provisioner for a volume on this node; returns the resourceVersion that contains it."""
    namespace, name = claim.key
    path = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{name}"
    change = {"metadata": {**_unchanged(claim), "annotations": {SELECTED_NODE: node}}}
    return _version(await client.request("PATCH", path, change, content_type=MERGE_PATCH))


async def reserve_volume(client: Client, volume: Volume, claim: Claim) -> int:
    """Reserve the volume for the claim: the controller of volumes binds both; returns the resourceVersion."""
    (namespace, name), path = claim.key, f"/api/v1/persistentvolumes/{volume.name}"
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": name}
    change = {
        "metadata": {**_unchanged(volume), "annotations": {BOUND_BY_CONTROLLER: "yes"}},
        "spec": {"claimRef": {**reference, "uid": claim.uid, "resourceVersion": str(claim.version)}},
    }
    return _version(await client.request("PATCH", path, change, content_type=MERGE_PATCH))


async def set_group_status(client: Client, group: Group, status: Mapping[str, Any]) -> int:
    """Write the status; returns its resourceVersion.

    The published CRDs have no status subresource, so status is a plain field. Where a CRD has one, the API server
    silently drops the field, and it is written to the subresource instead.
    """
    namespace, name = group.key
    path = f"{GROUP_PATHS[group.kind]}/namespaces/{namespace}/podgroups/{name}"
    change = {"metadata": {"uid": group.uid}, "status": status}
    answer = await client.request("PATCH", path, change, content_type=MERGE_PATCH)
    written = msgspec.json.decode(answer, type=_Response).status
    if not isinstance(written, dict) or any(written.get(field) != value for field, value in status.items()):
        answer = await client.request("PATCH", f"{path}/status", change, content_type=MERGE_PATCH)
    return _version(answer)


def group_status(action: SetGroupPhase, found: CustomResource | None, scheduled: int) -> dict[str, Any]:
    """Volcano PodGroups have conditions; Koordinator's have the number of scheduled members."""
    counts = action.counts
    status: dict[str, Any] = {"phase": action.phase, "running": counts.running}
    status |= {"succeeded": counts.succeeded, "failed": counts.failed}
    if action.group.kind != VOLCANO:
        return status | {"scheduled": scheduled}
    before = found.status.get("conditions") if found and isinstance(found.status, dict) else None
    conditions = _conditions(before if isinstance(before, list) else [], action.phase, action.message)
    return status | {"conditions": conditions} if conditions else status


def _conditions(before: list[Any], phase: str, reason: str) -> list[dict[str, Any]]:
    """One condition per type. Unlike Volcano, an outdated Unschedulable condition is set to False."""
    by_type = {one["type"]: one for one in before if isinstance(one, dict) and isinstance(one.get("type"), str)}
    if reason:
        _set(by_type, "Unschedulable", "True", "NotEnoughResources", reason)
    elif phase in {"Running", "Completed"}:
        _set(by_type, "Scheduled", "True", "tasks in gang are ready to be scheduled", "")
        if "Unschedulable" in by_type:
            _set(by_type, "Unschedulable", "False", "Scheduled", "")
    return list(by_type.values())


def _set(by_type: dict[str, dict[str, Any]], kind: str, status: str, reason: str, message: str) -> None:
    condition = {"type": kind, "status": status, "reason": reason, "message": message}
    if condition.items() <= by_type.get(kind, {}).items():
        return
    by_type[kind] = condition | {"lastTransitionTime": now()}


async def _condition(
    client: Client, pod: Pod, kind: str, status: str, reason: str, message: str,
    preconditions: Mapping[str, str] | None = None, *, since: str | None = None,
) -> None:  # fmt: skip
    condition = {"type": kind, "status": status, "reason": reason, "message": message}
    condition["lastTransitionTime"] = since or now()
    change = {"metadata": {"uid": pod.uid, **(preconditions or {})}, "status": {"conditions": [condition]}}
    await client.request("PATCH", pod_path(pod, "/status"), change, content_type=STRATEGIC_PATCH)


def _unchanged(found: Claim | Volume) -> dict[str, str]:
    """A conflict (409) if the object has changed: another scheduler may have decided about it."""
    return {"uid": found.uid, "resourceVersion": str(found.version)}


def _version(answer: bytes) -> int:
    return int(msgspec.json.decode(answer, type=_Response).metadata.resource_version or 0)
