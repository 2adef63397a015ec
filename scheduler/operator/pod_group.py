"""The PodGroup of a gang: its manifest, how pods join it, and whether they may be created yet.

Under a gang scheduler every job is a gang, as with the training-operator's --gang-scheduler-name, or, by choice, only
those with a schedulingPolicy. Without minAvailable all replicas are members that it needs. Volcano admits a PodGroup
before its pods exist: while the phase is empty or Pending no pods are created. Koordinator reads pods only, so they are
created at once. Its PodGroup has no field for queue or priority: the pods carry them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler.core.scheduling_types import CPU
from scheduler.operator.api_objects import Job, Json, PodGroup
from scheduler.operator.job_kinds import KINDS
from scheduler.operator.job_memory import ANNOTATION
from scheduler.operator.job_spec import InvalidSpec, JobSpec, ReplicaSpec, SchedulingPolicy
from scheduler.operator.lost_replicas import Profile
from scheduler.operator.replica_names import owner_reference
from scheduler.runtime.quantities import InvalidQuantity, amount

_POLICY = "spec.runPolicy.schedulingPolicy"
_QUEUE_ANNOTATION = "scheduling.volcano.sh/queue-name"
_SCHEDULER_ANNOTATION = "scheduling.muster.dev/scheduler-name"


@dataclass(frozen=True)
class Dialect:
    """The PodGroup API of one scheduler."""

    api_version: str
    scheduler_name: str
    pending_phases: frozenset[str] = frozenset()  # phases in which no pods are created

    @property
    def path(self) -> str:
        return f"/apis/{self.api_version}/podgroups"


VOLCANO = Dialect("scheduling.volcano.sh/v1beta1", "volcano", frozenset({"", "Pending"}))
KOORDINATOR = Dialect("scheduling.sigs.k8s.io/v1alpha1", "koord-scheduler")
DIALECTS: dict[str, Dialect | None] = {"volcano": VOLCANO, "koordinator": KOORDINATOR, "none": None}


def dialect_of(spec: JobSpec, profile: Profile) -> Dialect | None:
    """None: the job is not a gang, or the operator runs without a gang scheduler."""
    is_gang = profile.gang_all_jobs or spec.run_policy.scheduling is not None
    return DIALECTS[profile.gang] if is_gang else None


def is_admitted(dialect: Dialect, group: PodGroup | None) -> bool:
    return group is not None and group.status.phase not in dialect.pending_phases


def validate(job: Job, spec: JobSpec) -> None:
    """An invalid schedulingPolicy or request is an error with every dialect, and without one."""
    _min_resources(job, spec, min_member(job, spec))


def min_member(job: Job, spec: JobSpec) -> int:
    """Without a launcher that is created when the workers are ready: a gang that waits for it never starts."""
    policy = spec.run_policy.scheduling
    wanted = policy.min_available if policy else None
    if wanted is not None and wanted > spec.total:
        raise InvalidSpec(f"{_POLICY}.minAvailable", f"{wanted} is more than the {spec.total} replicas of the job")
    members = sum(role.count for role in _member_roles(spec))
    return min(wanted or members, members)


def scheduler_name(dialect: Dialect | None, profile: Profile, pod_spec: Json) -> str:
    """Of a pod: that of its template, else the operator's, else the one that the PodGroups' API comes from."""
    name = pod_spec.get("schedulerName") or profile.scheduler_name or (dialect.scheduler_name if dialect else "")
    return str(name)


def group_manifest(dialect: Dialect, job: Job, spec: JobSpec, profile: Profile) -> Json:
    """The annotation names the scheduler that has to admit the PodGroup: there are no pods yet that name it."""
    policy = spec.run_policy.scheduling or SchedulingPolicy()
    minimum = min_member(job, spec)
    resources = dict(policy.min_resources or _min_resources(job, spec, minimum))
    group: Json = {"minMember": minimum, "minResources": resources}
    if dialect is VOLCANO:
        queue, priority_class = policy.queue, policy.priority_class
        if spec.mpi is not None and spec.mpi.uses_ssh:  # the mpi-operator has more places for them
            queue = queue or (job.metadata.annotations or {}).get(_QUEUE_ANNOTATION, "")
            priority_class = priority_class or _priority_class_of_pods(spec)
        group["queue"] = queue or "default"
        group |= {"priorityClassName": priority_class} if priority_class else {}
    elif policy.schedule_timeout is not None:
        group["scheduleTimeoutSeconds"] = policy.schedule_timeout
    scheduler = scheduler_name(dialect, profile, _member_roles(spec)[0].template["spec"])
    annotations = _user_annotations(job.metadata.annotations or {}) | {_SCHEDULER_ANNOTATION: scheduler}
    metadata = {
        "name": job.metadata.name,
        "namespace": job.metadata.namespace,
        "annotations": annotations,
        "ownerReferences": [owner_reference(job)],
    }
    return {"apiVersion": dialect.api_version, "kind": "PodGroup", "metadata": metadata, "spec": group}


def spec_change(group: PodGroup, manifest: Json) -> Json:
    """What differs between an existing PodGroup and the one of the job as it is now, as a merge patch."""
    wanted: Json = manifest["spec"]
    change = {field: value for field, value in wanted.items() if group.spec.get(field) != value}
    if "priorityClassName" in group.spec and "priorityClassName" not in wanted:
        change["priorityClassName"] = None
    if "minResources" in change:
        change["minResources"] = {**dict.fromkeys(group.spec.get("minResources") or {}), **change["minResources"]}
    return {} if group.metadata.deletion_timestamp else change


def join_group(
    dialect: Dialect,
    job: Job,
    spec: JobSpec,
    role: str,
    labels: dict[str, str],
    annotations: dict[str, str],
    pod_spec: Json,
) -> None:
    """Make a pod a member of the job's PodGroup."""
    policy = spec.run_policy.scheduling or SchedulingPolicy()
    if dialect is VOLCANO:
        annotations["scheduling.k8s.io/group-name"] = job.metadata.name
        annotations["volcano.sh/task-spec"] = role.lower()
        return
    labels["pod-group.scheduling.sigs.k8s.io"] = job.metadata.name
    if policy.queue:
        labels.setdefault("quota.scheduling.koordinator.sh/name", policy.queue)
    if policy.priority_class:
        pod_spec.setdefault("priorityClassName", policy.priority_class)


def _min_resources(job: Job, spec: JobSpec, minimum: int) -> dict[str, str]:
    """The requests of the first `minimum` members, in the order in which the roles are listed."""
    roles = _member_roles(spec)
    requests = []
    for position, role in enumerate(roles):
        try:
            of_one = _requests(role.template["spec"])
        except InvalidQuantity as error:
            raise InvalidSpec(
                f"spec.{KINDS[job.kind].replica_specs}.{role.role}.template.spec.containers", f"resources: {error}"
            ) from None
        requests += [of_one] * min(role.count, max(0, minimum - sum(one.count for one in roles[:position])))
    return _total(requests)


def _member_roles(spec: JobSpec) -> list[ReplicaSpec]:
    """All but a launcher that waits for its workers."""
    return [role for role in spec.replicas if role.role != spec.waiting_launcher]


def _priority_class_of_pods(spec: JobSpec) -> str:
    """The launcher's, else the workers'."""
    names = [str(role.template["spec"].get("priorityClassName") or "") for role in spec.replicas]
    return next(filter(None, names), "")


def _requests(pod_spec: Mapping[str, Any]) -> dict[str, int]:
    """Requests of a pod's containers; a limit counts where the request is missing. Raises InvalidQuantity."""
    total: dict[str, int] = {}
    for container in pod_spec["containers"]:
        resources = container.get("resources") or {}
        for resource, quantity in {**(resources.get("limits") or {}), **(resources.get("requests") or {})}.items():
            total[resource] = total.get(resource, 0) + amount(resource, quantity)
    return total


def _total(requests: Iterable[Mapping[str, int]]) -> dict[str, str]:
    total: dict[str, int] = {}
    for one in requests:
        for resource, number in one.items():
            total[resource] = total.get(resource, 0) + number
    return {resource: _quantity(resource, number) for resource, number in sorted(total.items())}


def _quantity(resource: str, number: int) -> str:
    if resource == CPU:
        return f"{number}m" if number % 1000 else str(number // 1000)
    return str(number)


def _user_annotations(annotations: dict[str, str]) -> dict[str, str]:
    """kubectl's last-applied-configuration and the operator's memory describe the job, not the PodGroup."""
    own = {name: value for name, value in annotations.items() if name != ANNOTATION}
    return {name: value for name, value in own.items() if not name.startswith("kubectl.kubernetes.io/")}
