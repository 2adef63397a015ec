"""Cleanup of finished and suspended jobs.

A service is deleted with its pod, and the PodGroup when the last pod has ended: a running pod uses the queue's quota,
which a scheduler that lost the PodGroup would give away. The PodGroup of a failed job does not wait for pods that
cleanPodPolicy keeps, because they may run for ever. The launcher of v1alpha1 and v2beta1 is kept, with its log: there,
upstream, it belongs to a batch Job, which no cleanPodPolicy applies to.

A job that exceeded activeDeadlineSeconds or backoffLimit is stopped: its unfinished pods are deleted, unless its
cleanPodPolicy is set and says otherwise. The training-operator deletes all pods up to 1.9.3, whatever the policy, and
follows the policy, whose default keeps all, from 1.9.4 on.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.operator import status
from scheduler.operator.actions import Action, DeleteJob, DeletePod, DeletePodGroup, DeleteService, RequeueAt
from scheduler.operator.api_objects import INDEX, Job, Pod, PodGroup, Service, labels_of
from scheduler.operator.job_memory import memory_of
from scheduler.operator.job_spec import CLEAN_ALL, CLEAN_NONE, RunPolicy

_UNFINISHED = ("Pending", "Running")


def clean_up_finished(
    job: Job,
    run_policy: RunPolicy,
    pods: Sequence[Pod],
    services: Sequence[Service],
    group: PodGroup | None,
    now: float,
    *,
    keep_launcher: bool,
) -> list[Action]:
    stopped = is_stopped(job)
    policy = run_policy.clean_pod_policy_at_limit if stopped else run_policy.clean_pod_policy
    left = [pod for pod in pods if is_kept(pod, policy, keep_launcher=keep_launcher and not stopped)]
    kept = {pod.metadata.name for pod in left}
    deleted = [pod for pod in pods if pod.metadata.name not in kept]
    actions = delete_all(deleted, [])
    actions += delete_group_after(deleted if status.is_true(job.status, status.FAILED) else pods, group)
    if policy != CLEAN_NONE:
        of_replicas = [one for one in services if INDEX in labels_of(one.metadata)]
        actions += [DeleteService(one) for one in of_replicas if one.metadata.name not in kept and _is_live(one)]
    return actions + delete_expired(job, run_policy, now)


def is_stopped(job: Job) -> bool:
    """Whether the job has failed by one of its limits."""
    return memory_of(job).limit_exceeded


def delete_all(pods: Sequence[Pod], services: Sequence[Service]) -> list[Action]:
    """Delete those that are not terminating already."""
    actions: list[Action] = [DeletePod(pod) for pod in pods if not pod.terminating]
    return actions + [DeleteService(service) for service in services if _is_live(service)]


def delete_group_after(pods: Sequence[Pod], group: PodGroup | None) -> list[Action]:
    """Delete the PodGroup once all these pods have ended."""
    ended = all(pod.status.phase not in _UNFINISHED for pod in pods)
    return [DeletePodGroup(group)] if ended and group is not None and _is_live(group) else []


def is_kept(pod: Pod, clean_pod_policy: str, *, keep_launcher: bool) -> bool:
    if clean_pod_policy == CLEAN_NONE or (keep_launcher and pod.role == "launcher"):
        return True
    return clean_pod_policy != CLEAN_ALL and pod.status.phase not in _UNFINISHED


def delete_expired(job: Job, run_policy: RunPolicy, now: float) -> list[Action]:
    finished = status.parse_time(job.status.get(status.COMPLETION_TIME))
    if run_policy.ttl is None or finished is None:
        return []
    due = finished + run_policy.ttl
    return [DeleteJob(job)] if now >= due else [RequeueAt(due)]


def _is_live(found: Service | PodGroup) -> bool:
    return not found.metadata.deletion_timestamp
