"""The heart: a job and what there is of it go in, what to change comes out. No I/O and no clock of its own.

It looks at states, never at events, and remembers nothing but the job's status: whoever runs it next, with whatever has
happened meanwhile, comes to the same end. The order of the questions matters: is it over, can it be carried out, is it
suspended, has it taken too long, has it ended, whom has it lost, who is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scheduler.operator import conditions, groups, manifests, mpi, pytorch, statuses
from scheduler.operator.changes import (
    Change,
    CreateGroup,
    CreatePod,
    CreateService,
    DeletePod,
    Say,
    SetStatus,
    WakeAt,
)
from scheduler.operator.cleanup import after_the_end, removal, removal_of_group
from scheduler.operator.members import Role, gathered
from scheduler.operator.names import PYTORCH, check_names, replica_name
from scheduler.operator.objects import Group, Job, Json, Pod, Service
from scheduler.operator.profiles import Profile
from scheduler.operator.restarts import RESTARTS, Losses, assessed, counted, in_place, recorded
from scheduler.operator.specs import CLEAN_ALL, Invalid, RunPolicy, Spec
from scheduler.operator.times import read as moment_of

NORMAL, WARNING = "Normal", "Warning"
_MISTAKEN = "FailedValidation"


def reconcile(
    job: Job, pods: Sequence[Pod], services: Sequence[Service], group: Group | None, now: float, profile: Profile
) -> list[Change]:
    """Pods, services and group are those that the job owns, all of them."""
    if job.metadata.deletion_timestamp:
        return []
    if conditions.finished(job.status):
        run, keep_launcher = _what_to_keep(job)
        return after_the_end(job, run, pods, services, group, now, keep_launcher=keep_launcher)
    try:
        spec = understood(job)
    except Invalid as mistake:
        return invalid(job, str(mistake), now)
    if spec.run.suspended:
        status = statuses.suspended(job, statuses.begun(job, now), pods, now)
        return _written(job, status, pods) + removal(pods, services) + removal_of_group(pods, group)
    status = statuses.started(job, statuses.begun(job, now), now)
    roles = {one.role: gathered(one, pods, status) for one in spec.replicas}
    status = statuses.counted(job, spec, status, roles)
    due = _deadline(spec, status)
    if due is not None and now >= due:
        message = f"Job {job.metadata.name} has failed because it was active longer than specified deadline"
        return _written(job, statuses.failed(job, spec, status, message, now), pods)
    kind = pytorch if job.kind == PYTORCH else mpi
    if kind.has_succeeded(roles):
        return _written(job, statuses.succeeded(job, spec, status, now), pods)
    losses = [found for found in (assessed(one, profile) for one in roles.values()) if found.total]
    trouble = _final_trouble(job, spec, status, roles, losses)
    if trouble:
        return _written(job, statuses.failed(job, spec, status, trouble, now), pods)
    crashed = [pod for one in losses for pod in one.crashed]
    if losses:
        status = _restarting(job, status, losses, now)
    elif kind.is_running(roles):
        status = conditions.noted(job, status, conditions.RUNNING, _tells(job, "is running."), now)
    changes = _written(job, status, pods)
    changes += [DeletePod(one) for one in crashed]
    changes += [DeletePod(one) for role in roles.values() for one in role.surplus if not one.leaving]
    changes += _missing(job, spec, roles, services, group, profile)
    return [*changes, WakeAt(due)] if due is not None else changes


def understood(job: Job) -> Spec:
    """The spec, or Invalid with the field that is wrong."""
    if not isinstance(job.spec, dict):
        raise Invalid("spec", "must be an object")
    spec = pytorch.read(job.spec) if job.kind == PYTORCH else mpi.read(job.spec)
    check_names(job, spec)
    groups.check(job, spec)
    return spec


def invalid(job: Job, mistake: str, now: float) -> list[Change]:
    """The end of a job that can never be carried out; also when it is the API server that says so."""
    said = f"{job.kind} {job.metadata.name} failed validation because {mistake}"
    status = statuses.failed(job, None, statuses.begun(job, now), said, now, reason=_MISTAKEN)
    return _written(job, status, ())


def _what_to_keep(job: Job) -> tuple[RunPolicy, bool]:
    """Nothing, of a job that could never be carried out."""
    try:
        spec = understood(job)
    except Invalid:
        return RunPolicy(clean=CLEAN_ALL), False
    refused = any(str(one.get("reason")).endswith(_MISTAKEN) for one in conditions.conditions_of(job.status))
    return (replace(spec.run, clean=CLEAN_ALL) if refused else spec.run), spec.single_template


def _deadline(spec: Spec, status: Json) -> float | None:
    since = moment_of(status[statuses.START])
    return None if spec.run.deadline is None or since is None else since + spec.run.deadline


def _final_trouble(job: Job, spec: Spec, status: Json, roles: dict[str, Role], losses: list[Losses]) -> str:
    """Why the job cannot go on; empty when it can."""
    for one in losses:
        if one.final:
            return _tells(job, f"is failed because {one.total} {one.role.name} replica(s) failed.")
    limit = spec.run.backoff_limit
    if limit is not None and recorded(status) + counted(losses) + in_place(list(roles.values())) > limit:
        return f"Job {job.metadata.name} has failed because it has reached the specified backoff limit"
    return ""


def _restarting(job: Job, status: Json, losses: list[Losses], now: float) -> Json:
    told = " and ".join(f"{one.total} {one.role.name}" for one in losses)
    message = _tells(job, f"is restarting because {told} replica(s) failed.")
    status = conditions.noted(job, status, conditions.RESTARTING, message, now)
    if more := counted(losses):
        status = {**status, RESTARTS: recorded(status) + more}
    return statuses.letting_go(status, [pod for one in losses for pod in one.crashed])


def _missing(
    job: Job, spec: Spec, roles: dict[str, Role], services: Sequence[Service], group: Group | None, profile: Profile
) -> list[Change]:
    changes: list[Change] = []
    dialect = groups.dialect_of(spec, profile)
    if dialect and group is None:
        changes.append(CreateGroup(groups.manifest(dialect, job, spec)))
    if dialect and not groups.lets_in(dialect, group):
        return changes
    for role in roles.values():
        if role.name == mpi.LAUNCHER and not mpi.may_launch(roles):
            continue
        changes += [CreatePod(manifests.pod(job, spec, role.replicas, index, profile)) for index in role.missing]
    if job.kind == PYTORCH and not changes:  # pods first: when many jobs come at once, theirs are waited for
        named = {one.metadata.name for one in services}
        changes += [
            CreateService(manifests.service(job, spec, role.replicas, index))
            for role in roles.values()
            for index in range(role.replicas.count)
            if replica_name(job, spec, role.name, index) not in named
        ]
    return changes


def _written(job: Job, status: Json, pods: Sequence[Pod]) -> list[Change]:
    """The new status and an event for every condition that is news."""
    status = statuses.forgetting(status, pods)
    if not statuses.worth_writing(job.status, status):
        return []
    before = conditions.conditions_of(job.status)
    news = [one for one in conditions.conditions_of(status) if one not in before and one["status"] == "True"]
    told = [Say(job, _weight(one), one["reason"], one["message"]) for one in news if one["type"] != conditions.CREATED]
    return [SetStatus(job, status), *told]


def _weight(condition: Json) -> str:
    mistaken = condition["reason"].endswith(_MISTAKEN)
    return WARNING if mistaken or condition["type"] == conditions.RESTARTING else NORMAL


def _tells(job: Job, rest: str) -> str:
    return f"{job.kind} {job.metadata.name} {rest}"
