"""Gangs and queues of a scene: created through the subject's dialect, remembered by name, undone with the scene."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import tenacity

from muster import timeouts
from muster.chronicle.facts import runs
from muster.chronicle.gangs import another_life
from muster.chronicle.quantities import readable, thousandths
from muster.chronicle.questions import all_of, eventually
from muster.cluster.resources import POD
from muster.subject.dialect import Manifest
from muster.subject.requests import GangRequest, PodRequest, QueueRequest

if TYPE_CHECKING:
    from muster.stage.scene import Scene

_NOT_SEEN_YET = "no PriorityClass with name"
_STILL_LEAVING = "object is being deleted"


class Groups:
    """`scene.groups`: what pods can belong to."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._members: dict[str, list[str]] = {}
        self._undo: list[Callable[[], None]] = []

    def members(self, gang: str) -> tuple[str, ...]:
        """The names of the pods that were given to a gang, in order."""
        return tuple(self._members.get(gang, ()))

    def adopt(self, gang: str, pods: Iterable[str]) -> None:
        """Pods that somebody else creates: an operator makes them of a job."""
        self._members[gang] = list(pods)

    def declare(self, request: GangRequest) -> None:
        """The group object alone; pods may follow, or may be there already."""
        if request.priority is not None and not request.priority_class:
            request = replace(request, priority_class=self._scene.priority_class(request.priority))
        group = self._scene.subject.dialect.gang(request, self._scene.namespace)
        if group is not None:
            self._create(group)
        self._members.setdefault(request.name, [])

    @tenacity.retry(
        retry=tenacity.retry_if_exception(lambda refusal: _passes(str(refusal))),
        wait=tenacity.wait_fixed(0.05),
        stop=tenacity.stop_after_delay(timeouts.API_TRANSIENT),
        reraise=True,
    )
    def _create(self, group: Manifest) -> None:
        """The API server's admission of groups learns of a new PriorityClass some milliseconds after its creation.

        And a queue of the same name may still be on its way out of the scene before.
        """
        self._scene.create(group)

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
        if not request.asks_beside:
            request = replace(request, asks_beside=_asks_beside(members[: request.minimum]))
        self.declare(replace(request, members=tuple(members)))
        self.join(request.name, members)

    def running(self, request: GangRequest, pods: Iterable[PodRequest]) -> None:
        """A whole gang, and all of it runs."""
        self.submit(request, pods)
        everybody = [eventually(runs(name)) for name in self.members(request.name)]
        self._scene.chronicle.staged(all_of(f"gang {request.name} running", everybody))
        self._scene.touch()

    def resize(self, request: GangRequest) -> None:
        """Another minimum for a gang that was declared before."""
        scene = self._scene
        patch, kind = scene.subject.dialect.resized(request), scene.subject.dialect.group_kind
        assert kind is not None
        scene.api.patch(kind, request.name, patch, namespace=scene.namespace)
        scene.touch()

    def recreate(self, pod: str) -> None:
        """A member is deleted, and created again under its name."""
        scene = self._scene
        life = scene.chronicle.history.pod(pod)
        scene.remove(pod)
        scene.replace(pod, by=pod)
        scene.chronicle.staged(another_life(pod, life.uid if life else ""))

    def left_by_a_crash(self, request: GangRequest, pods: Iterable[PodRequest], node: str) -> None:
        """A gang as a scheduler leaves it that dies between two bindings; another one is started in its place.

        The one binding is written here, in the name of a scheduler that is paused and does not wake up again.
        """
        scene = self._scene
        scene.subject.dialect.bound_by_others()
        with scene.scheduler_paused():
            self.submit(request, pods)
            first = self.members(request.name)[0]
            scene.api.post(POD.path(scene.namespace, first, "binding"), _binding(first, node))
            scene.subject.kill()
            scene.subject.stop()  # gives its ports back
        scene.subject.start()

    def add_queue(self, request: QueueRequest) -> None:
        """A queue, gone with the scene; queues have names of the whole cluster."""
        scene, dialect = self._scene, self._scene.subject.dialect
        kind, manifest = dialect.queue_kind, dialect.queue(request)
        if kind is not None:
            self._create(manifest)
            for beside in dialect.beside_queue(request, scene.namespace):
                scene.create(beside)
            self._undo.append(lambda: scene.api.delete(kind, request.name))
        else:
            scene.change(manifest)
            self._undo.append(lambda: scene.change(dialect.without_queue(request.name)))

    def strike(self) -> None:
        """Groups first: one that outlives its scene would count against the next queue of that name."""
        kind = self._scene.subject.dialect.group_kind
        if kind is not None and self._members:
            self._scene.api.delete_all(kind, self._scene.namespace)
        while self._undo:
            self._undo.pop()()


def _passes(refusal: str) -> bool:
    return _NOT_SEEN_YET in refusal or _STILL_LEAVING in refusal


def _binding(pod: str, node: str) -> dict[str, object]:
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    return {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod}, "target": target}


def _asks_beside(pods: list[PodRequest]) -> dict[str, str]:
    """What these pods ask for beside GPUs, all together."""
    asked = {
        "cpu": sum(thousandths(pod.cpus) for pod in pods if pod.cpus),
        "memory": sum(thousandths(pod.memory) for pod in pods if pod.memory),
    }
    return {resource: readable(amount) for resource, amount in asked.items() if amount}
