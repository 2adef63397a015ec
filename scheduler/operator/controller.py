"""The controller: watches fill the cache, changes enqueue jobs, workers reconcile them and execute the actions.

No job is reconciled before every watch has synced once: from a partial cache the controller would create objects that
exist already. A replica without the lease only watches, and lists everything again when it is elected.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any

from scheduler.client import ApiError, Client, Reflector, Unreachable, all_synced, relist_all
from scheduler.operator.actions import (
    Action,
    CreateConfigMap,
    CreatePod,
    CreateService,
    RequeueAt,
    SetMemory,
    SetStatus,
)
from scheduler.operator.api_objects import JOB_NAME, ConfigMap, Job, Pod, PodGroup, Service
from scheduler.operator.executor import CONFIG_MAPS, PODS, SERVICES, Executor, Rejected, Requeue
from scheduler.operator.job_cache import JobCache, JobKey
from scheduler.operator.job_kind import JobKind
from scheduler.operator.job_kinds import KINDS
from scheduler.operator.lost_replicas import Profile
from scheduler.operator.pod_group import DIALECTS
from scheduler.operator.reconcile import fail_validation, reconcile
from scheduler.operator.workqueue import WorkQueue
from scheduler.runtime.event_recorder import EventRecorder
from scheduler.runtime.metrics import Counter, Histogram

_WORKERS = {True: 32, False: 4}  # for new jobs, and for all others
_OF_JOBS = {"labelSelector": JOB_NAME}
Expected = CreatePod | CreateService | CreateConfigMap  # not created again until the watch shows them

_log = logging.getLogger(__name__)


class Controller:
    """`run` until cancelled."""

    def __init__(self, client: Client, events: EventRecorder, profile: Profile) -> None:
        dialect = DIALECTS[profile.gang]
        groups = dialect.path if dialect else ""
        self.queue = WorkQueue(lambda key: self.cache.is_new(key))
        self.durations = Histogram("muster_operator_reconcile_duration_seconds", "Duration of one reconciliation.")
        self.retries = Counter("muster_operator_reconcile_retries_total", "Reconciliations that have to be repeated.")
        self.executor = Executor(client, events, groups)
        self.cache = cache = JobCache(self._enqueue)
        self._is_active = False
        self._client = client
        self._profile = profile
        self._jobs = {kind.kind: self._reflector_of(kind) for kind in KINDS.values()}
        self._reflectors: list[Reflector[Any]] = [
            *self._jobs.values(),
            Reflector(client, PODS, Pod, cache.pod_changed, query=_OF_JOBS),
            Reflector(client, SERVICES, Service, cache.service_changed, query=_OF_JOBS),
            Reflector(client, CONFIG_MAPS, ConfigMap, cache.config_changed, query=_OF_JOBS),
            *([Reflector(client, groups, PodGroup, cache.group_changed)] if groups else []),
        ]

    @property
    def ready(self) -> bool:
        return all(reflector.synced.is_set() for reflector in self._reflectors)

    def metrics(self) -> str:
        metrics = (self.durations, self.retries, self.executor.actions)
        return "".join(line for metric in metrics for line in metric.lines())

    async def run(self, elected: asyncio.Event | None = None) -> None:
        async with asyncio.TaskGroup() as tasks:
            for reflector in self._reflectors:
                tasks.create_task(reflector.run())
            await all_synced(self._reflectors)
            if elected is not None:
                await elected.wait()
                await relist_all(self._reflectors)
            self.activate()
            _log.info("all watches synced: %d jobs", len(self.cache.jobs))
            for new, workers in _WORKERS.items():
                for _ in range(workers):
                    tasks.create_task(self._work(new=new))

    def activate(self) -> None:
        """From now on changes enqueue jobs, beginning with all that are known: a standby would queue them for ever."""
        self._is_active = True
        for key in self.cache.all_keys():
            self.queue.add(key)

    def _enqueue(self, key: JobKey) -> None:
        if self._is_active:
            self.queue.add(key)

    async def _work(self, *, new: bool) -> None:
        while True:
            key = await self.queue.get(new=new)
            started = time.monotonic()
            try:
                await self._reconcile(key)
                self.queue.succeeded(key)
            except Requeue as reason:
                self._retry(key, logging.INFO, reason)
            except (ApiError, Unreachable) as error:
                self._retry(key, logging.WARNING, error)
            except Exception:  # one job that cannot be reconciled must not stop all others
                _log.exception("%s/%s", key.namespace, key.name)
                self.queue.failed(key)
            finally:
                self.durations.observe(time.monotonic() - started)
                self.queue.done(key)

    def _retry(self, key: JobKey, level: int, reason: Exception) -> None:
        _log.log(level, "%s/%s: %s", key.namespace, key.name, reason)
        self.retries.add()
        self.queue.failed(key)

    async def _reconcile(self, key: JobKey) -> None:
        cache = self.cache
        job = cache.jobs.get(key)
        if job is None:
            await self._delete_orphans(key)
            return
        uid, now = job.metadata.uid, time.time()
        pods, services, configs = cache.pods(key, uid), cache.services(key, uid), cache.configs(key, uid)
        actions = reconcile(job, pods, services, cache.group(key, uid), configs, now, self._profile)
        self._set_timer(key, actions, now)
        actions = [action for action in actions if not self._is_expected(key, action, now)]
        # A new job cannot have lost replicas: its pods are created first, its status in the next reconciliation.
        new = not job.status and any(isinstance(action, CreatePod) for action in actions)
        if not new:
            job = await self._write_status(job, actions)
        for action in actions:
            if isinstance(action, Expected):
                cache.expect(key, *_created(action), now)
        try:
            await self.executor.execute(job, actions)
        except Rejected as error:
            cache.clear_expectations(key)
            actions = fail_validation(job, str(error), time.time())
            await self.executor.execute(await self._write_status(job, actions), actions)
        except Exception:
            cache.clear_expectations(key)
            if new:
                await self._write_status(job, actions)
            raise

    async def _write_status(self, job: Job, actions: Sequence[Action]) -> Job:
        """The memory first: a status that tells of a restart must not outlive the count of it."""
        for action in actions:
            if isinstance(action, SetMemory):
                job = await self.executor.set_memory(action)
            elif isinstance(action, SetStatus):
                job = await self.executor.set_status(job, action.status)
            else:
                continue
            if not self.cache.confirm_job(job):
                raise Requeue("the job was deleted while its status was written")
        return job

    def _set_timer(self, key: JobKey, actions: Sequence[Action], now: float) -> None:
        due = [action.time for action in actions if isinstance(action, RequeueAt)]
        created = [action for action in actions if isinstance(action, Expected)]
        expires = [self.cache.expected_until(key, *_created(action), now) for action in created]
        due += [time for time in expires if time is not None]
        if due:
            self.queue.add_after(key, min(due) - now)
        else:
            self.queue.cancel(key)

    def _is_expected(self, key: JobKey, action: Action, now: float) -> bool:
        if not isinstance(action, Expected):
            return False
        return self.cache.expected_until(key, *_created(action), now) is not None

    async def _delete_orphans(self, key: JobKey) -> None:
        """Faster than the garbage collector, which may take 30 s to discover a new kind."""
        self.queue.cancel(key)
        self.cache.clear_expectations(key)
        group = self.cache.group(key)
        pods, services = self.cache.pods(key), self.cache.services(key)
        orphans = [("Pod", pod.metadata) for pod in pods] + [("Service", service.metadata) for service in services]
        orphans += [("ConfigMap", config.metadata) for config in self.cache.configs(key)]
        orphans += [("PodGroup", group.metadata)] if group else []
        orphans = [(kind, metadata) for kind, metadata in orphans if not metadata.deletion_timestamp]
        if orphans and await self._job_is_gone(key):
            await asyncio.gather(*(self.executor.delete_orphan(kind, metadata) for kind, metadata in orphans))

    def _reflector_of(self, kind: JobKind) -> Reflector[Job]:
        path, *others = map(kind.path, kind.api_versions)
        return Reflector(self._client, path, Job, self.cache.job_changed, others=others)

    async def _job_is_gone(self, key: JobKey) -> bool:
        """Ask for the job itself: while its kind is not served, every job looks deleted."""
        root, plural = self._jobs[key.kind].path.rsplit("/", 1)
        try:
            await self._client.request("GET", f"{root}/namespaces/{key.namespace}/{plural}/{key.name}")
        except ApiError as error:
            return error.is_missing and f'"{key.name}" not found' in error.message
        return False


def _created(action: Expected) -> tuple[str, str]:
    """Kind and name of the object."""
    return action.manifest["kind"], action.manifest["metadata"]["name"]
