"""Decisions carried out: believed at once, written in the background, taken back when refused.

Writes about one object follow each other in the order of the decisions; different objects do not wait for each other.
A refusal is tried again after a growing pause per object, so that one that lasts is no hot loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import TypeVar

from scheduler.client import ApiError, Client, Unreachable
from scheduler.core.actions import Action, Bind, Evict, Nominate, Release, Report, SetGroupPhase
from scheduler.core.model import Pod
from scheduler.runtime import writes
from scheduler.runtime.events import Events, to_group, to_pod
from scheduler.runtime.metrics import Metrics
from scheduler.runtime.reading import waits_because
from scheduler.runtime.world import World

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 30.0  # seconds

_K = TypeVar("_K")
_log = logging.getLogger(__name__)


class Effects:
    """`start` believes and returns; `drain` waits for everything that is under way."""

    def __init__(self, client: Client, events: Events, world: World, metrics: Metrics) -> None:
        self._client, self._events, self._world, self._metrics = client, events, world, metrics
        self._last: dict[object, asyncio.Task[None]] = {}
        self._refusals: dict[object, int] = {}
        self._said: dict[str, str] = {}  # why pods wait, as told last, by uid
        world.on_gone = self._forget

    def start(self, action: Action) -> bool:
        """False when it changes nothing that is not so already."""
        match action:
            case Bind(pod, node):
                self._said.pop(pod.uid, None)
                self._world.beliefs.bound(pod.uid, node)
                self._run("bind", pod.uid, self._bind(action), self._refuse_binding(pod))
            case Evict(pod):
                self._world.beliefs.leaving(pod.uid)
                self._run("evict", pod.uid, self._evict(action), self._later(pod, self._world.beliefs.not_leaving))
            case Release(pod):
                self._world.beliefs.leaving(pod.uid)
                self._run("release", pod.uid, self._release(action), self._later(pod, self._world.beliefs.not_leaving))
            case Nominate(pod, node):
                self._world.beliefs.nominated(pod.uid, node)
                undo = self._later(pod, self._world.beliefs.not_nominated)
                self._run("nominate", pod.uid, self._nominate(action), undo)
            case Report(pod, message):
                if self._told(pod) == message:
                    return False
                self._said[pod.uid] = message
                self._run("report", pod.uid, self._report(action), self._later(pod, self._unsay))
            case SetGroupPhase(group, phase, counts):
                if (group.phase, group.counts) == (phase, counts):
                    return False
                self._world.groups.writing(group, phase, counts)
                key = group.key
                undo_group = self._world.groups.not_written
                self._run("group", key, self._group(action), lambda _: self._after_pause(key, undo_group))
        return True

    def _forget(self, uid: str) -> None:
        """The pod is gone, and so is all that was remembered of it."""
        self._said.pop(uid, None)
        self._refusals.pop(uid, None)

    async def drain(self) -> None:
        while self._last:
            await asyncio.wait(list(self._last.values()))

    def _run(
        self, kind: str, key: object, work: Coroutine[None, None, None], refused: Callable[[Exception], None]
    ) -> None:
        self._metrics.decisions.add(kind)
        task = asyncio.create_task(self._carry_out(kind, key, work, refused, self._last.get(key)))
        self._last[key] = task
        task.add_done_callback(lambda done: self._last.pop(key) if self._last.get(key) is done else None)

    async def _carry_out(
        self,
        kind: str,
        key: object,
        work: Awaitable[None],
        refused: Callable[[Exception], None],
        before: asyncio.Task[None] | None,
    ) -> None:
        if before is not None:
            await asyncio.wait([before])
        try:
            await work
        except Exception as trouble:  # whatever it was, a belief must not outlive the write that failed
            self._metrics.failures.add(kind)
            fields = {"what": kind, "who": str(key), "why": str(trouble)}
            _log.warning("refused", extra={"fields": fields}, exc_info=not isinstance(trouble, ApiError | Unreachable))
            self._refusals[key] = self._refusals.get(key, 0) + 1
            refused(trouble)
        else:
            self._metrics.done.add(kind)
            self._refusals.pop(key, None)

    async def _bind(self, action: Bind) -> None:
        await writes.bind(self._client, action.pod, action.node)
        note = f"Successfully assigned {'/'.join(action.pod.key)} to {action.node}"
        self._events.tell(to_pod(action.pod), by=action.pod.scheduler, reason="Scheduled", action="Binding", note=note)

    async def _evict(self, action: Evict) -> None:
        pod, trigger = action.pod, action.trigger
        try:
            await writes.mark_as_victim(self._client, pod, action.message)
            self._events.tell(
                to_pod(pod),
                by=trigger.scheduler,
                reason="Preempted",
                action="Preempting",
                note=f"Preempted by pod {trigger.uid} on node {pod.node}",
                related=to_pod(trigger),
            )
            await writes.delete(self._client, pod)
        except ApiError as refusal:
            if not refusal.is_missing:  # gone by itself: what was wanted
                raise

    async def _release(self, action: Release) -> None:
        pod = action.pod
        try:
            await writes.mark_as_released(self._client, pod, action.message)
            self._events.tell(to_pod(pod), by=pod.scheduler, reason="Released", action="Releasing", note=action.message)
            await writes.delete(self._client, pod)
        except ApiError as refusal:
            if not refusal.is_missing:
                raise

    async def _nominate(self, action: Nominate) -> None:
        version = await writes.nominate(self._client, action.pod, action.node)
        self._world.beliefs.nomination_written(action.pod.uid, version)

    async def _report(self, action: Report) -> None:
        pod = action.pod
        await writes.say_why_it_waits(self._client, pod, action.message)
        self._events.failed(to_pod(pod), by=pod.scheduler, reason="FailedScheduling", note=action.message)

    async def _group(self, action: SetGroupPhase) -> None:
        group, groups = action.group, self._world.groups
        status = writes.group_status(action, groups.found(group), groups.scheduled(group.key))
        groups.written(group.key, await writes.set_group_status(self._client, group, status))
        if action.message:
            self._events.failed(to_group(group), by=group.kind, reason="Unschedulable", note=action.message)

    def _told(self, pod: Pod) -> str:
        if pod.uid in self._said:
            return self._said[pod.uid]
        found = self._world.found.get(pod.uid)
        return waits_because(found) if found else ""

    def _unsay(self, uid: str) -> None:
        self._said.pop(uid, None)

    def _refuse_binding(self, pod: Pod) -> Callable[[Exception], None]:
        beliefs = self._world.beliefs

        def refused(trouble: Exception) -> None:
            if isinstance(trouble, ApiError) and (trouble.is_conflict or trouble.is_missing):
                self._after_pause(pod.uid, beliefs.not_bound)  # somebody else was faster: the watch will tell
            else:
                beliefs.not_bound(pod.uid, f"the binding was refused: {trouble}")
                self._after_pause(pod.uid, beliefs.forgiven)

        return refused

    def _later(self, pod: Pod, undo: Callable[[str], None]) -> Callable[[Exception], None]:
        return lambda _: self._after_pause(pod.uid, undo)

    def _after_pause(self, key: _K, undo: Callable[[_K], None]) -> None:
        pause = min(_FIRST_PAUSE * 2 ** min(self._refusals.get(key, 0), 10), _LONGEST_PAUSE)
        asyncio.get_running_loop().call_later(pause, undo, key)
