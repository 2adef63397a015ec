"""Executes actions: memory and status first, then deletions, PodGroup, services and other objects, then pods.

Services and pods are created in batches of 1, 2, 4 and so on, like those of a Job, and not any more after the first
error: a quota or a webhook that rejects them all gets one request instead of thousands.

A lost race is no error: an object to delete may be gone already, one to create may exist already and be owned by the
job. A conflict on the status means that the job has changed: the other actions are dropped and the job is requeued.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from scheduler.client import ApiError, Client, Metadata
from scheduler.client.client import MERGE_PATCH
from scheduler.operator.actions import (
    WARNING,
    Action,
    CreateConfigMap,
    CreatePod,
    CreatePodGroup,
    CreateService,
    DeleteJob,
    DeletePod,
    DeletePodGroup,
    DeleteService,
    EmitEvent,
    EnsureObject,
    SetMemory,
    UpdateConfigMap,
    UpdatePodGroup,
)
from scheduler.operator.api_objects import Job, Json
from scheduler.operator.job_kinds import KINDS
from scheduler.operator.job_memory import ANNOTATION
from scheduler.operator.mpi_ssh_pods import with_keys
from scheduler.runtime.event_recorder import EventRecorder, Reference
from scheduler.runtime.metrics import Counter

PODS, SERVICES, CONFIG_MAPS = "/api/v1/pods", "/api/v1/services", "/api/v1/configmaps"
_REPORTED = ("Pod", "Service", "PodGroup")  # kinds whose creation and deletion is an event of the job
_ACTION = "Reconciling"  # of events
_UNPROCESSABLE = 422


class Requeue(Exception):
    """The cached job is out of date, or an object is in the way: reconcile again."""


class Rejected(Exception):
    """The API server finds a pod invalid: retrying will not help."""


class Executed(NamedTuple):
    """One object that was created or deleted."""

    verb: str
    kind: str
    name: str


Result = Executed | BaseException | None  # None: nothing was to be done


class Executor:
    """Writes for the controller, and records events about the job."""

    def __init__(self, client: Client, events: EventRecorder, groups: str) -> None:
        self._client = client
        self._events = events
        self._groups = groups
        self.actions = Counter("muster_operator_actions_total", "Actions executed, by kind.", "kind")

    async def set_memory(self, action: SetMemory) -> Job:
        """Returns the updated job."""
        annotations = {ANNOTATION: action.memory.annotation}
        metadata = {"resourceVersion": action.job.metadata.resource_version, "annotations": annotations}
        return await self._patch(action.job, "", {"metadata": metadata}, "SetMemory")

    async def set_status(self, job: Job, status: Json) -> Job:
        """Returns the updated job."""
        removed = dict.fromkeys(set(job.status) - set(status))
        changed = {field: value for field, value in status.items() if value != job.status.get(field)}
        body = {"metadata": {"resourceVersion": job.metadata.resource_version}, "status": {**removed, **changed}}
        return await self._patch(job, "/status", body, "SetStatus")

    async def _patch(self, job: Job, subresource: str, body: Json, counted: str) -> Job:
        path = _job_path(job, subresource)
        try:
            response = await self._client.request("PATCH", path, body, content_type=MERGE_PATCH)
        except ApiError as error:
            if error.is_conflict or error.is_missing:
                raise Requeue(str(error)) from error
            raise
        self.actions.add(counted)
        return msgspec.json.decode(response, type=Job)

    async def execute(self, job: Job, actions: Sequence[Action]) -> None:
        """All actions but SetMemory and SetStatus, which have been executed before."""
        for action in actions:
            if isinstance(action, EmitEvent):
                self._emit(job, action.reason, action.message, warning=action.type == WARNING)
        deletions = [one for one in actions if isinstance(one, DeletePod | DeleteService | DeletePodGroup)]
        others = [one.manifest for one in actions if isinstance(one, CreatePodGroup | CreateConfigMap)]
        services = [one.manifest for one in actions if isinstance(one, CreateService)]
        pods = [one.manifest for one in actions if isinstance(one, CreatePod)]
        requests = [self._delete(one) for one in deletions] + [self._create(job, one) for one in others]
        requests += [self._update_files(one) for one in actions if isinstance(one, UpdateConfigMap)]
        requests += [self._update_group(one) for one in actions if isinstance(one, UpdatePodGroup)]
        if pods:
            requests.append(self._ensure(job, [one.manifest for one in actions if isinstance(one, EnsureObject)]))
        results: list[Result] = await asyncio.gather(*requests, return_exceptions=True)
        for manifests in (services, pods):
            if not any(isinstance(one, BaseException) for one in results):
                results += await self._create_in_batches(job, manifests)
        self._report(job, results)
        for action in actions:
            if isinstance(action, DeleteJob):
                path = _job_path(job)
                await self._delete_uid(path, job.metadata, propagation="Background")
                self.actions.add("DeleteJob")

    async def delete_orphan(self, kind: str, metadata: Metadata) -> None:
        """Delete an object of a deleted job, unless it has changed: it may have been orphaned on purpose."""
        preconditions = {"uid": metadata.uid, "resourceVersion": metadata.resource_version}
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions}
        try:
            await self._client.request("DELETE", _object_path(self._path(kind), metadata), options)
        except ApiError as error:
            if not (error.is_missing or error.is_conflict):
                raise

    async def _create_in_batches(self, job: Job, manifests: Sequence[Json]) -> list[Result]:
        results: list[Result] = []
        first, size = 0, 1
        while first < len(manifests) and not any(isinstance(one, BaseException) for one in results):
            batch = [self._create(job, one) for one in manifests[first : first + size]]
            results += await asyncio.gather(*batch, return_exceptions=True)
            first, size = first + size, size * 2
        return results

    def _report(self, job: Job, results: Sequence[Result]) -> None:
        """One event covers all objects of a kind; then the first error is raised."""
        executed: dict[tuple[str, str], list[str]] = {}
        for one in results:
            if isinstance(one, Executed):
                executed.setdefault((one.verb, one.kind), []).append(one.name)
        for (verb, kind), names in executed.items():
            self.actions.add(f"{verb}{kind}", number=len(names))
            if kind not in _REPORTED:
                continue
            plural = "s" if len(names) > 1 else ""
            self._emit(job, f"Successful{verb}{kind}", f"{verb}d {kind.lower()}{plural}: {', '.join(names)}")
        errors = [one for one in results if isinstance(one, BaseException)]
        for error in sorted(errors, key=lambda one: not isinstance(one, Rejected)):
            raise error

    async def _create(self, job: Job, manifest: Json) -> Executed | None:
        kind, name = manifest["kind"], manifest["metadata"]["name"]
        try:
            await self._client.request("POST", _collection_path(manifest), manifest)
        except ApiError as error:
            if error.is_conflict:
                await self._check_owner(job, manifest)
                return None
            self._emit_failure(job, kind, f"Error creating {kind.lower()} {name}: {error}")
            if error.status == _UNPROCESSABLE and kind == "Pod":
                raise Rejected(error.message) from error
            raise Requeue(str(error)) from error
        return Executed("Create", kind, name)

    async def _ensure(self, job: Job, manifests: Sequence[Json]) -> None:
        """One after the other: a role binding needs its role. A role that exists may lack new workers."""
        for manifest in manifests:
            created = await self._create(job, with_keys(manifest) if manifest["kind"] == "Secret" else manifest)
            if created is None and manifest["kind"] == "Role":
                path = f"{_collection_path(manifest)}/{manifest['metadata']['name']}"
                await self._client.request("PATCH", path, {"rules": manifest["rules"]}, content_type=MERGE_PATCH)

    async def _update_files(self, action: UpdateConfigMap) -> None:
        metadata, data = action.config.metadata, action.data
        removed = dict.fromkeys(set(action.config.data) - set(data))
        path = _object_path(CONFIG_MAPS, metadata)
        try:
            await self._client.request("PATCH", path, {"data": {**removed, **data}}, content_type=MERGE_PATCH)
        except ApiError as error:
            raise Requeue(str(error)) from error
        self.actions.add("UpdateConfigMap")

    async def _update_group(self, action: UpdatePodGroup) -> None:
        path = _object_path(self._groups, action.group.metadata)
        body = {"metadata": {"uid": action.group.metadata.uid}, "spec": action.change}
        try:
            await self._client.request("PATCH", path, body, content_type=MERGE_PATCH)
        except ApiError as error:
            raise Requeue(str(error)) from error
        self.actions.add("UpdatePodGroup")

    async def _check_owner(self, job: Job, manifest: Json) -> None:
        kind, name = manifest["kind"], manifest["metadata"]["name"]
        try:
            found = await self._client.get(f"{_collection_path(manifest)}/{name}")
        except ApiError as error:
            raise Requeue(str(error)) from error
        owners = found["metadata"].get("ownerReferences", [])
        if not any(owner["uid"] == job.metadata.uid for owner in owners):
            message = f"{kind} {name} exists and is not owned by this job"
            self._emit_failure(job, kind, message)
            raise Requeue(message)

    async def _delete(self, action: DeletePod | DeleteService | DeletePodGroup) -> Executed | None:
        match action:
            case DeletePod(pod):
                kind, metadata = "Pod", pod.metadata
            case DeleteService(service):
                kind, metadata = "Service", service.metadata
            case DeletePodGroup(group):
                kind, metadata = "PodGroup", group.metadata
        deleted = await self._delete_uid(_object_path(self._path(kind), metadata), metadata)
        return Executed("Delete", kind, metadata.name) if deleted else None

    def _path(self, kind: str) -> str:
        return {"Pod": PODS, "Service": SERVICES, "ConfigMap": CONFIG_MAPS, "PodGroup": self._groups}[kind]

    async def _delete_uid(self, path: str, metadata: Metadata, *, propagation: str = "") -> bool:
        """False: it is gone already, or another object has its name."""
        try:
            await self._client.delete(path, uid=metadata.uid, propagation=propagation)
        except ApiError as error:
            if error.is_missing or error.is_conflict:
                return False
            raise
        return True

    def _emit(self, job: Job, reason: str, note: str, *, warning: bool = False) -> None:
        about, by = self._reference(job), f"{job.kind.lower()}-controller"
        self._events.record(about, by=by, reason=reason, action=_ACTION, note=note, warning=warning)

    def _emit_failure(self, job: Job, kind: str, note: str) -> None:
        """One Event, however often the creation is tried."""
        about, by = self._reference(job), f"{job.kind.lower()}-controller"
        self._events.record_series(about, by=by, reason=f"FailedCreate{kind}", action=_ACTION, note=note)

    def _reference(self, job: Job) -> Reference:
        return Reference(job.api_version, job.kind, job.metadata.namespace, job.metadata.name, job.metadata.uid)


def _job_path(job: Job, subresource: str = "") -> str:
    return _object_path(KINDS[job.kind].path(job.api_version), job.metadata, subresource)


def _object_path(collection: str, metadata: Metadata, subresource: str = "") -> str:
    root, plural = collection.rsplit("/", 1)
    return f"{root}/namespaces/{metadata.namespace}/{plural}/{metadata.name}{subresource}"


def _collection_path(manifest: Json) -> str:
    version, plural = manifest["apiVersion"], f"{manifest['kind'].lower()}s"
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    return f"{root}/namespaces/{manifest['metadata']['namespace']}/{plural}"
