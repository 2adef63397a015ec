"""`python -m tests.chaos.outage --kubeconfig FILE …`: the API server goes away with the answer to the first binding.

It has carried the binding out, and nobody knows. When it is back, requests are answered at once, and the watches, which
would tell, only some seconds later: their back-off has grown meanwhile.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from aiohttp import web

from scheduler.__main__ import main
from scheduler.client import Access
from tests.chaos.faults import Faults
from tests.chaos.proxy import Proxy, hung_up
from tests.chaos.shaky import start, write_kubeconfig

_AWAY = 5.0  # seconds; longer than a request is tried again
_WATCHES_AWAY = 8.0


class OutageProxy(Proxy):
    """One outage, then a good connection."""

    def __init__(self, access: Access) -> None:
        super().__init__(access, Faults(0, rate=0))
        self._watching: list[web.Request] = []
        self._began: float | None = None

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        is_watch = "watch" in request.query
        if self._is_away(_WATCHES_AWAY if is_watch else _AWAY):
            return hung_up(request, web.Response())
        if is_watch:
            self._watching.append(request)
        response = await super()._handle(request)
        if self._began is None and request.path.endswith("/binding"):
            self._began = asyncio.get_running_loop().time()
            for one in self._watching:
                hung_up(one, response)
            return hung_up(request, response)
        return response

    def _is_away(self, seconds: float) -> bool:
        return self._began is not None and asyncio.get_running_loop().time() < self._began + seconds


def run(flags: list[str]) -> int:
    place = flags.index("--kubeconfig") + 1
    address = start(OutageProxy(Access.from_kubeconfig(Path(flags[place]))))
    flags[place] = str(write_kubeconfig(Path("outage.kubeconfig").absolute(), address))
    return main(flags)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
