"""Lists in pages: tokens that expire, and a list on demand while a watch is open."""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web

from scheduler.client import Reflector, relist_all
from tests.unit.runtime.test_client import (
    Answer,
    CustomObject,
    api_object,
    listed,
    response,
    served,
    streamed,
    watch_changes,
)


class Pages:
    """A list of three objects in pages of two; remembers the queries."""

    def __init__(self, *, expired: int = 0) -> None:
        self.queries: list[dict[str, str]] = []
        self._expired = expired

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            return await streamed(forever=True)(request)
        self.queries.append(dict(request.query))
        objects = [api_object(name, 1) for name in "abc"]
        if "limit" not in request.query:
            return await listed(5, *objects)(request)
        if "continue" not in request.query:
            return await _page(objects[:2], "next")(request)
        if self._expired:
            self._expired -= 1
            return await response(410, {"reason": "Expired"})(request)
        return await _page(objects[2:], "")(request)


def _page(objects: list[dict[str, Any]], token: str) -> Answer:
    return response(200, {"metadata": {"resourceVersion": "5", "continue": token}, "items": objects})


def test_a_list_is_read_page_by_page() -> None:
    pages = Pages()
    assert asyncio.run(watch_changes(3, pages)) == [("ADDED", name) for name in "abc"]
    assert pages.queries == [{"limit": "500"}, {"limit": "500", "continue": "next"}]


def test_an_expired_page_token_starts_the_list_again() -> None:
    pages = Pages(expired=1)
    assert len(asyncio.run(watch_changes(3, pages))) == 3
    assert [query.get("continue") for query in pages.queries] == [None, "next", None, "next"]


def test_a_list_whose_token_keeps_expiring_is_read_in_one_response() -> None:
    pages = Pages(expired=2)
    assert len(asyncio.run(watch_changes(3, pages))) == 3
    assert pages.queries[-1] == {}


def test_a_relist_shows_what_the_watch_has_not_shown() -> None:
    lists = [listed(5, api_object("a", 1), api_object("b", 2)), listed(9, api_object("a", 8))]

    async def answer(request: web.Request) -> web.StreamResponse:
        return await (streamed(forever=True) if "watch" in request.query else lists.pop(0))(request)

    async def go() -> list[tuple[str, str]]:
        changes: list[tuple[str, str]] = []
        async with served(answer) as client, asyncio.timeout(20):
            consume = lambda change, found: changes.append((change, found.metadata.name))  # noqa: E731
            reflector = Reflector(client, "/things", CustomObject, consume)
            task = asyncio.create_task(reflector.run())
            await reflector.synced.wait()
            reflector.relist()
            assert not reflector.synced.is_set()
            await reflector.synced.wait()
            task.cancel()
        return changes

    assert asyncio.run(go())[2:] == [("DELETED", "b"), ("MODIFIED", "a")]


def test_a_relist_does_not_wait_for_the_next_look_at_a_kind_that_was_missing() -> None:
    lists = [response(404), listed(9, api_object("a", 8))]

    async def answer(request: web.Request) -> web.StreamResponse:
        return await (streamed(forever=True) if "watch" in request.query else lists.pop(0))(request)

    async def go() -> list[str]:
        async with served(answer) as client, asyncio.timeout(2.0):  # the next look is after 3 s
            reflector = Reflector(client, "/things", CustomObject, lambda *_: None)
            task = asyncio.create_task(reflector.run())
            await reflector.synced.wait()
            await relist_all([reflector])
            task.cancel()
        return [found.metadata.name for found in reflector.objects.values()]

    assert asyncio.run(go()) == ["a"]
