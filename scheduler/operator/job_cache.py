"""What the watches have told, by job, and what the operator itself knows before they tell it.

Two things are known early: a status that has just been written (its answer counts until the watch has caught up), and
pods that have just been created (nobody creates them again until the watch has shown them, or a while has passed).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from scheduler.client import DELETED, Metadata
from scheduler.operator.names import MPI, PYTORCH
from scheduler.operator.objects import Group, Job, Pod, Service, owner_of

_PATIENCE = 30.0  # seconds; a pod that came and went while a watch was broken is never shown


class JobKey(NamedTuple):
    """A job by kind, namespace and name; its uid tells whether it is still the same."""

    kind: str
    namespace: str
    name: str


Owned = TypeVar("Owned", Pod, Service, Group)


class World:
    """`wake` is called with the job that something has happened to."""

    def __init__(self, wake: Callable[[JobKey], None]) -> None:
        self.jobs: dict[JobKey, Job] = {}
        self._pods: dict[JobKey, dict[str, Pod]] = {}
        self._services: dict[JobKey, dict[str, Service]] = {}
        self._groups: dict[JobKey, dict[str, Group]] = {}
        self._expected: dict[JobKey, dict[str, float]] = {}
        self._wake = wake

    def job_changed(self, event: str, job: Job) -> None:
        key = key_of(job)
        if event == DELETED:
            known = self.jobs.get(key)
            if known is not None and known.metadata.uid == job.metadata.uid:
                del self.jobs[key]
        else:
            self.learned(job)
        self._wake(key)

    def learned(self, job: Job) -> None:
        """From the watch or from an answer: the newer one counts."""
        known = self.jobs.get(key_of(job))
        if known is None or _version(known.metadata) <= _version(job.metadata):
            self.jobs[key_of(job)] = job

    def pod_changed(self, event: str, pod: Pod) -> None:
        if key := _changed(self._pods, event, pod):
            others = self._expected.get(key, {})
            awaited = others.pop(pod.metadata.name, None) is not None
            if not (awaited and others):  # the last of those that were created together wakes the job
                self._wake(key)

    def service_changed(self, event: str, service: Service) -> None:
        if key := _changed(self._services, event, service):
            self._wake(key)

    def group_changed(self, event: str, group: Group) -> None:
        if key := _changed(self._groups, event, group):
            self._wake(key)

    def expect(self, key: JobKey, pod: str, now: float) -> None:
        self._expected.setdefault(key, {})[pod] = now + _PATIENCE

    def expected_until(self, key: JobKey, pod: str, now: float) -> float | None:
        """When to stop waiting for a pod that has been created and not been seen; None: create it."""
        moment = self._expected.get(key, {}).get(pod)
        return moment if moment is not None and moment > now else None

    def is_new(self, key: JobKey) -> bool:
        """Nothing has been done for it yet."""
        job = self.jobs.get(key)
        return job is not None and not job.status and key not in self._pods and key not in self._expected

    def forget(self, key: JobKey) -> None:
        self._expected.pop(key, None)

    def pods(self, key: JobKey, uid: str = "") -> list[Pod]:
        return _owned(self._pods, key, uid)

    def services(self, key: JobKey, uid: str = "") -> list[Service]:
        return _owned(self._services, key, uid)

    def group(self, key: JobKey, uid: str = "") -> Group | None:
        return next(iter(_owned(self._groups, key, uid)), None)


def key_of(job: Job) -> JobKey:
    return JobKey(job.kind, job.metadata.namespace, job.metadata.name)


def _changed(known: dict[JobKey, dict[str, Owned]], event: str, one: Owned) -> JobKey | None:
    """Whose it is; None for what belongs to nobody here."""
    owner = owner_of(one.metadata)
    if owner is None or owner.kind not in (PYTORCH, MPI):
        return None
    key = JobKey(owner.kind, one.metadata.namespace, owner.name)
    mine = known.setdefault(key, {})
    if event == DELETED:
        mine.pop(one.metadata.name, None)
        if not mine:
            del known[key]
    else:
        mine[one.metadata.name] = one
    return key


def _owned(known: dict[JobKey, dict[str, Owned]], key: JobKey, uid: str) -> list[Owned]:
    """Those of this very job; a namesake that was deleted may have left some behind."""
    found = known.get(key, {}).values()
    return [one for one in found if not uid or ((owner := owner_of(one.metadata)) and owner.uid == uid)]


def _version(metadata: Metadata) -> int:
    return int(metadata.resource_version or 0)
