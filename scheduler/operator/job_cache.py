"""Cache of jobs and the objects they own, filled by the watches, and the expectations of the controller.

Two facts are known before the watch shows them: a status that was just written (the response counts until the watch has
caught up), and pods, services and ConfigMaps that were just created (they are expected, and not created again until the
watch shows them or the expectation expires).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from scheduler.client import DELETED, Metadata
from scheduler.operator.api_objects import ConfigMap, Job, Pod, PodGroup, Service, controller_of
from scheduler.operator.job_kinds import KINDS

_EXPECTATION_SECONDS = 30.0  # an object that was created and deleted while a watch was broken is never shown


class JobKey(NamedTuple):
    """A job by kind, namespace and name; the uid tells jobs of the same name apart."""

    kind: str
    namespace: str
    name: str


Owned = TypeVar("Owned", Pod, Service, ConfigMap, PodGroup)


class JobCache:
    """`enqueue` is called with the key of every job that changed, or one of whose objects changed."""

    def __init__(self, enqueue: Callable[[JobKey], None]) -> None:
        self.jobs: dict[JobKey, Job] = {}
        self._pods: dict[JobKey, dict[str, Pod]] = {}
        self._services: dict[JobKey, dict[str, Service]] = {}
        self._configs: dict[JobKey, dict[str, ConfigMap]] = {}
        self._groups: dict[JobKey, dict[str, PodGroup]] = {}
        self._expected: dict[JobKey, dict[tuple[str, str], float]] = {}  # by kind and name
        self._enqueue = enqueue

    def job_changed(self, event: str, job: Job) -> None:
        key = key_of(job)
        if event == DELETED:
            known = self.jobs.get(key)
            if known is not None and known.metadata.uid == job.metadata.uid:
                del self.jobs[key]
        else:
            self._update_job(job)
        self._enqueue(key)

    def all_keys(self) -> set[JobKey]:
        """Of all jobs, and of those that are gone and have left objects behind."""
        return {*self.jobs, *self._pods, *self._services, *self._configs, *self._groups}

    def confirm_job(self, written: Job) -> bool:
        """The response to a write. False if the watch has shown the job's deletion: it would never do so again."""
        known = self.jobs.get(key_of(written))
        if known is None or known.metadata.uid != written.metadata.uid:
            return False
        self._update_job(written)
        return True

    def _update_job(self, job: Job) -> None:
        """From the watch or from the response to a write: the newer version wins."""
        known = self.jobs.get(key_of(job))
        if known is None or _version(known.metadata) <= _version(job.metadata):
            self.jobs[key_of(job)] = job

    def pod_changed(self, event: str, pod: Pod) -> None:
        if key := _update(self._pods, event, pod):
            self._seen(key, "Pod", pod.metadata.name)

    def service_changed(self, event: str, service: Service) -> None:
        if key := _update(self._services, event, service):
            self._seen(key, "Service", service.metadata.name)

    def config_changed(self, event: str, config: ConfigMap) -> None:
        if key := _update(self._configs, event, config):
            self._seen(key, "ConfigMap", config.metadata.name)

    def group_changed(self, event: str, group: PodGroup) -> None:
        if key := _update(self._groups, event, group):
            self._enqueue(key)

    def expect(self, key: JobKey, kind: str, name: str, now: float) -> None:
        self._expected.setdefault(key, {})[kind, name] = now + _EXPECTATION_SECONDS

    def expected_until(self, key: JobKey, kind: str, name: str, now: float) -> float | None:
        """When the expectation of a created object expires; None: it is not expected, create it."""
        expires = self._expected.get(key, {}).get((kind, name))
        return expires if expires is not None and expires > now else None

    def clear_expectations(self, key: JobKey) -> None:
        self._expected.pop(key, None)

    def _seen(self, key: JobKey, kind: str, name: str) -> None:
        expected = self._expected.get(key, {})
        was_expected = expected.pop((kind, name), None) is not None
        if not (was_expected and expected):  # of objects that were created together only the last enqueues the job
            self._enqueue(key)

    def is_new(self, key: JobKey) -> bool:
        """No action has been taken for the job yet."""
        job = self.jobs.get(key)
        return job is not None and not job.status and key not in self._pods and key not in self._expected

    def pods(self, key: JobKey, uid: str = "") -> list[Pod]:
        return _owned(self._pods, key, uid)

    def services(self, key: JobKey, uid: str = "") -> list[Service]:
        return _owned(self._services, key, uid)

    def configs(self, key: JobKey, uid: str = "") -> list[ConfigMap]:
        return _owned(self._configs, key, uid)

    def group(self, key: JobKey, uid: str = "") -> PodGroup | None:
        return next(iter(_owned(self._groups, key, uid)), None)


def key_of(job: Job) -> JobKey:
    return JobKey(job.kind, job.metadata.namespace, job.metadata.name)


def _update(cached: dict[JobKey, dict[str, Owned]], event: str, changed: Owned) -> JobKey | None:
    """The key of the owning job; None for objects that no job owns."""
    owner = controller_of(changed.metadata)
    if owner is None or owner.kind not in KINDS:
        return None
    key = JobKey(owner.kind, changed.metadata.namespace, owner.name)
    owned = cached.setdefault(key, {})
    if event == DELETED:
        owned.pop(changed.metadata.name, None)
        if not owned:
            del cached[key]
    else:
        owned[changed.metadata.name] = changed
    return key


def _owned(cached: dict[JobKey, dict[str, Owned]], key: JobKey, uid: str) -> list[Owned]:
    """The objects of this very job; an earlier job of the same name may have left some behind."""
    found = cached.get(key, {}).values()
    return [one for one in found if not uid or ((owner := controller_of(one.metadata)) and owner.uid == uid)]


def _version(metadata: Metadata) -> int:
    return int(metadata.resource_version or 0)
