"""The queue controller: commands are carried out once, and a closed queue is closed before anyone can read it."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from scheduler.client import ADDED, DELETED, MODIFIED, Access, ApiError, Client
from scheduler.runtime import queue_controller as queue_controller_module
from scheduler.runtime.api_types import Command, CustomResource
from scheduler.runtime.cache import Cache
from scheduler.runtime.queue_controller import QueueController

_COMMAND = {"metadata": {"name": "close"}, "action": "CloseQueue", "target": {"kind": "Queue", "name": "q"}}


class Server(Client):
    """Applies status patches to queue "q"; `errors` are the responses to the first requests."""

    def __init__(self, cache: Cache, *errors: ApiError) -> None:
        super().__init__(Access("http://nowhere", ssl.create_default_context()))
        self.errors = list(errors)
        self.requested: list[tuple[str, Any]] = []
        self.version = 5
        self.open_when_written: list[bool] = []  # what a plan made at that moment would read
        self._cache = cache

    async def request(self, method: str, path: str, body: object = None, **_: Any) -> bytes:
        sent = json.loads(msgspec.json.encode(body))
        self.requested.append((method, sent))
        self.open_when_written.append(self._cache.cluster.queues["q"].is_open)
        if self.errors:
            raise self.errors.pop(0)
        self.version += 1
        return msgspec.json.encode(_queue(self.version, sent["status"]["state"]) if method == "PATCH" else {})


@pytest.mark.parametrize("status", [409, 429, 500, 503])
def test_a_command_that_meets_a_passing_error_is_retried(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    monkeypatch.setattr(queue_controller_module, "_RETRY_DELAY", 0.001)

    async def steps(server: Server, _cache: Cache) -> None:
        await _requests(server, 3)
        closed = {"status": {"state": "Closed"}}
        assert server.requested[:2] == [("PATCH", closed), ("PATCH", closed)]
        assert server.requested[2][0] == "DELETE"

    _run(steps, ApiError(status, "Passing", ""))


def test_a_command_is_carried_out_although_the_watch_has_not_shown_its_queue_yet() -> None:
    async def go(name: str) -> list[str]:
        cache = Cache(lambda: None)
        cache.observe_queue(ADDED, _decoded(_queue(5, "Open")))
        server = Server(cache)
        controller = QueueController(server, cache)
        controller._observe(ADDED, msgspec.convert({**_COMMAND, "target": {"kind": "Queue", "name": name}}, Command))
        await controller._process_commands()
        return [method for method, _ in server.requested]

    assert asyncio.run(go("new")) == ["PATCH", "DELETE"]
    assert asyncio.run(go("../q")) == ["DELETE"]


def test_a_queue_whose_status_is_rejected_does_not_block_the_others() -> None:
    async def go() -> list[tuple[str, Any]]:
        cache = Cache(lambda: None)
        for name in ("q", "z"):
            found = {"metadata": {"name": name, "uid": name, "resourceVersion": "5"}, "status": {"state": "Closing"}}
            cache.observe_queue(ADDED, _decoded(found))
        server = Server(cache, ApiError(422, "Invalid", ""))
        with pytest.raises(ApiError):
            await QueueController(server, cache)._sync_statuses()
        return server.requested

    assert asyncio.run(go()) == [("PATCH", {"status": {"state": "Closed"}})] * 2


def test_a_queue_is_closed_in_the_cache_before_it_is_closed_in_the_api() -> None:
    async def steps(server: Server, _cache: Cache) -> None:
        await _requests(server, 2)
        assert server.open_when_written == [False, False]

    _run(steps)


def test_a_written_state_counts_although_the_watch_does_not_show_it() -> None:
    async def steps(server: Server, cache: Cache) -> None:
        await _requests(server, 2)
        assert not cache.cluster.queues["q"].is_open
        cache.observe_queue(MODIFIED, _decoded(_queue(5, "Open")))  # late: from before the write
        assert not cache.cluster.queues["q"].is_open
        cache.observe_queue(MODIFIED, _decoded(_queue(7, "Open")))
        assert cache.cluster.queues["q"].is_open

    _run(steps)


def test_a_queue_that_could_not_be_closed_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_controller_module, "_RETRY_DELAY", 60.0)

    async def steps(server: Server, cache: Cache) -> None:
        await _requests(server, 1)
        await asyncio.sleep(0)
        assert cache.cluster.queues["q"].is_open

    _run(steps, ApiError(409, "Conflict", ""))


def test_a_command_that_another_replica_has_carried_out_is_not_repeated() -> None:
    async def go() -> list[tuple[str, Any]]:
        cache = Cache(lambda: None)
        cache.observe_queue(ADDED, _decoded(_queue(5, "Open")))
        server = Server(cache)
        controller = QueueController(server, cache)
        for change in (ADDED, DELETED):  # while this replica is standing by
            controller._observe(change, msgspec.convert(_COMMAND, Command))
        await controller._process_commands()
        return server.requested

    assert not asyncio.run(go())


async def _requests(server: Server, count: int) -> None:
    async with asyncio.timeout(10):
        while len(server.requested) < count:
            await asyncio.sleep(0)


def _run(steps: Callable[[Server, Cache], Awaitable[None]], *errors: ApiError) -> None:
    async def with_controller() -> None:
        cache = Cache(lambda: None)
        cache.observe_queue(ADDED, _decoded(_queue(5, "Open")))
        server = Server(cache, *errors)
        controller = QueueController(server, cache)
        controller._observe(ADDED, msgspec.convert(_COMMAND, Command))
        running = asyncio.create_task(controller.run())
        await steps(server, cache)
        running.cancel()

    asyncio.run(with_controller())


def _queue(version: int, state: str) -> dict[str, Any]:
    return {"metadata": {"name": "q", "uid": "u", "resourceVersion": str(version)}, "status": {"state": state}}


def _decoded(queue: dict[str, Any]) -> CustomResource:
    return msgspec.convert(queue, CustomResource)
