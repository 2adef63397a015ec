"""A training job as `muster get` and `muster list` show it, built from objects of the API.

The status is that of the condition with the highest precedence. Operators report a job as Running when its chief runs,
even while other pods are pending; users mean all pods, so one pending pod makes the job pending.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from muster.arena.node_usage import holds_gpus, natural_key, requested_gpus
from muster.cluster.job_kinds import JOB_KINDS, KIND_NAMES, JobKind

PENDING, RUNNING, SUCCEEDED, FAILED = "PENDING", "RUNNING", "SUCCEEDED", "FAILED"
_BY_CONDITION = (("Succeeded", SUCCEEDED), ("Failed", FAILED), ("Running", RUNNING))
_FINAL_CONDITIONS = ("Succeeded", "Failed")
_BY_LAUNCHER = {"Succeeded": SUCCEEDED, "Failed": FAILED, "Active": RUNNING}
JOB_LABELS = ("training.kubeflow.org/job-name", *(kind.job_label for kind in JOB_KINDS))
RELEASE = "release"
_ROLE_LABELS = ("training.kubeflow.org/replica-type", *(label for kind in JOB_KINDS for label in kind.role_labels))


@dataclass(frozen=True)
class Instance:
    """One pod of a job. `phase` is the pod's, in capitals; `display` is the status that kubectl shows."""

    name: str
    phase: str
    display: str
    chief: bool
    gpus: int
    holds_gpus: bool
    node: str | None
    host_address: str | None
    address: str | None
    created: datetime


@dataclass(frozen=True)
class TrainingJob:
    """A job with its pods at one point in time."""

    kind: JobKind
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
        return sum(one.gpus for one in self.instances if one.holds_gpus)

    @property
    def finished(self) -> bool:
        return self.status in (SUCCEEDED, FAILED)

    def duration(self, now: datetime) -> float:
        return ((self.ended or now) - self.started).total_seconds()

    def age(self, now: datetime) -> float:
        return (now - self.created).total_seconds()


def training_job(kind: JobKind, job: Mapping[str, Any], pods: Iterable[Mapping[str, Any]]) -> TrainingJob:
    """`pods` may contain pods of other jobs."""
    meta, status = job["metadata"], job.get("status") or {}
    members = [_instance(kind, pod) for pod in pods if is_pod_of(kind, meta, pod)]
    state, templates = _state(status), _templates(job)
    if state == RUNNING and any(one.phase == PENDING for one in members):
        state = PENDING
    created = parse_time(meta["creationTimestamp"])
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
        started=parse_time(status.get("startTime")) or created,
        ended=_ended(status) if state in (SUCCEEDED, FAILED) else None,
        requested=sum(replicas * requested_gpus(spec) for replicas, spec in templates),
        instances=tuple(sorted(members, key=lambda one: (not one.chief, natural_key(one.name)))),
    )


def is_pod_of(kind: JobKind, job: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    """By its owner if that is a training job, else by labels: the owner may be a batch Job or a StatefulSet."""
    meta = pod["metadata"]
    if meta["namespace"] != job["namespace"]:
        return False
    owners = [owner for owner in meta.get("ownerReferences") or [] if owner["kind"] in KIND_NAMES]
    if owners:
        return any(owner["uid"] == job["uid"] for owner in owners)
    labels = meta.get("labels") or {}
    if any(labels.get(label) == job["name"] for label in JOB_LABELS):
        return True
    submitted = (labels.get(RELEASE), labels.get("app")) == (job["name"], kind.trainer)
    return submitted and labels.get("role") != "tensorboard"


def parse_time(text: str | None) -> datetime | None:
    """A time of the API, with or without fractions of a second."""
    return datetime.fromisoformat(text) if text else None


def _state(status: Mapping[str, Any]) -> str:
    true = {one["type"] for one in status.get("conditions") or [] if one["status"] == "True"}
    by_condition = next((state for condition, state in _BY_CONDITION if condition in true), None)
    return by_condition or _BY_LAUNCHER.get(status.get("launcherStatus", ""), PENDING)


def _ended(status: Mapping[str, Any]) -> datetime | None:
    changed = [
        one.get("lastTransitionTime") for one in status.get("conditions") or [] if one["type"] in _FINAL_CONDITIONS
    ]
    return parse_time(status.get("completionTime") or next((time for time in changed if time), None))


def _templates(job: Mapping[str, Any]) -> list[tuple[int, Mapping[str, Any]]]:
    """Replica count and pod spec of each role; the single template of v1alpha1 is that of the workers."""
    spec = job["spec"]
    roles = next((spec[kind.replica_specs] for kind in JOB_KINDS if spec.get(kind.replica_specs)), None)
    if roles is None:
        roles = {"Worker": {"replicas": spec.get("replicas", 1), "template": spec.get("template", {})}}
    return [(role.get("replicas", 1), role.get("template", {}).get("spec", {})) for role in roles.values()]


def _instance(kind: JobKind, pod: Mapping[str, Any]) -> Instance:
    meta, spec, status = pod["metadata"], pod["spec"], pod.get("status", {})
    labels, phase = meta.get("labels") or {}, status.get("phase", "Pending")
    role = next((labels[label].lower() for label in _ROLE_LABELS if label in labels), "")
    created = parse_time(meta["creationTimestamp"])
    assert created is not None
    return Instance(
        name=meta["name"],
        phase=phase.upper(),
        display=_display(meta, status, phase),
        chief=_is_chief(kind, role, labels),
        gpus=requested_gpus(spec),
        holds_gpus=holds_gpus(pod),
        node=spec.get("nodeName"),
        host_address=status.get("hostIP"),
        address=status.get("podIP"),
        created=created,
    )


def _is_chief(kind: JobKind, role: str, labels: Mapping[str, str]) -> bool:
    """The pod of the first role; where all pods have that role, the one with index 0."""
    if len(kind.roles) == 1 and labels.get("training.kubeflow.org/replica-index", "0") != "0":
        return False
    return role == kind.chief or labels.get("training.kubeflow.org/job-role") == kind.chief


def _display(meta: Mapping[str, Any], status: Mapping[str, Any], phase: str) -> str:
    if "deletionTimestamp" in meta:
        return "Terminating"
    states = [one.get("state", {}) for one in status.get("containerStatuses") or []]
    reasons = [state[key].get("reason") for state in states for key in ("waiting", "terminated") if key in state]
    return next((reason for reason in reasons if reason), phase)
