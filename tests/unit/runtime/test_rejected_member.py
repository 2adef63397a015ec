"""A gang with a member whose binding is always rejected: it is released once, and does not stay partially bound."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from scheduler.client import ADDED, DELETED, ApiError
from scheduler.core.actions import Bind
from scheduler.core.plan import plan
from scheduler.core.policy import Policy
from scheduler.runtime.api_types import CustomResource
from scheduler.runtime.cache import Cache
from scheduler.runtime.event_recorder import EventRecorder
from scheduler.runtime.executor import Executor
from scheduler.runtime.metrics import Metrics
from tests.support.scheduler_requests import RecordingClient, observe_node, observe_pod
from tests.support.virtual_time import run_in_virtual_time

_MEMBERS = ("m-0", "m-1", "m-2", "m-3")


class Harness(RecordingClient):
    """The scheduling loop on a scripted API, and a controller that re-creates deleted members."""

    def __init__(self, min_member: int, status: int = 403) -> None:
        self._wake = asyncio.Event()
        cache = Cache(self._wake.set)
        super().__init__(cache=cache, errors={"/m-3/binding": ApiError(status, "Rejected", "no")})
        self.executor = Executor(self, EventRecorder(self), cache, Metrics())
        metadata = {"name": "g", "namespace": "ns", "uid": "g", "resourceVersion": "5"}
        group = {"metadata": metadata, "spec": {"minMember": min_member}, "status": {"phase": "Inqueue"}}
        cache.podgroups.observe("volcano", ADDED, msgspec.convert(group, CustomResource))
        observe_node(cache, "n", cpu="8")
        for name in _MEMBERS:
            observe_pod(cache, name, gang="g", cpu="1")
        self._loop = asyncio.create_task(self._run())

    async def _run(self) -> None:
        assert self.cache is not None
        while True:
            await self._wake.wait()
            self._wake.clear()
            actions = plan(self.cache.cluster, Policy())
            self.cache.cluster.clear_changes()
            for action in actions:
                self.executor.start(action)

    async def request(self, method: str, path: str, body: object = None, **options: Any) -> bytes:
        answer = await super().request(method, path, body, **options)
        assert self.cache is not None
        if method == "DELETE" and (found := self.cache.api_pods.get(path.rpartition("/")[2])):
            self.cache.observe_pod(DELETED, found)
            observe_pod(self.cache, found.metadata.name, version=self.version, gang="g", cpu="1")
        return answer

    @property
    def deleted(self) -> list[str]:
        return [one.path.rpartition("/")[2] for one in self.requests if one.method == "DELETE"]

    @property
    def bound(self) -> list[str]:
        """As the API server shows it."""
        assert self.cache is not None
        return sorted(name for name, found in self.cache.api_pods.items() if found.spec.node_name)


@pytest.mark.parametrize("status", [403, 404, 409])
def test_the_other_members_are_released_once_and_the_gang_stays_pending(status: int) -> None:
    async def go() -> None:
        harness = Harness(min_member=4, status=status)
        await asyncio.sleep(600)
        assert harness.bound == []
        assert sorted(harness.deleted) == ["m-0", "m-1", "m-2"]
        attempts = len(harness.sent("/m-3/binding"))
        assert 20 < attempts < 40  # it is still tried, at the longest backoff
        assert [len(harness.sent(f"/{name}/binding")) for name in _MEMBERS[:3]] == [1, 1, 1]

        harness.errors.clear()
        await asyncio.sleep(60)
        assert harness.bound == list(_MEMBERS)
        assert len(harness.deleted) == 3

    run_in_virtual_time(go())


def test_nothing_is_remembered_of_pods_and_groups_that_are_gone() -> None:
    async def go() -> None:
        cache = Cache(lambda: None)
        api = RecordingClient(cache=cache, errors={"/binding": ApiError(404, "NotFound", "gone")})
        executor = Executor(api, EventRecorder(api), cache, Metrics())
        observe_node(cache, "n", cpu="8")
        observe_pod(cache, "p", cpu="1")
        executor.start(Bind(cache.cluster.pods["p"], "n"))
        cache.observe_pod(DELETED, cache.api_pods["p"])
        metadata = {"name": "g", "namespace": "ns", "uid": "g", "resourceVersion": "5"}
        group = {"metadata": metadata, "spec": {"minMember": 1}, "status": {"phase": "Inqueue"}}
        cache.podgroups.observe("volcano", ADDED, msgspec.convert(group, CustomResource))
        observe_pod(cache, "bound-before", gang="g", node="n", cpu="1")
        for action in plan(cache.cluster, Policy()):
            executor.start(action)
        await executor.drain()
        assert (executor._failures, executor._gang_bindings) == ({}, {})

    run_in_virtual_time(go())


def test_a_gang_that_does_not_need_the_member_runs_without_it() -> None:
    async def go() -> None:
        harness = Harness(min_member=3)
        await asyncio.sleep(120)
        assert (harness.bound, harness.deleted) == (["m-0", "m-1", "m-2"], [])

    run_in_virtual_time(go())


def test_a_binding_that_is_rejected_twice_does_not_release_the_gang() -> None:
    async def go() -> None:
        harness = Harness(min_member=4)
        await asyncio.sleep(0.5)  # the second attempt comes after 0.4 s
        assert len(harness.sent("/m-3/binding")) == 2
        harness.errors.clear()
        await asyncio.sleep(60)
        assert (harness.bound, harness.deleted) == (list(_MEMBERS), [])

    run_in_virtual_time(go())
