"""Who comes back after a loss, and when it has been enough.

A crash counts against the back-off limit, a preemption does not: being moved aside is not the job's fault. The count
is kept in the status, together with the pods that it covers, so that no crash is counted twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scheduler.operator.members import Role
from scheduler.operator.objects import Json, Pod
from scheduler.operator.profiles import ALWAYS, ON_FAILURE, Profile

RESTARTS = "restarts"  # status: crashes of which the operator has replaced the pod
_DISRUPTED = frozenset({"Evicted", "Preempting", "NodeShutdown", "Terminated"})


@dataclass(frozen=True)
class Losses:
    """What a role has lost since the last look."""

    role: Role
    final: int  # members that do not come back
    crashed: tuple[Pod, ...]  # members that ended by themselves and are to be replaced
    total: int


def assessed(role: Role, profile: Profile) -> Losses:
    policy = role.replicas.policy
    returning = [one for one in role.lost if profile.brings_back(policy, exit_code(one))]
    vanished = role.vanished
    final = len(role.lost) - len(returning) + (0 if profile.brings_back(policy, None) else vanished)
    crashed = tuple(one for one in returning if not one.leaving)
    return Losses(role, final, crashed, len(role.lost) + vanished)


def exit_code(pod: Pod) -> int | None:
    """None when it did not end by itself but was taken away, or when nobody knows."""
    if pod.leaving or _disrupted(pod):
        return None
    ended = [one.state.terminated.exit_code for one in pod.status.container_statuses if one.state.terminated]
    return next((code for code in ended if code), 0 if ended else None)


def counted(losses: Sequence[Losses]) -> int:
    """Crashes that use up the back-off limit."""
    return sum(not _disrupted(pod) for one in losses for pod in one.crashed)


def recorded(status: Json) -> int:
    found = status.get(RESTARTS, 0)
    return found if isinstance(found, int) else 0


def in_place(roles: Sequence[Role]) -> int:
    """Containers that their node has started again, where the policy lets it."""
    return sum(
        container.restart_count
        for role in roles
        if role.replicas.policy in (ON_FAILURE, ALWAYS)
        for pod in role.pods.values()
        if pod.status.phase == "Running"
        for container in pod.status.container_statuses
    )


def _disrupted(pod: Pod) -> bool:
    return pod.has("DisruptionTarget") or pod.status.reason in _DISRUPTED
