"""API objects as far as the operator reads them; fields that are not named here are not decoded.

A job's spec stays raw JSON: `job_spec` validates it and reports every error with the path of its field.
"""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.client.metadata import Metadata, OwnerReference

Json = dict[str, Any]

OPERATOR_NAME = "training.kubeflow.org/operator-name"
JOB_NAME = "training.kubeflow.org/job-name"
ROLE = "training.kubeflow.org/replica-type"  # lower case
INDEX = "training.kubeflow.org/replica-index"


def controller_of(metadata: Metadata) -> OwnerReference | None:
    """The controlling owner; there may be other owners beside it."""
    return next((owner for owner in metadata.owner_references or () if owner.controller), None)


def labels_of(metadata: Metadata) -> dict[str, str]:
    return metadata.labels or {}


class Terminated(msgspec.Struct, rename="camel", frozen=True):
    """The terminated state of a container."""

    exit_code: int = 0


class ContainerState(msgspec.Struct, frozen=True):
    """State of a container; only termination is read."""

    terminated: Terminated | None = None


class ContainerStatus(msgspec.Struct, rename="camel", frozen=True):
    """Status of one container of a pod."""

    name: str
    restart_count: int = 0
    state: ContainerState = ContainerState()


class Condition(msgspec.Struct, frozen=True):
    """One condition of a pod."""

    type: str
    status: str
    reason: str = ""


class PodStatus(msgspec.Struct, rename="camel", frozen=True):
    """Status of a pod."""

    phase: str = "Pending"
    reason: str = ""
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()


class Pod(msgspec.Struct, frozen=True):
    """A replica of a job."""

    metadata: Metadata
    status: PodStatus = PodStatus()

    @property
    def terminating(self) -> bool:
        return bool(self.metadata.deletion_timestamp)

    @property
    def role(self) -> str:
        return labels_of(self.metadata).get(ROLE, "")

    @property
    def index(self) -> int:
        text = labels_of(self.metadata).get(INDEX, "")
        return int(text) if text.isdecimal() else -1

    def has_condition(self, condition: str) -> bool:
        return any(one.type == condition and one.status == "True" for one in self.status.conditions)


class Service(msgspec.Struct, frozen=True):
    """The headless service of one replica."""

    metadata: Metadata


class ConfigMap(msgspec.Struct, frozen=True):
    """The files that the replicas of a job share."""

    metadata: Metadata
    data: dict[str, str] = {}


class PodGroupStatus(msgspec.Struct, frozen=True):
    """Status of a PodGroup; the phases depend on its API."""

    phase: str = ""


class PodGroup(msgspec.Struct, frozen=True):
    """A PodGroup of any of the supported APIs."""

    metadata: Metadata
    spec: Json = {}
    status: PodGroupStatus = PodGroupStatus()


class Job(msgspec.Struct, frozen=True):
    """A training job of one of `job_kinds.KINDS`."""

    kind: str
    metadata: Metadata
    spec: Any = None
    status: Json = {}
    api_version: str = msgspec.field(name="apiVersion", default="kubeflow.org/v1")  # in which it is watched and written
