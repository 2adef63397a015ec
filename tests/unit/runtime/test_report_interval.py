"""Why pods are pending, written in a bounded number of requests; counted in virtual time."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter

import pytest

from scheduler.core.actions import Bind, Report
from scheduler.core.plan import plan
from scheduler.core.policy import Policy
from scheduler.runtime.cache import Cache
from scheduler.runtime.event_recorder import EventRecorder
from scheduler.runtime.executor import Executor
from scheduler.runtime.metrics import Metrics
from tests.support.scheduler_requests import RecordingClient, Request, observe_node, observe_pod
from tests.support.virtual_time import run_in_virtual_time

_PENDING = 500
_SECONDS = 60


class Harness:
    """The executor and its event recorder, with one pod per name."""

    def __init__(self, *names: str, cpu: str = "0") -> None:
        self.cache = Cache(lambda: None)
        self.client = RecordingClient(cache=self.cache)
        self.events = EventRecorder(self.client)
        self.executor = Executor(self.client, self.events, self.cache, Metrics())
        self._writing = asyncio.create_task(self.events.run())
        for name in names:
            observe_pod(self.cache, name, cpu=cpu)

    def report(self, name: str, message: str) -> None:
        self.executor.start(Report(self.cache.cluster.pods[name], message))

    def plan(self) -> None:
        for action in plan(self.cache.cluster, Policy()):
            self.executor.start(action)

    async def drain(self) -> None:
        await self.executor.drain()
        await self.events.drain()

    def messages(self) -> list[str]:
        return [one.body["status"]["conditions"][0]["message"] for one in self.client.sent("/status")]


def test_pending_pods_and_a_change_each_second_cause_few_writes() -> None:
    """500 pending pods, and each second a pod of another scheduler changes the reasons of all of them."""

    async def go() -> list[Request]:
        names = [f"pending-{number}" for number in range(_PENDING)]
        harness = Harness(*names, cpu="4")
        for number in range(100):
            observe_node(harness.cache, f"n-{number}", cpu="4")
            observe_pod(harness.cache, f"bound-{number}", node=f"n-{number}", cpu="1")
        harness.plan()
        await harness.drain()
        before = len(harness.client.requests)
        assert before == 2 * _PENDING  # a condition and an event each
        for second in range(_SECONDS):
            observe_node(harness.cache, f"foreign-{second}", cpu="2")  # "0/101 nodes are available: …"
            harness.plan()
            await asyncio.sleep(1)
        return harness.client.requests[before:]

    written = run_in_virtual_time(go())
    by_second = Counter(int(request.moment) for request in written)
    assert len(written) > _SECONDS, "the newest reasons must be written, too"
    assert max(by_second.values()) <= 5


def test_few_changed_reasons_are_written_after_the_first_interval() -> None:
    async def go() -> list[Request]:
        names = [f"p-{number}" for number in range(8)]
        harness = Harness(*names)
        for message in ("1 of 8 pods exist", "8 of 8 pods do not fit"):
            for name in names:
                harness.report(name, message)
            await harness.drain()
        await asyncio.sleep(1.1)
        assert [one.body["status"]["conditions"][0]["message"] for one in harness.client.sent("/status")[8:]] == 8 * [
            "8 of 8 pods do not fit"
        ]
        return harness.client.requests

    run_in_virtual_time(go())


@pytest.mark.parametrize("messages", [("full", "fuller"), ("1 of 200", "2 of 200", "3 of 200")])
def test_a_reason_that_keeps_changing_is_written_ever_more_rarely(messages: tuple[str, ...]) -> None:
    """Also where the messages alternate."""

    async def go() -> Harness:
        harness = Harness("p")
        for step in range(3000):  # five minutes
            harness.report("p", messages[step % len(messages)])
            await asyncio.sleep(0.1)
        harness.report("p", "the last")
        await asyncio.sleep(60)
        return harness

    harness = run_in_virtual_time(go())
    assert harness.messages()[0] == messages[0]
    assert harness.messages()[-1] == "the last"
    assert len(harness.messages()) <= 14


def test_a_new_message_does_not_change_when_the_pod_became_unschedulable(monkeypatch: pytest.MonkeyPatch) -> None:
    times = (f"2027-01-15T08:00:0{second}Z" for second in itertools.count())
    monkeypatch.setattr("scheduler.runtime.requests.now", lambda: next(times))

    async def go() -> Harness:
        harness = Harness("p")
        for message in ("does not fit", "still does not fit"):
            harness.report("p", message)
            await asyncio.sleep(10)
        return harness

    written = [one.body["status"]["conditions"][0] for one in run_in_virtual_time(go()).client.sent("/p/status")]
    assert [one["message"] for one in written] == ["does not fit", "still does not fit"]
    assert {one["lastTransitionTime"] for one in written} == {"2027-01-15T08:00:00Z"}


def test_what_repeats_about_a_pod_is_one_event_with_a_series() -> None:
    async def go() -> list[Request]:
        harness = Harness("p")
        for step in range(200):
            harness.report("p", f"reason {step}")
            await asyncio.sleep(2)
        return [request for request in harness.client.requests if request.is_event]

    first, *updates = run_in_virtual_time(go())
    assert (first.method, first.body["note"]) == ("POST", "reason 0")
    assert {update.path for update in updates} == {f"{first.path}/{first.body['metadata']['name']}"}
    counts = [update.body["series"]["count"] for update in updates]
    assert counts == [2, 4, 8][: len(counts)]
    assert len(counts) >= 2


def test_a_binding_does_not_wait_for_the_reasons_of_pending_pods() -> None:
    """5,000 pods get their first reason, then the last of them is bound."""

    async def go() -> int:
        names = [f"p-{number:04}" for number in range(5000)]
        harness = Harness(*names)
        for name in names:
            harness.report(name, "does not fit")
        harness.executor.start(Bind(harness.cache.cluster.pods[names[-1]], "n"))
        while not harness.client.sent("/binding"):
            await asyncio.sleep(0)
        return len(harness.client.requests)

    assert run_in_virtual_time(go()) <= 20


def test_a_late_reason_cannot_follow_the_binding() -> None:
    """It is in flight when the pod is bound: its resourceVersion lets the API server reject it."""

    async def go() -> Request:
        harness = Harness("p")
        harness.report("p", "full")
        await harness.drain()
        return harness.client.sent("/status")[0]

    assert run_in_virtual_time(go()).body["metadata"] == {"uid": "p", "resourceVersion": "5"}


def test_nothing_is_kept_about_pods_that_are_gone() -> None:
    async def go() -> None:
        harness = Harness("p", "q")
        for name in ("p", "q"):
            harness.report(name, "full")
        await harness.drain()
        harness.report("p", "fuller")
        harness.executor.start(Bind(harness.cache.cluster.pods["q"], "n"))
        await harness.drain()
        for name in ("p", "q"):
            harness.cache.observe_pod("DELETED", harness.cache.api_pods[name])
        await asyncio.sleep(5)
        reporter = harness.executor._reporter
        kept = [reporter._pods, reporter._first, reporter._changed, reporter._later, reporter._writes]
        kept += [harness.events._series, harness.executor._failures, harness.executor._last]
        assert not any(kept)

    run_in_virtual_time(go())
