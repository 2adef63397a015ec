"""A proxy that injects faults: plain HTTP on loopback in front, the real API server behind.

It never fakes a success. It injects every kind of failure, also the worst: a request that was carried out and whose
response is lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web
from yarl import URL

from scheduler.client import Access
from scheduler.client.reflector import lines
from tests.chaos.api_faults import Fault, Faults

_NO_RESPONSE = 2.0  # seconds without a response; then the connection is closed
_LARGEST_BODY = 8 << 20
_REASONS = {
    Fault.CONFLICT: "Conflict",
    Fault.TOO_MANY: "TooManyRequests",
    Fault.INTERNAL_ERROR: "InternalError",
    Fault.UNAVAILABLE: "ServiceUnavailable",
    Fault.EXPIRED: "Expired",
}


class Proxy:
    """`async with Proxy(access, faults).serving() as address:`"""

    def __init__(self, access: Access, faults: Faults) -> None:
        self._access, self._faults = access, faults
        self._upstream: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        application = web.Application(client_max_size=_LARGEST_BODY)
        application.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        connector = aiohttp.TCPConnector(limit=0, ssl=self._access.trust)
        timeout = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as self._upstream:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            try:
                host, port = runner.addresses[0]
                yield f"http://{host}:{port}"
            finally:
                await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("watch"):
            fault = self._faults.for_watch()
            return _injected_response(request, fault) if fault else await self._watch(request)
        fault = self._faults.for_request(request.method)
        if fault is None or fault is Fault.CUT_AFTER:
            return await self._forward(request, cut=fault is not None)
        if fault is Fault.NO_RESPONSE:
            if self._faults.fraction() < 0.5:
                await self._forward(request, cut=False)
            await asyncio.sleep(_NO_RESPONSE)
        return _injected_response(request, fault)

    async def _forward(self, request: web.Request, *, cut: bool) -> web.StreamResponse:
        async with self._request(request, await request.read()) as answer:
            body = await answer.read()
        headers = {"Content-Type": answer.headers.get("Content-Type", "application/json")}
        if not cut:
            return web.Response(status=answer.status, body=body, headers=headers)
        response = web.StreamResponse(status=answer.status, headers=headers)
        response.content_length = len(body)
        await response.prepare(request)
        await response.write(body[: int(len(body) * self._faults.fraction())])
        return abort_connection(request, response)

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        async with self._request(request, b"") as answer:
            response = web.StreamResponse(status=answer.status, headers={"Content-Type": "application/json"})
            response.enable_chunked_encoding()
            await response.prepare(request)
            async for line in lines(answer.content.iter_any()):
                fault = self._faults.for_line()
                if fault is Fault.WATCH_CUT:
                    await response.write(line[: int(len(line) * self._faults.fraction())])
                    return abort_connection(request, response)
                if fault is Fault.WATCH_EXPIRED:
                    await response.write(b'{"type":"ERROR","object":' + _status(Fault.EXPIRED) + b"}\n")
                    return response
                await response.write(line + b"\n")
        return response

    def _request(self, request: web.Request, body: bytes) -> aiohttp.client._RequestContextManager:
        assert self._upstream is not None
        url = URL(f"{self._access.server}{request.raw_path}", encoded=True)
        headers = {name: request.headers[name] for name in ("Accept", "Content-Type") if name in request.headers}
        return self._upstream.request(request.method, url, data=body or None, headers=headers)


def _injected_response(request: web.Request, fault: Fault) -> web.StreamResponse:
    if fault not in _REASONS:
        return abort_connection(request, web.Response())
    headers = {"Retry-After": "1"} if fault is Fault.TOO_MANY else {}
    return web.Response(status=int(fault), body=_status(fault), headers=headers, content_type="application/json")


def _status(fault: Fault) -> bytes:
    text = f'{{"kind":"Status","apiVersion":"v1","code":{fault},"reason":"{_REASONS[fault]}","message":"injected"}}'
    return text.encode()


def abort_connection(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return response
