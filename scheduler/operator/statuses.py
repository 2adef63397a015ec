"""The status of a job, step by step: each function takes one and gives the next, and never touches its argument."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler.operator import conditions, mpi
from scheduler.operator.members import GIVEN_UP, Role, given_up
from scheduler.operator.names import selector
from scheduler.operator.objects import Job, Json, Pod
from scheduler.operator.specs import Spec
from scheduler.operator.times import written

START, COMPLETION = "startTime", "completionTime"


def begun(job: Job, now: float) -> Json:
    """Seen for the first time, or seen before."""
    said = f"{job.kind} {job.metadata.name} is created."
    return conditions.noted(job, job.status, conditions.CREATED, said, now)


def started(job: Job, status: Json, now: float) -> Json:
    """The clock of the deadline runs, anew after every suspension."""
    if conditions.holds(status, conditions.SUSPENDED):
        said = f"{job.kind} {job.metadata.name} is resumed."
        status = conditions.noted(job, status, conditions.SUSPENDED, said, now, reason="Resumed", positive=False)
    return status if status.get(START) else {**status, START: written(now)}


def counted(job: Job, spec: Spec, status: Json, roles: Mapping[str, Role]) -> Json:
    counts = {
        role.name: {
            "active": role.active,
            "succeeded": role.succeeded,
            "failed": role.failed,
            "selector": ",".join(f"{key}={value}" for key, value in selector(job, role.name).items()),
        }
        for role in roles.values()
    }
    status = {**status, "replicaStatuses": counts}
    return {**status, **mpi.old_status(roles)} if spec.single_template else status


def suspended(job: Job, status: Json, pods: Iterable[Pod], now: float) -> Json:
    said = f"{job.kind} {job.metadata.name} is suspended."
    status = conditions.noted(job, status, conditions.SUSPENDED, said, now)
    recorded = status.get("replicaStatuses") or {}
    idle = {role: {**counts, "active": 0} for role, counts in recorded.items()}
    status = {**status, "replicaStatuses": idle} if idle else status
    return letting_go({key: value for key, value in status.items() if key != START}, pods)


def letting_go(status: Json, pods: Iterable[Pod]) -> Json:
    """Pods that the operator takes away itself: whatever becomes of them is no loss."""
    known = given_up(status)
    new = [one.metadata.uid for one in pods if one.metadata.uid not in known]
    return {**status, GIVEN_UP: sorted(known.union(new))} if new else status


def forgetting(status: Json, pods: Iterable[Pod]) -> Json:
    """Without those that are gone for good."""
    known = given_up(status)
    left = sorted(known & {one.metadata.uid for one in pods})
    return {**status, GIVEN_UP: left} if len(left) < len(known) else status


def succeeded(job: Job, spec: Spec, status: Json, now: float) -> Json:
    """Whoever still runs has done its part."""
    counts = {
        role: {**one, "succeeded": one["succeeded"] + one["active"], "active": 0}
        for role, one in status["replicaStatuses"].items()
    }
    said = f"{job.kind} {job.metadata.name} is successfully completed."
    status = conditions.noted(job, status, conditions.SUCCEEDED, said, now)
    return _ended({**status, "replicaStatuses": counts}, spec, "Succeeded", now)


def failed(job: Job, spec: Spec | None, status: Json, message: str, now: float, *, reason: str = "") -> Json:
    status = conditions.noted(job, status, conditions.FAILED, message, now, reason=reason)
    return _ended(status, spec, "Failed", now)


def _ended(status: Json, spec: Spec | None, word: str, now: float) -> Json:
    old = {"launcherStatus": word} if spec is not None and spec.single_template else {}
    return {**status, COMPLETION: written(now), **old}


def worth_writing(before: Json, after: Json) -> bool:
    """Forgetting pods that are gone can wait until there is something to tell."""
    if given_up(after) - given_up(before):
        return True
    return {**before, GIVEN_UP: None} != {**after, GIVEN_UP: None}
