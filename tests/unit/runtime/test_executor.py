"""Decisions carried out: what is written in which order, and what is believed when the API says no."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from scheduler.client import ADDED, Access, ApiError, Client
from scheduler.core.actions import Bind, Evict, Nominate, Report, SetGroupPhase
from scheduler.core.model import Counts, Group, Pod
from scheduler.runtime import effects as effects_module
from scheduler.runtime import queues as queues_module
from scheduler.runtime.effects import Effects
from scheduler.runtime.events import Events
from scheduler.runtime.metrics import Metrics
from scheduler.runtime.objects import ApiPod, Command, Custom
from scheduler.runtime.queues import QueueKeeper
from scheduler.runtime.world import World


class Wire(Client):
    """Remembers what was asked, and answers by a script: nothing here needs a server."""

    def __init__(self, *answers: ApiError | None) -> None:
        super().__init__(Access("http://nowhere", ssl.create_default_context()))
        self.answers = list(answers)
        self.asked: list[tuple[str, str, Any]] = []
        self.done: list[str] = []
        self.slow: set[str] = set()

    async def request(self, method: str, path: str, body: object = None, **_: Any) -> bytes:
        self.asked.append((method, path.rpartition("/")[2], json.loads(msgspec.json.encode(body))))
        about = path.split("/")[-2]
        await asyncio.sleep(0.05 if about in self.slow else 0)
        answer = self.answers.pop(0) if self.answers else None
        if answer is not None:
            raise answer
        self.done.append(about)
        return b'{"metadata":{"resourceVersion":"9"}}'


class Scene:
    def __init__(self, *answers: ApiError | None) -> None:
        self.history: list[tuple[str, str]] = []  # node and problem, whenever something is believed differently
        self.news = asyncio.Event()
        self.world = World(self._changed)
        self.wire = Wire(*answers)
        self.effects = Effects(self.wire, Events(self.wire), self.world, Metrics())
        self.saw("p", 5)

    def saw(self, name: str, version: int, message: str = "", gang: str = "") -> None:
        metadata: dict[str, Any] = {"name": name, "namespace": "ns", "uid": name, "resourceVersion": str(version)}
        metadata |= {"annotations": {"scheduling.k8s.io/group-name": gang}} if gang else {}
        refusal = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
        found = {"metadata": metadata, "spec": {}, "status": {"conditions": [refusal]}}
        self.world.saw_pod(ADDED, msgspec.convert(found, ApiPod))

    def starts_a_gang(self) -> None:
        """Two pods are bound, and their group is told that it runs."""
        metadata = {"name": "g", "namespace": "ns", "uid": "g", "resourceVersion": "5"}
        found = {"metadata": metadata, "spec": {"minMember": 2}, "status": {"phase": "Inqueue"}}
        self.world.groups.saw("volcano", ADDED, msgspec.convert(found, Custom))
        for name in ("one", "two"):
            self.saw(name, 5, gang="g")
            self.effects.start(Bind(self.world.cluster.pods[name], "n"))
        self.effects.start(SetGroupPhase(self.group, "Running", Counts()))

    @property
    def group(self) -> Group:
        return self.world.cluster.groups["ns", "g"]

    @property
    def pod(self) -> Pod:
        return self.world.cluster.pods["p"]

    async def until(self, steps: int) -> list[tuple[str, str]]:
        async with asyncio.timeout(10):
            while len(self.history) < steps:
                self.news.clear()
                await self.news.wait()
        return self.history

    def _changed(self) -> None:
        self.history.append((self.pod.node, self.pod.problem))
        self.news.set()


def play(story: Callable[[Scene], Awaitable[None]], *answers: ApiError | None) -> None:
    async def go() -> None:
        await story(Scene(*answers))

    asyncio.run(go())


def refusal(status: int, message: str = "no") -> ApiError:
    return ApiError(status, "Because", message)


def test_a_binding_is_believed_before_it_is_written() -> None:
    async def story(scene: Scene) -> None:
        assert scene.effects.start(Bind(scene.pod, "n"))
        assert (scene.pod.node, scene.wire.asked) == ("n", [])
        await scene.effects.drain()
        assert [(method, what) for method, what, _ in scene.wire.asked] == [("POST", "binding")]
        assert scene.wire.asked[0][2]["metadata"]["uid"] == "p"

    play(story)


def test_a_refused_binding_is_a_problem_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects_module, "_FIRST_PAUSE", 0.001)

    async def story(scene: Scene) -> None:
        scene.effects.start(Bind(scene.pod, "n"))
        why = "the binding was refused: 422 Because: no"
        assert await scene.until(4) == [("", ""), ("n", ""), ("", why), ("", "")]

    play(story, refusal(422))


def test_an_answer_that_was_lost_is_no_refusal() -> None:
    async def story(scene: Scene) -> None:
        scene.effects.start(Bind(scene.pod, "n"))
        await scene.effects.drain()
        assert (scene.pod.node, scene.pod.problem) == ("n", "")

    play(story, refusal(409, 'pod p is already assigned to node "n"'))


def test_somebody_who_was_faster_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects_module, "_FIRST_PAUSE", 0.001)

    async def story(scene: Scene) -> None:
        scene.effects.start(Bind(scene.pod, "n"))
        assert await scene.until(3) == [("", ""), ("n", ""), ("", "")]

    play(story, refusal(409, 'pod p is already assigned to node "elsewhere"'))


def test_a_victim_is_marked_before_it_goes() -> None:
    async def story(scene: Scene) -> None:
        scene.effects.start(Evict(scene.pod, "ns/q", scene.pod, "mine: preempting"))
        assert scene.pod.leaving
        await scene.effects.drain()
        (_, _, mark), (method, _, options) = scene.wire.asked
        condition = mark["status"]["conditions"][0]
        assert (condition["type"], condition["message"]) == ("DisruptionTarget", "mine: preempting")
        assert (method, options["preconditions"]) == ("DELETE", {"uid": "p"})

    play(story)


def test_that_a_gang_has_started_is_written_after_its_last_binding() -> None:
    async def story(scene: Scene) -> None:
        scene.wire.slow = {"two"}
        scene.starts_a_gang()
        assert scene.group.phase == "Running"  # believed at once
        await scene.effects.drain()
        assert scene.wire.done[:2] == ["one", "two"]
        assert scene.wire.asked[-1][:2] == ("PATCH", "status")

    play(story)


def test_a_gang_that_could_be_bound_in_part_only_is_not_said_to_have_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effects_module, "_FIRST_PAUSE", 0.001)

    async def story(scene: Scene) -> None:
        scene.starts_a_gang()
        scene.effects.start(SetGroupPhase(scene.group, "Running", Counts(running=1)))  # a later word about it
        await scene.effects.drain()
        async with asyncio.timeout(10):
            while scene.group.phase != "Inqueue":
                scene.news.clear()
                await scene.news.wait()
        assert [what for _, what, _ in scene.wire.asked] == ["binding", "binding"]

    play(story, None, refusal(404))


def test_writes_about_one_pod_keep_their_order() -> None:
    async def story(scene: Scene) -> None:
        for action in (Report(scene.pod, "full"), Nominate(scene.pod, "n"), Bind(scene.pod, "n")):
            scene.effects.start(action)
        await scene.effects.drain()
        assert [what for _, what, _ in scene.wire.asked] == ["status", "status", "binding"]

    play(story)


def test_what_a_pod_says_already_is_not_said_again() -> None:
    async def story(scene: Scene) -> None:
        scene.saw("p", 6, "full")
        assert not scene.effects.start(Report(scene.pod, "full"))
        assert scene.effects.start(Report(scene.pod, "still full"))
        assert not scene.effects.start(Report(scene.pod, "still full"))
        await scene.effects.drain()
        assert len(scene.wire.asked) == 1

    play(story)


def test_a_command_that_meets_a_conflict_is_obeyed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues_module, "_AFTER_TROUBLE", 0.001)
    command = {"metadata": {"name": "close"}, "action": "CloseQueue", "target": {"kind": "Queue", "name": "q"}}

    async def story(scene: Scene) -> None:
        scene.world.saw_queue(ADDED, msgspec.convert({"metadata": {"name": "q"}}, Custom))
        keeper = QueueKeeper(scene.wire, scene.world)
        keeper._saw(ADDED, msgspec.convert(command, Command))
        keeping = asyncio.create_task(keeper.run())
        async with asyncio.timeout(10):
            while len(scene.wire.asked) < 3:
                await asyncio.sleep(0)
        keeping.cancel()
        closed = {"status": {"state": "Closed"}}
        told = [(method, body) for method, _, body in scene.wire.asked]
        assert told[:2] == [("PATCH", closed), ("PATCH", closed)]
        assert told[2][0] == "DELETE"

    play(story, refusal(409))
