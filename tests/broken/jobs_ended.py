"""Faults of an operator in how a job goes on and ends: what it tells, who comes back, what is left and remembered."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from scheduler.operator import cleanup, members, pytorch, reconciling, restarts, statuses
from scheduler.operator.changes import Change, DeleteGroup, DeleteJob, DeletePod, DeleteService, SetStatus
from scheduler.operator.conditions import RESTARTING, holds
from scheduler.operator.members import Role
from scheduler.operator.objects import Job, Json, Pod
from scheduler.operator.profiles import EXIT_CODE, Profile
from scheduler.operator.specs import Replicas, Spec
from scheduler.operator.times import read as moment_of
from tests.broken.faults import Patch, operator_fault

_brings_back = Profile.brings_back


@operator_fault("JOB-02")
def created_means_running(patch: Patch) -> None:
    """A job is Running as soon as it is created."""
    patch.function(pytorch.is_running, lambda _roles: True)


@operator_fault("JOB-02")
def nobody_is_counted(patch: Patch) -> None:
    """The status says of no replica how it stands."""
    counted = statuses.counted

    def as_if_nobody_came(job: Job, spec: Spec, status: Json, roles: Mapping[str, Role]) -> Json:
        return counted(job, spec, status, {name: replace(role, pods={}) for name, role in roles.items()})

    patch.function(counted, as_if_nobody_came)


@operator_fault("JOB-02")
def the_end_has_no_time(patch: Patch) -> None:
    """The status does not say when the job ended."""
    ended = statuses._ended

    def some_time(status: Json, spec: Spec | None, word: str, now: float) -> Json:
        return {key: value for key, value in ended(status, spec, word, now).items() if key != statuses.COMPLETION}

    patch.function(ended, some_time)


@operator_fault("JOB-03", "JOB-07")
def everybody_comes_back(patch: Patch) -> None:
    """Every lost member is made again, whatever the restart policy says."""
    patch.attribute(Profile, "brings_back", lambda *_: True)


@operator_fault("JOB-03")
def nobody_comes_back(patch: Patch) -> None:
    """A job that loses a member has failed, whatever the restart policy says."""
    patch.attribute(Profile, "brings_back", lambda *_: False)


@operator_fault("JOB-03")
def exit_codes_are_ignored(patch: Patch) -> None:
    """With the policy ExitCode every exit code brings a member back."""

    def whatever_it_was(profile: Profile, policy: str, exit_code: int | None) -> bool:
        return policy == EXIT_CODE or _brings_back(profile, policy, exit_code)

    patch.attribute(Profile, "brings_back", whatever_it_was)


@operator_fault("JOB-03")
def the_preempted_stay_away(patch: Patch) -> None:
    """A member that was taken away is not made again, whatever the restart policy says."""

    def if_it_crashed(profile: Profile, policy: str, exit_code: int | None) -> bool:
        return exit_code is not None and _brings_back(profile, policy, exit_code)

    patch.attribute(Profile, "brings_back", if_it_crashed)


@operator_fault("JOB-03")
def limits_are_ignored(patch: Patch) -> None:
    """A member is made again however often it has crashed."""
    patch.function(restarts.counted, lambda _losses: 0)


@operator_fault("JOB-03")
def all_start_anew(patch: Patch) -> None:
    """When one member is made again, all are."""

    def take_all(changes: list[Change], job: Job, pods: list[Pod]) -> list[Change]:
        told = [one for one in changes if isinstance(one, SetStatus) and holds(one.status, RESTARTING)]
        return changes + [DeletePod(pod) for pod in pods if told and not pod.leaving]

    _changing(patch, take_all)


@operator_fault("JOB-03")
def restarts_are_kept_quiet(patch: Patch) -> None:
    """A member is made again, and the job says nothing about it."""
    patch.function(reconciling._restarting, lambda _job, status, _losses, _now: status)


@operator_fault("JOB-04")
def nothing_is_cleaned_up(patch: Patch) -> None:
    """Everything is left of a job that is over."""
    patch.function(cleanup._stays, lambda _pod, _clean, *, keep_launcher: True)


@operator_fault("JOB-04")
def everything_is_cleaned_up(patch: Patch) -> None:
    """Nothing is left of a job that is over."""
    patch.function(cleanup._stays, lambda _pod, _clean, *, keep_launcher: False)


@operator_fault("JOB-04")
def services_are_left(patch: Patch) -> None:
    """The services of a job that is over stay behind when its pods go."""
    _changing(patch, lambda changes, *_: [one for one in changes if not isinstance(one, DeleteService)])


@operator_fault("JOB-06")
def groups_are_left(patch: Patch) -> None:
    """The group of a job that is over stays behind."""
    _changing(patch, lambda changes, *_: [one for one in changes if not isinstance(one, DeleteGroup)])


@operator_fault("JOB-05")
def jobs_are_kept_for_ever(patch: Patch) -> None:
    """ttlSecondsAfterFinished is not read."""
    patch.function(cleanup._expiry, lambda _job, _run, _now: [])


@operator_fault("JOB-05")
def over_means_gone(patch: Patch) -> None:
    """A job is deleted as soon as it is over."""
    patch.function(cleanup._expiry, lambda job, _run, _now: [DeleteJob(job)])


@operator_fault("JOB-05")
def deadlines_are_ignored(patch: Patch) -> None:
    """activeDeadlineSeconds is not read."""
    patch.function(reconciling._deadline, lambda _spec, _status: None)


@operator_fault("JOB-05")
def nothing_is_suspended(patch: Patch) -> None:
    """suspend is not read."""
    understood = reconciling.understood

    def at_once(job: Job) -> Spec:
        spec = understood(job)
        return replace(spec, run=replace(spec.run, suspended=False))

    patch.function(understood, at_once)


@operator_fault("JOB-13")
def nobody_is_missed(patch: Patch) -> None:
    """A member that went while nobody looked is taken for one that was never made."""
    patch.attribute(Role, "vanished", property(lambda _role: 0))


@operator_fault("JOB-10")
def what_was_before_is_strange(patch: Patch) -> None:
    """Pods that are older than the operator's process are taken away, and made again."""
    gathered, began = members.gathered, int(time.time())

    def only_its_own(replicas: Replicas, pods: Iterable[Pod], status: Json) -> Role:
        role = gathered(replicas, pods, status)
        strange = [one for one in role.pods.values() if (moment_of(one.metadata.creation_timestamp) or 0) < began]
        return replace(role, surplus=(*role.surplus, *strange))

    patch.function(gathered, only_its_own)


def _changing(patch: Patch, change: Callable[[list[Change], Job, Any], list[Change]]) -> None:
    reconcile = reconciling.reconcile

    def changed(job: Job, pods: Any, *more: Any) -> list[Change]:
        return change(reconcile(job, pods, *more), job, pods)

    patch.function(reconcile, changed)
