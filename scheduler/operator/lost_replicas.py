"""Restart profiles: which lost replicas are replaced, and which crashes count towards the back-off limit.

Profile `walkthroughs` is the operator that the walk-throughs were written with: only exit codes from 128 restart a
replica, any other loss fails the job, and its peers crash (the training processes do that; for simulated pods the
labels and annotations tell the workload simulator to do it). `training-operator` follows each role's restartPolicy.

A crash counts towards backoffLimit, a preemption does not. The count is remembered together with the uids of the pods
that it covers, so that no crash is counted twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scheduler.operator.api_objects import Pod
from scheduler.operator.job_spec import ALWAYS, EXIT_CODE, ON_FAILURE, OnLoss, ReplicaSpec
from scheduler.operator.replicas import RoleReplicas

_DISRUPTION_REASONS = frozenset({"Evicted", "Preempting", "NodeShutdown", "Terminated"})
_FIRST_RETRYABLE = 128  # ended by a signal; a lower code is an error of the program, which would recur


@dataclass(frozen=True)
class Profile:
    """How the operator treats all jobs. `gang` names the PodGroup API, or "none"."""

    name: str = "training-operator"
    restart_policies: frozenset[str] = frozenset({ON_FAILURE, ALWAYS})  # those under which any lost replica is replaced
    peers_crash: bool = False
    gang: str = "none"
    gang_all_jobs: bool = True  # else only those with a schedulingPolicy
    scheduler_name: str = ""  # for pods whose template sets none
    kubectl_image: str = ""  # of the init container of launchers that use kubectl exec; empty: there is none

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
    abandoned: tuple[Pod, ...] = ()  # crashed pods of earlier reconciliations, counted there

    @property
    def deleted(self) -> tuple[Pod, ...]:
        return (*self.crashed, *self.abandoned)


def find_lost(role: RoleReplicas, profile: Profile) -> LostReplicas:
    lost = [pod for pod in role.lost if not _stays(role.spec, pod)]
    replaced = [pod for pod in lost if _is_replaced(role.spec, profile, exit_code(pod), evicted=_is_evicted(pod))]
    vanished = role.vanished
    final = len(lost) - len(replaced) + (0 if _is_replaced(role.spec, profile, None) else vanished)
    crashed = tuple(pod for pod in replaced if not pod.terminating)
    abandoned = tuple(role.abandoned)
    return LostReplicas(role, final, crashed, len(lost) + vanished + len(abandoned), abandoned)


def exit_code(pod: Pod) -> int | None:
    """None if the pod was evicted or deleted, or if its exit code is unknown."""
    if pod.terminating or _is_disrupted(pod):
        return None
    codes = [one.state.terminated.exit_code for one in pod.status.container_statuses if one.state.terminated]
    return next((code for code in codes if code), 0 if codes else None)


def count_crashes(lost: Sequence[LostReplicas]) -> int:
    """Crashes that count towards the back-off limit."""
    return sum(not _is_disrupted(pod) for one in lost for pod in one.crashed)


def in_place_restarts(roles: Iterable[RoleReplicas]) -> int:
    """Containers that the kubelet has restarted, where the restart policy allows it."""
    return sum(
        container.restart_count
        for role in roles
        if role.spec.restart_policy in (ON_FAILURE, ALWAYS) and role.spec.on_loss is not OnLoss.RECREATE_DELETED
        for pod in role.pods.values()
        if pod.status.phase == "Running"
        for container in (*pod.status.init_container_statuses, *pod.status.container_statuses)
    )


def _stays(spec: ReplicaSpec, pod: Pod) -> bool:
    """A crashed worker of an MPIJob v2beta1 is neither replaced nor the end of its job: the launcher decides that."""
    return spec.on_loss is OnLoss.RECREATE_DELETED and not pod.terminating and not _is_evicted(pod)


def _is_replaced(spec: ReplicaSpec, profile: Profile, code: int | None, *, evicted: bool = False) -> bool:
    if spec.on_loss is OnLoss.BY_RESTART_POLICY:
        return profile.replaces(spec.restart_policy, code)
    return spec.on_loss is OnLoss.RETRY or not evicted


def _is_evicted(pod: Pod) -> bool:
    """By the kubelet: the node has no room for it, and the mpi-operator gives the job up."""
    return pod.status.phase == "Failed" and pod.status.reason == "Evicted"


def _is_disrupted(pod: Pod) -> bool:
    return pod.has_condition("DisruptionTarget") or pod.status.reason in _DISRUPTION_REASONS
