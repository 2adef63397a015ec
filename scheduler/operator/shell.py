"""The operator as a process: watches fill the world, changes wake jobs, workers look at them and write.

Nothing is done before every watch has been complete once: half a picture would make the operator create what is there.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any

from scheduler.client import ApiError, Client, Reflector, Unreachable
from scheduler.operator import paths
from scheduler.operator.changes import Change, CreatePod, SetStatus, WakeAt
from scheduler.operator.effects import Effects, LookAgain, Refused
from scheduler.operator.groups import DIALECTS
from scheduler.operator.names import PREFIX
from scheduler.operator.objects import Group, Job, Pod, Service
from scheduler.operator.profiles import Profile
from scheduler.operator.reconciling import invalid, reconcile
from scheduler.operator.workqueue import WorkQueue
from scheduler.operator.world import JobKey, World
from scheduler.runtime.events import Events
from scheduler.runtime.metrics import Counter, Histogram

_WORKERS = {True: 32, False: 4}  # for jobs that are new, and for all others
_OURS = {"labelSelector": f"{PREFIX}/job-name"}

_log = logging.getLogger(__name__)


class Operator:
    """`run` until cancelled."""

    def __init__(self, client: Client, events: Events, profile: Profile) -> None:
        dialect = DIALECTS[profile.gang]
        groups = paths.groups(dialect.api_version) if dialect else ""
        self.queue = WorkQueue(lambda key: self._world.is_new(key))
        self.looks = Histogram("muster_operator_reconcile_seconds", "Time that one look at one job took.")
        self.troubles = Counter("muster_operator_retries_total", "Looks that have to be repeated.")
        self.effects = Effects(client, events, groups)
        self._client = client
        self._profile = profile
        self._world = world = World(self.queue.add)
        self._reflectors: list[Reflector[Any]] = [
            *(Reflector(client, path, Job, world.job_changed) for path in paths.JOBS.values()),
            Reflector(client, paths.PODS, Pod, world.pod_changed, query=_OURS),
            Reflector(client, paths.SERVICES, Service, world.service_changed, query=_OURS),
            *([Reflector(client, groups, Group, world.group_changed)] if groups else []),
        ]

    @property
    def ready(self) -> bool:
        return all(one.synced.is_set() for one in self._reflectors)

    def metrics(self) -> str:
        return "".join(line for one in (self.looks, self.troubles, self.effects.written) for line in one.lines())

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for reflector in self._reflectors:
                tasks.create_task(reflector.run())
            for reflector in self._reflectors:
                await reflector.synced.wait()
            _log.info("every watch is complete: %d jobs", len(self._world.jobs))
            for new, workers in _WORKERS.items():
                for _ in range(workers):
                    tasks.create_task(self._work(new=new))

    async def _work(self, *, new: bool) -> None:
        while True:
            key = await self.queue.get(new=new)
            began = time.monotonic()
            try:
                await self._look(key)
                self.queue.succeeded(key)
            except LookAgain as reason:
                self._again(key, logging.INFO, reason)
            except (ApiError, Unreachable) as trouble:
                self._again(key, logging.WARNING, trouble)
            except Exception:  # one job that cannot be understood must not stop all others
                _log.exception("%s/%s", key.namespace, key.name)
                self.queue.failed(key)
            finally:
                self.looks.observe(time.monotonic() - began)
                self.queue.done(key)

    def _again(self, key: JobKey, level: int, why: Exception) -> None:
        _log.log(level, "%s/%s: %s", key.namespace, key.name, why)
        self.troubles.add()
        self.queue.failed(key)

    async def _look(self, key: JobKey) -> None:
        job = self._world.jobs.get(key)
        if job is None:
            await self._clear_away(key)
            return
        uid, now = job.metadata.uid, time.time()
        world = self._world
        changes = reconcile(
            job, world.pods(key, uid), world.services(key, uid), world.group(key, uid), now, self._profile
        )
        self._set_timer(key, changes, now)
        changes = [one for one in changes if not self._is_on_its_way(key, one, now)]
        # Of a new job nothing can be lost yet: its pods come first, and its status at the next look.
        new = not job.status and any(isinstance(one, CreatePod) for one in changes)
        if not new:
            job = await self._write_status(job, changes)
        for change in changes:
            if isinstance(change, CreatePod):
                world.expect(key, change.manifest["metadata"]["name"], now)
        try:
            await self.effects.carry_out(job, changes)
        except Refused as mistake:
            world.forget(key)
            told = invalid(job, str(mistake), time.time())
            await self.effects.carry_out(await self._write_status(job, told), told)
        except Exception:
            world.forget(key)
            if new:
                await self._write_status(job, changes)
            raise

    async def _write_status(self, job: Job, changes: Sequence[Change]) -> Job:
        for change in changes:
            if isinstance(change, SetStatus):
                job = await self.effects.set_status(change)
                self._world.learned(job)
        return job

    def _set_timer(self, key: JobKey, changes: Sequence[Change], now: float) -> None:
        due = [one.moment for one in changes if isinstance(one, WakeAt)]
        names = [one.manifest["metadata"]["name"] for one in changes if isinstance(one, CreatePod)]
        due += [moment for name in names if (moment := self._world.expected_until(key, name, now)) is not None]
        if due:
            self.queue.add_after(key, min(due) - now)
        else:
            self.queue.cancel(key)

    def _is_on_its_way(self, key: JobKey, change: Change, now: float) -> bool:
        if not isinstance(change, CreatePod):
            return False
        return self._world.expected_until(key, change.manifest["metadata"]["name"], now) is not None

    async def _clear_away(self, key: JobKey) -> None:
        """The cluster's garbage collector would do it, up to half a minute later when it does not know the kind yet."""
        self.queue.cancel(key)
        self._world.forget(key)
        group = self._world.group(key)
        pods, services = self._world.pods(key), self._world.services(key)
        left = [("Pod", one.metadata) for one in pods] + [("Service", one.metadata) for one in services]
        left += [("PodGroup", group.metadata)] if group else []
        left = [(kind, metadata) for kind, metadata in left if not metadata.deletion_timestamp]
        if left and await self._is_gone(key):
            await asyncio.gather(*(self.effects.remove_left_over(kind, metadata) for kind, metadata in left))

    async def _is_gone(self, key: JobKey) -> bool:
        """For sure: while its kind is not served, every job looks as if it were gone."""
        root, plural = paths.JOBS[key.kind].rsplit("/", 1)
        try:
            await self._client.request("GET", f"{root}/namespaces/{key.namespace}/{plural}/{key.name}")
        except ApiError as refusal:
            return refusal.is_missing and f'"{key.name}" not found' in refusal.message
        return False
