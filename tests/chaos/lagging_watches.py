"""`python -m tests.chaos.lagging_watches SECONDS --kubeconfig FILE …`: a scheduler whose watches lag behind.

Lists and writes are not delayed. PodGroups lag twice as much as pods: then a gang can be unknown whose pods are known,
and without a list of its own a new leader would give its nodes to other pods.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
from aiohttp import web

from scheduler.__main__ import main
from scheduler.client import Access
from scheduler.client.reflector import lines
from tests.chaos.api_faults import Faults
from tests.chaos.proxy import Proxy
from tests.chaos.unreliable_connection import start_proxy, write_kubeconfig


class LaggingProxy(Proxy):
    """Forwards everything, watch events after a delay and in order."""

    def __init__(self, access: Access, seconds: float) -> None:
        super().__init__(access, Faults(0, rate=0))
        self._seconds = seconds

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        lag = self._seconds * (2 if "podgroups" in request.path else 1)
        async with self._request(request, b"") as answer:
            response = web.StreamResponse(status=answer.status, headers={"Content-Type": "application/json"})
            response.enable_chunked_encoding()
            await response.prepare(request)
            async for line in _later(answer, lag):
                await response.write(line + b"\n")
        return response


async def _later(answer: aiohttp.ClientResponse, lag: float) -> AsyncIterator[bytes]:
    loop, arrived = asyncio.get_running_loop(), asyncio.Queue[tuple[float, bytes | None]]()

    async def read() -> None:
        try:
            async for line in lines(answer.content.iter_any()):
                arrived.put_nowait((loop.time(), line))
        finally:
            arrived.put_nowait((loop.time(), None))

    reading = asyncio.create_task(read())
    try:
        while True:
            moment, line = await arrived.get()
            await asyncio.sleep(moment + lag - loop.time())
            if line is None:
                return
            yield line
    finally:
        reading.cancel()


def run(arguments: list[str]) -> int:
    seconds, *flags = arguments
    position = flags.index("--kubeconfig") + 1
    address = start_proxy(LaggingProxy(Access.from_kubeconfig(Path(flags[position])), float(seconds)))
    flags[position] = str(write_kubeconfig(Path("proxy.kubeconfig").absolute(), address))
    return main(flags)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
