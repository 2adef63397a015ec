"""Validation of a job's spec. Every error is one message that begins with the path of the field.

Two layouts are in use: nested `runPolicy`, and its fields directly under `spec` as older clients write them. The nested
one wins. Pod templates are validated by the API server, except for the fields that the operator itself reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from scheduler.operator.api_objects import Json
from scheduler.operator.mpi_spec import MpiSpec

NEVER, ON_FAILURE, ALWAYS, EXIT_CODE = "Never", "OnFailure", "Always", "ExitCode"
CLEAN_NONE, CLEAN_RUNNING, CLEAN_ALL = "None", "Running", "All"
_RESTART_POLICIES = (ALWAYS, ON_FAILURE, NEVER, EXIT_CODE)
_CLEAN_POD_POLICIES = (CLEAN_NONE, CLEAN_RUNNING, CLEAN_ALL)
_MAX_REPLICAS = 10_000  # more is a typing error


class InvalidSpec(Exception):
    """The spec is invalid; retrying will not help."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")


@dataclass(frozen=True)
class SchedulingPolicy:
    """spec.runPolicy.schedulingPolicy: the job is a gang. None: not set."""

    min_available: int | None = None
    queue: str = ""
    priority_class: str = ""
    min_resources: Mapping[str, str] | None = None
    schedule_timeout: int | None = None


@dataclass(frozen=True)
class RunPolicy:
    """spec.runPolicy."""

    clean_pod_policy: str
    clean_pod_policy_at_limit: str = CLEAN_RUNNING  # when a limit is exceeded: the pods are stopped, unless set
    ttl: int | None = None
    active_deadline: int | None = None
    backoff_limit: int | None = None
    suspend: bool = False
    scheduling: SchedulingPolicy | None = None


class OnLoss(Enum):
    """What follows when a replica of a role is lost."""

    BY_RESTART_POLICY = auto()
    RETRY = auto()  # created again, whatever its restartPolicy, until backoffLimit is exceeded
    RECREATE_DELETED = auto()  # created again when it is deleted; one that has crashed stays as it is


@dataclass(frozen=True)
class ReplicaSpec:
    """The replicas of one role, as the spec requests them."""

    role: str  # Master, Worker or Launcher
    count: int
    restart_policy: str
    template: Json
    on_loss: OnLoss = OnLoss.BY_RESTART_POLICY


@dataclass(frozen=True)
class JobSpec:
    """A valid spec."""

    replicas: tuple[ReplicaSpec, ...]
    run_policy: RunPolicy
    nproc_per_node: str = ""  # a number, or another value of torchrun's --nproc-per-node
    single_template: bool = False  # the v1alpha1 layout of MPIJob
    mpi: MpiSpec | None = None  # of an MPIJob

    @property
    def total(self) -> int:
        return sum(role.count for role in self.replicas)

    @property
    def keeps_launcher(self) -> bool:
        """Where the launcher belonged to a batch Job, no cleanPodPolicy applies to it."""
        return self.single_template or (self.mpi is not None and self.mpi.uses_ssh)

    @property
    def waiting_launcher(self) -> str:
        """The role of a launcher that is created when all workers are ready; empty if there is none."""
        waits = self.mpi is not None and self.mpi.launcher_waits and self.role("Worker") is not None
        return "Launcher" if waits else ""

    def role(self, name: str) -> ReplicaSpec | None:
        return next((role for role in self.replicas if role.role == name), None)


def read_object(parent: Mapping[str, Any], key: str, path: str) -> Json:
    """A field that must be an object; an absent one is an empty object."""
    found = parent.get(key)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise InvalidSpec(f"{path}.{key}", "must be an object")
    return found


def read_number(parent: Mapping[str, Any], key: str, path: str, *, minimum: int = 0) -> int | None:
    found = parent.get(key)
    if found is None:
        return None
    if not isinstance(found, int) or isinstance(found, bool) or not minimum <= found < 2**31:
        raise InvalidSpec(f"{path}.{key}", f"must be an integer >= {minimum}, not {found!r}")
    return found


def read_string(parent: Mapping[str, Any], key: str, path: str, allowed: tuple[str, ...] = ()) -> str:
    found = parent.get(key)
    if found is None:
        return ""
    if not isinstance(found, str) or (allowed and found not in allowed):
        expected = f"one of {', '.join(allowed)}" if allowed else "a string"
        raise InvalidSpec(f"{path}.{key}", f"must be {expected}, not {found!r}")
    return found


def read_replicas(parent: Json, role: str, path: str, *, default_restart_policy: str) -> ReplicaSpec | None:
    """One role of the replica specs; None when the role is absent."""
    if parent.get(role) is None:
        return None
    fields, where = read_object(parent, role, path), f"{path}.{role}"
    count = read_number(fields, "replicas", where, minimum=1)
    if count is not None and count > _MAX_REPLICAS:
        raise InvalidSpec(f"{where}.replicas", f"{count} is more than {_MAX_REPLICAS}")
    restart_policy = read_string(fields, "restartPolicy", where, _RESTART_POLICIES) or default_restart_policy
    return ReplicaSpec(role, 1 if count is None else count, restart_policy, read_template(fields, where))


def read_template(parent: Json, path: str) -> Json:
    """A pod template whose metadata, containers, resources and environment are valid."""
    found = read_object(parent, "template", path)
    where = f"{path}.template"
    metadata, pod = read_object(found, "metadata", where), read_object(found, "spec", where)
    for field in ("labels", "annotations"):
        read_object(metadata, field, f"{where}.metadata")
    containers = pod.get("containers")
    if not isinstance(containers, list) or not containers:
        raise InvalidSpec(f"{where}.spec.containers", "must contain at least one container")
    for position, container in enumerate(containers):
        _check_container(container, f"{where}.spec.containers[{position}]")
    return found


def _check_container(container: object, path: str) -> None:
    if not isinstance(container, dict):
        raise InvalidSpec(path, "must be an object")
    for required in ("name", "image"):
        if not read_string(container, required, path):
            raise InvalidSpec(f"{path}.{required}", "is missing")
    resources = read_object(container, "resources", path)
    for side in ("requests", "limits"):
        read_object(resources, side, f"{path}.resources")
    for items in ("env", "ports"):
        found = container.get(items) or []
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise InvalidSpec(f"{path}.{items}", "must be a list of objects")


def read_run_policy(spec: Json, *, default_clean_pod_policy: str) -> RunPolicy:
    nested = read_object(spec, "runPolicy", "spec")
    path = "spec.runPolicy" if nested else "spec"
    fields = nested or spec
    suspend = fields.get("suspend") or False
    if not isinstance(suspend, bool):
        raise InvalidSpec(f"{path}.suspend", "must be true or false")
    is_gang = fields.get("schedulingPolicy") is not None
    read_string(fields, "managedBy", path)
    clean_pod_policy = read_string(fields, "cleanPodPolicy", path, _CLEAN_POD_POLICIES)
    return RunPolicy(
        clean_pod_policy=clean_pod_policy or default_clean_pod_policy,
        clean_pod_policy_at_limit=clean_pod_policy or CLEAN_RUNNING,
        ttl=read_number(fields, "ttlSecondsAfterFinished", path),
        active_deadline=read_number(fields, "activeDeadlineSeconds", path),
        backoff_limit=read_number(fields, "backoffLimit", path),
        suspend=suspend,
        scheduling=_read_scheduling_policy(fields, path) if is_gang else None,
    )


def _read_scheduling_policy(fields: Json, path: str) -> SchedulingPolicy:
    policy, where = read_object(fields, "schedulingPolicy", path), f"{path}.schedulingPolicy"
    return SchedulingPolicy(
        min_available=read_number(policy, "minAvailable", where, minimum=1),
        queue=read_string(policy, "queue", where),
        priority_class=read_string(policy, "priorityClass", where),
        min_resources=read_object(policy, "minResources", where) or None,
        schedule_timeout=read_number(policy, "scheduleTimeoutSeconds", where),
    )
