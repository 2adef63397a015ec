"""Which pods crash because a member of their job was lost, from the events of a watch.

A member is lost when it fails, or when it is gone while it was running: a terminating pod still has its processes
and its GPUs. A pod that succeeded and is deleted is not lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

JOB_LABEL = "muster.dev/job"
ON_PEER_LOSS = "muster.dev/on-peer-loss"
EXIT_CODE = "muster.dev/exit-code"


class PodName(NamedTuple):
    """A pod by namespace and name."""

    namespace: str
    name: str


@dataclass(frozen=True)
class Member:
    """One member of a job."""

    uid: str
    job: str
    phase: str
    crashes: bool  # is running, not marked yet, and crashes without its peers


class JobMembers:
    """The members of all jobs, as last seen."""

    def __init__(self) -> None:
        self._members: dict[PodName, Member] = {}

    def relist_pods(self, pods: Iterable[Mapping[str, Any]]) -> set[PodName]:
        """A new list: running members that are missing from it were lost. Returns the pods that crash."""
        listed = {_name(pod): pod for pod in pods}
        crashed: set[PodName] = set()
        for gone in [name for name in self._members if name not in listed]:
            crashed |= self._remove(gone)
        for pod in listed.values():
            crashed |= self.update("MODIFIED", pod)
        return crashed

    def update(self, event: str, pod: Mapping[str, Any]) -> set[PodName]:
        """One event of the watch. Returns the pods that crash."""
        name, now = _name(pod), _member(pod)
        if event == "DELETED" or now is None:
            return self._remove(name)
        crashed = set()
        before = self._members.get(name)
        if before is not None and before.uid != now.uid:  # re-created under its name between two events
            crashed = self._remove(name)
        self._members[name] = now
        if now.phase == "Failed" and (before is None or before.phase != "Failed"):
            crashed |= self._peers(name, now)
        return crashed

    def _remove(self, name: PodName) -> set[PodName]:
        member = self._members.pop(name, None)
        return self._peers(name, member) if member is not None and member.phase == "Running" else set()

    def _peers(self, lost: PodName, member: Member) -> set[PodName]:
        return {
            name
            for name, peer in self._members.items()
            if peer.crashes and peer.job == member.job and name.namespace == lost.namespace and name != lost
        }


def _name(pod: Mapping[str, Any]) -> PodName:
    return PodName(pod["metadata"]["namespace"], pod["metadata"]["name"])


def _member(pod: Mapping[str, Any]) -> Member | None:
    meta = pod["metadata"]
    job = meta.get("labels", {}).get(JOB_LABEL)
    if job is None:
        return None
    annotations = meta.get("annotations", {})
    phase = pod.get("status", {}).get("phase", "Pending")
    crashes = (
        phase == "Running"
        and annotations.get(ON_PEER_LOSS) == "crash"
        and EXIT_CODE not in annotations
        and "deletionTimestamp" not in meta
    )
    return Member(meta["uid"], job, phase, crashes)
