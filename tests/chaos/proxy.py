"""A bad connection to a good API server: plain HTTP on loopback in front, the real thing behind.

It never invents a success. What it does invent is every kind of failure, and the one that hurts most: a request that
was carried out, and whose answer never arrives.
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
from tests.chaos.faults import Fault, Faults

_SILENCE = 2.0  # seconds without an answer; then the connection is cut
_LARGEST_BODY = 8 << 20
_REASONS = {
    Fault.CONFLICT: "Conflict",
    Fault.TOO_MANY: "TooManyRequests",
    Fault.BROKEN: "InternalError",
    Fault.UNAVAILABLE: "ServiceUnavailable",
    Fault.GONE: "Expired",
}


class Proxy:
    """`async with Proxy(access, faults).serving() as address:`"""

    def __init__(self, access: Access, faults: Faults) -> None:
        self._access, self._faults = access, faults
        self._behind: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        application = web.Application(client_max_size=_LARGEST_BODY)
        application.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        connector = aiohttp.TCPConnector(limit=0, ssl=self._access.trust)
        patience = aiohttp.ClientTimeout(total=None)
        async with aiohttp.ClientSession(connector=connector, timeout=patience) as self._behind:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            try:
                host, port = runner.addresses[0]
                yield f"http://{host}:{port}"
            finally:
                await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("watch"):
            fault = self._faults.of_watch()
            return _invented(request, fault) if fault else await self._watch(request)
        fault = self._faults.of_request(request.method)
        if fault is None or fault is Fault.CUT_AFTER:
            return await self._pass_on(request, cut=fault is not None)
        if fault is Fault.SILENCE:
            if self._faults.part() < 0.5:
                await self._pass_on(request, cut=False)
            await asyncio.sleep(_SILENCE)
        return _invented(request, fault)

    async def _pass_on(self, request: web.Request, *, cut: bool) -> web.StreamResponse:
        async with self._ask(request, await request.read()) as answer:
            body = await answer.read()
        headers = {"Content-Type": answer.headers.get("Content-Type", "application/json")}
        if not cut:
            return web.Response(status=answer.status, body=body, headers=headers)
        response = web.StreamResponse(status=answer.status, headers=headers)
        response.content_length = len(body)
        await response.prepare(request)
        await response.write(body[: int(len(body) * self._faults.part())])
        return hung_up(request, response)

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        async with self._ask(request, b"") as answer:
            response = web.StreamResponse(status=answer.status, headers={"Content-Type": "application/json"})
            response.enable_chunked_encoding()
            await response.prepare(request)
            async for line in lines(answer.content.iter_any()):
                fault = self._faults.of_line()
                if fault is Fault.LINE_CUT:
                    await response.write(line[: int(len(line) * self._faults.part())])
                    return hung_up(request, response)
                if fault is Fault.LINE_GONE:
                    await response.write(b'{"type":"ERROR","object":' + _status(Fault.GONE) + b"}\n")
                    return response
                await response.write(line + b"\n")
        return response

    def _ask(self, request: web.Request, body: bytes) -> aiohttp.client._RequestContextManager:
        assert self._behind is not None
        url = URL(f"{self._access.server}{request.raw_path}", encoded=True)
        kept = {name: request.headers[name] for name in ("Accept", "Content-Type") if name in request.headers}
        return self._behind.request(request.method, url, data=body or None, headers=kept)


def _invented(request: web.Request, fault: Fault) -> web.StreamResponse:
    if fault not in _REASONS:
        return hung_up(request, web.Response())
    headers = {"Retry-After": "1"} if fault is Fault.TOO_MANY else {}
    return web.Response(status=int(fault), body=_status(fault), headers=headers, content_type="application/json")


def _status(fault: Fault) -> bytes:
    text = f'{{"kind":"Status","apiVersion":"v1","code":{fault},"reason":"{_REASONS[fault]}","message":"invented"}}'
    return text.encode()


def hung_up(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return response
