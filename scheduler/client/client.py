"""Requests to one API server, with retries of transient errors.

What a caller must handle itself (409, 404, 410, 422) is raised at once. A POST that is retried may have succeeded the
first time: AlreadyExists, or "already assigned" for a binding, can mean that the earlier attempt succeeded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any
from urllib.parse import urlencode

import aiohttp
import msgspec
from yarl import URL

from scheduler.client.access import Access
from scheduler.client.errors import ApiError, Unreachable
from scheduler.client.sockets import socket_factory
from scheduler.client.write_deadline import TimelyBody, WriteDeadline

_TRANSIENT = frozenset({429, 500, 502, 503, 504})
_ATTEMPTS = 6
_FIRST_PAUSE = 0.1  # seconds, doubled after every attempt
_LONGEST_PAUSE = 5.0
_REQUEST_SECONDS = 30.0
_CONNECT_SECONDS = 5.0
_SERVER_SHARE = 0.8  # of the time limit of a write
_FIRST_ERROR = 400  # statuses from here on are errors

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"

Query = Mapping[str, str]


class Client:
    """`async with Client(access) as client:`; watches do not count against the number of connections.

    The API server gives up on a write before the client does. With a write deadline, it does so after the deadline's
    `write_seconds`, no write is sent after the deadline, and none that is not delivered outlives the process.
    """

    def __init__(
        self,
        access: Access,
        *,
        connections: int = 32,
        attempts: int = _ATTEMPTS,
        seconds: float = _REQUEST_SECONDS,
        write_deadline: WriteDeadline | None = None,
        user_agent: str = "muster-scheduler",
    ) -> None:
        self._user_agent = user_agent
        self._access, self._attempts, self._seconds, self._write_deadline = access, attempts, seconds, write_deadline
        self._free = asyncio.Semaphore(connections)  # waiting for the connector's own limit would count as a timeout
        self._requests: aiohttp.ClientSession | None = None
        self._watches: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Client:
        self._requests, self._watches = self._session(), self._session()
        return self

    async def __aexit__(self, *_: object) -> None:
        for session in (self._requests, self._watches):
            if session is not None:
                await session.close()

    async def request(
        self, method: str, path: str, body: object = None, *, query: Query | None = None, content_type: str = JSON
    ) -> bytes:
        """The response body. A body of bytes is sent as is, anything else as JSON."""
        write_deadline = self._write_deadline if method != "GET" else None
        if method != "GET":
            query = {**(query or {}), "timeout": f"{self._write_seconds:g}s"}
        url = self._url(path, query)
        data = body if isinstance(body, bytes) or body is None else msgspec.json.encode(body)
        for attempt in range(1, self._attempts + 1):
            pause = min(_FIRST_PAUSE * 2 ** (attempt - 1), _LONGEST_PAUSE)
            try:
                async with self._free:
                    status, retry_after, answer = await self._attempt(method, url, data, content_type, write_deadline)
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                if attempt == self._attempts:
                    raise Unreachable(f"{method} {path}: {error or type(error).__name__}") from error
            else:
                if status < _FIRST_ERROR:
                    return answer
                if status not in _TRANSIENT or attempt == self._attempts:
                    raise ApiError.read(status, answer)
                pause = _retry_delay(retry_after, pause)
            await asyncio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    @property
    def _write_seconds(self) -> float:
        """How long the API server may take: when the client gives up on a write, its outcome is decided."""
        limit = _SERVER_SHARE * self._seconds
        return min(limit, self._write_deadline.write_seconds) if self._write_deadline else limit

    async def _attempt(
        self, method: str, url: URL, data: bytes | None, content_type: str, write_deadline: WriteDeadline | None
    ) -> tuple[int, str | None, bytes]:
        assert self._requests is not None, "use `async with Client(...)`"
        headers = {"Content-Type": content_type, **self._access.headers()}
        body: bytes | TimelyBody | None = data
        if write_deadline is not None:
            write_deadline.check()
            assert data, "a write has a body: the deadline is checked when that is sent"
            body = TimelyBody(data, write_deadline)
        async with self._requests.request(method, url, data=body, headers=headers) as response:
            return response.status, response.headers.get("Retry-After"), await response.read()

    async def get(self, path: str, *, query: Query | None = None) -> Any:
        return msgspec.json.decode(await self.request("GET", path, query=query))

    async def create(self, path: str, body: object) -> Any:
        return msgspec.json.decode(await self.request("POST", path, body))

    async def replace(self, path: str, body: object) -> Any:
        """PUT: a conflict (409) if the body's resourceVersion is outdated."""
        return msgspec.json.decode(await self.request("PUT", path, body))

    async def patch(self, path: str, change: object, *, content_type: str = MERGE_PATCH) -> Any:
        return msgspec.json.decode(await self.request("PATCH", path, change, content_type=content_type))

    async def delete(self, path: str, *, uid: str = "", propagation: str = "") -> None:
        """With a uid precondition a newer object of the same name is kept (409)."""
        options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if uid:
            options["preconditions"] = {"uid": uid}
        if propagation:
            options["propagationPolicy"] = propagation
        await self.request("DELETE", path, options)

    def stream(self, path: str, query: Query, *, idle: float) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """A streaming response; it times out when nothing arrives for `idle` seconds."""
        assert self._watches is not None, "use `async with Client(...)`"
        timeout = aiohttp.ClientTimeout(total=None, connect=_CONNECT_SECONDS, sock_read=idle)
        return self._watches.get(self._url(path, query), timeout=timeout, headers=self._access.headers())

    def _url(self, path: str, query: Query | None) -> URL:
        tail = f"?{urlencode(query)}" if query else ""
        return URL(f"{self._access.server}{path}{tail}", encoded=True)

    def _session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,
                ssl=self._access.trust,
                keepalive_timeout=60,
                socket_factory=socket_factory(self._write_seconds, discard=self._write_deadline is not None),
            ),
            timeout=aiohttp.ClientTimeout(total=self._seconds, sock_connect=_CONNECT_SECONDS),
            # Compression costs both sides more than a local network does.
            headers={"Accept": JSON, "Accept-Encoding": "identity", "User-Agent": self._user_agent},
        )


def _retry_delay(retry_after: str | None, otherwise: float) -> float:
    try:
        return min(max(float(retry_after or ""), otherwise), _LONGEST_PAUSE)
    except ValueError:
        return otherwise
