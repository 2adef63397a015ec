"""Gangs and queues of a scene: created through the subject's dialect, remembered by name, undone with the scene."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from muster.chronicle.facts import runs
from muster.chronicle.questions import all_of, eventually
from muster.subject.requests import GangRequest, PodRequest, QueueRequest

if TYPE_CHECKING:
    from muster.stage.scene import Scene


class Groups:
    """`scene.groups`: what pods can belong to."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._members: dict[str, list[str]] = {}
        self._undo: list[Callable[[], None]] = []

    def members(self, gang: str) -> tuple[str, ...]:
        """The names of the pods that were given to a gang, in order."""
        return tuple(self._members.get(gang, ()))

    def declare(self, request: GangRequest) -> None:
        """The group object alone; pods may follow, or may be there already."""
        if request.priority is not None and not request.priority_class:
            request = replace(request, priority_class=self._scene.priority_class(request.priority))
        scene = self._scene
        scene.create(scene.subject.dialect.gang(request, scene.namespace))
        self._members.setdefault(request.name, [])

    def join(self, gang: str, pods: Iterable[PodRequest]) -> None:
        """Pods that name the gang as theirs."""
        members = [replace(pod, gang=gang) for pod in pods]
        self._members.setdefault(gang, []).extend(pod.name for pod in members)
        self._scene.submit(*members)

    def submit(self, request: GangRequest, pods: Iterable[PodRequest]) -> None:
        """A whole gang: the group object first, then its pods."""
        members = list(pods)
        if not request.asks_gpus:
            ordered = sorted((pod.gpus for pod in members), reverse=True)
            request = replace(request, asks_gpus=sum(ordered[: request.minimum]))
        self.declare(request)
        self.join(request.name, members)

    def running(self, request: GangRequest, pods: Iterable[PodRequest]) -> None:
        """A whole gang, and all of it runs."""
        self.submit(request, pods)
        everybody = [eventually(runs(name)) for name in self.members(request.name)]
        self._scene.chronicle.staged(all_of(f"gang {request.name} running", everybody))
        self._scene.touch()

    def add_queue(self, request: QueueRequest) -> None:
        """A queue, gone with the scene; queues have names of the whole cluster."""
        scene = self._scene
        kind = scene.subject.dialect.queue_kind
        manifest = scene.subject.dialect.queue(request)
        scene.create(manifest)
        if kind is not None:
            self._undo.append(lambda: scene.api.delete(kind, request.name))

    def strike(self) -> None:
        while self._undo:
            self._undo.pop()()
