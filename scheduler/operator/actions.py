"""The actions that a reconciliation returns. The executor carries them out: memory, status, then the others.

Memory and status are written first: a pod that is deleted before they record it would look like a lost replica after a
crash of the operator.
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.operator.api_objects import ConfigMap, Job, Json, Pod, PodGroup, Service
from scheduler.operator.job_memory import Memory

NORMAL, WARNING = "Normal", "Warning"  # types of events


@dataclass(frozen=True, slots=True)
class CreatePod:
    """Create a missing replica."""

    manifest: Json


@dataclass(frozen=True, slots=True)
class CreateService:
    """Create the headless service of a replica."""

    manifest: Json


@dataclass(frozen=True, slots=True)
class CreateConfigMap:
    """Create the ConfigMap of an MPIJob."""

    manifest: Json


@dataclass(frozen=True, slots=True)
class UpdateConfigMap:
    """Replace the files of a ConfigMap."""

    config: ConfigMap
    data: dict[str, str]


@dataclass(frozen=True, slots=True)
class EnsureObject:
    """Create an object that is not watched, if it does not exist; only together with pods, and before them.

    So the operator needs no permission to list secrets, service accounts and roles.
    """

    manifest: Json


@dataclass(frozen=True, slots=True)
class CreatePodGroup:
    """Create the PodGroup of a gang."""

    manifest: Json


@dataclass(frozen=True, slots=True)
class UpdatePodGroup:
    """Merge a change into the spec of the PodGroup: the job's has changed."""

    group: PodGroup
    change: Json


@dataclass(frozen=True, slots=True)
class DeletePod:
    """Delete this pod, with its uid as a precondition."""

    pod: Pod


@dataclass(frozen=True, slots=True)
class DeleteService:
    """Delete this service, with its uid as a precondition."""

    service: Service


@dataclass(frozen=True, slots=True)
class DeletePodGroup:
    """Delete this PodGroup, with its uid as a precondition."""

    group: PodGroup


@dataclass(frozen=True, slots=True)
class DeleteJob:
    """Delete a finished job whose ttlSecondsAfterFinished has passed."""

    job: Job


@dataclass(frozen=True, slots=True)
class SetMemory:
    """Write the annotation that the operator remembers the job by; a conflict like that of SetStatus."""

    job: Job
    memory: Memory


@dataclass(frozen=True, slots=True)
class SetStatus:
    """Write the whole new status; a conflict if the job has changed since it was read."""

    job: Job
    status: Json


@dataclass(frozen=True, slots=True)
class EmitEvent:
    """Write an event about the job."""

    job: Job
    type: str  # NORMAL or WARNING
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class RequeueAt:
    """Reconcile the job again at this time, even if nothing changes."""

    time: float


Action = (
    CreatePod
    | CreateService
    | CreateConfigMap
    | UpdateConfigMap
    | EnsureObject
    | CreatePodGroup
    | UpdatePodGroup
    | DeletePod
    | DeleteService
    | DeletePodGroup
    | DeleteJob
    | SetMemory
    | SetStatus
    | EmitEvent
    | RequeueAt
)
