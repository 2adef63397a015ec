"""Which pods crash because a member of their job was lost. Pure: events in, names out.

A member is lost when it fails, or when its object goes while it was running: until then a pod that is being deleted
still has its processes, as it still has its GPUs. A pod that ended well and is tidied away is no loss.
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
    """What matters about a member of a job."""

    uid: str
    job: str
    phase: str
    crashes: bool  # runs, has not been marked, and cannot go on without its peers


class Jobs:
    """The members of all jobs as last seen."""

    def __init__(self) -> None:
        self._members: dict[PodName, Member] = {}

    def replaced(self, pods: Iterable[Mapping[str, Any]]) -> set[PodName]:
        """A fresh list: whoever ran and is not in it was lost unseen. Returns the pods that crash."""
        listed = {_name(pod): pod for pod in pods}
        crashed: set[PodName] = set()
        for gone in [name for name in self._members if name not in listed]:
            crashed |= self._gone(gone)
        for pod in listed.values():
            crashed |= self.changed("MODIFIED", pod)
        return crashed

    def changed(self, event: str, pod: Mapping[str, Any]) -> set[PodName]:
        """One event of the watch. Returns the pods that crash."""
        name, now = _name(pod), _member(pod)
        if event == "DELETED" or now is None:
            return self._gone(name)
        crashed = set()
        before = self._members.get(name)
        if before is not None and before.uid != now.uid:  # re-created under its name while we were not looking
            crashed = self._gone(name)
        self._members[name] = now
        if now.phase == "Failed" and (before is None or before.phase != "Failed"):
            crashed |= self._peers(name, now)
        return crashed

    def _gone(self, name: PodName) -> set[PodName]:
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
    marks = meta.get("annotations", {})
    phase = pod.get("status", {}).get("phase", "Pending")
    crashes = (
        phase == "Running"
        and marks.get(ON_PEER_LOSS) == "crash"
        and EXIT_CODE not in marks
        and "deletionTimestamp" not in meta
    )
    return Member(meta["uid"], job, phase, crashes)
