"""Reconcile one job: observed objects in, actions out. No I/O and no clock of its own.

It compares states, never events, and remembers nothing but the job's status and one annotation: after any crash the
next reconciliation reaches the same result. The order of the checks matters: managed by another controller, finished,
invalid, suspended, past its deadline, succeeded, lost replicas, missing replicas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from scheduler.operator import pod_group, status
from scheduler.operator.actions import (
    NORMAL,
    WARNING,
    Action,
    DeletePod,
    DeleteService,
    EmitEvent,
    RequeueAt,
    SetMemory,
    SetStatus,
)
from scheduler.operator.api_objects import ConfigMap, Job, Json, Pod, PodGroup, Service
from scheduler.operator.creations import create_missing, surplus_services
from scheduler.operator.job_cleanup import clean_up_finished, delete_all, delete_group_after
from scheduler.operator.job_kinds import KINDS
from scheduler.operator.job_memory import Memory, give_up, memory_of, needs_write, prune
from scheduler.operator.job_spec import CLEAN_ALL, InvalidSpec, JobSpec, RunPolicy
from scheduler.operator.lost_replicas import LostReplicas, Profile, count_crashes, find_lost
from scheduler.operator.replica_names import check_names
from scheduler.operator.replicas import observe_role
from scheduler.operator.run_limits import backoff_message, deadline_message, deadline_of

_FAILED_VALIDATION = "FailedValidation"


def reconcile(
    job: Job,
    pods: Sequence[Pod],
    services: Sequence[Service],
    group: PodGroup | None,
    configs: Sequence[ConfigMap],
    now: float,
    profile: Profile,
) -> list[Action]:
    """Pods, services, group and ConfigMaps are all those that the job owns."""
    if job.metadata.deletion_timestamp or is_managed_elsewhere(job):
        return []
    if status.is_finished(job.status):
        run_policy, keep_launcher = _cleanup_policy(job, pods)
        return clean_up_finished(job, run_policy, pods, services, group, now, keep_launcher=keep_launcher)
    try:
        spec = validate(job)
    except InvalidSpec as error:
        return fail_validation(job, str(error), now)
    memory = memory_of(job)
    if spec.run_policy.suspend:
        new = status.mark_suspended(job, status.mark_created(job, now), now)
        actions = _update(job, new, give_up(memory, pods), pods)
        return actions + delete_all(pods, services) + delete_group_after(pods, group)
    new = status.mark_started(job, status.mark_created(job, now), now)
    roles = {one.role: observe_role(one, pods, new, memory) for one in spec.replicas}
    new = status.with_replica_counts(job, spec, new, roles)
    deadline = deadline_of(spec, new)
    if deadline is not None and now >= deadline:
        return _fail(job, spec, new, deadline_message(job), now, pods, limit=True)
    kind = KINDS[job.kind]
    if kind.has_succeeded(roles):
        return _update(job, status.mark_succeeded(job, spec, new, now), memory, pods)
    lost = [found for found in (find_lost(one, profile) for one in roles.values()) if found.total]
    if message := _loss_message(job, lost):
        return _fail(job, spec, new, message, now, pods, limit=False)
    if message := backoff_message(job, spec, memory, roles, lost):
        return _fail(job, spec, new, message, now, pods, limit=True)
    if lost:
        new = mark_restarting(job, new, lost, now)
        memory = count_restarts(memory, lost)
    elif kind.is_running(spec, roles):
        message = f"{job.kind} {job.metadata.name} is running."
        new = status.with_condition(job, new, status.RUNNING, message, now)
    surplus = [pod for role in roles.values() for pod in role.surplus]
    surplus += [pod for pod in pods if pod.role not in {one.role.lower() for one in spec.replicas}]
    actions = _update(job, new, give_up(memory, surplus), pods)  # else they are lost if the job is scaled up again
    actions += [DeletePod(pod) for one in lost for pod in one.deleted]
    actions += [DeletePod(pod) for pod in surplus if not pod.terminating]
    actions += [DeleteService(service) for service in surplus_services(job, spec, services)]
    actions += create_missing(job, spec, roles, services, group, configs, profile)
    return [*actions, RequeueAt(deadline)] if deadline is not None else actions


def is_managed_elsewhere(job: Job) -> bool:
    """Whether managedBy names another controller, such as MultiKueue: the job is left alone, its status included."""
    run_policy = job.spec.get("runPolicy") if isinstance(job.spec, dict) else None
    manager = run_policy.get("managedBy") if isinstance(run_policy, dict) else None
    return isinstance(manager, str) and manager not in ("", *KINDS[job.kind].managers)


def validate(job: Job) -> JobSpec:
    """The spec, or InvalidSpec with the path of the field."""
    if not isinstance(job.spec, dict):
        raise InvalidSpec("spec", "must be an object")
    spec = KINDS[job.kind].read(job.spec)
    check_names(job, spec)
    pod_group.validate(job, spec)
    return spec


def fail_validation(job: Job, error: str, now: float) -> list[Action]:
    """The job fails for good; also when the API server rejects one of its pods."""
    message = f"{job.kind} {job.metadata.name} failed validation because {error}"
    new = status.mark_failed(job, None, status.mark_created(job, now), message, now, reason=_FAILED_VALIDATION)
    return _update(job, new, memory_of(job), ())


def mark_restarting(job: Job, current: Json, lost: list[LostReplicas], now: float) -> Json:
    roles = " and ".join(f"{one.total} {one.role.role}" for one in lost)
    message = f"{job.kind} {job.metadata.name} is restarting because {roles} replica(s) failed."
    return status.with_condition(job, current, status.RESTARTING, message, now)


def count_restarts(memory: Memory, lost: list[LostReplicas]) -> Memory:
    memory = msgspec.structs.replace(memory, restarts=memory.restarts + count_crashes(lost))
    return give_up(memory, [pod for one in lost for pod in one.crashed])


def _cleanup_policy(job: Job, pods: Sequence[Pod]) -> tuple[RunPolicy, bool]:
    """Run policy and whether the launcher is kept; everything of a job that failed validation is deleted.

    A launcher of v2beta1 that still runs when its job has failed is not kept: the kubelet would restart it for ever.
    """
    try:
        spec = validate(job)
    except InvalidSpec:
        return RunPolicy(clean_pod_policy=CLEAN_ALL), False
    reasons = [str(one.get("reason")) for one in status.conditions_of(job.status)]
    if any(reason.endswith(_FAILED_VALIDATION) for reason in reasons):
        return replace(spec.run_policy, clean_pod_policy=CLEAN_ALL), False
    unfinished = any(pod.role == "launcher" and pod.status.phase in ("Pending", "Running") for pod in pods)
    failed = status.is_true(job.status, status.FAILED) and spec.mpi is not None and spec.mpi.uses_ssh
    return spec.run_policy, spec.keeps_launcher and not (failed and unfinished)


def _loss_message(job: Job, lost: list[LostReplicas]) -> str:
    """Empty unless a replica is lost that is not replaced."""
    final = next((one for one in lost if one.final), None)
    if final is None:
        return ""
    return f"{job.kind} {job.metadata.name} is failed because {final.total} {final.role.role} replica(s) failed."


def _fail(
    job: Job, spec: JobSpec, new: Json, message: str, now: float, pods: Sequence[Pod], *, limit: bool
) -> list[Action]:
    memory = msgspec.structs.replace(memory_of(job), limit_exceeded=limit)
    return _update(job, status.mark_failed(job, spec, new, message, now), memory, pods)


def _update(job: Job, new: Json, memory: Memory, pods: Sequence[Pod]) -> list[Action]:
    """What is remembered, the new status, and an event for every condition that became true."""
    actions: list[Action] = []
    memory = prune(memory, pods)
    if needs_write(memory_of(job), memory):
        actions.append(SetMemory(job, memory))
    if new == job.status:
        return actions
    before = status.conditions_of(job.status)
    changed = [one for one in status.conditions_of(new) if one not in before and one["status"] == "True"]
    events = [
        EmitEvent(job, _event_type(one), one["reason"], one["message"])
        for one in changed
        if one["type"] != status.CREATED
    ]
    return [*actions, SetStatus(job, new), *events]


def _event_type(condition: Json) -> str:
    invalid = condition["reason"].endswith(_FAILED_VALIDATION)
    return WARNING if invalid or condition["type"] == status.RESTARTING else NORMAL
