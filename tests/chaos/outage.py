"""`python -m tests.chaos.outage --kubeconfig FILE …`: an API outage at the response to the first binding.

The binding was carried out, but its response is lost. After the outage requests succeed at once, and watches, which
would show the binding, only some seconds later: their back-off has grown meanwhile.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from aiohttp import web

from scheduler.__main__ import main
from scheduler.client import Access
from tests.chaos.api_faults import Faults
from tests.chaos.proxy import Proxy, abort_connection
from tests.chaos.unreliable_connection import start_proxy, write_kubeconfig

_REQUESTS_DOWN = 5.0  # seconds; longer than the retries of a request
_WATCHES_DOWN = 8.0


class OutageProxy(Proxy):
    """One outage, then a working connection."""

    def __init__(self, access: Access) -> None:
        super().__init__(access, Faults(0, rate=0))
        self._watches: list[web.Request] = []
        self._started: float | None = None

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        is_watch = "watch" in request.query
        if self._is_down(_WATCHES_DOWN if is_watch else _REQUESTS_DOWN):
            return abort_connection(request, web.Response())
        if is_watch:
            self._watches.append(request)
        response = await super()._handle(request)
        if self._started is None and request.path.endswith("/binding"):
            self._started = asyncio.get_running_loop().time()
            for one in self._watches:
                abort_connection(one, response)
            return abort_connection(request, response)
        return response

    def _is_down(self, seconds: float) -> bool:
        return self._started is not None and asyncio.get_running_loop().time() < self._started + seconds


def run(flags: list[str]) -> int:
    position = flags.index("--kubeconfig") + 1
    address = start_proxy(OutageProxy(Access.from_kubeconfig(Path(flags[position]))))
    flags[position] = str(write_kubeconfig(Path("outage.kubeconfig").absolute(), address))
    return main(flags)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
