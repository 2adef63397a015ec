"""The reference scheduler's loop on a scripted API, with a controller that re-creates deleted members of gangs."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from scheduler.client import ADDED, DELETED, ApiError
from scheduler.core.policy import Policy
from scheduler.runtime.api_types import CustomResource
from scheduler.runtime.cache import Cache
from scheduler.runtime.event_recorder import EventRecorder
from scheduler.runtime.executor import Executor
from scheduler.runtime.metrics import Metrics
from scheduler.runtime.scheduler import run_cycle
from tests.support.scheduler_requests import RecordingClient, observe_node, observe_pod


class SchedulingLoop(RecordingClient):
    """One node of 8 CPUs; `add_gang` adds a gang of pods with 1 CPU each. To be created in a running event loop."""

    def __init__(self, errors: dict[str, ApiError]) -> None:
        self._wake = asyncio.Event()
        self._cache = Cache(self._wake.set)
        super().__init__(cache=self._cache, errors=errors)
        self.executor = Executor(self, EventRecorder(self), self._cache, Metrics())
        self._gang_of: dict[str, str] = {}
        observe_node(self._cache, "n", cpu="8")
        self._loop = asyncio.create_task(self._run())

    def add_gang(self, name: str, min_member: int, members: int, **annotations: str) -> None:
        metadata = {
            "name": name,
            "namespace": "ns",
            "uid": name,
            "resourceVersion": "5",
            "annotations": annotations,
        }
        group = {"metadata": metadata, "spec": {"minMember": min_member}, "status": {"phase": "Inqueue"}}
        self._cache.podgroups.observe("volcano", ADDED, msgspec.convert(group, CustomResource))
        for number in range(members):
            self._gang_of[f"{name}-{number}"] = name
            observe_pod(self._cache, f"{name}-{number}", gang=name, cpu="1")

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            await run_cycle(self._cache.cluster, Policy(), self.executor.start)

    async def request(self, method: str, path: str, body: object = None, **options: Any) -> bytes:
        answer = await super().request(method, path, body, **options)
        if method == "DELETE" and (found := self._cache.api_pods.get(path.rpartition("/")[2])):
            name = found.metadata.name
            self._cache.observe_pod(DELETED, found)
            observe_pod(self._cache, name, version=self.version, gang=self._gang_of[name], cpu="1")
        return answer

    @property
    def deleted(self) -> list[str]:
        return [one.path.rpartition("/")[2] for one in self.requests if one.method == "DELETE"]

    @property
    def bound(self) -> list[str]:
        """As the API server shows it."""
        return sorted(name for name, found in self._cache.api_pods.items() if found.spec.node_name)

    @property
    def phases(self) -> set[str]:
        return {group.phase for group in self._cache.cluster.groups.values()}
