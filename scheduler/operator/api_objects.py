"""The objects of the API as far as the operator looks at them; what is not named here is not decoded.

A job's spec stays as it came: it is the user's text, and `specs` reads it with a sentence ready for every mistake.
"""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.client.objects import Metadata, OwnerReference

Json = dict[str, Any]

ROLE = "training.kubeflow.org/replica-type"  # in small letters
INDEX = "training.kubeflow.org/replica-index"


def owner_of(metadata: Metadata) -> OwnerReference | None:
    """Whose it is to manage; others may be named beside the one."""
    return next((owner for owner in metadata.owner_references or () if owner.controller), None)


def labels_of(metadata: Metadata) -> dict[str, str]:
    return metadata.labels or {}


class Terminated(msgspec.Struct, rename="camel", frozen=True):
    """How a container ended."""

    exit_code: int = 0


class ContainerState(msgspec.Struct, frozen=True):
    """Only the end of a container matters here."""

    terminated: Terminated | None = None


class ContainerStatus(msgspec.Struct, rename="camel", frozen=True):
    """One container of a pod."""

    name: str
    restart_count: int = 0
    state: ContainerState = ContainerState()


class Condition(msgspec.Struct, frozen=True):
    """One line of a pod's own story."""

    type: str
    status: str
    reason: str = ""


class PodStatus(msgspec.Struct, rename="camel", frozen=True):
    """How a pod stands."""

    phase: str = "Pending"
    reason: str = ""
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()


class Pod(msgspec.Struct, frozen=True):
    """A replica of a job."""

    metadata: Metadata
    status: PodStatus = PodStatus()

    @property
    def leaving(self) -> bool:
        return bool(self.metadata.deletion_timestamp)

    @property
    def role(self) -> str:
        return labels_of(self.metadata).get(ROLE, "")

    @property
    def index(self) -> int:
        text = labels_of(self.metadata).get(INDEX, "")
        return int(text) if text.isdecimal() else -1

    def has(self, condition: str) -> bool:
        return any(one.type == condition and one.status == "True" for one in self.status.conditions)


class Service(msgspec.Struct, frozen=True):
    """The name of a replica in the cluster's DNS."""

    metadata: Metadata


class GroupStatus(msgspec.Struct, frozen=True):
    """How a group stands, in the words of its kind."""

    phase: str = ""


class Group(msgspec.Struct, frozen=True):
    """A PodGroup, of whichever kind."""

    metadata: Metadata
    status: GroupStatus = GroupStatus()


class Job(msgspec.Struct, frozen=True):
    """A PyTorchJob or an MPIJob."""

    kind: str
    metadata: Metadata
    spec: Any = None
    status: Json = {}
