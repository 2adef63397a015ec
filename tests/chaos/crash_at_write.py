"""`python -m tests.chaos.doomed WRITES before|after --kubeconfig FILE …`: a scheduler that dies with one of its writes.

A kill from outside comes too late to part the bindings of a gang: they are all on their way by then. Here writes go one
after the other, in any order where the scheduler does not wait for one before it begins the next; and the process ends
itself just before, or just after, the last one that it is granted is carried out.
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
from tests.chaos.faults import Faults
from tests.chaos.proxy import Proxy
from tests.chaos.shaky import start, write_kubeconfig

_OVERTAKING = 0.05  # seconds by which a write may be late


class DoomedProxy(Proxy):
    """Passes everything on, and lets events pass uncounted: nobody's fate hangs on them."""

    def __init__(self, access: Access, writes: int, *, carried_out: bool) -> None:
        super().__init__(access, Faults(0, rate=0))
        self._left, self._carried_out = writes, carried_out
        self._one_by_one, self._chance = asyncio.Lock(), random.Random(writes)

    async def _pass_on(self, request: web.Request, *, cut: bool) -> web.StreamResponse:
        if request.method == "GET" or request.path.endswith("/events"):
            return await super()._pass_on(request, cut=cut)
        await asyncio.sleep(self._chance.uniform(0, _OVERTAKING))
        async with self._one_by_one:
            self._left -= 1
            if self._left <= 0 and not self._carried_out:
                os.kill(os.getpid(), signal.SIGKILL)
            answer = await super()._pass_on(request, cut=cut)
            if self._left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return answer


def run(words: list[str]) -> int:
    writes, when, *flags = words
    place = flags.index("--kubeconfig") + 1
    access = Access.from_kubeconfig(Path(flags[place]))
    address = start(DoomedProxy(access, int(writes), carried_out=when == "after"))
    flags[place] = str(write_kubeconfig(Path("doomed.kubeconfig").absolute(), address))
    return main(flags)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
