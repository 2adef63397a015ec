"""Executes actions: assumed at once, written in the background, forgotten when the API server refuses.

Writes to one object keep the order of the decisions; different objects do not wait for each other. After an error the
object is retried with exponential backoff. Changed reasons of the same pod are rate-limited too: while the members of a
large gang are created, each of them would change the reason of all others.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TypeVar

from scheduler.client import ApiError, Client, Unreachable
from scheduler.core.actions import Action, Bind, Evict, Nominate, Release, Report, SetGroupPhase
from scheduler.core.scheduling_types import Key, Pod
from scheduler.core.scheduling_units import STARTED
from scheduler.runtime import requests
from scheduler.runtime.cache import Cache
from scheduler.runtime.convert import pending_reason
from scheduler.runtime.event_recorder import EventRecorder, group_reference, pod_reference
from scheduler.runtime.metrics import Metrics
from scheduler.runtime.podgroup_cache import PendingStatus

_FIRST_BACKOFF, _LONGEST_BACKOFF = 0.2, 30.0  # seconds
_FIRST_REPORT_INTERVAL, _LONGEST_REPORT_INTERVAL = 1.0, 16.0  # seconds, between two status writes about one pod
_MAX_CONCURRENT_STATUS_WRITES = 8  # of reasons why pods are pending
_SERVER_ERROR = 500  # from this status on, the request may have been carried out

_K = TypeVar("_K")
_log = logging.getLogger(__name__)


class PartialGangStart(Exception):
    """Some members of a gang were bound and others were not."""


_EXPECTED_ERRORS = (ApiError, Unreachable, PartialGangStart)  # logged without a traceback


class Executor:
    """`start` assumes the action's result and returns; `drain` waits for all writes in flight."""

    def __init__(self, client: Client, events: EventRecorder, cache: Cache, metrics: Metrics) -> None:
        self._client, self._events, self._cache, self._metrics = client, events, cache, metrics
        self._last: dict[object, asyncio.Task[bool]] = {}
        self._failures: dict[object, int] = {}
        self._gang_bindings: dict[Key, list[asyncio.Task[bool]]] = {}  # the bindings that start a gang
        self._reports: dict[str, Report] = {}  # by uid, the newest reason why a pod is pending
        self._report_intervals: dict[str, float] = {}  # by uid, until the next status write is allowed
        self._status_writes = asyncio.Semaphore(_MAX_CONCURRENT_STATUS_WRITES)
        cache.on_pod_deleted = self._forget_pod

    def start(self, action: Action) -> bool:
        """Execute the action in the background; False when it would change nothing."""
        pods, podgroups = self._cache.assumed_pods, self._cache.podgroups
        match action:
            case Bind(pod, node):
                self._reports.pop(pod.uid, None)
                pods.assume_bound(pod.uid, node)
                self._run("bind", pod.uid, self._bind(action), self._binding_failed(pod))
            case Evict(pod):
                pods.assume_deleted(pod.uid)
                self._run("evict", pod.uid, self._evict(action), self._forget_after_backoff(pod, pods.forget_deletion))
            case Release(pod):
                pods.assume_deleted(pod.uid)
                forget = self._forget_after_backoff(pod, pods.forget_deletion)
                self._run("release", pod.uid, self._release(action), forget)
            case Nominate(pod, node):
                generation = pods.assume_nominated(pod.uid, node)
                forget = self._forget_after_backoff(pod, partial(pods.forget_nomination, generation=generation))
                self._run("nominate", pod.uid, self._nominate(action, generation), forget)
            case Report(pod, message, reason):
                if self._last_reason(pod) == (reason, message):
                    return False
                self._reports[pod.uid] = action
                if pod.uid in self._report_intervals:
                    return False
                self._report_intervals[pod.uid] = _FIRST_REPORT_INTERVAL
                self._write_report(pod)
            case SetGroupPhase(group, phase, counts):
                if (group.phase, group.counts) == (phase, counts):
                    return False
                key = group.key
                if phase in STARTED and group.phase not in STARTED:
                    self._gang_bindings[key] = self._bindings_of_gang(key)
                pending = podgroups.assume_status(group, phase, counts)
                forget_status = partial(self._forget_group_status, pending=pending)
                work = self._set_group_phase(action, pending)
                self._run("set-phase", key, work, lambda _: self._after_backoff(key, forget_status))
        return True

    def _forget_pod(self, uid: str) -> None:
        """Drop all state of a deleted pod."""
        self._reports.pop(uid, None)
        self._failures.pop(uid, None)

    async def drain(self) -> None:
        while self._last:
            await asyncio.wait(list(self._last.values()))

    def _run(
        self, kind: str, key: object, work: Coroutine[None, None, None], on_failure: Callable[[Exception], None]
    ) -> None:
        self._metrics.decisions.add(kind)
        task = asyncio.create_task(self._execute(kind, key, work, on_failure, self._last.get(key)))
        self._last[key] = task
        task.add_done_callback(lambda done: self._last.pop(key) if self._last.get(key) is done else None)

    async def _execute(
        self,
        kind: str,
        key: object,
        work: Awaitable[None],
        on_failure: Callable[[Exception], None],
        previous: asyncio.Task[bool] | None,
    ) -> bool:
        """Execute one action after the previous one of the same object; whether it succeeded."""
        if previous is not None:
            await asyncio.wait([previous])
        try:
            await work
        except Exception as error:  # whatever it was, nothing stays assumed after a failed write
            self._metrics.actions.add(kind, "error")
            fields = {"action": kind, "object": str(key), "error": str(error)}
            _log.warning("action failed", extra={"fields": fields}, exc_info=not isinstance(error, _EXPECTED_ERRORS))
            self._failures[key] = self._failures.get(key, 0) + 1
            on_failure(error)
            return False
        self._metrics.actions.add(kind, "success")
        self._failures.pop(key, None)
        return True

    async def _bind(self, action: Bind) -> None:
        try:
            await requests.bind(self._client, action.pod, action.node)
        except (ApiError, Unreachable) as error:
            if not _outcome_unknown(error) or await self._read_bound_node(action.pod) != action.node:
                raise
        note = f"Successfully assigned {'/'.join(action.pod.key)} to {action.node}"
        self._events.record(
            pod_reference(action.pod), by=action.pod.scheduler, reason="Scheduled", action="Binding", note=note
        )

    async def _read_bound_node(self, pod: Pod) -> str:
        """Read the pod until its node is known: until then its resources must not be given to others."""
        while True:
            try:
                return await requests.node_of(self._client, pod)
            except (ApiError, Unreachable) as error:
                if not _outcome_unknown(error):
                    raise

    async def _evict(self, action: Evict) -> None:
        pod, trigger = action.pod, action.trigger
        try:
            await requests.mark_preempted(self._client, pod, action.message)
            self._events.record(
                pod_reference(pod),
                by=trigger.scheduler,
                reason="Preempted",
                action="Preempting",
                note=f"Preempted by pod {trigger.uid} on node {pod.node}",
                related=pod_reference(trigger),
            )
            await requests.delete(self._client, pod)
        except ApiError as error:
            if not error.is_missing:  # already gone
                raise

    async def _release(self, action: Release) -> None:
        pod = action.pod
        try:
            await requests.mark_released(self._client, pod, action.message)
            self._events.record(
                pod_reference(pod), by=pod.scheduler, reason="Released", action="Releasing", note=action.message
            )
            await requests.delete(self._client, pod)
        except ApiError as error:
            if not error.is_missing:
                raise

    async def _nominate(self, action: Nominate, generation: int) -> None:
        version = await requests.nominate(self._client, action.pod, action.node)
        self._cache.assumed_pods.confirm_nomination(action.pod.uid, generation, version)

    def _write_report(self, pod: Pod) -> None:
        report = self._reports[pod.uid]
        self._run("report", pod.uid, self._report(report), self._forget_after_backoff(pod, self._forget_report))
        asyncio.get_running_loop().call_later(self._report_intervals[pod.uid], self._write_newer_report, pod, report)

    def _write_newer_report(self, pod: Pod, previous: Report) -> None:
        """Write the newest reason, if it has changed; those in between are skipped."""
        newest = self._reports.get(pod.uid, previous)
        if (newest.reason, newest.message) == (previous.reason, previous.message):
            self._report_intervals.pop(pod.uid, None)
            return
        self._report_intervals[pod.uid] = min(
            2 * self._report_intervals.get(pod.uid, _FIRST_REPORT_INTERVAL), _LONGEST_REPORT_INTERVAL
        )
        self._write_report(pod)

    async def _report(self, report: Report) -> None:
        pod = report.pod
        was_delayed = self._status_writes.locked()
        async with self._status_writes:
            if was_delayed and pod.uid not in self._reports:
                return  # the pod is no longer pending: do not delay its binding
            await requests.set_pending_reason(self._events.client, pod, report.reason, report.message)
        self._events.record_warning(
            pod_reference(pod), by=pod.scheduler, reason="FailedScheduling", note=report.message
        )

    def _bindings_of_gang(self, key: Key) -> list[asyncio.Task[bool]]:
        binding = self._cache.cluster.binding
        members = (pod.uid for pod in self._cache.cluster.members(key))
        return [self._last[uid] for uid in members if uid in binding and uid in self._last]

    async def _set_group_phase(self, action: SetGroupPhase, pending: PendingStatus) -> None:
        """A started phase is written after all bindings are done: else a crash could leave a partially bound gang."""
        group, podgroups = action.group, self._cache.podgroups
        if action.phase in STARTED and (bindings := self._gang_bindings.get(group.key)):
            if not all(await asyncio.gather(*bindings)):
                raise PartialGangStart(f"not all members of {'/'.join(group.key)} could be bound")
            self._gang_bindings.pop(group.key, None)
        status = requests.group_status(action, podgroups.api_object(group), podgroups.scheduled(group.key))
        podgroups.confirm_status(group.key, pending, await requests.set_group_status(self._client, group, status))
        if action.message:
            self._events.record_warning(
                group_reference(group), by=group.kind, reason="Unschedulable", note=action.message
            )

    def _forget_group_status(self, key: Key, pending: PendingStatus) -> None:
        self._cache.podgroups.forget_status(key, pending)
        group = self._cache.cluster.groups.get(key)
        if group is None or group.phase not in STARTED:  # no longer assumed to have started
            self._gang_bindings.pop(key, None)

    def _last_reason(self, pod: Pod) -> tuple[str, str]:
        if pod.uid in self._reports:
            return self._reports[pod.uid].reason, self._reports[pod.uid].message
        found = self._cache.api_pods.get(pod.uid)
        return pending_reason(found) if found else ("", "")

    def _forget_report(self, uid: str) -> None:
        """The reason was not written: it may be written again at once."""
        self._reports.pop(uid, None)
        self._report_intervals.pop(uid, None)

    def _binding_failed(self, pod: Pod) -> Callable[[Exception], None]:
        assumed_pods = self._cache.assumed_pods

        def on_failure(error: Exception) -> None:
            if isinstance(error, ApiError) and (error.is_conflict or error.is_missing):
                self._after_backoff(pod.uid, assumed_pods.forget_binding)  # changed meanwhile: the watch will show it
            else:
                assumed_pods.forget_binding(pod.uid, f"binding rejected: {error}")
                self._after_backoff(pod.uid, assumed_pods.clear_problem)

        return on_failure

    def _forget_after_backoff(self, pod: Pod, forget: Callable[[str], None]) -> Callable[[Exception], None]:
        return lambda _: self._after_backoff(pod.uid, forget)

    def _after_backoff(self, key: _K, forget: Callable[[_K], None]) -> None:
        backoff = min(_FIRST_BACKOFF * 2 ** min(self._failures.get(key, 0), 10), _LONGEST_BACKOFF)
        asyncio.get_running_loop().call_later(backoff, forget, key)


def _outcome_unknown(error: ApiError | Unreachable) -> bool:
    """Whether the request may have been carried out despite the error."""
    return isinstance(error, Unreachable) or error.status >= _SERVER_ERROR
