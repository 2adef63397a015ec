"""The decision loop: any change wakes it, a burst of changes is one cycle, and nothing waits for the API.

A cycle takes a breath as long as the last plan took, so that planning never costs more than half of the time and a
flood of changes is answered in large steps instead of many small ones.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import Any

from scheduler.client import Client, Reflector
from scheduler.core.actions import Action, Bind, Evict, Nominate, Release, Report, SetGroupPhase
from scheduler.core.plan import plan
from scheduler.core.policy import Policy
from scheduler.runtime.effects import Effects
from scheduler.runtime.events import Events, shortened
from scheduler.runtime.metrics import Metrics
from scheduler.runtime.queues import QueueKeeper
from scheduler.runtime.world import World, all_synced

_SHORTEST_BREATH, _LONGEST_BREATH = 0.002, 0.25  # seconds
_AFTER_A_FAULT = 1.0
_DRAIN_SECONDS = 5.0

_log = logging.getLogger(__name__)


class Service:
    """One scheduler. `ready` is true once everything has been listed."""

    def __init__(self, client: Client, events_client: Client, policy: Policy) -> None:
        self.metrics = Metrics()
        self._policy = policy
        self._wake = asyncio.Event()
        self._world = World(self._wake.set)
        self._events = Events(events_client)
        self._effects = Effects(client, self._events, self._world, self.metrics)
        self._keeper = QueueKeeper(client, self._world)
        self._reflectors: list[Reflector[Any]] = [*self._world.reflectors(client), self._keeper.reflector()]

    @property
    def ready(self) -> bool:
        return all(reflector.synced.is_set() for reflector in self._reflectors)

    async def run(self, stop: asyncio.Event) -> None:
        """Until told to stop; then what was decided is carried out, and nothing new is."""
        async with asyncio.TaskGroup() as tasks:
            background = [tasks.create_task(reflector.run()) for reflector in self._reflectors]
            background += [tasks.create_task(self._events.run()), tasks.create_task(self._keeper.run())]
            deciding = tasks.create_task(self._decide())
            await stop.wait()
            deciding.cancel()
            try:
                async with asyncio.timeout(_DRAIN_SECONDS):
                    await self._effects.drain()
                    await self._events.drain()
            except TimeoutError:
                _log.warning("stopped before everything was written")
            for task in background:
                task.cancel()

    async def _decide(self) -> None:
        await all_synced(self._reflectors)
        _log.info("ready", extra={"fields": {"schedulers": sorted(self._policy.schedulers)}})
        breath = _SHORTEST_BREATH
        while True:
            await self._wake.wait()
            await asyncio.sleep(breath)
            self._wake.clear()
            began = time.perf_counter()
            try:
                self._cycle()
            except Exception:  # a fault in one decision must not end all others
                self.metrics.failures.add("plan")
                _log.exception("the plan failed; it is tried again")
                await asyncio.sleep(_AFTER_A_FAULT)
                self._wake.set()
            took = time.perf_counter() - began
            self.metrics.plans.observe(took)
            breath = min(max(took, _SHORTEST_BREATH), _LONGEST_BREATH)

    def _cycle(self) -> None:
        actions = plan(self._world.cluster, self._policy)
        self._world.cluster.settle()
        for action in map(_brief, actions):
            if self._effects.start(action):
                self._wake.set()
                _tell(action)
        self._keeper.look()


def _brief(action: Action) -> Action:
    if isinstance(action, Report | Release | SetGroupPhase) and (said := shortened(action.message)) != action.message:
        return replace(action, message=said)
    return action


def _tell(action: Action) -> None:
    match action:
        case Bind(pod, node):
            fields = {"what": "bind", "pod": "/".join(pod.key), "node": node}
        case Evict(pod, beneficiary):
            fields = {"what": "evict", "pod": "/".join(pod.key), "node": pod.node, "for": beneficiary}
        case Release(pod, message):
            fields = {"what": "release", "pod": "/".join(pod.key), "node": pod.node, "why": message}
        case Nominate(pod, node):
            fields = {"what": "nominate", "pod": "/".join(pod.key), "node": node}
        case Report(pod, message):
            fields = {"what": "wait", "pod": "/".join(pod.key), "why": message}
        case SetGroupPhase(group, phase, _, message):
            fields = {"what": "group", "group": "/".join(group.key), "phase": phase, "why": message}
    _log.info("decided", extra={"fields": fields})
