"""A training job as `muster get` and `muster list` see it. Pure: objects of the API in, a view out.

The status is read off the conditions, in the order in which they outrank each other. A job counts as running when its
chief runs, even while other pods wait; people mean all of them, so one pending pod makes it pending.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from muster.jobs import gpus
from muster.jobs.durations import moment
from muster.jobs.kinds import KINDS, Kind
from muster.jobs.nodes import in_natural_order

PENDING, RUNNING, SUCCEEDED, FAILED = "PENDING", "RUNNING", "SUCCEEDED", "FAILED"
_BY_CONDITION = (("Succeeded", SUCCEEDED), ("Failed", FAILED), ("Running", RUNNING))
_LAST = ("Succeeded", "Failed")
_BY_LAUNCHER = {"Succeeded": SUCCEEDED, "Failed": FAILED, "Active": RUNNING}
JOB_LABELS = ("training.kubeflow.org/job-name", "pytorch-job-name", "mpi_job_name")
RELEASE = "release"
_ROLE_LABELS = ("training.kubeflow.org/replica-type", "pytorch-replica-type", "mpi_role_type", "mpi-replica-type")


@dataclass(frozen=True)
class Instance:
    """One pod of a job. `phase` is the pod's, in capitals; `display` is what kubectl would say."""

    name: str
    phase: str
    display: str
    chief: bool
    gpus: int
    holds: bool
    node: str | None
    host_address: str | None
    address: str | None
    created: datetime


@dataclass(frozen=True)
class TrainingJob:
    """A job with its pods, as of one moment."""

    kind: Kind
    name: str
    namespace: str
    uid: str
    status: str
    priority: str | None
    queue: str | None
    created: datetime
    started: datetime
    ended: datetime | None
    requested: int
    instances: tuple[Instance, ...]

    @property
    def chief(self) -> Instance | None:
        return next((one for one in self.instances if one.chief), None)

    @property
    def allocated(self) -> int:
        return sum(one.gpus for one in self.instances if one.holds)

    @property
    def finished(self) -> bool:
        return self.status in (SUCCEEDED, FAILED)

    def duration(self, now: datetime) -> float:
        return ((self.ended or now) - self.started).total_seconds()

    def age(self, now: datetime) -> float:
        return (now - self.created).total_seconds()


def training_job(kind: Kind, job: Mapping[str, Any], pods: Iterable[Mapping[str, Any]]) -> TrainingJob:
    """`pods` may hold those of other jobs, too."""
    meta, status = job["metadata"], job.get("status") or {}
    members = [_instance(kind, pod) for pod in pods if belongs(kind, meta, pod)]
    state, templates = _state(status), _templates(job)
    if state == RUNNING and any(one.phase == PENDING for one in members):
        state = PENDING
    created = moment(meta["creationTimestamp"])
    assert created is not None
    return TrainingJob(
        kind=kind,
        name=meta["name"],
        namespace=meta["namespace"],
        uid=meta["uid"],
        status=state,
        priority=next((spec["priorityClassName"] for _, spec in templates if "priorityClassName" in spec), None),
        queue=job["spec"].get("runPolicy", {}).get("schedulingPolicy", {}).get("queue"),
        created=created,
        started=moment(status.get("startTime")) or created,
        ended=_ended(status) if state in (SUCCEEDED, FAILED) else None,
        requested=sum(replicas * gpus.requested(spec) for replicas, spec in templates),
        instances=tuple(sorted(members, key=lambda one: (not one.chief, in_natural_order(one.name)))),
    )


def belongs(kind: Kind, job: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    """By its owner where that is a training job, else by labels: an operator may put a Job or a set in between."""
    meta = pod["metadata"]
    if meta["namespace"] != job["namespace"]:
        return False
    known = [one.kind for one in KINDS]
    owners = [owner for owner in meta.get("ownerReferences") or [] if owner["kind"] in known]
    if owners:
        return any(owner["uid"] == job["uid"] for owner in owners)
    labels = meta.get("labels") or {}
    if any(labels.get(label) == job["name"] for label in JOB_LABELS):
        return True
    submitted = (labels.get(RELEASE), labels.get("app")) == (job["name"], kind.trainer)
    return submitted and labels.get("role") != "tensorboard"


def _state(status: Mapping[str, Any]) -> str:
    true = {one["type"] for one in status.get("conditions") or [] if one["status"] == "True"}
    by_condition = next((state for condition, state in _BY_CONDITION if condition in true), None)
    return by_condition or _BY_LAUNCHER.get(status.get("launcherStatus", ""), PENDING)


def _ended(status: Mapping[str, Any]) -> datetime | None:
    changed = [one.get("lastTransitionTime") for one in status.get("conditions") or [] if one["type"] in _LAST]
    return moment(status.get("completionTime") or next((time for time in changed if time), None))


def _templates(job: Mapping[str, Any]) -> list[tuple[int, Mapping[str, Any]]]:
    """How many pods of which spec; the single template of v1alpha1 is that of the workers."""
    spec = job["spec"]
    roles = spec.get("pytorchReplicaSpecs") or spec.get("mpiReplicaSpecs")
    if roles is None:
        roles = {"Worker": {"replicas": spec.get("replicas", 1), "template": spec.get("template", {})}}
    return [(role.get("replicas", 1), role.get("template", {}).get("spec", {})) for role in roles.values()]


def _instance(kind: Kind, pod: Mapping[str, Any]) -> Instance:
    meta, spec, status = pod["metadata"], pod["spec"], pod.get("status", {})
    labels, phase = meta.get("labels") or {}, status.get("phase", "Pending")
    role = next((labels[label].lower() for label in _ROLE_LABELS if label in labels), "")
    created = moment(meta["creationTimestamp"])
    assert created is not None
    return Instance(
        name=meta["name"],
        phase=phase.upper(),
        display=_display(meta, status, phase),
        chief=role == kind.chief or labels.get("training.kubeflow.org/job-role") == kind.chief,
        gpus=gpus.requested(spec),
        holds=gpus.holds_its_gpus(pod),
        node=spec.get("nodeName"),
        host_address=status.get("hostIP"),
        address=status.get("podIP"),
        created=created,
    )


def _display(meta: Mapping[str, Any], status: Mapping[str, Any], phase: str) -> str:
    if "deletionTimestamp" in meta:
        return "Terminating"
    states = [one.get("state", {}) for one in status.get("containerStatuses") or []]
    reasons = [state[key].get("reason") for state in states for key in ("waiting", "terminated") if key in state]
    return next((reason for reason in reasons if reason), phase)
