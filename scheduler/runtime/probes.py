"""HTTP servers for probes and for metrics, in the background loop: they answer while a plan blocks the main loop.

They have an address each: kubelets must reach the probes without credentials, and nothing else should reach metrics.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from aiohttp import web

from scheduler.runtime.background_loop import BackgroundLoop

Check = Callable[[], str]  # the problem; empty: none
_METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@asynccontextmanager
async def probes(background: BackgroundLoop, listen: str, *, health: Check, ready: Check) -> AsyncIterator[str]:
    """Serve /healthz, /livez and /readyz on `host:port` and yield the address; port 0 takes a free one."""

    def page(check: Check) -> Callable[[], web.Response]:
        def answer() -> web.Response:
            problem = check()
            return web.Response(text=f"{problem}\n", status=503) if problem else web.Response(text="ok\n")

        return answer

    pages = {"/healthz": page(health), "/livez": page(health), "/readyz": page(ready)}
    async with _serving(background, listen, pages) as address:
        yield address


@asynccontextmanager
async def metrics(background: BackgroundLoop, listen: str, text: Callable[[], str]) -> AsyncIterator[str]:
    """Serve /metrics on `host:port` and yield the address."""
    headers = {"Content-Type": _METRICS_TYPE}
    async with _serving(
        background, listen, {"/metrics": lambda: web.Response(text=text(), headers=headers)}
    ) as address:
        yield address


@asynccontextmanager
async def _serving(
    background: BackgroundLoop, listen: str, pages: Mapping[str, Callable[[], web.Response]]
) -> AsyncIterator[str]:
    runner = await background.call(_start(listen, pages))
    try:
        yield ":".join(map(str, runner.addresses[0][:2]))
    finally:
        await background.call(runner.cleanup())


async def _start(listen: str, pages: Mapping[str, Callable[[], web.Response]]) -> web.AppRunner:
    async def answer(request: web.Request) -> web.Response:
        return pages[request.path]()

    app = web.Application()
    app.add_routes([web.get(path, answer) for path in pages])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        host, _, port = listen.rpartition(":")
        await web.TCPSite(runner, host.strip("[]"), int(port)).start()
    except BaseException:
        await runner.cleanup()
        raise
    return runner
