"""Which jobs to look at next: each at most once in the queue, never two looks at one job at a time, timers included.

A job that changes while it is looked at is looked at once more. Trouble makes the pauses of that one job longer. When
many jobs come at once, what is still to do for those that have their pods must not hold up the pods of the others: new
jobs wait in a line of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from scheduler.operator.world import JobKey

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 30.0  # seconds


class WorkQueue:
    """`get` a job from one of the lines, look at it, then say `done`."""

    def __init__(self, is_new: Callable[[JobKey], bool]) -> None:
        self._is_new = is_new
        self._lines: dict[bool, asyncio.Queue[JobKey]] = {True: asyncio.Queue(), False: asyncio.Queue()}
        self._dirty: set[JobKey] = set()
        self._busy: set[JobKey] = set()
        self._failures: dict[JobKey, int] = {}
        self._timers: dict[JobKey, asyncio.TimerHandle] = {}

    def add(self, key: JobKey) -> None:
        if key in self._dirty:
            return
        self._dirty.add(key)
        if key not in self._busy:
            self._line_up(key)

    async def get(self, *, new: bool) -> JobKey:
        key = await self._lines[new].get()
        self._dirty.discard(key)
        self._busy.add(key)
        return key

    def done(self, key: JobKey) -> None:
        self._busy.discard(key)
        if key in self._dirty:
            self._line_up(key)

    def add_after(self, key: JobKey, seconds: float) -> None:
        """The latest call counts: every look says anew when the next is due."""
        self.cancel(key)
        self._timers[key] = asyncio.get_running_loop().call_later(max(0.0, seconds), self._due, key)

    def cancel(self, key: JobKey) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    def failed(self, key: JobKey) -> None:
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        self.add_after(key, min(_FIRST_PAUSE * 2 ** min(failures, 16), _LONGEST_PAUSE))

    def succeeded(self, key: JobKey) -> None:
        self._failures.pop(key, None)

    def _line_up(self, key: JobKey) -> None:
        self._lines[self._is_new(key)].put_nowait(key)

    def _due(self, key: JobKey) -> None:
        self._timers.pop(key, None)
        self.add(key)
