"""Linked gangs, of which a member's binding is always rejected: none of them starts."""

from __future__ import annotations

import asyncio
import json

import msgspec

from scheduler.client import ADDED, DELETED, ApiError
from scheduler.core.plan import plan
from scheduler.core.policy import Policy
from scheduler.runtime.api_types import CustomResource
from scheduler.runtime.cache import Cache
from scheduler.runtime.event_recorder import EventRecorder
from scheduler.runtime.executor import Executor
from scheduler.runtime.metrics import Metrics
from tests.support.scheduler_requests import RecordingClient, observe_node, observe_pod
from tests.support.virtual_time import run_in_virtual_time


class Harness(RecordingClient):
    """The scheduling loop with two gangs of two that name each other; a controller re-creates deleted members."""

    def __init__(self) -> None:
        self._wake = asyncio.Event()
        cache = Cache(self._wake.set)
        super().__init__(cache=cache, errors={"/b-1/binding": ApiError(403, "Forbidden", "no")})
        self._executor = Executor(self, EventRecorder(self), cache, Metrics())
        annotations = {"gang.scheduling.koordinator.sh/groups": json.dumps(["ns/a", "ns/b"])}
        observe_node(cache, "n", cpu="8")
        for name in "ab":
            metadata = {
                "name": name,
                "namespace": "ns",
                "uid": name,
                "resourceVersion": "5",
                "annotations": annotations,
            }
            group = {"metadata": metadata, "spec": {"minMember": 2}, "status": {"phase": "Inqueue"}}
            cache.podgroups.observe("volcano", ADDED, msgspec.convert(group, CustomResource))
            for number in range(2):
                observe_pod(cache, f"{name}-{number}", gang=name, cpu="1")
        self._loop = asyncio.create_task(self._run())

    async def _run(self) -> None:
        assert self.cache is not None
        while True:
            await self._wake.wait()
            self._wake.clear()
            actions = plan(self.cache.cluster, Policy())
            self.cache.cluster.clear_changes()
            for action in actions:
                self._executor.start(action)

    async def request(self, method: str, path: str, body: object = None, **options: object) -> bytes:
        answer = await super().request(method, path, body, **options)
        assert self.cache is not None
        if method == "DELETE" and (found := self.cache.api_pods.get(path.rpartition("/")[2])):
            self.cache.observe_pod(DELETED, found)
            observe_pod(self.cache, found.metadata.name, version=self.version, gang=found.metadata.name[0], cpu="1")
        return answer

    @property
    def bound(self) -> list[str]:
        assert self.cache is not None
        return sorted(name for name, found in self.cache.api_pods.items() if found.spec.node_name)


def test_no_linked_gang_starts_while_one_cannot() -> None:
    async def go() -> None:
        harness = Harness()
        await asyncio.sleep(600)
        assert harness.cache is not None
        assert harness.bound == []
        assert {group.phase for group in harness.cache.cluster.groups.values()} == {"Inqueue"}
        written = [one.body["status"]["phase"] for one in harness.requests if "/podgroups/" in one.path]
        assert "Running" not in written
        harness.errors.clear()
        await asyncio.sleep(60)
        assert harness.bound == ["a-0", "a-1", "b-0", "b-1"]
        assert {group.phase for group in harness.cache.cluster.groups.values()} == {"Running"}

    run_in_virtual_time(go())
