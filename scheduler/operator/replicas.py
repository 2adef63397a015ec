"""The replicas of one role as they are: who is there, how they stand, who is missing and who vanished.

A pod that runs and is being deleted counts as failed: its processes are as good as gone. One that vanished between two
looks left a trace in the status only, where it was counted as active; without that trace a preempted member would pass
for one that was never created.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scheduler.operator.objects import Json, Pod
from scheduler.operator.specs import Replicas

GIVEN_UP = "givenUp"  # status: uids of pods that the operator itself has let go; their end is no news


@dataclass(frozen=True)
class Role:
    """Pods of one role, by index; `surplus` are those that nobody asked for."""

    replicas: Replicas
    pods: dict[int, Pod]
    surplus: tuple[Pod, ...]
    given_up: frozenset[str]
    recorded: Json

    @property
    def name(self) -> str:
        return self.replicas.role

    @property
    def active(self) -> int:
        return sum(one.status.phase == "Running" and not one.leaving for one in self.pods.values())

    @property
    def succeeded(self) -> int:
        return sum(one.status.phase == "Succeeded" for one in self.pods.values())

    @property
    def failed(self) -> int:
        return sum(self._is_failed(one) for one in self.pods.values())

    @property
    def all_ready(self) -> bool:
        ready = [one for one in self.pods.values() if one.has("Ready") and not one.leaving]
        return len(ready) == self.replicas.count

    @property
    def missing(self) -> list[int]:
        return [index for index in range(self.replicas.count) if index not in self.pods]

    @property
    def lost(self) -> list[Pod]:
        """Failed for a reason that has not been dealt with yet."""
        return [one for one in self.pods.values() if self._is_failed(one) and one.metadata.uid not in self.given_up]

    @property
    def vanished(self) -> int:
        """How many were running when last written down and are gone without having been seen to fail."""
        ended = max(0, self.succeeded - _count(self.recorded, "succeeded"))
        ended += max(0, self.failed - _count(self.recorded, "failed"))
        return max(0, min(len(self.missing), _count(self.recorded, "active") - self.active - ended))

    def _is_failed(self, pod: Pod) -> bool:
        if pod.status.phase == "Failed":
            return True
        return pod.status.phase == "Running" and pod.leaving and pod.metadata.uid not in self.given_up


def gathered(replicas: Replicas, pods: Iterable[Pod], status: Json) -> Role:
    ours = [one for one in pods if one.role == replicas.role.lower()]
    within = {one.index: one for one in ours if 0 <= one.index < replicas.count}
    beyond = tuple(one for one in ours if one.index not in within)
    recorded = status.get("replicaStatuses")
    counts = recorded.get(replicas.role) if isinstance(recorded, dict) else None
    return Role(replicas, within, beyond, given_up(status), counts if isinstance(counts, dict) else {})


def given_up(status: Json) -> frozenset[str]:
    found = status.get(GIVEN_UP)
    return frozenset(map(str, found)) if isinstance(found, list) else frozenset()


def _count(counts: Json, name: str) -> int:
    found = counts.get(name, 0)
    return found if isinstance(found, int) else 0
