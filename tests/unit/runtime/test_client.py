"""Trouble on the wire: a server that answers by a script, because no real one fails on demand."""

from __future__ import annotations

import asyncio
import json
import math
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from aiohttp import web

from scheduler.client import Access, AccessError, ApiError, Client, Metadata, Reflector
from scheduler.client import reflector as reflector_module
from scheduler.client.reflector import lines

CLOSING = web.AppKey("closing", asyncio.Event)
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Thing(msgspec.Struct):
    metadata: Metadata
    spec: dict[str, int] = {}


def thing(name: str, version: int, uid: str = "", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "resourceVersion": str(version), "uid": uid or name}, "spec": spec}


@asynccontextmanager
async def served(*answers: Answer) -> AsyncIterator[Client]:
    """Each request gets the next answer; the last one is for all that follow."""
    asked = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal asked
        asked += 1
        return await answers[min(asked, len(answers)) - 1](request)

    app = web.Application()
    app[CLOSING] = asyncio.Event()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        access = Access(f"http://127.0.0.1:{runner.addresses[0][1]}", ssl.create_default_context(), token="secret")
        async with Client(access) as client:
            yield client
    finally:
        app[CLOSING].set()
        await runner.cleanup()


def says(status: int, body: Any = None, **headers: str) -> Answer:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.json_response(body or {}, status=status, headers=headers)

    return answer


def listed(version: int, *items: dict[str, Any]) -> Answer:
    return says(200, {"metadata": {"resourceVersion": str(version)}, "items": list(items)})


def streamed(*changes: tuple[str, dict[str, Any]], forever: bool = False) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for kind, found in changes:
            await response.write(json.dumps({"type": kind, "object": found}).encode() + b"\n")
        if forever:
            await request.app[CLOSING].wait()
        return response

    return answer


async def hangs_up(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def followed(until: int, *answers: Answer) -> list[tuple[str, str]]:
    """What a consumer is told, until it has been told so many things."""
    told: list[tuple[str, str]] = []
    enough = asyncio.Event()

    def consume(change: str, found: Thing) -> None:
        told.append((change, found.metadata.uid))
        if len(told) == until:
            enough.set()

    async with served(*answers) as client:
        reflector = Reflector(client, "/things", Thing, consume)
        task = asyncio.create_task(reflector.run())
        async with asyncio.timeout(20):
            await enough.wait()
        assert reflector.synced.is_set()
        task.cancel()
    return told


def test_trouble_that_passes_is_retried() -> None:
    async def go() -> None:
        shown: list[str] = []

        async def last(request: web.Request) -> web.StreamResponse:
            shown.append(request.headers["Authorization"])
            return web.json_response({"fine": True})

        async with served(says(503), hangs_up, says(429, **{"Retry-After": "0"}), last) as client:
            assert await client.get("/x") == {"fine": True}
        assert shown == ["Bearer secret"]

    asyncio.run(go())


@pytest.mark.parametrize("status", [404, 409, 410, 422])
def test_what_a_caller_decides_is_raised_at_once(status: int) -> None:
    async def go() -> None:
        async with served(says(status, {"reason": "Because", "message": "no"}), says(200)) as client:
            with pytest.raises(ApiError, match="Because: no") as refused:
                await client.create("/x", {})
            assert refused.value.status == status

    asyncio.run(go())


def test_patience_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scheduler.client.client._FIRST_PAUSE", 0.001)

    async def go() -> None:
        async with served(says(500, {"message": "broken"})) as client:
            with pytest.raises(ApiError, match="broken"):
                await client.get("/x")

    asyncio.run(go())


def test_a_lost_history_is_listed_again_and_tells_who_vanished() -> None:
    expired = ("ERROR", {"kind": "Status", "code": 410, "reason": "Expired"})
    told = asyncio.run(
        followed(
            7,
            listed(5, thing("stays", 1), thing("goes", 2), thing("replaced", 3, "old")),
            streamed(("MODIFIED", thing("stays", 6)), expired),
            listed(9, thing("stays", 6), thing("replaced", 8, "new")),
            streamed(forever=True),
        )
    )
    assert sorted(told[:3]) == [("ADDED", "goes"), ("ADDED", "old"), ("ADDED", "stays")]
    assert told[3] == ("MODIFIED", "stays")
    assert sorted(told[4:]) == [("ADDED", "new"), ("DELETED", "goes"), ("DELETED", "old")]


def test_a_stream_that_ends_is_resumed_where_it_was() -> None:
    resumed: list[str] = []

    async def second(request: web.Request) -> web.StreamResponse:
        resumed.append(request.query["resourceVersion"])
        return await streamed(("ADDED", thing("b", 8)), forever=True)(request)

    bookmark = ("BOOKMARK", {"metadata": {"resourceVersion": "7"}})
    told = asyncio.run(followed(2, listed(5), streamed(("ADDED", thing("a", 6)), bookmark), second))
    assert (told, resumed) == ([("ADDED", "a"), ("ADDED", "b")], ["7"])


def test_a_kind_that_is_missing_is_empty_until_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reflector_module, "_MISSING_KIND_SECONDS", 0.01)
    told = asyncio.run(followed(1, says(404), listed(5, thing("a", 1)), streamed(forever=True)))
    assert told == [("ADDED", "a")]


def test_an_object_that_cannot_be_read_counts_as_absent() -> None:
    hostile = ("MODIFIED", thing("a", 7, words="text"))
    told = asyncio.run(followed(3, listed(5, thing("a", 1)), streamed(hostile, ("ADDED", thing("b", 8)), forever=True)))
    assert told == [("ADDED", "a"), ("DELETED", "a"), ("ADDED", "b")]


def test_lines_may_be_longer_than_any_buffer() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"x" * 65536
        yield b"\nshort\n\nla"
        yield b"st\nunfinished"

    async def go() -> list[bytes]:
        return [line async for line in lines(chunks())]

    assert [len(line) for line in asyncio.run(go())] == [20 * 65536, 5, 4]


def test_a_log_in_by_program_is_refused_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    user = {"name": "u", "user": {"exec": {"command": "x"}}}
    config = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [user],
    }
    path.write_text(yaml.safe_dump(config))
    with pytest.raises(AccessError, match="external program"):
        Access.from_kubeconfig(path)
    user["user"] = {"tokenFile": "token"}
    path.write_text(yaml.safe_dump(config))
    (tmp_path / "token").write_text("from-file\n")
    assert Access.from_kubeconfig(path, "c").headers() == {"Authorization": "Bearer from-file"}


@pytest.mark.parametrize(("brings_news", "longest"), [(True, 0.1), (False, 1.6)])
def test_a_watch_that_brings_news_is_taken_up_at_once_however_often_it_breaks(
    monkeypatch: pytest.MonkeyPatch, brings_news: bool, longest: float
) -> None:
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0)

    monkeypatch.setattr("scheduler.client.reflector.asyncio.sleep", noted)
    monkeypatch.setattr(reflector_module, "_SHORT_LIVED", math.inf)  # however long each of them takes
    news = [("MODIFIED", thing("a", 2 + number)) for number in range(5)]
    broken = [streamed(one) if brings_news else streamed() for one in news]
    last = streamed(("ADDED", thing("b", 9)), forever=True)
    told = 1 + len(news) + 1 if brings_news else 2
    asyncio.run(followed(told, listed(1, thing("a", 1)), *broken, last))
    assert max(pauses) == longest
