"""The executor: what is written in which order, and what is assumed when the API server rejects a request."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from scheduler.client import ADDED, Access, ApiError, Client
from scheduler.core.actions import QUOTA_EXCEEDED, Bind, Evict, Nominate, Report, SetGroupPhase
from scheduler.core.scheduling_types import Counts, Group, Pod
from scheduler.runtime import executor as executor_module
from scheduler.runtime.api_types import ApiPod, CustomResource
from scheduler.runtime.cache import Cache
from scheduler.runtime.event_recorder import EventRecorder
from scheduler.runtime.executor import Executor
from scheduler.runtime.metrics import Metrics


class Wire(Client):
    """A scripted client that records the requests."""

    def __init__(self, *responses: ApiError | None) -> None:
        super().__init__(Access("http://nowhere", ssl.create_default_context()))
        self.responses = list(responses)
        self.requested: list[tuple[str, str, Any]] = []
        self.done: list[str] = []
        self.slow: set[str] = set()

    async def request(self, method: str, path: str, body: object = None, **_: Any) -> bytes:
        self.requested.append((method, path.rpartition("/")[2], json.loads(msgspec.json.encode(body))))
        about = path.split("/")[-2]
        await asyncio.sleep(0.05 if about in self.slow else 0)
        answer = self.responses.pop(0) if self.responses else None
        if answer is not None:
            raise answer
        self.done.append(about)
        return b'{"metadata":{"resourceVersion":"9"}}'


class Harness:
    def __init__(self, *responses: ApiError | None) -> None:
        self.history: list[tuple[str, str]] = []  # node and problem, after each change
        self.news = asyncio.Event()
        self.cache = Cache(self._changed)
        self.wire = Wire(*responses)
        self.executor = Executor(self.wire, EventRecorder(self.wire), self.cache, Metrics())
        self.saw("p", 5)

    def saw(self, name: str, version: int, message: str = "", gang: str = "") -> None:
        metadata: dict[str, Any] = {"name": name, "namespace": "ns", "uid": name, "resourceVersion": str(version)}
        metadata |= {"annotations": {"scheduling.k8s.io/group-name": gang}} if gang else {}
        error_response = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
        found = {"metadata": metadata, "spec": {}, "status": {"conditions": [error_response]}}
        self.cache.observe_pod(ADDED, msgspec.convert(found, ApiPod))

    def starts_a_gang(self) -> None:
        """Bind two pods and set the phase of their PodGroup to Running."""
        metadata = {"name": "g", "namespace": "ns", "uid": "g", "resourceVersion": "5"}
        found = {"metadata": metadata, "spec": {"minMember": 2}, "status": {"phase": "Inqueue"}}
        self.cache.podgroups.observe("volcano", ADDED, msgspec.convert(found, CustomResource))
        for name in ("one", "two"):
            self.saw(name, 5, gang="g")
            self.executor.start(Bind(self.cache.cluster.pods[name], "n"))
        self.executor.start(SetGroupPhase(self.group, "Running", Counts()))

    @property
    def group(self) -> Group:
        return self.cache.cluster.groups["ns", "g"]

    @property
    def pod(self) -> Pod:
        return self.cache.cluster.pods["p"]

    async def until(self, steps: int) -> list[tuple[str, str]]:
        async with asyncio.timeout(10):
            while len(self.history) < steps:
                self.news.clear()
                await self.news.wait()
        return self.history

    def _changed(self) -> None:
        self.history.append((self.pod.node, self.pod.problem))
        self.news.set()


def run(steps: Callable[[Harness], Awaitable[None]], *responses: ApiError | None) -> None:
    async def go() -> None:
        await steps(Harness(*responses))

    asyncio.run(go())


def error_response(status: int, message: str = "no") -> ApiError:
    return ApiError(status, "Because", message)


def test_a_binding_is_assumed_before_it_is_written() -> None:
    async def steps(harness: Harness) -> None:
        assert harness.executor.start(Bind(harness.pod, "n"))
        assert (harness.pod.node, harness.wire.requested) == ("n", [])
        await harness.executor.drain()
        assert [(method, what) for method, what, _ in harness.wire.requested] == [("POST", "binding")]
        assert harness.wire.requested[0][2]["metadata"]["uid"] == "p"

    run(steps)


def test_a_rejected_binding_is_retried_after_a_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_module, "_FIRST_BACKOFF", 0.001)

    async def steps(harness: Harness) -> None:
        harness.executor.start(Bind(harness.pod, "n"))
        reason = "binding rejected: 422 Because: no"
        assert await harness.until(4) == [("", ""), ("n", ""), ("", reason), ("", "")]

    run(steps, error_response(422))


def test_a_lost_response_is_not_a_rejection() -> None:
    async def steps(harness: Harness) -> None:
        harness.executor.start(Bind(harness.pod, "n"))
        await harness.executor.drain()
        assert (harness.pod.node, harness.pod.problem) == ("n", "")

    run(steps, error_response(409, 'pod p is already assigned to node "n"'))


def test_a_binding_conflict_waits_for_the_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_module, "_FIRST_BACKOFF", 0.001)

    async def steps(harness: Harness) -> None:
        harness.executor.start(Bind(harness.pod, "n"))
        assert await harness.until(3) == [("", ""), ("n", ""), ("", "")]

    run(steps, error_response(409, 'pod p is already assigned to node "elsewhere"'))


def test_a_victim_gets_its_condition_before_it_is_deleted() -> None:
    async def steps(harness: Harness) -> None:
        harness.executor.start(Evict(harness.pod, "ns/q", harness.pod, "mine: preempting"))
        assert harness.pod.terminating
        await harness.executor.drain()
        (_, _, mark), (method, _, options) = harness.wire.requested
        condition = mark["status"]["conditions"][0]
        assert (condition["type"], condition["message"]) == ("DisruptionTarget", "mine: preempting")
        assert (method, options["preconditions"]) == ("DELETE", {"uid": "p"})

    run(steps)


def test_the_started_phase_is_written_after_the_last_binding() -> None:
    async def steps(harness: Harness) -> None:
        harness.wire.slow = {"two"}
        harness.starts_a_gang()
        assert harness.group.phase == "Running"  # assumed at once
        await harness.executor.drain()
        assert harness.wire.done[:2] == ["one", "two"]
        assert harness.wire.requested[-1][:2] == ("PATCH", "status")

    run(steps)


def test_a_partially_bound_gang_does_not_get_the_started_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor_module, "_FIRST_BACKOFF", 0.001)

    async def steps(harness: Harness) -> None:
        harness.starts_a_gang()
        harness.executor.start(SetGroupPhase(harness.group, "Running", Counts(running=1)))  # a later status
        await harness.executor.drain()
        async with asyncio.timeout(10):
            while harness.group.phase != "Inqueue":
                harness.news.clear()
                await harness.news.wait()
        assert [what for _, what, _ in harness.wire.requested] == ["binding", "binding"]

    run(steps, None, error_response(404))


def test_bindings_that_name_others_are_written_after_them() -> None:
    """Strict FIFO: a gang, a pod behind it, and one that is behind that."""

    async def steps(harness: Harness) -> None:
        harness.wire.slow = {"first-0"}
        for name, after in (
            ("first-0", ()),
            ("first-1", ()),
            ("second", ("first-0", "first-1")),
            ("third", ("second", "gone")),
        ):
            harness.saw(name, 5)
            harness.executor.start(Bind(harness.cache.cluster.pods[name], "n", after))
        await harness.executor.drain()
        assert harness.wire.done == ["first-1", "first-0", "second", "third"]

    run(steps)


def test_nothing_is_bound_behind_a_binding_that_had_failed_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A binding of an earlier slice or cycle: pending again, or in its backoff and assumed to be bound."""

    async def steps(harness: Harness) -> None:
        for name in ("rejected", "outdated", "done", "behind-rejected", "behind-outdated", "behind-done"):
            harness.saw(name, 5)
        pods = harness.cache.cluster.pods
        for name in ("rejected", "outdated", "done"):
            harness.executor.start(Bind(pods[name], "n"))
            await harness.executor.drain()
        monkeypatch.setattr(executor_module, "_FIRST_BACKOFF", 0.001)
        assert [pods[name].node for name in ("rejected", "outdated", "done")] == ["", "n", "n"]
        for name in ("rejected", "outdated", "done"):
            harness.executor.start(Bind(pods[f"behind-{name}"], "n", (name,)))
        await harness.executor.drain()
        assert harness.wire.done == ["done", "behind-done"]
        assert not pods["behind-rejected"].node
        assert not pods["behind-outdated"].node

    run(steps, error_response(403), error_response(404))


def test_nothing_is_bound_behind_a_binding_that_failed() -> None:
    async def steps(harness: Harness) -> None:
        for name, after in (("first", ()), ("second", ("first",)), ("third", ("second",))):
            harness.saw(name, 5)
            harness.executor.start(Bind(harness.cache.cluster.pods[name], "n", after))
        await harness.executor.drain()
        assert harness.wire.done == []
        assert [(one.key[1], one.node, one.problem) for one in harness.cache.cluster.pending.values()] == [
            ("p", "", ""),
            ("first", "", "binding rejected: 403 Because: no"),
            ("second", "", ""),
            ("third", "", ""),
        ]

    run(steps, error_response(403))


def test_writes_to_one_pod_keep_their_order() -> None:
    async def steps(harness: Harness) -> None:
        for action in (Nominate(harness.pod, "n"), Bind(harness.pod, "n")):
            harness.executor.start(action)
        await harness.executor.drain()
        assert [what for _, what, _ in harness.wire.requested] == ["status", "binding"]

    run(steps)


def test_a_reason_is_written_on_top_of_the_nomination_of_the_same_plan() -> None:
    async def steps(harness: Harness) -> None:
        for action in (Nominate(harness.pod, "n"), Report(harness.pod, "nominated to n")):
            harness.executor.start(action)
        await harness.executor.drain()
        nomination, reason = (body for _, _, body in harness.wire.requested)
        assert nomination["status"] == {"nominatedNodeName": "n"}
        assert reason["metadata"]["resourceVersion"] == "9"  # that of the response to the nomination

    run(steps)


def test_an_unchanged_reason_is_not_written_again() -> None:
    async def steps(harness: Harness) -> None:
        harness.saw("p", 6, "full")
        assert not harness.executor.start(Report(harness.pod, "full"))
        assert harness.executor.start(Report(harness.pod, "still full"))
        assert not harness.executor.start(Report(harness.pod, "still full"))
        await harness.executor.drain()
        assert len(harness.wire.requested) == 1

    run(steps)


def test_another_reason_with_the_same_message_is_written() -> None:
    async def steps(harness: Harness) -> None:
        harness.saw("p", 6, "full")
        assert harness.executor.start(Report(harness.pod, "full", QUOTA_EXCEEDED))
        await harness.executor.drain()
        assert len(harness.wire.requested) == 1

    run(steps)
