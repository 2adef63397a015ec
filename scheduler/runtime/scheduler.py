"""The scheduling loop: any change wakes it, a burst of changes is one cycle, and no cycle waits for the API server.

Debounce: before each cycle it sleeps as long as the last one took, and at most 0.1 s. So a flood of changes is handled
in few large cycles, and cycles of up to 0.1 s take at most half of the time. Longer ones take more: a change waits for
at most one cycle and 0.1 s.

A cycle goes in slices. Deciding about thousands of pending pods takes a few hundred milliseconds, so after each slice
the event loop has time to send what was decided and to read what has changed. All decisions of a cycle are made on the
state that it began with: together they are the plan. What the watches show meanwhile is for the next cycle, with one
exception: a decision about an object that is not any more what it was is dropped, as a whole, so that no part of a gang
is bound.

A replica without the lease only watches. When it is elected it lists everything again before its first cycle: its
watches may lag behind the last writes of its predecessor.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from scheduler.client import Client, Reflector, all_synced, relist_all
from scheduler.core.actions import Action, Bind, BindVolumes, Evict, Nominate, Release, Report, SetGroupPhase
from scheduler.core.cluster_state import ClusterState
from scheduler.core.plan import decisions
from scheduler.core.policy import Policy
from scheduler.core.scheduling_units import FINISHED
from scheduler.core.search_turns import SearchTurns
from scheduler.runtime.cache import Cache
from scheduler.runtime.event_recorder import EventRecorder, truncate_message
from scheduler.runtime.executor import Executor
from scheduler.runtime.metrics import Metrics
from scheduler.runtime.queue_controller import QueueController
from scheduler.runtime.schedule_timeouts import ScheduleTimeouts

_MIN_DELAY, _MAX_DELAY = 0.002, 0.1  # seconds
_SLICE = 0.025  # seconds; a single decision may take longer
_PAUSE = 0.005  # seconds between two slices: enough to send what the first has started
_RETRY_DELAY = 1.0
_DRAIN_SECONDS = 5.0
_STANDBY_CLEANUP = 60.0

_log = logging.getLogger(__name__)


class Scheduler:
    """The scheduler process. `ready` is true once all objects have been listed."""

    def __init__(self, client: Client, events_client: Client, policy: Policy) -> None:
        self.metrics = Metrics()
        self._policy = policy
        self._wake = asyncio.Event()
        self._turns = SearchTurns()
        self._cache = Cache(self._on_change, schedulers=policy.schedulers, strict_queues=policy.strict_queues)
        self._events = EventRecorder(events_client)
        self._executor = Executor(client, self._events, self._cache, self.metrics)
        self._timeouts = ScheduleTimeouts(self._cache)
        self._queue_controller = QueueController(client, self._cache)
        self._reflectors: list[Reflector[Any]] = [*self._cache.reflectors(client), self._queue_controller.reflector()]

    @property
    def ready(self) -> bool:
        return all(reflector.synced.is_set() for reflector in self._reflectors)

    async def run(self, stop: asyncio.Event, elected: asyncio.Event | None = None) -> bool:
        """Schedule until `stop` is set, once elected; then finish the writes in flight. Whether all were finished."""
        finished = True
        async with asyncio.TaskGroup() as tasks:
            background = [tasks.create_task(reflector.run()) for reflector in self._reflectors]
            background.append(tasks.create_task(self._events.run()))
            leading = tasks.create_task(self._lead(elected))
            await stop.wait()
            leading.cancel()
            try:
                async with asyncio.timeout(_DRAIN_SECONDS):
                    await self._executor.drain()
                    await self._events.drain()
            except TimeoutError:
                _log.warning("stopped before all writes were done")
                finished = False
            for task in background:
                task.cancel()
        return finished

    async def _lead(self, elected: asyncio.Event | None) -> None:
        await all_synced(self._reflectors)
        _log.info("ready", extra={"fields": {"schedulers": sorted(self._policy.schedulers)}})
        if elected is not None:
            await self._stand_by(elected)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._queue_controller.run())
            tasks.create_task(self._run_cycles())

    async def _stand_by(self, elected: asyncio.Event) -> None:
        cluster = self._cache.cluster
        while not elected.is_set():
            cluster.changed_groups.intersection_update(cluster.groups)  # no cycle clears those of deleted groups
            with suppress(TimeoutError):
                await asyncio.wait_for(elected.wait(), _STANDBY_CLEANUP)
        await relist_all(self._reflectors)
        _log.info("leading")

    def _on_change(self) -> None:
        self._turns.note_change()
        self._wake.set()

    async def _run_cycles(self) -> None:
        delay = _MIN_DELAY
        while True:
            await self._wake.wait()
            await asyncio.sleep(delay)
            began = time.perf_counter()
            try:
                await self._run_cycle()
            except Exception:  # a bug in one cycle must not stop the scheduler
                self.metrics.actions.add("scheduling-cycle", "error")
                _log.exception("scheduling cycle failed; retrying")
                await asyncio.sleep(_RETRY_DELAY)
                self._wake.set()
            took = time.perf_counter() - began
            self.metrics.cycle_duration.observe(took)
            delay = delay_after(took)

    async def _run_cycle(self) -> None:
        self._timeouts.update()
        self._cache.update_pods()
        self._wake.clear()
        await run_cycle(self._cache.cluster, self._policy, self._start, self._turns)
        if self._turns.is_incomplete:
            self._wake.set()
        self._queue_controller.notify()

    def _start(self, action: Action) -> None:
        action = _truncate_message(action)
        if self._executor.start(action):
            _log_action(action)


async def run_cycle(
    cluster: ClusterState, policy: Policy, start: Callable[[Action], object], turns: SearchTurns | None = None
) -> None:
    """Decide about all pending units, and `start` the actions, which may change the cluster state."""
    view, is_detached = cluster.view(), False
    cluster.clear_changes()
    held: list[Sequence[Action]] = []  # nothing may change before the view is detached
    try:
        slice_ends = time.perf_counter() + _SLICE
        for actions in decisions(view, policy, turns):
            held.append(actions)
            if not is_detached:
                if time.perf_counter() < slice_ends:
                    continue
                cluster.detach()
                is_detached = True
            for decided in held:
                for action in still_valid(decided, view, cluster):
                    start(action)
                if time.perf_counter() >= slice_ends:
                    await asyncio.sleep(_PAUSE)
                    slice_ends = time.perf_counter() + _SLICE
            held.clear()
        for decided in held:  # a short cycle: nothing has changed meanwhile
            for action in decided:
                start(action)
    except Exception:
        cluster.changed_groups |= view.changed_groups
        raise


def still_valid(decided: Sequence[Action], then: ClusterState, now: ClusterState) -> Sequence[Action]:
    """What remains of a decision about one unit: nothing, if a pod, a node or a queue is not what it was."""
    if all(_places_are_valid(action, then, now) for action in decided):
        return [action for action in decided if _is_valid(action, now)]
    now.changed_groups.update(action.group.key for action in decided if isinstance(action, SetGroupPhase))
    return ()


def _places_are_valid(action: Action, then: ClusterState, now: ClusterState) -> bool:
    if not isinstance(action, Bind | BindVolumes | Nominate) or not action.node:
        return True
    queue = then.queue_of(action.pod)
    is_same = now.nodes.get(action.node) is then.nodes.get(action.node)
    is_same = is_same and now.queues.get(queue) is then.queues.get(queue)  # it may be closed now
    return is_same and _is_pending(action.pod.uid, now)


def _is_valid(action: Action, now: ClusterState) -> bool:
    """What cannot be undone about a group is left to the next cycle if the group has changed."""
    match action:
        case Evict(pod):
            return _is_bound(pod.uid, now)
        case Release(pod):
            return _is_bound(pod.uid, now) and pod.group not in now.changed_groups
        case Nominate(pod) | Report(pod):
            return _is_pending(pod.uid, now)
        case SetGroupPhase(group, phase):
            return group.key in now.groups and not (phase in FINISHED and group.key in now.changed_groups)
    return True


def _is_pending(uid: str, now: ClusterState) -> bool:
    pod = now.pods.get(uid)
    return pod is not None and not pod.node and not pod.terminating


def _is_bound(uid: str, now: ClusterState) -> bool:
    pod = now.pods.get(uid)
    return pod is not None and bool(pod.node) and not pod.terminating


def delay_after(took: float) -> float:
    """How long to collect changes after a cycle that took so long."""
    return min(max(took, _MIN_DELAY), _MAX_DELAY)


def _truncate_message(action: Action) -> Action:
    if (
        isinstance(action, Report | Release | SetGroupPhase)
        and (message := truncate_message(action.message)) != action.message
    ):
        return replace(action, message=message)
    return action


def _log_action(action: Action) -> None:
    match action:
        case Report():
            return  # logged when it is written
        case Bind(pod, node):
            fields = {"action": "bind", "pod": "/".join(pod.key), "node": node}
        case BindVolumes(pod, node):
            fields = {"action": "bind-volumes", "pod": "/".join(pod.key), "node": node}
        case Evict(pod, beneficiary):
            fields = {"action": "evict", "pod": "/".join(pod.key), "node": pod.node, "preemptor": beneficiary}
        case Release(pod, message):
            fields = {"action": "release", "pod": "/".join(pod.key), "node": pod.node, "reason": message}
        case Nominate(pod, node):
            fields = {"action": "nominate", "pod": "/".join(pod.key), "node": node}
        case SetGroupPhase(group, phase, _, message):
            fields = {"action": "set-phase", "group": "/".join(group.key), "phase": phase, "reason": message}
    _log.info("decision", extra={"fields": fields})
