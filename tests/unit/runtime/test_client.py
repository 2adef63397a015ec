"""API client and reflector against a scripted server, because no real one fails on demand."""

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


class CustomObject(msgspec.Struct):
    metadata: Metadata
    spec: dict[str, int] = {}


def api_object(name: str, version: int, uid: str = "", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "resourceVersion": str(version), "uid": uid or name}, "spec": spec}


@asynccontextmanager
async def served(*answers: Answer) -> AsyncIterator[Client]:
    """Each request gets the next response; the last one is repeated."""
    requested = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal requested
        requested += 1
        return await answers[min(requested, len(answers)) - 1](request)

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


def response(status: int, body: Any = None, **headers: str) -> Answer:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.json_response(body or {}, status=status, headers=headers)

    return answer


FORBIDDEN = response(403, {"reason": "Forbidden", "message": "no"})


def listed(version: int, *items: dict[str, Any]) -> Answer:
    return response(200, {"metadata": {"resourceVersion": str(version)}, "items": list(items)})


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


async def closes_connection(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def watch_changes(until: int, *answers: Answer, optional: bool = False) -> list[tuple[str, str]]:
    """The changes that a consumer receives, up to a number of them."""
    changes: list[tuple[str, str]] = []
    enough = asyncio.Event()

    def consume(change: str, found: CustomObject) -> None:
        changes.append((change, found.metadata.uid))
        if len(changes) == until:
            enough.set()

    async with served(*answers) as client:
        reflector = Reflector(client, "/things", CustomObject, consume, optional=optional)
        task = asyncio.create_task(reflector.run())
        async with asyncio.timeout(20):
            await enough.wait()
        assert reflector.synced.is_set()
        task.cancel()
    return changes


def test_transient_errors_are_retried() -> None:
    async def go() -> None:
        format_amount: list[str] = []

        async def last(request: web.Request) -> web.StreamResponse:
            format_amount.append(request.headers["Authorization"])
            return web.json_response({"fine": True})

        async with served(response(503), closes_connection, response(429, **{"Retry-After": "0"}), last) as client:
            assert await client.get("/x") == {"fine": True}
        assert format_amount == ["Bearer secret"]

    asyncio.run(go())


@pytest.mark.parametrize("status", [404, 409, 410, 422])
def test_errors_for_the_caller_are_not_retried(status: int) -> None:
    async def go() -> None:
        async with served(response(status, {"reason": "Because", "message": "no"}), response(200)) as client:
            with pytest.raises(ApiError, match="Because: no") as refused:
                await client.create("/x", {})
            assert refused.value.status == status

    asyncio.run(go())


def test_retries_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scheduler.client.client._FIRST_PAUSE", 0.001)

    async def go() -> None:
        async with served(response(500, {"message": "broken"})) as client:
            with pytest.raises(ApiError, match="broken"):
                await client.get("/x")

    asyncio.run(go())


@pytest.mark.parametrize(
    ("served_versions", "watched"),
    [({"v1", "v2"}, "/v1/things"), ({"v1"}, "/v1/things"), ({"v2"}, "/v2/things"), (set(), "/v1/things")],
)
def test_another_version_is_watched_where_the_first_is_not_served(served_versions: set[str], watched: str) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path.split("/")[1] not in served_versions:
            return await response(404)(request)
        return await (streamed(forever=True) if "watch" in request.query else listed(1))(request)

    async def go() -> None:
        async with served(answer) as client, asyncio.timeout(20):
            reflector = Reflector(client, "/v1/things", CustomObject, lambda *_: None, others=["/v2/things"])
            task = asyncio.create_task(reflector.run())
            await reflector.synced.wait()
            assert reflector.path == watched
            task.cancel()

    asyncio.run(go())


def test_a_version_that_appears_during_the_choice_is_not_missed() -> None:
    """Both appear after the second one was asked: jobs of the first would be read with the defaults of the second."""
    asked: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        if len(asked) == 1:
            return await response(404)(request)
        return await (streamed(forever=True) if "watch" in request.query else listed(1))(request)

    async def go() -> None:
        async with served(answer) as client, asyncio.timeout(20):
            reflector = Reflector(client, "/v1/things", CustomObject, lambda *_: None, others=["/v2/things"])
            task = asyncio.create_task(reflector.run())
            await reflector.synced.wait()
            assert (reflector.path, asked[0]) == ("/v1/things", "/v2/things")
            task.cancel()

    asyncio.run(go())


def test_an_expired_watch_lists_again_and_reports_deletions() -> None:
    expired = ("ERROR", {"kind": "Status", "code": 410, "reason": "Expired"})
    changes = asyncio.run(
        watch_changes(
            7,
            listed(5, api_object("stays", 1), api_object("goes", 2), api_object("replaced", 3, "old")),
            streamed(("MODIFIED", api_object("stays", 6)), expired),
            listed(9, api_object("stays", 6), api_object("replaced", 8, "new")),
            streamed(forever=True),
        )
    )
    assert sorted(changes[:3]) == [("ADDED", "goes"), ("ADDED", "old"), ("ADDED", "stays")]
    assert changes[3] == ("MODIFIED", "stays")
    assert sorted(changes[4:]) == [("ADDED", "new"), ("DELETED", "goes"), ("DELETED", "old")]


def test_an_ended_watch_resumes_from_its_resource_version() -> None:
    resumed: list[str] = []

    async def second(request: web.Request) -> web.StreamResponse:
        resumed.append(request.query["resourceVersion"])
        return await streamed(("ADDED", api_object("b", 8)), forever=True)(request)

    bookmark = ("BOOKMARK", {"metadata": {"resourceVersion": "7"}})
    changes = asyncio.run(watch_changes(2, listed(5), streamed(("ADDED", api_object("a", 6)), bookmark), second))
    assert (changes, resumed) == ([("ADDED", "a"), ("ADDED", "b")], ["7"])


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_for_the_watch_again_and_not_for_a_list(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0)

    monkeypatch.setattr("scheduler.client.reflector.asyncio.sleep", noted)
    resumed: list[str] = []

    async def last(request: web.Request) -> web.StreamResponse:
        resumed.append(request.query["resourceVersion"])
        return await streamed(("ADDED", api_object("b", 8)), forever=True)(request)

    busy = response(status), response(status, **{"Retry-After": "7"})
    changes = asyncio.run(watch_changes(2, listed(5, api_object("a", 1)), *busy, last))
    assert (changes, resumed, pauses[:2]) == ([("ADDED", "a"), ("ADDED", "b")], ["5"], [0.1, 7.0])


def test_a_watch_on_which_nothing_arrives_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reflector_module._IDLE_SECONDS < 150  # bookmarks arrive once a minute
    monkeypatch.setattr(reflector_module, "_IDLE_SECONDS", 0.05)
    silent, alive = streamed(forever=True), streamed(("ADDED", api_object("b", 8)), forever=True)
    changes = asyncio.run(watch_changes(2, listed(5, api_object("a", 1)), silent, alive))
    assert changes == [("ADDED", "a"), ("ADDED", "b")]


def test_a_missing_kind_is_empty_until_its_crd_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reflector_module, "_MISSING_KIND_SECONDS", 0.01)
    changes = asyncio.run(watch_changes(1, response(404), listed(5, api_object("a", 1)), streamed(forever=True)))
    assert changes == [("ADDED", "a")]


def test_an_optional_kind_that_is_forbidden_is_empty_until_it_may_be_listed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(reflector_module, "_FORBIDDEN_SECONDS", 0.01)
    found = listed(5, api_object("a", 1)), streamed(forever=True)
    assert asyncio.run(watch_changes(1, FORBIDDEN, FORBIDDEN, *found, optional=True)) == [("ADDED", "a")]
    message = "/things may not be listed and watched, and counts as empty: 403 Forbidden: no"
    assert [record.getMessage() for record in caplog.records] == [message]


@pytest.mark.parametrize("optional", [True, False])
def test_only_an_optional_kind_counts_as_listed_while_it_is_forbidden(
    monkeypatch: pytest.MonkeyPatch, *, optional: bool
) -> None:
    monkeypatch.setattr(reflector_module, "_FORBIDDEN_SECONDS", 0.01)

    async def is_synced() -> bool:
        seen = asyncio.get_running_loop().create_future()

        async def second(request: web.Request) -> web.StreamResponse:
            if not seen.done():
                seen.set_result(reflector.synced.is_set())
            return await FORBIDDEN(request)

        async with served(FORBIDDEN, second) as client:
            reflector = Reflector(client, "/things", CustomObject, lambda *_: None, optional=optional)
            task = asyncio.create_task(reflector.run())
            async with asyncio.timeout(20):
                synced: bool = await seen
            task.cancel()
        return synced

    assert asyncio.run(is_synced()) == optional


def test_an_undecodable_object_counts_as_absent() -> None:
    hostile = ("MODIFIED", api_object("a", 7, count="text"))
    changes = asyncio.run(
        watch_changes(3, listed(5, api_object("a", 1)), streamed(hostile, ("ADDED", api_object("b", 8)), forever=True))
    )
    assert changes == [("ADDED", "a"), ("DELETED", "a"), ("ADDED", "b")]


def test_lines_may_be_longer_than_any_buffer() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"x" * 65536
        yield b"\nshort\n\nla"
        yield b"st\nunfinished"

    async def go() -> list[bytes]:
        return [line async for line in lines(chunks())]

    assert [len(line) for line in asyncio.run(go())] == [20 * 65536, 5, 4]


def test_exec_credentials_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    user = {"name": "u", "user": {"exec": {"command": "x"}}}
    config = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
        "clusters": [{"name": "k", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [user],
    }
    path.write_text(yaml.safe_dump(config))
    with pytest.raises(AccessError, match="exec and auth-provider"):
        Access.from_kubeconfig(path)
    user["user"] = {"tokenFile": "token"}
    path.write_text(yaml.safe_dump(config))
    (tmp_path / "token").write_text("from-file\n")
    assert Access.from_kubeconfig(path, "c").headers() == {"Authorization": "Bearer from-file"}


@pytest.mark.parametrize(("brings_news", "longest"), [(True, 0.1), (False, 1.6)])
def test_a_breaking_watch_that_makes_progress_is_resumed_without_backoff(
    monkeypatch: pytest.MonkeyPatch, brings_news: bool, longest: float
) -> None:
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0)

    monkeypatch.setattr("scheduler.client.reflector.asyncio.sleep", noted)
    monkeypatch.setattr(reflector_module, "_SHORT_LIVED", math.inf)  # however long each of them takes
    news = [("MODIFIED", api_object("a", 2 + number)) for number in range(5)]
    broken = [streamed(one) if brings_news else streamed() for one in news]
    last = streamed(("ADDED", api_object("b", 9)), forever=True)
    changes = 1 + len(news) + 1 if brings_news else 2
    asyncio.run(watch_changes(changes, listed(1, api_object("a", 1)), *broken, last))
    assert max(pauses) == longest
