"""From neutral nouns to the objects that a scheduler understands, and back. Plain Kubernetes; others build on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muster.chronicle.objects import Pod, Thing
from muster.chronicle.quantities import GPU
from muster.cluster.resources import Resource
from muster.errors import NotSupported
from muster.subject.requests import GangRequest, NodeRequest, PodRequest, QueueRequest, Toleration

Manifest = dict[str, Any]

_IMAGE = "muster.dev/nothing-runs-here"  # the nodes are simulated: an image is named, never pulled
_LEAVES_WITHIN = "200ms"  # long enough to be seen terminating, short enough not to be waited for
GATE = "muster.dev/not-yet"


class Dialect:
    """How this scheduler wants to be spoken to. A noun it does not know is a capability it does not have."""

    reads: tuple[Resource, ...] = ()  # the kinds of its own that this scheduler understands
    gang_words = "none"  # whose group objects an operator makes for this scheduler
    group_kind: Resource | None = None  # the object that makes pods a gang
    queue_kind: Resource | None = None
    node_labels: Mapping[str, str] = {}  # by which this scheduler knows the nodes that it may use
    other_names: tuple[str, ...] = ()  # by which pods may ask for it, too
    phases: frozenset[str] = frozenset({"queued", "admitted", "running", "finished"})  # that a group object can be in
    eviction_reason = "Preempted"  # the event about a victim
    eviction_names_preemptor = True  # whether that event says for whom, and from which node
    tells_why_a_queue_refuses = True  # on the pods that wait for it

    def __init__(self, scheduler_name: str) -> None:
        self.scheduler_name = scheduler_name

    @property
    def recorded(self) -> tuple[Resource, ...]:
        """The kinds of its own that the chronicle must keep."""
        return tuple(kind for kind in (self.group_kind, self.queue_kind) if kind)

    def pod(self, request: PodRequest, namespace: str) -> Manifest:
        metadata: Manifest = {
            "name": request.name,
            "namespace": namespace,
            "labels": dict(request.labels),
            "annotations": {"muster.dev/termination": request.leaves_within or _LEAVES_WITHIN},
        }
        amounts = {GPU: str(request.gpus) if request.gpus else "", "cpu": request.cpus, "memory": request.memory}
        limits = {resource: amount for resource, amount in amounts.items() if amount}
        container: Manifest = {"name": "main", "image": _IMAGE}
        if limits:
            container["resources"] = {"limits": limits}
        spec: Manifest = {"schedulerName": self.scheduler_name, "containers": [container]}
        if request.node:
            spec["nodeSelector"] = {"kubernetes.io/hostname": request.node}
        if request.tolerations:
            spec["tolerations"] = [_toleration(one) for one in request.tolerations]
        if request.priority_class:
            spec["priorityClassName"] = request.priority_class
        if request.gated:
            spec["schedulingGates"] = [{"name": GATE}]
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

    def answers_to(self, name: str) -> bool:
        """Whether it takes a pod that asks for a scheduler of this name."""
        return name == self.scheduler_name or name in self.other_names

    def gang(self, request: GangRequest, namespace: str) -> Manifest | None:
        """The group object; None where a gang is declared by its pods alone, and the dialect remembers it for them."""
        raise NotSupported(f"{self.scheduler_name} has no word for a gang")

    def refuse_to_leave_whole(self, request: GangRequest) -> None:
        """For schedulers that evict gangs pod by pod and cannot be told otherwise."""
        if request.leaves_whole:
            raise NotSupported(f"{self.scheduler_name} has no word for a gang that leaves as one")

    def queue(self, request: QueueRequest) -> Manifest:
        raise NotSupported(f"{self.scheduler_name} has no word for a queue")

    def without_queue(self, name: str) -> Manifest:
        """What is left of it, where all queues are one object."""
        raise NotSupported(f"{self.scheduler_name} has no word for a queue")

    def beside_queue(self, request: QueueRequest, namespace: str) -> list[Manifest]:
        """Objects that let the pods of a namespace into a queue."""
        return []

    def in_namespace(self, namespace: str) -> list[Manifest]:
        """Objects that must exist in a namespace for this scheduler to take pods there."""
        return []

    def lose(self, request: PodRequest) -> None:
        """Refuse to let a pod be deleted by its owner, where it would not go."""
        return

    def bound_by_others(self) -> None:
        """Refuse to let a pod be bound in the scheduler's name, where the API server would not have it."""
        return

    def beside(self, node: NodeRequest) -> list[Manifest]:
        """Objects that must exist beside a node for this scheduler to see all of it."""
        return []

    def resized(self, request: GangRequest) -> Manifest:
        """The patch that gives a gang another minimum."""
        raise NotSupported(f"{self.scheduler_name} has no word for a gang")

    def blames(self, gang: str, namespace: str) -> tuple[str, ...]:
        """What the condition of a victim says about who evicted it, and where this scheduler does, for which gang."""
        return (self.scheduler_name,)

    def phase(self, group: Mapping[str, Any]) -> str:
        """How a gang stands, in neutral words: queued, admitted, running or finished; from its status."""
        raise NotSupported(f"{self.scheduler_name} has no word for a gang")

    def must_know(self, phase: str) -> None:
        """Refuse to be asked for a phase that no group of this scheduler is ever in."""
        if phase not in self.phases:
            raise NotSupported(f"{self.scheduler_name} has no word for a gang that is {phase}")

    def running_members(self, group: Thing) -> int:
        """How many running members the group object counts."""
        raise NotSupported(f"{self.scheduler_name} does not count the members of a gang")

    def gang_of(self, pod: Pod) -> str:
        """The name of the group object that a pod belongs to; empty where it belongs to none."""
        raise NotSupported(f"{self.scheduler_name} has no word for a gang")

    def queue_of(self, group: Thing) -> str:
        """The queue that the pods of a gang count against."""
        raise NotSupported(f"{self.scheduler_name} has no word for a queue")

    def queue_of_pod(self, pod: Pod) -> str:
        """The queue that a pod counts against, where there are no group objects to tell."""
        raise NotSupported(f"{self.scheduler_name} has no word for a queue")

    def limits_of(self, queue: str) -> dict[str, str]:
        """What the work of a queue may use at most, where a queue is not an object of its own."""
        raise NotSupported(f"{self.scheduler_name} has no word for a queue")

    def capability(self, queue: Thing) -> dict[str, str]:
        """What the work of a queue may use at most; a resource that is left out is not limited."""
        raise NotSupported(f"{self.scheduler_name} has no word for a queue")

    def is_open(self, queue: Thing) -> bool:
        raise NotSupported(f"{self.scheduler_name} has no word for an open queue")

    def operate(self, queue: Thing, *, opened: bool, namespace: str) -> Manifest:
        """The object that asks for a queue to be opened or closed."""
        raise NotSupported(f"{self.scheduler_name} has no word for closing a queue")

    def promotion(self, priority_class: str) -> Manifest:
        """The change to a group object that makes a gang more important while it waits."""
        raise NotSupported(f"{self.scheduler_name} has no word for the importance of a gang")


def _toleration(request: Toleration) -> Manifest:
    fields = {"key": request.key, "operator": request.operator, "value": request.value, "effect": request.effect}
    manifest: Manifest = {field: value for field, value in fields.items() if value}
    if request.seconds is not None:
        manifest["tolerationSeconds"] = request.seconds
    return manifest
