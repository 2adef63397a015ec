"""A replica without the lease writes nothing; an elected one decides on a new list, not on what it has watched."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from scheduler.client import Client
from scheduler.core.policy import Policy
from scheduler.runtime.scheduler import Scheduler
from tests.unit.runtime.test_client import listed, response, served, streamed

_NODE = {
    "metadata": {"name": "n", "uid": "n", "resourceVersion": "1"},
    "status": {"allocatable": {"pods": "110", "nvidia.com/gpu": "1"}},
}


def _pod(name: str, version: int, node: str = "") -> dict[str, Any]:
    metadata = {"name": name, "namespace": "ns", "uid": name, "resourceVersion": str(version)}
    container = {"name": "main", "resources": {"requests": {"nvidia.com/gpu": "1"}}}
    spec = {"schedulerName": "muster-scheduler", "containers": [container], "nodeName": node}
    return {"metadata": metadata, "spec": spec, "status": {}}


class _Api:
    """One node for one pod, and two pods. Its watches show nothing, however long they are open."""

    def __init__(self) -> None:
        self.pods = [_pod("first", 2), _pod("second", 3)]
        self.writes: list[str] = []
        self.written = asyncio.Event()

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        if request.method != "GET":
            self.writes.append(f"{request.method} {request.path}")
            self.written.set()
            return await response(200, {"metadata": {"resourceVersion": "50"}})(request)
        if "watch" in request.query:
            return await streamed(forever=True)(request)
        if request.path == "/api/v1/pods":
            return await listed(10, *self.pods)(request)
        return await listed(10, *([_NODE] if request.path == "/api/v1/nodes" else []))(request)


def _run(work: Callable[[_Api, Scheduler, asyncio.Event], Awaitable[None]]) -> None:
    async def go() -> None:
        api, stop, elected = _Api(), asyncio.Event(), asyncio.Event()
        async with served(api) as client, Client(client._access) as events, asyncio.timeout(20):
            scheduler = Scheduler(client, events, Policy())
            running = asyncio.create_task(scheduler.run(stop, elected))
            while not scheduler.ready:
                await asyncio.sleep(0.01)
            await work(api, scheduler, elected)
            stop.set()
            assert await running

    asyncio.run(go())


def test_a_standby_writes_nothing_until_it_is_elected() -> None:
    async def work(api: _Api, _: Scheduler, elected: asyncio.Event) -> None:
        await asyncio.sleep(0.3)
        assert not api.writes
        elected.set()
        await api.written.wait()
        while not any("/pods/first/binding" in write for write in api.writes):
            await asyncio.sleep(0.01)

    _run(work)


def test_an_elected_standby_sees_a_binding_that_its_watch_has_not_shown() -> None:
    async def work(api: _Api, _: Scheduler, elected: asyncio.Event) -> None:
        api.pods[1] = _pod("second", 20, node="n")  # by its predecessor
        elected.set()
        await api.written.wait()
        await asyncio.sleep(0.2)
        assert not [write for write in api.writes if write.endswith("/binding")]
        assert "PATCH /api/v1/namespaces/ns/pods/first/status" in api.writes  # pending, with a reason

    _run(work)


def test_a_standby_forgets_changes_of_deleted_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scheduler.runtime.scheduler._STANDBY_CLEANUP", 0.01)

    async def work(_: _Api, scheduler: Scheduler, __: asyncio.Event) -> None:
        changed = scheduler._cache.cluster.changed_groups
        changed.add(("ns", "gone"))
        while changed:
            await asyncio.sleep(0.01)

    _run(work)
