"""Status writes of a PodGroup whose counts change all the time: few, and the last one is right."""

from __future__ import annotations

import asyncio

import msgspec

from scheduler.client import ADDED
from scheduler.core.actions import SetGroupPhase
from scheduler.core.scheduling_types import Counts
from scheduler.runtime.api_types import CustomResource
from scheduler.runtime.cache import Cache
from scheduler.runtime.event_recorder import EventRecorder
from scheduler.runtime.executor import Executor
from scheduler.runtime.metrics import Metrics
from tests.support.scheduler_requests import RecordingClient
from tests.support.virtual_time import run_in_virtual_time

_MEMBERS = 500
_KEY = ("ns", "g")


def _started(phase: str) -> tuple[RecordingClient, Executor]:
    cache = Cache(lambda: None)
    api = RecordingClient(cache=cache)
    metadata = {"name": "g", "namespace": "ns", "uid": "g", "resourceVersion": "5"}
    group = {"metadata": metadata, "spec": {"minMember": 1}, "status": {"phase": phase}}
    cache.podgroups.observe("volcano", ADDED, msgspec.convert(group, CustomResource))
    return api, Executor(api, EventRecorder(api), cache, Metrics())


def test_counts_are_written_a_few_times_a_second_and_completely() -> None:
    async def go() -> None:
        api, executor = _started("Running")
        assert api.cache is not None
        for running in range(1, _MEMBERS + 1):
            executor.start(SetGroupPhase(api.cache.cluster.groups[_KEY], "Running", Counts(running)))
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)
        assert not executor._last  # nothing waits any more
        written = [one.body["status"]["running"] for one in api.sent("/podgroups/g")]
        assert written[-1] == _MEMBERS
        assert 20 < len(written) < 30  # in five seconds

    run_in_virtual_time(go())


def test_a_phase_is_written_at_once_and_with_the_newest_counts() -> None:
    async def go() -> None:
        api, executor = _started("Inqueue")
        assert api.cache is not None
        for running in (0, 1, 2):
            executor.start(SetGroupPhase(api.cache.cluster.groups[_KEY], "Running", Counts(running)))
        await asyncio.sleep(0.05)
        assert [one.body["status"]["running"] for one in api.sent("/podgroups/g")] == [2]

    run_in_virtual_time(go())
