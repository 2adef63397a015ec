"""The write deadline: no write is sent after it, whatever the process did since the decision."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from scheduler.client import Client, NotLeader, WriteDeadline
from tests.unit.runtime.test_client import response, served


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def writing_until(write_deadline: WriteDeadline, requests: list[str], failures: int = 0) -> AsyncIterator[Client]:
    async def answer(request: web.Request) -> web.StreamResponse:
        requests.append(f"{request.method} {request.query_string}")
        return await response(503 if len(requests) <= failures else 200)(request)

    async with served(answer) as plain, Client(plain._access, write_deadline=write_deadline) as client:
        yield client


async def refused(client: Client) -> None:
    with pytest.raises(NotLeader):
        await client.create("/things", {"a": 1})


def test_nothing_is_written_before_the_deadline_is_set_and_reads_are_free() -> None:
    async def go() -> None:
        requests: list[str] = []
        async with writing_until(WriteDeadline(5.0), requests) as client:
            await refused(client)
            await client.get("/things")
        assert requests == ["GET "]

    asyncio.run(go())


def test_a_write_has_a_time_limit_at_the_api_server() -> None:
    async def go() -> None:
        requests: list[str] = []
        write_deadline = WriteDeadline(0.5, Clock())
        write_deadline.extend_to(101.0)
        async with writing_until(write_deadline, requests) as client:
            await client.create("/things", {"a": 1})
            await client.delete("/things/a")
            write_deadline.expire()
            await refused(client)
        assert requests == ["POST timeout=0.5s", "DELETE timeout=0.5s"]

    asyncio.run(go())


def test_a_retry_is_a_new_write() -> None:
    async def go() -> None:
        requests: list[str] = []
        clock = Clock()
        write_deadline = WriteDeadline(5.0, clock)
        write_deadline.extend_to(101.0)
        async with writing_until(write_deadline, requests, failures=1) as client:
            write = asyncio.create_task(refused(client))
            while not requests:
                await asyncio.sleep(0)
            clock.now = 101.0  # the deadline passes before the retry
            await write
        assert len(requests) == 1

    asyncio.run(go())


def test_the_deadline_may_pass_between_the_request_and_its_sending() -> None:
    """As when a plan runs, or the process is stopped, while the connection is made."""

    class Once(Clock):
        looks = 0

        def __call__(self) -> float:
            self.looks += 1
            return 100.0 if self.looks == 1 else 200.0

    async def go() -> None:
        requests: list[str] = []
        write_deadline = WriteDeadline(5.0, Once())
        write_deadline.extend_to(101.0)
        async with writing_until(write_deadline, requests) as client:
            await refused(client)
        assert not requests

    asyncio.run(go())
