"""How long a decision waits until its write starts: for the decisions about other units, and for the event loop."""

from __future__ import annotations

import asyncio
import gc
import ssl
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from scheduler.client import Access, Client
from scheduler.core.actions import Report
from scheduler.core.cluster_state import ClusterState
from scheduler.core.plan import SchedulingCycle
from scheduler.core.policy import Policy
from scheduler.core.scheduling_units import Unit
from scheduler.runtime.cache import Cache
from scheduler.runtime.event_recorder import EventRecorder
from scheduler.runtime.executor import Executor
from scheduler.runtime.metrics import Metrics
from scheduler.runtime.scheduler import run_cycle

_LATENCY = 0.003  # seconds, of each write


class _Writes(Client):
    """Answers every request, and notes when the first one about each pod was made."""

    def __init__(self) -> None:
        super().__init__(Access("http://nowhere", ssl.create_default_context()))
        self.started: dict[str, float] = {}  # by path

    async def request(self, method: str, path: str, body: object = None, **_: Any) -> bytes:
        self.started.setdefault(path.split("/pods/")[-1].split("/")[0], time.perf_counter())
        await asyncio.sleep(_LATENCY)
        return b'{"metadata":{"resourceVersion":"9"}}'


def longest_wait(build: Callable[[], ClusterState]) -> float:
    """Seconds, in one cycle of the runtime. Reports are left out: they are limited in rate. No PodGroups."""
    return asyncio.run(_longest_wait(build()))


async def _longest_wait(built: ClusterState) -> float:
    cache, writes, decided = Cache(lambda: None), _Writes(), dict[str, float]()
    for node in built.nodes.values():
        cache.cluster.set_node(node)
    for budget in built.budgets.values():
        cache.cluster.set_budget(budget)
    for queue in built.queues.values():
        cache.cluster.set_queue(queue)
    for pod in built.pods.values():
        cache.assumed_pods.observe(pod, 1)
    assert cache.cluster.table
    executor = Executor(writes, EventRecorder(writes), cache, Metrics())
    decide = SchedulingCycle.decide

    def timed(cycle: SchedulingCycle, unit: Unit) -> None:
        known = len(cycle.actions)
        decide(cycle, unit)
        now = time.perf_counter()
        for action in cycle.actions[known:]:
            if not isinstance(action, Report):
                decided.setdefault(action.pod.key[1], now)  # type: ignore[union-attr]

    gc.collect()
    with patch.object(SchedulingCycle, "decide", timed):
        await run_cycle(cache.cluster, Policy(), executor.start)
    while executor._last:
        await asyncio.wait(list(executor._last.values()))
    return max(writes.started[name] - moment for name, moment in decided.items() if name in writes.started)
