"""An event loop in a thread of its own: a plan that blocks the scheduler's loop for seconds does not block it.

Probes, metrics and the renewal of the lease run in it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class BackgroundLoop:
    """`with BackgroundLoop() as background:`; what still runs at the end is cancelled."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="background", daemon=True)

    def __enter__(self) -> BackgroundLoop:
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _run(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._started.set()
        await self._stop.wait()

    async def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it in the background loop; cancelled together with the caller."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))
