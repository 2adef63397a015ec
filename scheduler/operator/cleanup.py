"""What is left of a job that is over or suspended.

A service goes with its pod, and the group when the last pod is over: as long as one runs, it uses the queue's share,
which a scheduler that lost sight of the group would give away. Only the group of a failed job goes at once, for its
survivors may run for ever. The launcher of the v1alpha1 layout belonged to a batch Job, which no policy ever touched:
it stays, and its log with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.operator import conditions
from scheduler.operator.changes import Change, DeleteGroup, DeleteJob, DeletePod, DeleteService, WakeAt
from scheduler.operator.objects import Group, Job, Pod, Service
from scheduler.operator.specs import CLEAN_ALL, CLEAN_NONE, RunPolicy
from scheduler.operator.times import read

_UNFINISHED = ("Pending", "Running")


def after_the_end(
    job: Job,
    run: RunPolicy,
    pods: Sequence[Pod],
    services: Sequence[Service],
    group: Group | None,
    now: float,
    *,
    keep_launcher: bool,
) -> list[Change]:
    staying = {one.metadata.name for one in pods if _stays(one, run.clean, keep_launcher=keep_launcher)}
    changes = removal([one for one in pods if one.metadata.name not in staying], [])
    changes += removal_of_group([] if conditions.holds(job.status, conditions.FAILED) else pods, group)
    if run.clean != CLEAN_NONE:
        changes += [DeleteService(one) for one in services if one.metadata.name not in staying and _is_there(one)]
    return changes + _expiry(job, run, now)


def removal(pods: Sequence[Pod], services: Sequence[Service]) -> list[Change]:
    """Take away what is not on its way already."""
    changes: list[Change] = [DeletePod(one) for one in pods if not one.leaving]
    return changes + [DeleteService(one) for one in services if _is_there(one)]


def removal_of_group(waits_for: Sequence[Pod], group: Group | None) -> list[Change]:
    """Once all of these are over."""
    over = all(one.status.phase not in _UNFINISHED for one in waits_for)
    return [DeleteGroup(group)] if over and group is not None and _is_there(group) else []


def _stays(pod: Pod, clean: str, *, keep_launcher: bool) -> bool:
    if clean == CLEAN_NONE or (keep_launcher and pod.role == "launcher"):
        return True
    return clean != CLEAN_ALL and pod.status.phase not in _UNFINISHED


def _expiry(job: Job, run: RunPolicy, now: float) -> list[Change]:
    ended = read(job.status.get("completionTime"))
    if run.time_to_live is None or ended is None:
        return []
    due = ended + run.time_to_live
    return [DeleteJob(job)] if now >= due else [WakeAt(due)]


def _is_there(one: Service | Group) -> bool:
    return not one.metadata.deletion_timestamp
