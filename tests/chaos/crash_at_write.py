"""`python -m tests.chaos.crash_at_write WRITES before|after --kubeconfig FILE …`: a scheduler that crashes at a write.

A kill from outside comes too late to interrupt the bindings of a gang: by then all of them are in flight. Here
concurrent writes are serialized in random order, and the process kills itself just before or just after the given
number of writes.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from pathlib import Path

from aiohttp import web

from scheduler.__main__ import main
from scheduler.client import Access
from tests.chaos.api_faults import Faults
from tests.chaos.proxy import Proxy
from tests.chaos.unreliable_connection import start_proxy, write_kubeconfig

_MAX_DELAY = 0.05  # seconds, random delay of each write


class CrashingProxy(Proxy):
    """Forwards everything; events and renewals of the lease do not count as writes."""

    def __init__(self, access: Access, writes: int, *, after: bool) -> None:
        super().__init__(access, Faults(0, rate=0))
        self._writes_left, self._after = writes, after
        self._lock, self._rng = asyncio.Lock(), random.Random(writes)

    async def _forward(self, request: web.Request, *, cut: bool) -> web.StreamResponse:
        if request.method == "GET" or "/events" in request.path or "/leases" in request.path:
            return await super()._forward(request, cut=cut)
        await asyncio.sleep(self._rng.uniform(0, _MAX_DELAY))
        async with self._lock:
            self._writes_left -= 1
            if self._writes_left <= 0 and not self._after:
                os.kill(os.getpid(), signal.SIGKILL)
            answer = await super()._forward(request, cut=cut)
            if self._writes_left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return answer


def run(arguments: list[str]) -> int:
    writes, when, *flags = arguments
    position = flags.index("--kubeconfig") + 1
    access = Access.from_kubeconfig(Path(flags[position]))
    address = start_proxy(CrashingProxy(access, int(writes), after=when == "after"))
    flags[position] = str(write_kubeconfig(Path("crashing.kubeconfig").absolute(), address))
    return main(flags)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
