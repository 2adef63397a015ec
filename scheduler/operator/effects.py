"""Carrying out changes: the status first, then everything else at once.

Losing a race is no trouble: what is gone is gone, what exists and is ours exists. A conflict on the status means that
the job has changed: everything else of this round is dropped, and the job is looked at again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, NamedTuple

import msgspec

from scheduler.client import ApiError, Client, Metadata
from scheduler.client.client import MERGE_PATCH
from scheduler.operator import paths
from scheduler.operator.changes import (
    Change,
    CreateGroup,
    CreatePod,
    CreateService,
    DeleteGroup,
    DeleteJob,
    DeletePod,
    DeleteService,
    Say,
    SetStatus,
)
from scheduler.operator.names import API_VERSION
from scheduler.operator.objects import Job, Json
from scheduler.operator.reconciling import WARNING
from scheduler.runtime.events import Events, Reference
from scheduler.runtime.metrics import Counter

_UNPROCESSABLE = 422


class LookAgain(Exception):
    """What was read is out of date, or something is in the way for a while."""


class Refused(Exception):
    """The API server finds the object itself wrong: trying again will not help."""


class Done(NamedTuple):
    """One object that was created or deleted."""

    verb: str
    kind: str
    name: str


class Effects:
    """Writes for the operator, and tells on the job what was done."""

    def __init__(self, client: Client, events: Events, groups: str) -> None:
        self._client = client
        self._events = events
        self._groups = groups
        self.written = Counter("muster_operator_changes_total", "Changes carried out, by kind.", "kind")

    async def set_status(self, change: SetStatus) -> Job:
        """The job as it is now."""
        job, status = change.job, change.status
        removed = dict.fromkeys(set(job.status) - set(status))
        news = {field: value for field, value in status.items() if value != job.status.get(field)}
        body = {"metadata": {"resourceVersion": job.metadata.resource_version}, "status": {**removed, **news}}
        path = paths.one(paths.JOBS[job.kind], job.metadata, "/status")
        try:
            answer = await self._client.request("PATCH", path, body, content_type=MERGE_PATCH)
        except ApiError as refusal:
            if refusal.is_conflict or refusal.is_missing:
                raise LookAgain(str(refusal)) from refusal
            raise
        self.written.add("SetStatus")
        return msgspec.json.decode(answer, type=Job)

    async def carry_out(self, job: Job, changes: Sequence[Change]) -> None:
        """All but the status, which has been written."""
        for change in changes:
            if isinstance(change, Say):
                self._tell(job, change.reason, change.message, warning=change.type == WARNING)
        going = [one for one in changes if isinstance(one, DeletePod | DeleteService | DeleteGroup)]
        coming = [one for one in changes if isinstance(one, CreatePod | CreateGroup | CreateService)]
        await self._all(job, [self._delete(one) for one in going] + [self._create(job, one.manifest) for one in coming])
        for change in changes:
            if isinstance(change, DeleteJob):
                await self._gone(paths.one(paths.JOBS[job.kind], job.metadata), job.metadata, propagation="Background")
                self.written.add("DeleteJob")

    async def remove_left_over(self, kind: str, metadata: Metadata) -> None:
        """Of a job that is gone; an object that changed since it was seen may have been let go of by its owner."""
        conditions = {"uid": metadata.uid, "resourceVersion": metadata.resource_version}
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": conditions}
        try:
            await self._client.request("DELETE", paths.one(self._path(kind), metadata), options)
        except ApiError as refusal:
            if not (refusal.is_missing or refusal.is_conflict):
                raise

    async def _all(self, job: Job, work: Sequence[Coroutine[Any, Any, Done | None]]) -> None:
        """Everything is tried before the first trouble is told; one event tells of all that was done alike."""
        results = await asyncio.gather(*work, return_exceptions=True)
        done: dict[tuple[str, str], list[str]] = {}
        for one in results:
            if isinstance(one, Done):
                done.setdefault((one.verb, one.kind), []).append(one.name)
        for (verb, kind), names in done.items():
            self.written.add(f"{verb}{kind}", len(names))
            many = "s" if len(names) > 1 else ""
            self._tell(job, f"Successful{verb}{kind}", f"{verb}d {kind.lower()}{many}: {', '.join(names)}")
        troubles = [one for one in results if isinstance(one, BaseException)]
        for trouble in sorted(troubles, key=lambda one: not isinstance(one, Refused)):
            raise trouble

    async def _create(self, job: Job, manifest: Json) -> Done | None:
        kind, name = manifest["kind"], manifest["metadata"]["name"]
        try:
            await self._client.request("POST", paths.home(manifest), manifest)
        except ApiError as refusal:
            if refusal.is_conflict:
                await self._must_be_ours(job, manifest)
                return None
            self._tell(job, f"FailedCreate{kind}", f"Error creating {kind.lower()} {name}: {refusal}", warning=True)
            if refusal.status == _UNPROCESSABLE and kind == "Pod":
                raise Refused(refusal.message) from refusal
            raise LookAgain(str(refusal)) from refusal
        return Done("Create", kind, name)

    async def _must_be_ours(self, job: Job, manifest: Json) -> None:
        kind, name = manifest["kind"], manifest["metadata"]["name"]
        try:
            found = await self._client.get(f"{paths.home(manifest)}/{name}")
        except ApiError as refusal:
            raise LookAgain(str(refusal)) from refusal
        owners = found["metadata"].get("ownerReferences", [])
        if not any(one["uid"] == job.metadata.uid for one in owners):
            self._tell(job, f"FailedCreate{kind}", f"{kind} {name} exists and is not of this job", warning=True)
            raise LookAgain(f"{kind} {name} is somebody else's")

    async def _delete(self, change: DeletePod | DeleteService | DeleteGroup) -> Done | None:
        match change:
            case DeletePod(pod):
                kind, metadata = "Pod", pod.metadata
            case DeleteService(service):
                kind, metadata = "Service", service.metadata
            case DeleteGroup(group):
                kind, metadata = "PodGroup", group.metadata
        gone = await self._gone(paths.one(self._path(kind), metadata), metadata)
        return Done("Delete", kind, metadata.name) if gone else None

    def _path(self, kind: str) -> str:
        return {"Pod": paths.PODS, "Service": paths.SERVICES, "PodGroup": self._groups}[kind]

    async def _gone(self, path: str, metadata: Metadata, *, propagation: str = "") -> bool:
        """False: somebody else was faster, or there is a namesake by now."""
        try:
            await self._client.delete(path, uid=metadata.uid, propagation=propagation)
        except ApiError as refusal:
            if refusal.is_missing or refusal.is_conflict:
                return False
            raise
        return True

    def _tell(self, job: Job, reason: str, note: str, *, warning: bool = False) -> None:
        about = Reference(API_VERSION, job.kind, job.metadata.namespace, job.metadata.name, job.metadata.uid)
        by = f"{job.kind.lower()}-controller"
        self._events.tell(about, by=by, reason=reason, action="Reconciling", note=note, warning=warning)
