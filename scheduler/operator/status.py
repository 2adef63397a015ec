"""The status of a job: its conditions, counts and times. Each function returns a new status.

The last condition in the list is what `kubectl get` shows as the job's state. Running and Restarting replace each
other; a finished or suspended job has Running=False; nothing changes after the job has finished.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from scheduler.operator.api_objects import Job, Json
from scheduler.operator.job_kinds import KINDS
from scheduler.operator.job_spec import JobSpec
from scheduler.operator.replica_names import selector
from scheduler.operator.replicas import RoleReplicas

CREATED, RUNNING, RESTARTING, SUSPENDED = "Created", "Running", "Restarting", "Suspended"
SUCCEEDED, FAILED = "Succeeded", "Failed"
START_TIME, COMPLETION_TIME = "startTime", "completionTime"
_REPLACES = {RUNNING: RESTARTING, RESTARTING: RUNNING}


def conditions_of(status: Json) -> list[Json]:
    found = status.get("conditions")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def is_true(status: Json, type_: str) -> bool:
    return any(one.get("type") == type_ and one.get("status") == "True" for one in conditions_of(status))


def is_finished(status: Json) -> bool:
    return is_true(status, SUCCEEDED) or is_true(status, FAILED)


def with_condition(
    job: Job, status: Json, type_: str, message: str, now: float, *, reason: str = "", positive: bool = True
) -> Json:
    """The status with this condition as its last, or the same status if the condition is already set."""
    value = "True" if positive else "False"
    reason = f"{job.kind}{reason or type_}"
    before = conditions_of(status)
    known = next((one for one in before if one.get("type") == type_), None)
    if known is not None and (known.get("status"), known.get("reason")) == (value, reason):
        return status
    time = format_time(now)
    since = known.get("lastTransitionTime", time) if known and known.get("status") == value else time
    new = {
        "type": type_,
        "status": value,
        "reason": reason,
        "message": message,
        "lastUpdateTime": time,
        "lastTransitionTime": since,
    }
    replaced = {type_, _REPLACES.get(type_, type_)}
    kept = [one for one in before if one.get("type") not in replaced]
    if type_ in (SUCCEEDED, FAILED, SUSPENDED) and positive:
        kept = [_set_false(one, time) if one.get("type") == RUNNING else one for one in kept]
    return {**status, "conditions": [*kept, new]}


def mark_created(job: Job, now: float) -> Json:
    """The job's status, with the condition Created from the first reconciliation on."""
    return with_condition(job, job.status, CREATED, f"{job.kind} {job.metadata.name} is created.", now)


def mark_started(job: Job, status: Json, now: float) -> Json:
    """Sets startTime, from which the deadline counts; a suspension resets it."""
    if is_true(status, SUSPENDED):
        message = f"{job.kind} {job.metadata.name} is resumed."
        status = with_condition(job, status, SUSPENDED, message, now, reason="Resumed", positive=False)
    return status if status.get(START_TIME) else {**status, START_TIME: format_time(now)}


def mark_suspended(job: Job, status: Json, now: float) -> Json:
    status = with_condition(job, status, SUSPENDED, f"{job.kind} {job.metadata.name} is suspended.", now)
    recorded = status.get("replicaStatuses") or {}
    idle = {role: {**counts, "active": 0} for role, counts in recorded.items()}
    status = {**status, "replicaStatuses": idle} if idle else status
    return {key: value for key, value in status.items() if key != START_TIME}


def mark_succeeded(job: Job, spec: JobSpec, status: Json, now: float) -> Json:
    """Replicas that still run count as succeeded."""
    counts = {
        role: {**one, "succeeded": one["succeeded"] + one["active"], "active": 0}
        for role, one in status["replicaStatuses"].items()
    }
    message = f"{job.kind} {job.metadata.name} is successfully completed."
    status = with_condition(job, status, SUCCEEDED, message, now)
    return with_completion_time({**status, "replicaStatuses": counts}, spec, "Succeeded", now)


def mark_failed(job: Job, spec: JobSpec | None, status: Json, message: str, now: float, *, reason: str = "") -> Json:
    status = with_condition(job, status, FAILED, message, now, reason=reason)
    return with_completion_time(status, spec, "Failed", now)


def with_completion_time(status: Json, spec: JobSpec | None, launcher_status: str, now: float) -> Json:
    legacy = {"launcherStatus": launcher_status} if spec is not None and spec.single_template else {}
    return {**status, COMPLETION_TIME: format_time(now), **legacy}


def with_replica_counts(job: Job, spec: JobSpec, status: Json, roles: Mapping[str, RoleReplicas]) -> Json:
    counts = {
        role.role: {
            "active": role.active,
            "succeeded": role.succeeded,
            "failed": role.failed,
            "selector": ",".join(f"{key}={value}" for key, value in selector(job, role.role).items()),
        }
        for role in roles.values()
    }
    status = {**status, "replicaStatuses": counts}
    return {**status, **KINDS[job.kind].legacy_status(roles)} if spec.single_template else status


def format_time(seconds: float) -> str:
    """A time as the API writes it, in whole seconds."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(text: object) -> float | None:
    """Seconds since the epoch; None for invalid text, because users can edit a status."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None


def _set_false(condition: Json, time: str) -> Json:
    if condition.get("status") == "False":
        return condition
    return {**condition, "status": "False", "lastUpdateTime": time, "lastTransitionTime": time}
