"""HTTP server for /healthz, /readyz and /metrics."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import web


@asynccontextmanager
async def probes(listen: str, *, ready: Callable[[], bool], metrics: Callable[[], str]) -> AsyncIterator[str]:
    """Serve on `host:port` and yield the address; port 0 takes a free one."""

    async def healthz(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readyz(_: web.Request) -> web.Response:
        return web.Response(text="ok\n") if ready() else web.Response(text="not synced yet\n", status=503)

    async def show_metrics(_: web.Request) -> web.Response:
        return web.Response(text=metrics(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})

    app = web.Application()
    app.add_routes([web.get("/healthz", healthz), web.get("/readyz", readyz), web.get("/metrics", show_metrics)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        host, _, port = listen.rpartition(":")
        await web.TCPSite(runner, host.strip("[]"), int(port)).start()
        yield ":".join(map(str, runner.addresses[0][:2]))
    finally:
        await runner.cleanup()
