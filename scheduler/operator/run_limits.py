"""The limits of a job: activeDeadlineSeconds and backoffLimit. A job that exceeds one of them fails and is stopped.

backoffLimit counts two things apart, as the training-operator does. Pods that the operator replaces: so many are
allowed. Containers that the kubelet restarts in place: the job fails as soon as their number reaches the limit, with
a limit of 0 at the first restart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler.operator import status
from scheduler.operator.api_objects import Job, Json
from scheduler.operator.job_memory import Memory
from scheduler.operator.job_spec import JobSpec
from scheduler.operator.lost_replicas import LostReplicas, count_crashes, in_place_restarts
from scheduler.operator.replicas import RoleReplicas


def deadline_of(spec: JobSpec, current: Json) -> float | None:
    """When the job has been active for activeDeadlineSeconds."""
    started = status.parse_time(current[status.START_TIME])
    limit = spec.run_policy.active_deadline
    return None if limit is None or started is None else started + limit


def deadline_message(job: Job) -> str:
    return f"Job {job.metadata.name} has failed because it was active longer than specified deadline"


def backoff_message(
    job: Job, spec: JobSpec, memory: Memory, roles: Mapping[str, RoleReplicas], lost: Sequence[LostReplicas]
) -> str:
    """Empty while the job is within its backoffLimit."""
    limit = spec.run_policy.backoff_limit
    if limit is None:
        return ""
    replaced, in_place = memory.restarts + count_crashes(lost), in_place_restarts(roles.values())
    if replaced <= limit and in_place < max(1, limit):
        return ""
    return f"Job {job.metadata.name} has failed because it has reached the specified backoff limit"
