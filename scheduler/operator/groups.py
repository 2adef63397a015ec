"""The PodGroup of a gang: what it says, how pods join it, and whether they may exist already.

A job is a gang when it has a scheduling policy. Volcano wants its say before there are pods: a group without a phase,
or Pending, has not been let in. Koordinator looks at pods only, so they come at once. Koordinator has no word for a
group's queue or priority either: its pods carry them.
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.operator.amounts import added, asked_by
from scheduler.operator.names import MPI, owner
from scheduler.operator.objects import Group, Job, Json
from scheduler.operator.profiles import Profile
from scheduler.operator.specs import Gang, Invalid, Replicas, Spec
from scheduler.runtime.quantities import NotAQuantity

_POLICY = "spec.runPolicy.schedulingPolicy"


@dataclass(frozen=True)
class Dialect:
    """Whose kind of PodGroup."""

    api_version: str
    scheduler_name: str
    waiting: frozenset[str] = frozenset()  # phases in which pods may not exist yet


VOLCANO = Dialect("scheduling.volcano.sh/v1beta1", "volcano", frozenset({"", "Pending"}))
KOORDINATOR = Dialect("scheduling.sigs.k8s.io/v1alpha1", "koord-scheduler")
DIALECTS: dict[str, Dialect | None] = {"volcano": VOLCANO, "koordinator": KOORDINATOR, "none": None}


def dialect_of(spec: Spec, profile: Profile) -> Dialect | None:
    """None: this job is no gang, or nobody here speaks of gangs."""
    return DIALECTS[profile.gang] if spec.run.gang is not None else None


def lets_in(dialect: Dialect, group: Group | None) -> bool:
    return group is not None and group.status.phase not in dialect.waiting


def check(job: Job, spec: Spec) -> None:
    """What is wrong with a gang is said in every dialect, and without one, too."""
    if spec.run.gang is not None:
        _resources(job, spec, minimum(job, spec))


def minimum(job: Job, spec: Spec) -> int:
    """An MPI launcher comes when the workers are ready: a gang that waited for it would wait for ever."""
    wanted = spec.run.gang.minimum if spec.run.gang else None
    if wanted is not None and wanted > spec.total:
        raise Invalid(f"{_POLICY}.minAvailable", f"{wanted} is more than the {spec.total} replicas of the job")
    together = spec.total - (1 if job.kind == MPI and spec.of("Launcher") else 0)
    return min(wanted or together, together)


def manifest(dialect: Dialect, job: Job, spec: Spec) -> Json:
    gang = spec.run.gang or Gang()
    least = minimum(job, spec)
    wanted: Json = {"minMember": least, "minResources": dict(gang.resources or _resources(job, spec, least))}
    if dialect is VOLCANO:
        wanted["queue"] = gang.queue or "default"
        wanted |= {"priorityClassName": gang.priority_class} if gang.priority_class else {}
    elif gang.timeout is not None:
        wanted["scheduleTimeoutSeconds"] = gang.timeout
    metadata = {
        "name": job.metadata.name,
        "namespace": job.metadata.namespace,
        "annotations": _without_apply(job.metadata.annotations or {}),
        "ownerReferences": [owner(job)],
    }
    return {"apiVersion": dialect.api_version, "kind": "PodGroup", "metadata": metadata, "spec": wanted}


def join(
    dialect: Dialect,
    job: Job,
    spec: Spec,
    replicas: Replicas,
    labels: dict[str, str],
    annotations: dict[str, str],
    pod_spec: Json,
) -> None:
    """Make a pod a member."""
    gang = spec.run.gang or Gang()
    if dialect is VOLCANO:
        annotations["scheduling.k8s.io/group-name"] = job.metadata.name
        annotations["volcano.sh/task-spec"] = replicas.role.lower()
        return
    labels["pod-group.scheduling.sigs.k8s.io"] = job.metadata.name
    if gang.queue:
        labels.setdefault("quota.scheduling.koordinator.sh/name", gang.queue)
    if gang.priority_class:
        pod_spec.setdefault("priorityClassName", gang.priority_class)


def _resources(job: Job, spec: Spec, least: int) -> dict[str, str]:
    """The sum over the first members, in the order in which roles are listed."""
    members = [one for one in spec.replicas if job.kind != MPI or one.role != "Launcher"]
    asks = []
    for position, role in enumerate(members):
        try:
            asked = asked_by(role.template["spec"])
        except NotAQuantity as mistake:
            raise Invalid(f"{role.role}.template.spec.containers", f"resources: {mistake}") from None
        asks += [asked] * min(role.count, max(0, least - sum(one.count for one in members[:position])))
    return added(asks)


def _without_apply(annotations: dict[str, str]) -> dict[str, str]:
    """kubectl's note on what it applied last is about the job, not about the group."""
    return {name: value for name, value in annotations.items() if not name.startswith("kubectl.kubernetes.io/")}
