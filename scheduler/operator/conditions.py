"""The story of a job as a list of conditions. The last one in the list is what people see as its state.

Running and Restarting replace each other; the end turns Running to False; nothing changes after the end.
"""

from __future__ import annotations

from scheduler.operator.objects import Job, Json
from scheduler.operator.times import written

CREATED, RUNNING, RESTARTING, SUSPENDED = "Created", "Running", "Restarting", "Suspended"
SUCCEEDED, FAILED = "Succeeded", "Failed"
_INSTEAD = {RUNNING: RESTARTING, RESTARTING: RUNNING}


def conditions_of(status: Json) -> list[Json]:
    found = status.get("conditions")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def holds(status: Json, kind: str) -> bool:
    return any(one.get("type") == kind and one.get("status") == "True" for one in conditions_of(status))


def finished(status: Json) -> bool:
    return holds(status, SUCCEEDED) or holds(status, FAILED)


def noted(
    job: Job, status: Json, kind: str, message: str, now: float, *, reason: str = "", positive: bool = True
) -> Json:
    """The status with this condition as its last, or the same status when it already says so."""
    value = "True" if positive else "False"
    reason = f"{job.kind}{reason or kind}"
    before = conditions_of(status)
    known = next((one for one in before if one.get("type") == kind), None)
    if known is not None and (known.get("status"), known.get("reason")) == (value, reason):
        return status
    moment = written(now)
    since = known.get("lastTransitionTime", moment) if known and known.get("status") == value else moment
    told = {
        "type": kind,
        "status": value,
        "reason": reason,
        "message": message,
        "lastUpdateTime": moment,
        "lastTransitionTime": since,
    }
    dropped = {kind, _INSTEAD.get(kind, kind)}
    kept = [one for one in before if one.get("type") not in dropped]
    if kind in (SUCCEEDED, FAILED, SUSPENDED) and positive:
        kept = [_no_longer(one, moment) if one.get("type") == RUNNING else one for one in kept]
    return {**status, "conditions": [*kept, told]}


def _no_longer(condition: Json, moment: str) -> Json:
    if condition.get("status") == "False":
        return condition
    return {**condition, "status": "False", "lastUpdateTime": moment, "lastTransitionTime": moment}
