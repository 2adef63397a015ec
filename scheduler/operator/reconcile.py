"""Reconcile one job: observed objects in, actions out. No I/O and no clock of its own.

It compares states, never events, and remembers nothing but the job's status: after any crash the next reconciliation
reaches the same result. The order of the checks matters: finished, invalid, suspended, past its deadline, succeeded,
lost replicas, missing replicas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scheduler.operator import pod_group, replica_manifests, status
from scheduler.operator.actions import (
    NORMAL,
    WARNING,
    Action,
    CreatePod,
    CreatePodGroup,
    CreateService,
    DeletePod,
    DeleteService,
    EmitEvent,
    RequeueAt,
    SetStatus,
)
from scheduler.operator.api_objects import INDEX, Job, Json, Pod, PodGroup, Service, labels_of
from scheduler.operator.job_cleanup import clean_up_finished, delete_all, delete_group_after
from scheduler.operator.job_kinds import KINDS
from scheduler.operator.job_spec import CLEAN_ALL, InvalidSpec, JobSpec, RunPolicy
from scheduler.operator.lost_replicas import (
    RESTARTS,
    LostReplicas,
    Profile,
    count_crashes,
    find_lost,
    in_place_restarts,
    recorded_restarts,
)
from scheduler.operator.replica_names import check_names, replica_name
from scheduler.operator.replicas import RoleReplicas, observe_role

_FAILED_VALIDATION = "FailedValidation"


def reconcile(
    job: Job, pods: Sequence[Pod], services: Sequence[Service], group: PodGroup | None, now: float, profile: Profile
) -> list[Action]:
    """Pods, services and group are all those that the job owns."""
    if job.metadata.deletion_timestamp:
        return []
    if status.is_finished(job.status):
        run_policy, keep_launcher = _cleanup_policy(job)
        return clean_up_finished(job, run_policy, pods, services, group, now, keep_launcher=keep_launcher)
    try:
        spec = validate(job)
    except InvalidSpec as error:
        return fail_validation(job, str(error), now)
    if spec.run_policy.suspend:
        new = status.mark_suspended(job, status.mark_created(job, now), pods, now)
        return _update_status(job, new, pods) + delete_all(pods, services) + delete_group_after(pods, group)
    new = status.mark_started(job, status.mark_created(job, now), now)
    roles = {one.role: observe_role(one, pods, new) for one in spec.replicas}
    new = status.with_replica_counts(job, spec, new, roles)
    deadline = deadline_of(spec, new)
    if deadline is not None and now >= deadline:
        message = f"Job {job.metadata.name} has failed because it was active longer than specified deadline"
        return _update_status(job, status.mark_failed(job, spec, new, message, now), pods)
    kind = KINDS[job.kind]
    if kind.has_succeeded(roles):
        return _update_status(job, status.mark_succeeded(job, spec, new, now), pods)
    lost = [found for found in (find_lost(one, profile) for one in roles.values()) if found.total]
    failure = _failure_message(job, spec, new, roles, lost)
    if failure:
        return _update_status(job, status.mark_failed(job, spec, new, failure, now), pods)
    if lost:
        new = mark_restarting(job, new, lost, now)
    elif kind.is_running(roles):
        message = f"{job.kind} {job.metadata.name} is running."
        new = status.with_condition(job, new, status.RUNNING, message, now)
    actions = _update_status(job, new, pods)
    actions += [DeletePod(pod) for one in lost for pod in one.crashed]
    actions += [DeletePod(pod) for role in roles.values() for pod in role.surplus if not pod.terminating]
    actions += [DeleteService(service) for service in surplus_services(job, spec, services)]
    actions += create_missing(job, spec, roles, services, group, profile)
    return [*actions, RequeueAt(deadline)] if deadline is not None else actions


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
    return _update_status(job, new, ())


def deadline_of(spec: JobSpec, current: Json) -> float | None:
    started = status.parse_time(current[status.START_TIME])
    limit = spec.run_policy.active_deadline
    return None if limit is None or started is None else started + limit


def mark_restarting(job: Job, current: Json, lost: list[LostReplicas], now: float) -> Json:
    roles = " and ".join(f"{one.total} {one.role.role}" for one in lost)
    message = f"{job.kind} {job.metadata.name} is restarting because {roles} replica(s) failed."
    new = status.with_condition(job, current, status.RESTARTING, message, now)
    if crashes := count_crashes(lost):
        new = {**new, RESTARTS: recorded_restarts(new) + crashes}
    return status.give_up(new, [pod for one in lost for pod in one.crashed])


def create_missing(
    job: Job,
    spec: JobSpec,
    roles: dict[str, RoleReplicas],
    services: Sequence[Service],
    group: PodGroup | None,
    profile: Profile,
) -> list[Action]:
    actions: list[Action] = []
    kind = KINDS[job.kind]
    dialect = pod_group.dialect_of(spec, profile)
    if dialect and group is None:
        actions.append(CreatePodGroup(pod_group.group_manifest(dialect, job, spec)))
    if dialect and not pod_group.is_admitted(dialect, group):
        return actions
    for role in roles.values():
        if kind.may_create(role.role, roles):
            pods = (replica_manifests.pod_manifest(job, spec, role.spec, index, profile) for index in role.missing)
            actions += [CreatePod(pod) for pod in pods]
    if kind.has_rendezvous and not actions:  # pods first: under load their latency is what users see
        named = {service.metadata.name for service in services}
        actions += [
            CreateService(replica_manifests.service_manifest(job, spec, role.spec, index))
            for role in roles.values()
            for index in range(role.spec.count)
            if replica_name(job, spec, role.role, index) not in named
        ]
    return actions


def surplus_services(job: Job, spec: JobSpec, services: Sequence[Service]) -> list[Service]:
    """The services of replicas that the spec does not request any more; a job may own other services as well."""
    named = {replica_name(job, spec, role.role, index) for role in spec.replicas for index in range(role.count)}
    of_replicas = [service for service in services if INDEX in labels_of(service.metadata)]
    return [service for service in of_replicas if service.metadata.name not in named]


def _cleanup_policy(job: Job) -> tuple[RunPolicy, bool]:
    """Run policy and whether the launcher is kept; everything of a job that failed validation is deleted."""
    try:
        spec = validate(job)
    except InvalidSpec:
        return RunPolicy(clean_pod_policy=CLEAN_ALL), False
    reasons = [str(one.get("reason")) for one in status.conditions_of(job.status)]
    if any(reason.endswith(_FAILED_VALIDATION) for reason in reasons):
        return replace(spec.run_policy, clean_pod_policy=CLEAN_ALL), spec.single_template
    return spec.run_policy, spec.single_template


def _failure_message(
    job: Job, spec: JobSpec, current: Json, roles: dict[str, RoleReplicas], lost: list[LostReplicas]
) -> str:
    """Why the job has failed; empty if it goes on."""
    for one in lost:
        if one.final:
            return f"{job.kind} {job.metadata.name} is failed because {one.total} {one.role.role} replica(s) failed."
    limit = spec.run_policy.backoff_limit
    restarts = recorded_restarts(current) + count_crashes(lost) + in_place_restarts(list(roles.values()))
    if limit is not None and restarts > limit:
        return f"Job {job.metadata.name} has failed because it has reached the specified backoff limit"
    return ""


def _update_status(job: Job, new: Json, pods: Sequence[Pod]) -> list[Action]:
    """The new status, and an event for every condition that became true."""
    new = status.prune_given_up(new, pods)
    if not status.needs_update(job.status, new):
        return []
    before = status.conditions_of(job.status)
    changed = [one for one in status.conditions_of(new) if one not in before and one["status"] == "True"]
    events = [
        EmitEvent(job, _event_type(one), one["reason"], one["message"])
        for one in changed
        if one["type"] != status.CREATED
    ]
    return [SetStatus(job, new), *events]


def _event_type(condition: Json) -> str:
    invalid = condition["reason"].endswith(_FAILED_VALIDATION)
    return WARNING if invalid or condition["type"] == status.RESTARTING else NORMAL
