"""The write deadline: no write of this process is sent after its lease may have passed to another.

The clock is the machine's time since boot, which also counts while the process is stopped or the machine is suspended.
Only this clock is read: nothing is compared between machines.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import BytesPayload

from scheduler.client.errors import NotLeader


def seconds_since_boot() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class WriteDeadline:
    """Passed until `extend_to`, and again from that moment on. Written by one thread, read by any."""

    def __init__(self, write_seconds: float, clock: Callable[[], float] = seconds_since_boot) -> None:
        """A write may take so many seconds at the API server: it can come into effect so long after the deadline."""
        self.write_seconds = write_seconds
        self._clock = clock
        self._deadline = -inf

    @property
    def is_ahead(self) -> bool:
        return self.seconds_left > 0

    @property
    def seconds_left(self) -> float:
        return self._deadline - self._clock()

    def extend_to(self, deadline: float) -> None:
        self._deadline = deadline

    def expire(self) -> None:
        self._deadline = -inf

    def check(self) -> None:
        if not self.is_ahead:
            raise NotLeader("nothing was written: this process does not hold the lease")


class TimelyBody(BytesPayload):
    """The body of a write. The deadline is checked again when it is sent: a plan may have run in between."""

    def __init__(self, value: bytes, write_deadline: WriteDeadline) -> None:
        super().__init__(value)
        self._write_deadline = write_deadline

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        self._write_deadline.check()
        await super().write_with_length(writer, content_length)
