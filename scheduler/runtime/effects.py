"""Decisions carried out: believed at once, written in the background, taken back when refused.

Writes about one object follow each other in the order of the decisions; different objects do not wait for each other.
A refusal is tried again after a growing pause per object, so that one that lasts is no hot loop. So is another word
about why the same pod waits: while the members of a large gang arrive, each would change what all of them are told.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TypeVar

from scheduler.client import ApiError, Client, Unreachable
from scheduler.core.actions import Action, Bind, Evict, Nominate, Release, Report, SetGroupPhase
from scheduler.core.model import Key, Pod
from scheduler.core.units import STARTED
from scheduler.runtime import writes
from scheduler.runtime.events import Events, to_group, to_pod
from scheduler.runtime.groups import Written
from scheduler.runtime.metrics import Metrics
from scheduler.runtime.reading import waits_because
from scheduler.runtime.world import World

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 30.0  # seconds
_FIRST_SILENCE, _LONGEST_SILENCE = 1.0, 16.0  # seconds, between two words about the same pod
_VOICES = 8  # words about waiting that are written at the same time
_SERVER_TROUBLE = 500  # statuses from here on do not say what has become of the request

_K = TypeVar("_K")
_log = logging.getLogger(__name__)


class StartedInPart(Exception):
    """Some members of a gang were bound and others were not."""


_EXPECTED = (ApiError, Unreachable, StartedInPart)  # told in a line; anything else with its traceback


class Effects:
    """`start` believes and returns; `drain` waits for everything that is under way."""

    def __init__(self, client: Client, events: Events, world: World, metrics: Metrics) -> None:
        self._client, self._events, self._world, self._metrics = client, events, world, metrics
        self._last: dict[object, asyncio.Task[bool]] = {}
        self._refusals: dict[object, int] = {}
        self._starts: dict[Key, list[asyncio.Task[bool]]] = {}  # the bindings that a gang starts with
        self._said: dict[str, str] = {}  # why pods wait, as told last or to be told next, by uid
        self._silences: dict[str, float] = {}  # of pods that were told something just now
        self._voices = asyncio.Semaphore(_VOICES)
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
                turn = self._world.beliefs.nominated(pod.uid, node)
                undo = self._later(pod, partial(self._world.beliefs.not_nominated, turn=turn))
                self._run("nominate", pod.uid, self._nominate(action, turn), undo)
            case Report(pod, message):
                if self._told(pod) == message:
                    return False
                self._said[pod.uid] = message
                if pod.uid in self._silences:
                    return False
                self._silences[pod.uid] = _FIRST_SILENCE
                self._say(pod)
            case SetGroupPhase(group, phase, counts):
                if (group.phase, group.counts) == (phase, counts):
                    return False
                groups, key = self._world.groups, group.key
                if phase in STARTED and group.phase not in STARTED:
                    self._starts[key] = self._bindings(key)
                wrote = groups.writing(group, phase, counts)
                undo_group = partial(self._unwrite, wrote=wrote)
                self._run("group", key, self._group(action, wrote), lambda _: self._after_pause(key, undo_group))
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
        before: asyncio.Task[bool] | None,
    ) -> bool:
        """Whether it was done."""
        if before is not None:
            await asyncio.wait([before])
        try:
            await work
        except Exception as trouble:  # whatever it was, a belief must not outlive the write that failed
            self._metrics.failures.add(kind)
            fields = {"what": kind, "who": str(key), "why": str(trouble)}
            _log.warning("refused", extra={"fields": fields}, exc_info=not isinstance(trouble, _EXPECTED))
            self._refusals[key] = self._refusals.get(key, 0) + 1
            refused(trouble)
            return False
        self._metrics.done.add(kind)
        self._refusals.pop(key, None)
        return True

    async def _bind(self, action: Bind) -> None:
        try:
            await writes.bind(self._client, action.pod, action.node)
        except (ApiError, Unreachable) as trouble:
            if not _may_be_done(trouble) or await self._found_out(action.pod) != action.node:
                raise
        note = f"Successfully assigned {'/'.join(action.pod.key)} to {action.node}"
        self._events.tell(to_pod(action.pod), by=action.pod.scheduler, reason="Scheduled", action="Binding", note=note)

    async def _found_out(self, pod: Pod) -> str:
        """Where it is, however long it takes: until that is known, its room must not be given to others."""
        while True:
            try:
                return await writes.node_of(self._client, pod)
            except (ApiError, Unreachable) as trouble:
                if not _may_be_done(trouble):
                    raise

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

    async def _nominate(self, action: Nominate, turn: int) -> None:
        version = await writes.nominate(self._client, action.pod, action.node)
        self._world.beliefs.nomination_written(action.pod.uid, turn, version)

    def _say(self, pod: Pod) -> None:
        message = self._said[pod.uid]
        self._run("report", pod.uid, self._report(pod, message), self._later(pod, self._unsay))
        asyncio.get_running_loop().call_later(self._silences[pod.uid], self._say_again, pod, message)

    def _say_again(self, pod: Pod, before: str) -> None:
        """The newest word, if it is another one; those in between are never told."""
        if self._said.get(pod.uid, before) == before:
            self._silences.pop(pod.uid, None)
            return
        self._silences[pod.uid] = min(2 * self._silences.get(pod.uid, _FIRST_SILENCE), _LONGEST_SILENCE)
        self._say(pod)

    async def _report(self, pod: Pod, message: str) -> None:
        had_to_wait = self._voices.locked()
        async with self._voices:
            if had_to_wait and pod.uid not in self._said:
                return  # the pod waits no longer, and its binding should not wait for this
            await writes.say_why_it_waits(self._events.client, pod, message)
        self._events.failed(to_pod(pod), by=pod.scheduler, reason="FailedScheduling", note=message)

    def _bindings(self, key: Key) -> list[asyncio.Task[bool]]:
        binding = self._world.cluster.binding
        members = (pod.uid for pod in self._world.cluster.members(key))
        return [self._last[uid] for uid in members if uid in binding and uid in self._last]

    async def _group(self, action: SetGroupPhase, wrote: Written) -> None:
        """That a gang has started is written when all its bindings are done, or a crash could leave half of one."""
        group, groups = action.group, self._world.groups
        if action.phase in STARTED and (bindings := self._starts.get(group.key)):
            if not all(await asyncio.gather(*bindings)):
                raise StartedInPart(f"not all members of {'/'.join(group.key)} could be bound")
            self._starts.pop(group.key, None)
        status = writes.group_status(action, groups.found(group), groups.scheduled(group.key))
        groups.written(group.key, wrote, await writes.set_group_status(self._client, group, status))
        if action.message:
            self._events.failed(to_group(group), by=group.kind, reason="Unschedulable", note=action.message)

    def _unwrite(self, key: Key, wrote: Written) -> None:
        self._world.groups.not_written(key, wrote)
        group = self._world.cluster.groups.get(key)
        if group is None or group.phase not in STARTED:  # nobody believes in that start any more
            self._starts.pop(key, None)

    def _told(self, pod: Pod) -> str:
        if pod.uid in self._said:
            return self._said[pod.uid]
        found = self._world.found.get(pod.uid)
        return waits_because(found) if found else ""

    def _unsay(self, uid: str) -> None:
        """It was not told: the same word may be said again at once."""
        self._said.pop(uid, None)
        self._silences.pop(uid, None)

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


def _may_be_done(trouble: ApiError | Unreachable) -> bool:
    """Whether the request can have been carried out all the same."""
    return isinstance(trouble, Unreachable) or trouble.status >= _SERVER_TROUBLE
