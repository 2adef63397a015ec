"""Reading what the user wrote. Whatever is wrong ends as one sentence that begins with the field's path.

Two layouts are in the wild: `runPolicy` nested, and its fields directly under `spec` as older clients write them. The
nested one wins. What is inside a pod template is the API server's to judge, except what the operator itself touches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler.operator.objects import Json
from scheduler.operator.profiles import RESTART_POLICIES

CLEAN_NONE, CLEAN_RUNNING, CLEAN_ALL = "None", "Running", "All"
_CLEANING = (CLEAN_NONE, CLEAN_RUNNING, CLEAN_ALL)
_MOST_REPLICAS = 10_000  # a typing error, not a job


class Invalid(Exception):
    """The spec cannot be carried out, and trying again will not help."""

    def __init__(self, field: str, trouble: str) -> None:
        super().__init__(f"{field}: {trouble}")


@dataclass(frozen=True)
class Gang:
    """The scheduling policy of a job: its replicas start together. None: not said."""

    minimum: int | None = None
    queue: str = ""
    priority_class: str = ""
    resources: Mapping[str, str] | None = None
    timeout: int | None = None


@dataclass(frozen=True)
class RunPolicy:
    """How a job runs and what is left of it."""

    clean: str
    time_to_live: int | None = None
    deadline: int | None = None
    backoff_limit: int | None = None
    suspended: bool = False
    gang: Gang | None = None


@dataclass(frozen=True)
class Replicas:
    """All replicas of one role."""

    role: str  # Master, Worker or Launcher
    count: int
    policy: str
    template: Json


@dataclass(frozen=True)
class Spec:
    """A job that can be carried out."""

    replicas: tuple[Replicas, ...]
    run: RunPolicy
    processes: str = ""  # per node, as PyTorch's launcher words it
    single_template: bool = False  # the v1alpha1 layout of MPIJob

    @property
    def total(self) -> int:
        return sum(one.count for one in self.replicas)

    def of(self, role: str) -> Replicas | None:
        return next((one for one in self.replicas if one.role == role), None)


def mapping(parent: Mapping[str, Any], key: str, path: str) -> Json:
    """A field that must be an object; an absent one is an empty object."""
    found = parent.get(key)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise Invalid(f"{path}.{key}", "must be an object")
    return found


def number(parent: Mapping[str, Any], key: str, path: str, *, least: int = 0) -> int | None:
    found = parent.get(key)
    if found is None:
        return None
    if not isinstance(found, int) or isinstance(found, bool) or not least <= found < 2**31:
        raise Invalid(f"{path}.{key}", f"must be a whole number from {least} on, not {found!r}")
    return found


def word(parent: Mapping[str, Any], key: str, path: str, allowed: tuple[str, ...] = ()) -> str:
    found = parent.get(key)
    if found is None:
        return ""
    if not isinstance(found, str) or (allowed and found not in allowed):
        raise Invalid(f"{path}.{key}", f"must be {'one of ' + ', '.join(allowed) if allowed else 'a text'}: {found!r}")
    return found


def replicas(parent: Json, role: str, path: str, *, policy: str) -> Replicas | None:
    """One role of the replica specs; None when the role is absent."""
    if parent.get(role) is None:
        return None
    wanted, where = mapping(parent, role, path), f"{path}.{role}"
    count = number(wanted, "replicas", where, least=1)
    if count is not None and count > _MOST_REPLICAS:
        raise Invalid(f"{where}.replicas", f"{count} is more than {_MOST_REPLICAS}")
    chosen = word(wanted, "restartPolicy", where, RESTART_POLICIES) or policy
    return Replicas(role, 1 if count is None else count, chosen, template(wanted, where))


def template(parent: Json, path: str) -> Json:
    """A pod template as far as the operator reads it: metadata, containers, their resources and environment."""
    found = mapping(parent, "template", path)
    where = f"{path}.template"
    metadata, pod = mapping(found, "metadata", where), mapping(found, "spec", where)
    for marks in ("labels", "annotations"):
        mapping(metadata, marks, f"{where}.metadata")
    containers = pod.get("containers")
    if not isinstance(containers, list) or not containers:
        raise Invalid(f"{where}.spec.containers", "must name at least one container")
    for position, container in enumerate(containers):
        _container(container, f"{where}.spec.containers[{position}]")
    return found


def _container(container: object, path: str) -> None:
    if not isinstance(container, dict):
        raise Invalid(path, "must be an object")
    for needed in ("name", "image"):
        if not word(container, needed, path):
            raise Invalid(f"{path}.{needed}", "is missing")
    resources = mapping(container, "resources", path)
    for side in ("requests", "limits"):
        mapping(resources, side, f"{path}.resources")
    for items in ("env", "ports"):
        found = container.get(items) or []
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise Invalid(f"{path}.{items}", "must be a list of objects")


def run_policy(spec: Json, *, clean: str) -> RunPolicy:
    nested = mapping(spec, "runPolicy", "spec")
    path = "spec.runPolicy" if nested else "spec"
    fields = nested or spec
    suspended = fields.get("suspend") or False
    if not isinstance(suspended, bool):
        raise Invalid(f"{path}.suspend", "must be true or false")
    return RunPolicy(
        clean=word(fields, "cleanPodPolicy", path, _CLEANING) or clean,
        time_to_live=number(fields, "ttlSecondsAfterFinished", path),
        deadline=number(fields, "activeDeadlineSeconds", path),
        backoff_limit=number(fields, "backoffLimit", path),
        suspended=suspended,
        gang=_gang(fields, path) if fields.get("schedulingPolicy") is not None else None,
    )


def _gang(fields: Json, path: str) -> Gang:
    policy, where = mapping(fields, "schedulingPolicy", path), f"{path}.schedulingPolicy"
    return Gang(
        minimum=number(policy, "minAvailable", where, least=1),
        queue=word(policy, "queue", where),
        priority_class=word(policy, "priorityClass", where),
        resources=mapping(policy, "minResources", where) or None,
        timeout=number(policy, "scheduleTimeoutSeconds", where),
    )
