"""The actions that a reconciliation returns. The executor carries them out, the status first.

The status is written first because it is the operator's only memory: a pod that is deleted before the status records it
would look like a lost replica after a crash of the operator.
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.operator.api_objects import Job, Json, Pod, PodGroup, Service

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
class CreatePodGroup:
    """Create the PodGroup of a gang."""

    manifest: Json


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
    | CreatePodGroup
    | DeletePod
    | DeleteService
    | DeletePodGroup
    | DeleteJob
    | SetStatus
    | EmitEvent
    | RequeueAt
)
