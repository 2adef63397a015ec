"""What a reconciliation asks for. The shell carries it out, the status first; nothing here knows how.

The status comes first because it is the operator's only memory: what is deleted before it is written down would look
like a loss to whoever takes over after a crash.
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.operator.objects import Group, Job, Json, Pod, Service


@dataclass(frozen=True, slots=True)
class CreatePod:
    """A replica that should be there and is not."""

    manifest: Json


@dataclass(frozen=True, slots=True)
class CreateService:
    """The name under which the other replicas find one."""

    manifest: Json


@dataclass(frozen=True, slots=True)
class CreateGroup:
    """The PodGroup of a gang."""

    manifest: Json


@dataclass(frozen=True, slots=True)
class DeletePod:
    """This very pod, by its uid."""

    pod: Pod


@dataclass(frozen=True, slots=True)
class DeleteService:
    """This very service, by its uid."""

    service: Service


@dataclass(frozen=True, slots=True)
class DeleteGroup:
    """This very PodGroup, by its uid."""

    group: Group


@dataclass(frozen=True, slots=True)
class DeleteJob:
    """The job has been over for as long as it was to be kept."""

    job: Job


@dataclass(frozen=True, slots=True)
class SetStatus:
    """The whole new status; refused by the API when the job has changed since it was read."""

    job: Job
    status: Json


@dataclass(frozen=True, slots=True)
class Say:
    """An event on the job."""

    job: Job
    type: str  # Normal or Warning
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class WakeAt:
    """Nothing may happen until then, and something is due then."""

    moment: float


Change = (
    CreatePod
    | CreateService
    | CreateGroup
    | DeletePod
    | DeleteService
    | DeleteGroup
    | DeleteJob
    | SetStatus
    | Say
    | WakeAt
)
