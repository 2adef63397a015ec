"""What people do to queues and to the gangs that wait in them: open, close, make more important, clear away."""

from __future__ import annotations

from muster.chronicle.objects import Thing
from muster.chronicle.queues import queue_is
from muster.cluster.resources import resource_of
from muster.errors import NotSupported
from muster.stage.scene import Scene


def operate(scene: Scene, queue: str, *, opened: bool) -> None:
    """Open or close a queue; it says so by the time this returns, and the scheduler has had a look since."""
    dialect, history = scene.subject.dialect, scene.chronicle.history
    if dialect.queue_kind is None:
        raise NotSupported(f"{dialect.scheduler_name} has no word for closing a queue")
    kind = dialect.queue_kind.kind
    scene.chronicle.staged(queue_is(kind, queue, dialect.is_open, opened=not opened))
    newest = history.thing(kind, queue)[-1].object
    assert isinstance(newest, Thing)
    order = dialect.operate(newest, opened=opened, namespace=scene.namespace)
    if resource_of(order) == dialect.queue_kind:
        scene.change(order)
    else:
        scene.api.create(order)
    scene.chronicle.staged(queue_is(kind, queue, dialect.is_open, opened=opened))
    scene.chronicle.prove_live()
    scene.touch()


def promote(scene: Scene, gang: str, priority: int) -> None:
    """A gang that waits becomes more important; the scheduler has had a look since."""
    kind = scene.subject.dialect.group_kind
    change = scene.subject.dialect.promotion(scene.priority_class(priority))
    if kind is None:
        raise NotSupported(f"{scene.subject.name} has no group object that could be changed")
    scene.api.patch(kind, gang, change, namespace=scene.namespace)
    scene.chronicle.prove_live()
    scene.touch()


def dismiss(scene: Scene, gang: str) -> None:
    """The group object is deleted, as an operator does when a job is over."""
    kind = scene.subject.dialect.group_kind
    if kind is not None:
        scene.api.delete(kind, gang, scene.namespace)
    scene.touch()
