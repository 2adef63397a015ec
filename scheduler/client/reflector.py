"""Reflector: list one kind, watch from there, and list again when the resourceVersion has expired.

The trap is what happens between a broken watch and the next list: an object may have been deleted, or replaced by one
of the same name with another uid. The consumer gets both changes as if the watch had shown them.

Lists are paged, and each page has the time limit of one request: 40,000 pods in one response would be 300 MB.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Generic, TypeVar

import aiohttp
import msgspec

from scheduler.client.client import Client, Query
from scheduler.client.errors import ApiError, Unreachable
from scheduler.client.metadata import Metadata, Watched

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"

_WATCH_SECONDS = 300  # then the API server ends the watch
_IDLE_SECONDS = 120.0  # without so much as a bookmark, which come once a minute: the connection is dead
_MISSING_KIND_SECONDS = 3.0  # poll: nothing but a watch of all CRDs shows a new CRD
_FORBIDDEN_SECONDS = 30.0  # poll: nothing shows that a permission was granted
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0  # seconds, while the API server is unavailable
_LONGEST_RETRY_AFTER = 30.0  # seconds
# On an existing cluster: only objects that contain one of these texts, each on a line of its own.
_SCOPE = tuple(os.environ.get("MUSTER_SCOPE", "").encode().splitlines())
IS_SCOPED = bool(_SCOPE)
_SHORT_LIVED = 1.0  # seconds; a watch that ends sooner counts as an error
_PAGE_SIZE = 500  # objects
_PAGED_ATTEMPTS = 2  # a list whose token expires again is read in one response, as client-go does

T = TypeVar("T", bound=Watched)
Consumer = Callable[[str, T], None]

_log = logging.getLogger(__name__)


class Reflector(Generic[T]):
    """Run it as a task. `objects` is the current state; `synced` is set after the first list.

    The consumer is called in the event loop and must not block; a `DELETED` carries the last known state. Where `path`
    is not served, the first of `others` that is takes its place: another version of the same kind. An `optional` kind
    that may not be listed counts as empty.
    """

    def __init__(
        self,
        client: Client,
        path: str,
        kind: type[T],
        consumer: Consumer[T],
        *,
        query: Query | None = None,
        others: Sequence[str] = (),
        optional: bool = False,
    ) -> None:
        self.objects: dict[tuple[str, str], T] = {}
        self.synced = asyncio.Event()
        self._client = client
        self._paths = (path, *others)
        self.path = path  # the one that is listed and watched
        self._query = dict(query or {})
        self._decoder = msgspec.json.Decoder(kind)
        self._consumer = consumer
        self._optional = optional
        self._reported_forbidden = False
        self._version = ""
        self._running: asyncio.Task[None] | None = None  # the list, watch or pause that `relist` interrupts
        self._relist = False  # called for since the last list or watch was started

    def relist(self) -> None:
        """List again now, whatever the watch has shown: `synced` is set when that is done."""
        self.synced.clear()
        self._version = ""
        self._relist = True
        if self._running is not None:
            self._running.cancel()

    async def run(self) -> None:
        """List and watch until cancelled."""
        pause = _FIRST_PAUSE
        while True:
            began, before = time.monotonic(), self._version
            self._relist = False
            self._running = asyncio.create_task(self._list_and_watch())
            try:
                await asyncio.wait([self._running])
            finally:
                self._running.cancel()
            if self._running.cancelled():  # by relist
                continue
            try:
                self._running.result()
            except ApiError as error:
                if error.is_busy:  # a list would add to its load: resume the watch, later
                    _log.warning("%s: %s", self.path, error)
                    await self._pause(max(pause, min(error.retry_after, _LONGEST_RETRY_AFTER)))
                    pause = min(pause * 2, _LONGEST_PAUSE)
                    continue
                self._version = ""
                if error.is_missing or (error.is_forbidden and self._optional):
                    if not self._relist:  # else the answer is older than the call
                        self._replace([])
                    self._report_forbidden(error)
                    await self._pause(_FORBIDDEN_SECONDS if error.is_forbidden else _MISSING_KIND_SECONDS)
                    continue
                if not error.is_expired:
                    _log.warning("%s: %s", self.path, error)
            except (aiohttp.ClientError, OSError, TimeoutError, Unreachable, msgspec.MsgspecError) as error:
                _log.warning("%s: %s", self.path, error or type(error).__name__)
            if time.monotonic() - began > _SHORT_LIVED:
                pause = _FIRST_PAUSE
                continue
            if self._version not in ("", before):  # it made progress: this is no hot loop
                pause = _FIRST_PAUSE
            await self._pause(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _report_forbidden(self, error: ApiError) -> None:
        """Once: the list is tried again for as long as the process runs."""
        if error.is_forbidden and not self._reported_forbidden:
            self._reported_forbidden = True
            _log.warning("%s may not be listed and watched, and counts as empty: %s", self.path, error)

    async def _pause(self, seconds: float) -> None:
        if self._relist:
            return
        self._running = asyncio.create_task(asyncio.sleep(seconds))
        try:
            await asyncio.wait([self._running])
        finally:
            self._running.cancel()

    async def _list_and_watch(self) -> None:
        if not self._version:
            if len(self._paths) > 1:
                self.path = await self._served_path()
            await self._list()
        await self._watch()

    async def _served_path(self) -> str:
        """The first one that is served. It is asked last: a kind whose versions appear just now must not be missed."""
        chosen = self._paths[0]
        for path in reversed(self._paths):
            try:
                await self._client.request("GET", path, query={"limit": "1"})
            except ApiError as error:
                if not error.is_missing:
                    raise
            else:
                chosen = path
        return chosen

    async def _list(self) -> None:
        """The pages of one list show one state of the cluster: all have the resourceVersion of the first."""
        for attempt in range(_PAGED_ATTEMPTS + 1):
            limit = {"limit": str(_PAGE_SIZE)} if attempt < _PAGED_ATTEMPTS else {}
            try:
                found, version = await self._pages({**self._query, **limit})
            except ApiError as error:
                if not error.is_expired or not limit:  # the token of the next page has expired: from the beginning
                    raise
            else:
                self._replace(found)
                self._version = version
                return

    async def _pages(self, query: Query) -> tuple[list[T], str]:
        found: list[T] = []
        token: dict[str, str] = {}
        while True:
            page = await self._client.request("GET", self.path, query={**query, **token})
            listed = msgspec.json.decode(page, type=_List)
            visible = (raw for raw in listed.items or () if _is_visible(raw))
            found += [item for item in map(self._decode, visible) if item is not None]
            if not listed.metadata.next_page:
                return found, listed.metadata.resource_version
            token = {"continue": listed.metadata.next_page}

    def _replace(self, found: list[T]) -> None:
        """Pass on only the differences: deleted, added and modified objects."""
        newest = {item.metadata.key: item for item in found}
        for key, known in list(self.objects.items()):
            current = newest.get(key)
            if current is None or current.metadata.uid != known.metadata.uid:
                del self.objects[key]
                self._consumer(DELETED, known)
        for item in found:
            self._accept(item)
        self.synced.set()

    async def _watch(self) -> None:
        watch = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": str(_WATCH_SECONDS),
        }
        async with self._client.stream(self.path, {**self._query, **watch}, idle=_IDLE_SECONDS) as response:
            if response.status >= 400:
                raise ApiError.read(response.status, await response.read(), response.headers.get("Retry-After"))
            async for line in lines(response.content.iter_any()):
                self._follow(line)

    def _follow(self, line: bytes) -> None:
        change = msgspec.json.decode(line, type=_Change)
        if change.type == "ERROR":
            status = msgspec.json.decode(change.object, type=_Status)
            raise ApiError(status.code, status.reason or "", status.message or "")
        if change.type == "BOOKMARK":
            self._version = msgspec.json.decode(change.object, type=_Bare).metadata.resource_version
            return
        item = self._decode(change.object) if _is_visible(change.object) else None
        if item is None:
            return
        self._version = item.metadata.resource_version
        if change.type == DELETED:
            self.objects.pop(item.metadata.key, None)
            self._consumer(DELETED, item)
        else:
            self._accept(item)

    def _accept(self, item: T) -> None:
        key = item.metadata.key
        known = self.objects.get(key)
        if known is not None and known.metadata.resource_version == item.metadata.resource_version:
            return
        self.objects[key] = item
        self._consumer(ADDED if known is None else MODIFIED, item)

    def _decode(self, raw: msgspec.Raw) -> T | None:
        """None for an object that cannot be decoded: it counts as absent and does not affect others."""
        try:
            return self._decoder.decode(raw)
        except msgspec.MsgspecError as error:
            bare = msgspec.json.decode(raw, type=_Bare)
            _log.warning("%s: %s cannot be decoded: %s", self.path, "/".join(bare.metadata.key), error)
            known = self.objects.pop(bare.metadata.key, None)
            if known is not None:
                self._consumer(DELETED, known)
            return None


async def all_synced(reflectors: Sequence[Reflector[Any]]) -> None:
    for reflector in reflectors:
        await reflector.synced.wait()


async def relist_all(reflectors: Sequence[Reflector[Any]]) -> None:
    """After it, nothing that was written before the call is missing."""
    for reflector in reflectors:
        reflector.relist()
    await all_synced(reflectors)


async def lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Lines of any length: a pod can be larger than the buffer of a line reader."""
    rest = bytearray()
    async for chunk in chunks:
        if b"\n" not in chunk:
            rest += chunk
            continue
        first, *complete, last = chunk.split(b"\n")
        rest += first
        if rest:
            yield bytes(rest)
        for line in complete:
            if line:
                yield line
        rest = bytearray(last)


def _is_visible(raw: msgspec.Raw) -> bool:
    text = bytes(raw) if _SCOPE else b""
    return not _SCOPE or any(part in text for part in _SCOPE)


class _ListMetadata(msgspec.Struct, rename={"resource_version": "resourceVersion", "next_page": "continue"}):
    resource_version: str = ""
    next_page: str = ""


class _List(msgspec.Struct):
    metadata: _ListMetadata
    items: list[msgspec.Raw] | None = None


class _Change(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Bare(msgspec.Struct):
    metadata: Metadata


class _Status(msgspec.Struct):
    code: int = 500
    reason: str | None = None
    message: str | None = None
