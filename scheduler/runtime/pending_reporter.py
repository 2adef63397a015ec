"""Writes why pods are pending, as conditions and events: coalesced, and bounded in rate.

The first reason of a pod is written at once. A changed reason waits for an interval that doubles with every write about
the pod, and then for the write budget, which all changed reasons share: a change of one node can change the reasons of
all pending pods. Only the newest reason is written.

A binding never waits for a reason. The trap: a reason that arrives after the binding would set PodScheduled to False on
a bound pod; so each write carries the pod's resourceVersion and is rejected there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush

from scheduler.client import ApiError, Unreachable
from scheduler.core.actions import Report
from scheduler.runtime import requests
from scheduler.runtime.cache import Cache
from scheduler.runtime.convert import pending_reason
from scheduler.runtime.event_recorder import EventRecorder, pod_reference
from scheduler.runtime.metrics import Metrics

_FIRST_INTERVAL, _LONGEST_INTERVAL = 1.0, 60.0  # seconds, between two writes about one pod
_QUIET_INTERVALS = 4  # after as many intervals without a change the next interval is the first again
_MAX_CONCURRENT_WRITES = 8
_RATE = 4.0  # writes per second
_BURST = 16.0  # writes
_TOLERANCE = 1e-6  # seconds, of rounding

_log = logging.getLogger(__name__)


class WriteBudget:
    """A rate in the long run, and a burst where that serves all that wait, in the time of the event loop.

    A burst that serves only a part would make the API server's load grow with the number of pending pods, and those
    that it leaves out would wait all the same.
    """

    def __init__(self) -> None:
        self._left = _BURST
        self._counted_at = asyncio.get_running_loop().time()
        self._next = self._counted_at  # of those that come one by one

    def allows(self, waiting: int) -> bool:
        """Whether one of so many waiting writes may start now."""
        self._count()
        return waiting <= self._left or self.delay() <= _TOLERANCE

    def delay(self) -> float:
        """Seconds until the next write may start."""
        self._count()
        now = asyncio.get_running_loop().time()
        return max(self._next - now, (1 - self._left) / _RATE, 0.0)

    def spend(self) -> None:
        self._count()
        self._left -= 1
        self._next = max(self._next, self._counted_at) + 1 / _RATE

    def _count(self) -> None:
        now = asyncio.get_running_loop().time()
        self._left = min(self._left + (now - self._counted_at) * _RATE, _BURST)
        self._counted_at = now


@dataclass(slots=True, eq=False)
class _PendingPod:
    """What was written about a pending pod, and what is to be written."""

    wanted: Report
    written: tuple[str, str]  # reason and message
    written_at: float
    interval: float = 0.0
    waits: bool = False  # in one of the reporter's queues, or in flight

    @property
    def is_stale(self) -> bool:
        return self.written != (self.wanted.reason, self.wanted.message)


class PendingReporter:
    """`report` returns at once; `drain` waits for the first reasons, not for changed ones."""

    def __init__(
        self,
        events: EventRecorder,
        cache: Cache,
        metrics: Metrics,
        previous_write: Callable[[str], asyncio.Task[bool] | None],
    ) -> None:
        self._events, self._cache, self._metrics = events, cache, metrics
        self._previous_write = previous_write  # in flight to the same pod
        self._pods: dict[str, _PendingPod] = {}  # by uid
        self._first: dict[str, None] = {}  # pods without any reason yet, in order
        self._changed: dict[str, None] = {}  # pods with a changed reason whose interval is over
        self._later: list[tuple[float, str]] = []  # a heap: when an interval ends
        self._budget = WriteBudget()
        self._writes: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def report(self, report: Report) -> bool:
        """Note the reason; whether it differs from the last one."""
        uid, newest = report.pod.uid, (report.reason, report.message)
        pod = self._pods.get(uid)
        if pod is None:
            found = self._cache.api_pods.get(uid)
            written = pending_reason(found) if found else ("", "")
            pod = self._pods[uid] = _PendingPod(report, written, -_LONGEST_INTERVAL)
        elif (pod.wanted.reason, pod.wanted.message) == newest:
            return False
        pod.wanted = report
        if newest == pod.written:
            if uid in self._changed:
                del self._changed[uid]
                pod.waits = False
            return False
        self._metrics.decisions.add("report")
        self._schedule(uid, pod)
        return True

    def forget(self, uid: str) -> None:
        """The pod is being bound, or it is gone."""
        self._pods.pop(uid, None)
        self._first.pop(uid, None)
        self._changed.pop(uid, None)

    async def drain(self) -> None:
        while self._writes or self._first:
            await asyncio.wait(list(self._writes))

    def _schedule(self, uid: str, pod: _PendingPod) -> None:
        if pod.waits:
            return
        pod.waits = True
        now = asyncio.get_running_loop().time()
        if pod.written == ("", ""):
            self._first[uid] = None
        elif (due := pod.written_at + pod.interval) <= now:
            self._changed[uid] = None
        else:
            heappush(self._later, (due, uid))
        self._start_writes()

    def _start_writes(self) -> None:
        """Start what may be written now; a timer continues when more may be written."""
        now = asyncio.get_running_loop().time()
        while self._later and self._later[0][0] <= now:
            _, uid = heappop(self._later)
            pod = self._pods.get(uid)
            if pod is not None and pod.is_stale:
                self._changed[uid] = None
            elif pod is not None:
                pod.waits = False
        while self._first and len(self._writes) < _MAX_CONCURRENT_WRITES:
            self._start_write(self._first, is_first=True)
        while self._changed and len(self._writes) < _MAX_CONCURRENT_WRITES:
            if not self._budget.allows(len(self._changed) + len(self._later)):
                break
            self._budget.spend()
            self._start_write(self._changed, is_first=False)
        self._set_timer(now)

    def _set_timer(self, now: float) -> None:
        times = [self._later[0][0]] if self._later else []
        if self._changed and len(self._writes) < _MAX_CONCURRENT_WRITES:
            times.append(now + self._budget.delay())
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(min(times), self._start_writes) if times else None

    def _start_write(self, waiting: dict[str, None], *, is_first: bool) -> None:
        uid = next(iter(waiting))
        del waiting[uid]
        pod = self._pods[uid]
        task = asyncio.create_task(self._write(uid, pod, is_first=is_first))
        self._writes.add(task)
        task.add_done_callback(lambda done: self._finished(uid, pod, done))

    def _finished(self, uid: str, pod: _PendingPod, task: asyncio.Task[None]) -> None:
        self._writes.discard(task)
        if task.cancelled():
            return  # the process ends: no further write may start
        pod.waits = False
        pod.interval = self._next_interval(pod)
        pod.written_at = asyncio.get_running_loop().time()
        if self._pods.get(uid) is pod and pod.is_stale:
            pod.waits = True
            heappush(self._later, (pod.written_at + pod.interval, uid))
        self._start_writes()

    def _next_interval(self, pod: _PendingPod) -> float:
        quiet = asyncio.get_running_loop().time() - pod.written_at
        if not pod.interval or quiet > _QUIET_INTERVALS * pod.interval:
            return _FIRST_INTERVAL
        return min(2 * pod.interval, _LONGEST_INTERVAL)

    async def _write(self, uid: str, pod: _PendingPod, *, is_first: bool) -> None:
        if (previous := self._previous_write(uid)) is not None:
            await asyncio.wait([previous])
        if self._pods.get(uid) is not pod or uid not in self._cache.cluster.pending:
            return  # bound meanwhile, by whichever scheduler
        report, version = pod.wanted, self._cache.assumed_pods.version(uid)
        try:
            found = self._cache.api_pods.get(uid)
            await requests.set_pending_reason(
                self._events.client, report.pod, report.reason, report.message, version, found
            )
        except (ApiError, Unreachable) as error:
            self._metrics.actions.add("report", "error")
            if not isinstance(error, ApiError) or not (error.is_missing or error.is_conflict):
                fields = {"action": "report", "object": uid, "error": str(error)}
                _log.warning("action failed", extra={"fields": fields})
            return  # a conflict: the pod has changed meanwhile, and the watch will show how
        pod.written = report.reason, report.message
        self._metrics.actions.add("report", "success")
        name = "/".join(report.pod.key)
        _log.info("decision", extra={"fields": {"action": "report", "pod": name, "reason": report.message}})
        wrote_event = self._events.record_series(
            pod_reference(report.pod), by=report.pod.scheduler, reason="FailedScheduling", note=report.message
        )
        if wrote_event and not is_first:
            self._budget.spend()
