"""What the scheduler and the operator have in common as processes: probes, metrics, and the leader election.

/healthz fails when the main loop is stuck, or when the lease has run out without the process having ended. A replica
without the lease is healthy, and ready once it has listed everything.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from scheduler.client import Access, WriteDeadline
from scheduler.runtime.background_loop import BackgroundLoop
from scheduler.runtime.leader_election import LeaderElection
from scheduler.runtime.leadership import Leadership
from scheduler.runtime.probes import metrics, probes

# A plan of several seconds is no reason to restart. One that takes a minute is: no other pod is decided meanwhile.
STUCK_SECONDS = 60.0
_INTERVAL = 1.0  # seconds

_log = logging.getLogger(__name__)


class Heartbeat:
    """Whether the loop that `start` is called in still comes round, as another thread sees it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last = clock()

    def start(self) -> None:
        self._last = self._clock()
        asyncio.get_running_loop().call_later(_INTERVAL, self.start)

    @property
    def is_recent(self) -> bool:
        return self._clock() - self._last < STUCK_SECONDS


@dataclass(frozen=True)
class Addresses:
    """host:port, of probes and of metrics."""

    probes: str
    metrics: str


def is_address(text: str) -> bool:
    """HOST:PORT."""
    host, _, port = text.rpartition(":")
    return bool(host) and port.isascii() and port.isdigit()


class Replica:
    """Make it in the main event loop. Clients of this process must have its write deadline."""

    def __init__(self, background: BackgroundLoop, election: LeaderElection | None) -> None:
        self._background = background
        self._heartbeat = Heartbeat()
        self._heartbeat.start()
        self.leadership = Leadership(election) if election else None  # None: the only one, always leading

    @property
    def write_deadline(self) -> WriteDeadline | None:
        return self.leadership.write_deadline if self.leadership else None

    @asynccontextmanager
    async def serving(
        self, addresses: Addresses, *, ready: Callable[[], bool], numbers: Callable[[], str]
    ) -> AsyncIterator[None]:
        """Serve probes and metrics, and log where."""

        def unready() -> str:
            return "" if ready() else "not all objects have been listed"

        async with (
            probes(self._background, addresses.probes, health=self._problem, ready=unready) as address,
            metrics(self._background, addresses.metrics, numbers) as metrics_address,
        ):
            _log.info("listening", extra={"fields": {"address": address, "metrics": metrics_address}})
            yield

    @asynccontextmanager
    async def participating(self, access: Access) -> AsyncIterator[None]:
        """Take part in the election until the end of the block. A stuck replica gives up the lease."""
        if self.leadership is None:
            yield
            return
        async with self.leadership.participate(self._background, access, lambda: self._heartbeat.is_recent):
            yield

    def _problem(self) -> str:
        if not self._heartbeat.is_recent:
            return f"the event loop has been blocked for {STUCK_SECONDS:g} s"
        return "the lease could not be renewed" if self.leadership and self.leadership.is_expired else ""
