"""scheduleTimeoutSeconds: a gang whose victims do not terminate keeps its nodes reserved no longer than that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
import pytest

from scheduler.client import ADDED, DELETED
from scheduler.core.plan import plan
from scheduler.core.policy import Policy
from scheduler.runtime.api_types import ApiPod
from scheduler.runtime.cache import Cache
from scheduler.runtime.event_recorder import EventRecorder
from scheduler.runtime.executor import Executor
from scheduler.runtime.metrics import Metrics
from scheduler.runtime.podgroups_and_queues import convert_podgroup
from scheduler.runtime.schedule_timeouts import ScheduleTimeouts
from tests.support.scheduler_requests import RecordingClient, observe_node
from tests.support.virtual_time import run_in_virtual_time
from tests.unit.runtime.test_convert import custom

GANG = ("g-0", "g-1")


class Harness(RecordingClient):
    """Two nodes of 2 CPUs; on one of them a pod of 1 CPU terminates, and a gang of two pods of 2 CPUs needs both."""

    def __init__(self, **spec: int) -> None:
        self._wake = asyncio.Event()
        self.known = Cache(self._wake.set)
        super().__init__(cache=self.known)
        self.executor = Executor(self, EventRecorder(self), self.known, Metrics())
        self.timeouts = ScheduleTimeouts(self.known)
        observe_node(self.known, "a", cpu="2")
        observe_node(self.known, "b", cpu="2")
        self.pod("victim", cpu="1", node="a", deletionTimestamp="2026-01-01T00:00:00Z")
        self.group("g", minMember=2, **spec)
        for name in GANG:
            self.pod(name, cpu="2", labels={"pod-group.scheduling.sigs.k8s.io": "g"})
        self._loop = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            self.timeouts.update()
            actions = plan(self.known.cluster, Policy())
            self.known.cluster.clear_changes()
            for action in actions:
                self.executor.start(action)

    def group(self, name: str, **spec: int) -> None:
        self.known.podgroups.observe("koordinator", ADDED, custom(spec, name=name, resourceVersion="5"))

    def pod(self, name: str, cpu: str, node: str = "", **meta: Any) -> None:
        metadata = {"name": name, "namespace": "ns", "uid": name, "resourceVersion": "5", **meta}
        containers = [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]
        spec = {"schedulerName": "koord-scheduler", "containers": containers, "nodeName": node}
        self.known.observe_pod(ADDED, msgspec.convert({"metadata": metadata, "spec": spec}, ApiPod))

    def victim_is_gone(self) -> None:
        self.known.observe_pod(DELETED, self.known.api_pods["victim"])

    @property
    def nominated(self) -> set[str]:
        return {pod.key[1] for pod in self.known.cluster.pods.values() if pod.nominated and not pod.node}

    @property
    def bound(self) -> set[str]:
        return {name for name, found in self.known.api_pods.items() if found.spec.node_name} - {"victim"}

    @property
    def reasons(self) -> list[str]:
        return [one.body["status"]["conditions"][0]["message"] for one in self.sent("/g-0/status")
                if one.body["status"].get("conditions")]  # fmt: skip


def virtual(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def run() -> None:
        run_in_virtual_time(test())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


@virtual
async def test_the_nodes_are_reserved_for_scheduletimeoutseconds() -> None:
    harness = Harness(scheduleTimeoutSeconds=30)
    await asyncio.sleep(29)
    assert harness.nominated == set(GANG)
    harness.pod("other", cpu="1")
    await asyncio.sleep(0.5)
    assert harness.bound == set()

    await asyncio.sleep(5)
    assert (harness.nominated, harness.bound) == (set(), {"other"})
    await asyncio.sleep(2)
    assert "did not terminate within scheduleTimeoutSeconds" in harness.reasons[-1]


@virtual
async def test_after_as_long_again_the_gang_reserves_again() -> None:
    harness = Harness(scheduleTimeoutSeconds=30)
    await asyncio.sleep(59)
    assert harness.nominated == set()
    await asyncio.sleep(2)
    assert harness.nominated == set(GANG)
    await asyncio.sleep(30)
    assert harness.nominated == set()


@virtual
async def test_a_gang_that_has_timed_out_starts_when_it_fits() -> None:
    harness = Harness(scheduleTimeoutSeconds=30)
    await asyncio.sleep(35)
    harness.victim_is_gone()
    await asyncio.sleep(1)
    assert harness.bound == set(GANG)


@virtual
async def test_a_gang_whose_victims_terminate_in_time_starts() -> None:
    harness = Harness(scheduleTimeoutSeconds=30)
    await asyncio.sleep(29)
    harness.victim_is_gone()
    await asyncio.sleep(120)
    assert harness.bound == set(GANG)


@virtual
async def test_without_the_field_the_nodes_stay_reserved() -> None:
    harness = Harness()
    await asyncio.sleep(3600)
    assert harness.nominated == set(GANG)


@virtual
async def test_a_group_that_is_created_again_begins_anew() -> None:
    harness = Harness(scheduleTimeoutSeconds=30)
    await asyncio.sleep(35)
    found = harness.known.podgroups.api_object(harness.known.cluster.groups["ns", "g"])
    assert found is not None
    harness.known.podgroups.observe("koordinator", DELETED, found)
    await asyncio.sleep(1)
    harness.group("g", minMember=2, scheduleTimeoutSeconds=30)
    await asyncio.sleep(1)
    assert harness.nominated == set(GANG)
    await asyncio.sleep(27)
    assert harness.nominated == set(GANG)


@pytest.mark.parametrize("value", ["soon", 1.5, True, [1]])
def test_an_invalid_timeout_is_reported(value: object) -> None:
    group = convert_podgroup(custom({"scheduleTimeoutSeconds": value}), "koordinator", {})
    assert group.problem.startswith("spec.scheduleTimeoutSeconds is not an integer")
