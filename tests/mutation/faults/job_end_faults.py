"""Faults of an operator in the lifecycle of a job: status, restarts, cleanup, and what it remembers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from scheduler.operator import creations, job_cleanup, lost_replicas, reconcile, replicas, run_limits, status
from scheduler.operator.actions import Action, DeleteJob, DeletePod, DeletePodGroup, DeleteService, SetStatus
from scheduler.operator.api_objects import Job, Json, Pod
from scheduler.operator.job_memory import Memory
from scheduler.operator.job_spec import EXIT_CODE, JobSpec, ReplicaSpec
from scheduler.operator.lost_replicas import Profile
from scheduler.operator.pytorch_job import PyTorchJob
from scheduler.operator.replicas import RoleReplicas
from tests.mutation.aims import Aim
from tests.mutation.faults.registry import Patch, operator_fault

_replaces = Profile.replaces


@operator_fault('JOB-02: job "train" stays Created')
def created_job_is_running(patch: Patch) -> None:
    """A job is Running as soon as it is created."""
    patch.attribute(PyTorchJob, "is_running", lambda _kind, _spec, _roles: True)


@operator_fault(
    'JOB-02: job "train" has replicaStatuses:',
    'JOB-03: job "train" has replicaStatuses:',
)
def replicas_are_not_counted(patch: Patch) -> None:
    """The counts of replicas in the status stay 0."""
    original = status.with_replica_counts

    def without_pods(job: Job, spec: JobSpec, current: Json, roles: Mapping[str, RoleReplicas]) -> Json:
        return original(job, spec, current, {name: replace(role, pods={}) for name, role in roles.items()})

    patch.function(original, without_pods)


@operator_fault(
    'JOB-02: job "train" has creation, start and completion times',
    'JOB-10: job "steady" has creation, start and completion times',
)
def no_completion_time(patch: Patch) -> None:
    """The status of a finished job has no completionTime."""
    original = status.with_completion_time

    def without_time(current: Json, spec: JobSpec | None, launcher_status: str, now: float) -> Json:
        new = original(current, spec, launcher_status, now)
        return {key: value for key, value in new.items() if key != status.COMPLETION_TIME}

    patch.function(original, without_time)


@operator_fault(
    'JOB-03: job "train" fails without a new "train-worker-0"',
    'JOB-07: job "horovod" went from Created to Running to Failed',
)
def all_lost_replicas_are_replaced(patch: Patch) -> None:
    """Every lost replica is created again, whatever its restartPolicy."""
    patch.attribute(Profile, "replaces", lambda *_: True)


@operator_fault('JOB-03: job "train" continues with a new "train-worker-0"')
def no_lost_replica_is_replaced(patch: Patch) -> None:
    """A job that loses a replica fails, whatever the restartPolicy."""
    patch.attribute(Profile, "replaces", lambda *_: False)


@operator_fault('JOB-03: job "train" fails without a new "train-worker-0"')
def exit_codes_are_ignored(patch: Patch) -> None:
    """With restartPolicy ExitCode a replica is replaced after any exit code."""

    def any_exit_code(profile: Profile, policy: str, exit_code: int | None) -> bool:
        return policy == EXIT_CODE or _replaces(profile, policy, exit_code)

    patch.attribute(Profile, "replaces", any_exit_code)


@operator_fault('JOB-03: job "train" continues with a new "train-worker-0"')
def preempted_replicas_are_not_replaced(patch: Patch) -> None:
    """A replica that was evicted or deleted is not created again, whatever its restartPolicy."""

    def only_crashed(profile: Profile, policy: str, exit_code: int | None) -> bool:
        return exit_code is not None and _replaces(profile, policy, exit_code)

    patch.attribute(Profile, "replaces", only_crashed)


@operator_fault('JOB-03: job "train" fails without a new "train-worker-0"', 'JOB-23: job "no-retry" is Failed')
def backoff_limit_is_ignored(patch: Patch) -> None:
    """A replica is created again however often it has crashed."""
    patch.function(lost_replicas.count_crashes, lambda _lost: 0)


@operator_fault('JOB-03: "train-worker-0" ends with exit code 1, 2 times')
def backoff_limit_allows_one_restart_less(patch: Patch) -> None:
    """A job with a backoffLimit of 1 or more fails one restart too early."""
    _with_backoff_limit(patch, lambda limit: limit - 1 if limit else limit)


@operator_fault('JOB-03: job "train" fails after 1 restart')
def backoff_limit_allows_one_restart_more(patch: Patch) -> None:
    """A job with a backoffLimit of 1 or more fails one restart too late."""
    _with_backoff_limit(patch, lambda limit: limit + 1 if limit else limit)


@operator_fault('JOB-14: job "train" consists of "train-master-0", "train-worker-0"')
def surplus_replicas_are_kept(patch: Patch) -> None:
    """When the replicas of a role are reduced, the pods that are too many stay."""
    original = replicas.observe_role

    def without_surplus(spec: ReplicaSpec, pods: Iterable[Pod], current: Json, memory: Memory) -> RoleReplicas:
        return replace(original(spec, pods, current, memory), surplus=())

    patch.function(original, without_surplus)


@operator_fault('JOB-14: job "train" consists of "train-master-0", "train-worker-0"')
def surplus_services_are_kept(patch: Patch) -> None:
    """When the replicas of a role are reduced, the services that are too many stay."""
    patch.function(creations.surplus_services, lambda _job, _spec, _services: [])


@operator_fault('JOB-03: "train-master-0" was not evicted')
def one_restart_restarts_all(patch: Patch) -> None:
    """When one replica is replaced, all are, and the job goes on."""
    restarted = set[str]()

    def delete_all(actions: list[Action], job: Job, pods: list[Pod]) -> list[Action]:
        written = [action.status for action in actions if isinstance(action, SetStatus)]
        if job.metadata.uid in restarted or not any(status.is_true(new, status.RESTARTING) for new in written):
            return actions
        restarted.add(job.metadata.uid)
        return actions + [DeletePod(pod) for pod in pods if not pod.terminating]

    replaces = Profile.replaces
    patch.attribute(Profile, "replaces", lambda *lost: lost[-1] is None or replaces(*lost))
    _with_actions(patch, delete_all)


@operator_fault('JOB-03: job "train" continues with a new "train-worker-0"')
def restarts_are_not_reported(patch: Patch) -> None:
    """A replica is replaced, and the job has no condition Restarting."""
    patch.function(reconcile.mark_restarting, lambda _job, current, _lost, _now: current)


@operator_fault('JOB-04: job "train" consists of "train-master-0"')
def finished_pods_are_kept(patch: Patch) -> None:
    """All pods of a finished job are kept."""
    patch.function(job_cleanup.is_kept, lambda _pod, _policy, *, keep_launcher: True)


@operator_fault('JOB-04: job "train" consists of "train-master-0", "train-worker-0"')
def finished_pods_are_deleted(patch: Patch) -> None:
    """All pods of a finished job are deleted."""
    patch.function(job_cleanup.is_kept, lambda _pod, _policy, *, keep_launcher: False)


@operator_fault('JOB-04: job "train" consists of "train-master-0"')
def services_are_not_deleted(patch: Patch) -> None:
    """The services of a finished job are not deleted with its pods."""
    _with_actions(patch, lambda actions, *_: [one for one in actions if not isinstance(one, DeleteService)])


@operator_fault('JOB-06: the PodGroup of gang "whole" is deleted')
def pod_groups_are_not_deleted(patch: Patch) -> None:
    """The PodGroup of a finished job is not deleted."""
    _with_actions(patch, lambda actions, *_: [one for one in actions if not isinstance(one, DeletePodGroup)])


@operator_fault('JOB-05: job "short-ttl" is deleted 3 s after it finished')
def ttl_is_ignored(patch: Patch) -> None:
    """ttlSecondsAfterFinished is not read."""
    patch.function(job_cleanup.delete_expired, lambda _job, _run_policy, _now: [])


@operator_fault('JOB-05: job "short-ttl" is deleted 3 s after it finished')
def ttl_is_zero(patch: Patch) -> None:
    """A job is deleted as soon as it has finished."""
    patch.function(job_cleanup.delete_expired, lambda job, _run_policy, _now: [DeleteJob(job)])


@operator_fault('JOB-05: job "short-limit" fails after 3 s')
def deadline_is_ignored(patch: Patch) -> None:
    """activeDeadlineSeconds is not read."""
    patch.function(run_limits.deadline_of, lambda _spec, _status: None)


@operator_fault(
    'JOB-15: no pod of job "short-limit" is pending or running',
    'JOB-16: no pod of job "no-retry" is pending or running',
)
def limits_stop_nothing(patch: Patch) -> None:
    """A job that exceeds a limit is marked failed, and its pods run on."""
    patch.function(job_cleanup.is_stopped, lambda _job: False)


@operator_fault('JOB-16: job "retries" continues with a new "retries-worker-0"')
def one_crash_stops_the_job(patch: Patch) -> None:
    """A job that has a backoffLimit exceeds it with its first crash."""
    _with_backoff_limit(patch, lambda _limit: 0)


@operator_fault('JOB-05: job "long-limit" stays Suspended')
def suspend_is_ignored(patch: Patch) -> None:
    """suspend is not read."""
    validate = reconcile.validate

    def without_suspend(job: Job) -> JobSpec:
        spec = validate(job)
        return replace(spec, run_policy=replace(spec.run_policy, suspend=False))

    patch.function(validate, without_suspend)


@operator_fault('JOB-13: job "policy-never" fails without a new "policy-never-worker-0"')
def vanished_replicas_are_not_lost(patch: Patch) -> None:
    """A replica that was deleted while the operator was down is taken for one that was never created."""
    patch.attribute(RoleReplicas, "vanished", property(lambda _role: 0))


@operator_fault(Aim("JOB-10", 'job "steady" consists of', also=('job "steady" is Running',)))  # if the pods ran by then
def restart_replaces_all_pods(patch: Patch) -> None:
    """Pods that the operator's process finds when it starts are deleted and created again."""
    observe_role, own, found_at_start = replicas.observe_role, set[str](), dict[str, set[str]]()

    def without_found(spec: ReplicaSpec, pods: Iterable[Pod], current: Json, memory: Memory) -> RoleReplicas:
        role = observe_role(spec, pods, current, memory)
        uids = {pod.metadata.uid for pod in role.pods.values()}
        if not uids:
            own.add(spec.role)  # what comes from now on was created by this process
        found = found_at_start.setdefault(spec.role, set() if spec.role in own else uids) if uids else set()
        older = [pod for pod in role.pods.values() if pod.metadata.uid in found]
        return replace(role, surplus=(*role.surplus, *older))

    patch.function(observe_role, without_found)


def _with_backoff_limit(patch: Patch, change: Callable[[int], int]) -> None:
    validate = reconcile.validate

    def changed(job: Job) -> JobSpec:
        spec = validate(job)
        limit = spec.run_policy.backoff_limit
        if limit is None:
            return spec
        return replace(spec, run_policy=replace(spec.run_policy, backoff_limit=change(limit)))

    patch.function(validate, changed)


def _with_actions(patch: Patch, change: Callable[[list[Action], Job, Any], list[Action]]) -> None:
    original = reconcile.reconcile

    def changed(job: Job, pods: Any, *more: Any) -> list[Action]:
        return change(original(job, pods, *more), job, pods)

    patch.function(original, changed)
