"""Faults of an operator in one detail of a job: a label, a variable, a count, or what it does after a suspension."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler.operator import creations, pod_group, reconcile, replica_manifests, replica_names, status
from scheduler.operator.actions import Action, CreatePod, DeletePod, DeletePodGroup
from scheduler.operator.api_objects import ROLE, Job, Json
from scheduler.operator.job_spec import JobSpec, ReplicaSpec
from scheduler.operator.lost_replicas import Profile
from scheduler.operator.pod_group import Dialect
from scheduler.operator.replicas import RoleReplicas
from tests.mutation.faults.registry import Patch, operator_fault

Counts = dict[str, Json]


@operator_fault("JOB-01: the pods have these labels:")
def job_role_label_is_missing(patch: Patch) -> None:
    """The master does not have the label job-role."""
    original = replica_names.replica_labels

    def without_role(job: Job, role: str, index: int, *, chief: bool) -> dict[str, str]:
        labels = original(job, role, index, chief=chief)
        return {label: value for label, value in labels.items() if label != "training.kubeflow.org/job-role"}

    patch.function(original, without_role)


@operator_fault('JOB-01: the pods of job "other" have these environment variables:')
def world_size_of_small_jobs_is_three(patch: Patch) -> None:
    """WORLD_SIZE is never less than 3."""
    original = replica_manifests.rendezvous_variables

    def at_least_three(job: Job, spec: JobSpec, replicas: ReplicaSpec, index: int) -> dict[str, str]:
        variables = original(job, spec, replicas, index)
        return {**variables, "WORLD_SIZE": str(max(3, int(variables["WORLD_SIZE"])))}

    patch.function(original, at_least_three)


@operator_fault('JOB-01: job "other" consists of "other-master-0", "other-worker-0"')
def small_jobs_have_no_second_pod(patch: Patch) -> None:
    """A job of two replicas gets only the first."""
    original = creations.create_missing

    def without_worker(job: Job, spec: JobSpec, *more: Any) -> list[Action]:
        actions = original(job, spec, *more)
        return [one for one in actions if not (spec.total == 2 and _creates_worker(one))]

    patch.function(original, without_worker)


@operator_fault('JOB-06: the PodGroup of gang "partial" requests 1 GPU at priority 60')
def min_resources_are_always_computed(patch: Patch) -> None:
    """schedulingPolicy.minResources is not read: the requests of the members are summed."""
    original = pod_group.group_manifest

    def computed(dialect: Dialect, job: Job, spec: JobSpec, profile: Profile) -> Json:
        manifest = original(dialect, job, spec, profile)
        resources = pod_group._min_resources(job, spec, manifest["spec"]["minMember"])
        return {**manifest, "spec": {**manifest["spec"], "minResources": resources}}

    patch.function(original, computed)


@operator_fault('JOB-06: the PodGroup of gang "partial" is deleted')
def pod_groups_of_failed_jobs_are_kept(patch: Patch) -> None:
    """The PodGroup of a job that has failed is not deleted."""
    _with_actions(
        patch, lambda job: status.is_true(job.status, status.FAILED), lambda one: not isinstance(one, DeletePodGroup)
    )


@operator_fault('JOB-02: job "train" has replicaStatuses:')
def pending_replicas_count_as_active(patch: Patch) -> None:
    """A replica that is pending is counted as active."""
    _with_counts(patch, lambda _status, role, counts: {**counts, "active": max(counts["active"], len(role.pods))})


@operator_fault('JOB-02: job "train" has replicaStatuses:')
def ended_replicas_are_not_counted(patch: Patch) -> None:
    """Replicas that have succeeded or failed are not counted."""
    _with_counts(patch, lambda _status, _role, counts: {**counts, "succeeded": 0, "failed": 0})


@operator_fault('JOB-05: job "long-limit" has replicaStatuses:')
def replicas_of_resumed_jobs_are_not_counted(patch: Patch) -> None:
    """The replicas of a job that was suspended once are not counted."""
    _with_counts(patch, lambda current, _role, counts: {**counts, "active": 0} if _was_suspended(current) else counts)


@operator_fault('JOB-05: job "long-limit" has no pods left')
def suspended_jobs_keep_their_pods(patch: Patch) -> None:
    """The pods of a suspended job are not deleted."""
    _with_actions(patch, _is_suspended, lambda one: not isinstance(one, DeletePod))


@operator_fault('JOB-05: job "long-limit" is Running')
def resumed_jobs_are_not_running(patch: Patch) -> None:
    """A job that was suspended once does not get the condition Running again."""
    original = status.with_condition

    def not_again(job: Job, current: Json, type_: str, *rest: Any, **more: Any) -> Json:
        if type_ == status.RUNNING and _was_suspended(current):
            return current
        return original(job, current, type_, *rest, **more)

    patch.function(original, not_again)


@operator_fault('JOB-05: job "long-limit" consists of "long-limit-master-0", "long-limit-worker-0"')
def resumed_jobs_lack_their_workers(patch: Patch) -> None:
    """The workers of a job that was suspended once are not created again."""
    _with_actions(patch, lambda job: _was_suspended(job.status), lambda one: not _creates_worker(one))


def _is_suspended(job: Job) -> bool:
    return bool(isinstance(job.spec, dict) and (job.spec.get("runPolicy") or {}).get("suspend"))


def _was_suspended(current: Json) -> bool:
    return any(one.get("type") == status.SUSPENDED for one in status.conditions_of(current))


def _creates_worker(action: Action) -> bool:
    return isinstance(action, CreatePod) and action.manifest["metadata"]["labels"].get(ROLE) == "worker"


def _with_actions(patch: Patch, concerns: Callable[[Job], bool], keeps: Callable[[Action], bool]) -> None:
    original = reconcile.reconcile

    def fewer(job: Job, *more: Any) -> list[Action]:
        return [one for one in original(job, *more) if keeps(one) or not concerns(job)]

    patch.function(original, fewer)


def _with_counts(patch: Patch, change: Callable[[Json, RoleReplicas, Json], Json]) -> None:
    original = status.with_replica_counts

    def changed(job: Job, spec: JobSpec, current: Json, roles: Mapping[str, RoleReplicas]) -> Json:
        new = original(job, spec, current, roles)
        counts: Counts = new["replicaStatuses"]
        return {**new, "replicaStatuses": {name: change(new, roles[name], one) for name, one in counts.items()}}

    patch.function(original, changed)
