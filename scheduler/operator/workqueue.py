"""Work queue of the controller: a job is queued at most once and never reconciled by two workers at a time.

A job that changes while it is reconciled is queued once more. Failures back off per job. New jobs have a queue of their
own: when many jobs are submitted at once, follow-up work on earlier jobs must not delay the first pods of later ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from scheduler.operator.job_cache import JobKey

_FIRST_BACKOFF, _LONGEST_BACKOFF = 0.1, 30.0  # seconds


class WorkQueue:
    """`get` a job from one of the two queues, reconcile it, then call `done`."""

    def __init__(self, is_new: Callable[[JobKey], bool]) -> None:
        self._is_new = is_new
        self._queues: dict[bool, asyncio.Queue[JobKey]] = {True: asyncio.Queue(), False: asyncio.Queue()}
        self._dirty: set[JobKey] = set()
        self._processing: set[JobKey] = set()
        self._failures: dict[JobKey, int] = {}
        self._timers: dict[JobKey, asyncio.TimerHandle] = {}
        self._is_closed = False
        self._idle = asyncio.Event()  # once closed

    def add(self, key: JobKey) -> None:
        if key in self._dirty:
            return
        self._dirty.add(key)
        if key not in self._processing:
            self._enqueue(key)

    async def get(self, *, new: bool) -> JobKey:
        key = await self._queues[new].get()
        self._dirty.discard(key)
        self._processing.add(key)
        return key

    def done(self, key: JobKey) -> None:
        self._processing.discard(key)
        if key in self._dirty:
            self._enqueue(key)
        if self._is_closed and not self._processing:
            self._idle.set()

    async def close(self) -> None:
        """Hand out no more jobs; returns when those that were handed out are done."""
        self._is_closed = True
        for queue in self._queues.values():
            while not queue.empty():
                queue.get_nowait()
        if self._processing:
            await self._idle.wait()

    def add_after(self, key: JobKey, seconds: float) -> None:
        """Replaces an earlier timer of the job: each reconciliation computes the next due time anew."""
        self.cancel(key)
        self._timers[key] = asyncio.get_running_loop().call_later(max(0.0, seconds), self._on_timer, key)

    def cancel(self, key: JobKey) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    def failed(self, key: JobKey) -> None:
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        self.add_after(key, min(_FIRST_BACKOFF * 2 ** min(failures, 16), _LONGEST_BACKOFF))

    def succeeded(self, key: JobKey) -> None:
        self._failures.pop(key, None)

    def _enqueue(self, key: JobKey) -> None:
        if not self._is_closed:
            self._queues[self._is_new(key)].put_nowait(key)

    def _on_timer(self, key: JobKey) -> None:
        self._timers.pop(key, None)
        self.add(key)
