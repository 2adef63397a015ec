"""Restart profiles: which lost replicas are replaced, and when the back-off limit ends the job.

Profile `walkthroughs` is the operator that the walk-throughs were written with: only exit codes from 128 restart a
replica, any other loss fails the job, and its peers crash (the training processes do that; for simulated pods the
labels and annotations tell the workload simulator to do it). `training-operator` follows each role's restartPolicy.

A crash counts towards backoffLimit, a preemption does not. The count is kept in the status together with the uids of
the pods that it covers, so that no crash is counted twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scheduler.operator.api_objects import Json, Pod
from scheduler.operator.job_spec import ALWAYS, EXIT_CODE, ON_FAILURE
from scheduler.operator.replicas import RoleReplicas

RESTARTS = "restarts"  # status: how many crashed pods the operator has replaced
_DISRUPTION_REASONS = frozenset({"Evicted", "Preempting", "NodeShutdown", "Terminated"})
_FIRST_RETRYABLE = 128  # ended by a signal; a lower code is an error of the program, which would recur


@dataclass(frozen=True)
class Profile:
    """How the operator treats all jobs. `gang` names the PodGroup API, or "none"."""

    name: str = "training-operator"
    restart_policies: frozenset[str] = frozenset({ON_FAILURE, ALWAYS})  # those under which any lost replica is replaced
    peers_crash: bool = False
    gang: str = "none"
    scheduler_name: str = ""  # for pods whose template sets none

    def replaces(self, restart_policy: str, exit_code: int | None) -> bool:
        """Whether a lost replica is replaced. No exit code: it was evicted or deleted."""
        if restart_policy == EXIT_CODE:
            return exit_code is None or exit_code >= _FIRST_RETRYABLE
        return restart_policy in self.restart_policies


PROFILES = {
    "walkthroughs": Profile("walkthroughs", restart_policies=frozenset(), peers_crash=True),
    "training-operator": Profile(),
}


@dataclass(frozen=True)
class LostReplicas:
    """What a role has lost since the last reconciliation."""

    role: RoleReplicas
    final: int  # replicas that are not replaced
    crashed: tuple[Pod, ...]  # pods that ended by themselves and are to be replaced
    total: int


def find_lost(role: RoleReplicas, profile: Profile) -> LostReplicas:
    policy = role.spec.restart_policy
    replaced = [pod for pod in role.lost if profile.replaces(policy, exit_code(pod))]
    vanished = role.vanished
    final = len(role.lost) - len(replaced) + (0 if profile.replaces(policy, None) else vanished)
    crashed = tuple(pod for pod in replaced if not pod.terminating)
    return LostReplicas(role, final, crashed, len(role.lost) + vanished)


def exit_code(pod: Pod) -> int | None:
    """None if the pod was evicted or deleted, or if its exit code is unknown."""
    if pod.terminating or _is_disrupted(pod):
        return None
    codes = [one.state.terminated.exit_code for one in pod.status.container_statuses if one.state.terminated]
    return next((code for code in codes if code), 0 if codes else None)


def count_crashes(lost: Sequence[LostReplicas]) -> int:
    """Crashes that count towards the back-off limit."""
    return sum(not _is_disrupted(pod) for one in lost for pod in one.crashed)


def recorded_restarts(status: Json) -> int:
    found = status.get(RESTARTS, 0)
    return found if isinstance(found, int) else 0


def in_place_restarts(roles: Sequence[RoleReplicas]) -> int:
    """Containers that the kubelet has restarted, where the restart policy allows it."""
    return sum(
        container.restart_count
        for role in roles
        if role.spec.restart_policy in (ON_FAILURE, ALWAYS)
        for pod in role.pods.values()
        if pod.status.phase == "Running"
        for container in pod.status.container_statuses
    )


def _is_disrupted(pod: Pod) -> bool:
    return pod.has_condition("DisruptionTarget") or pod.status.reason in _DISRUPTION_REASONS
