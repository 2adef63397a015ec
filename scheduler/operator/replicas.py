"""The replicas of one role as observed: how many are active, ended, missing, or lost.

A running pod that is being deleted counts as failed: its processes are about to end. A pod that vanished between two
reconciliations is known only from the status, which counted it as active; without that count a preempted replica would
look like one that was never created.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scheduler.operator.api_objects import Json, Pod
from scheduler.operator.job_memory import Memory, uid_end
from scheduler.operator.job_spec import ReplicaSpec


@dataclass(frozen=True)
class RoleReplicas:
    """Pods of one role by index; `surplus` are pods that the spec does not request."""

    spec: ReplicaSpec
    pods: dict[int, Pod]
    surplus: tuple[Pod, ...]
    given_up: frozenset[str]
    recorded: Json  # the counts of this role in the job's status

    @property
    def role(self) -> str:
        return self.spec.role

    @property
    def active(self) -> int:
        return len(self.running)

    @property
    def running(self) -> list[str]:
        """The names of the pods that run, by index."""
        pods = (pod for _, pod in sorted(self.pods.items()))
        return [pod.metadata.name for pod in pods if pod.status.phase == "Running" and not pod.terminating]

    @property
    def succeeded(self) -> int:
        return sum(pod.status.phase == "Succeeded" for pod in self.pods.values())

    @property
    def failed(self) -> int:
        return sum(self._is_failed(pod) for pod in self.pods.values())

    @property
    def all_ready(self) -> bool:
        ready = [pod for pod in self.pods.values() if pod.has_condition("Ready") and not pod.terminating]
        return len(ready) == self.spec.count

    @property
    def missing(self) -> list[int]:
        return [index for index in range(self.spec.count) if index not in self.pods]

    @property
    def lost(self) -> list[Pod]:
        """Failed pods that no earlier reconciliation has handled."""
        return [pod for pod in self.pods.values() if self._is_failed(pod) and uid_end(pod) not in self.given_up]

    @property
    def abandoned(self) -> list[Pod]:
        """Crashed pods that are recorded as replaced and still exist: the operator ended before it deleted them."""
        pods = [pod for pod in self.pods.values() if pod.status.phase == "Failed" and not pod.terminating]
        return [pod for pod in pods if uid_end(pod) in self.given_up]

    @property
    def vanished(self) -> int:
        """How many pods were active in the last written status and are gone without having been seen to fail."""
        ended = max(0, self.succeeded - _count(self.recorded, "succeeded"))
        ended += max(0, self.failed - _count(self.recorded, "failed"))
        return max(0, min(len(self.missing), _count(self.recorded, "active") - self.active - ended))

    def _is_failed(self, pod: Pod) -> bool:
        if pod.status.phase == "Failed":
            return True
        return pod.status.phase == "Running" and pod.terminating and uid_end(pod) not in self.given_up


def observe_role(spec: ReplicaSpec, pods: Iterable[Pod], status: Json, memory: Memory) -> RoleReplicas:
    of_role = [pod for pod in pods if pod.role == spec.role.lower()]
    requested = {pod.index: pod for pod in of_role if 0 <= pod.index < spec.count}
    surplus = tuple(pod for pod in of_role if pod.index not in requested)
    recorded = status.get("replicaStatuses")
    counts = recorded.get(spec.role) if isinstance(recorded, dict) else None
    counts = counts if isinstance(counts, dict) else {}
    return RoleReplicas(spec, requested, surplus, frozenset(memory.given_up), counts)


def _count(counts: Json, name: str) -> int:
    found = counts.get(name, 0)
    return found if isinstance(found, int) else 0
