"""KAI's words: PodGroup and Queue of scheduling.run.ai, tied to pods by an annotation and a label.

Who names no queue is in one without limits. To KAI work of priority 100 and more may never be evicted, and work without
a priority class has 50; Kubernetes knows neither rule, so that pods and groups say what they are: preemptible, and of
priority 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muster.chronicle.objects import Pod, Thing
from muster.chronicle.quantities import GPU, thousandths
from muster.cluster.resources import KAI_GROUP, KAI_QUEUE, Resource
from muster.errors import NotSupported
from muster.subject.dialect import Dialect, Manifest
from muster.subject.requests import GangRequest, PodRequest, QueueRequest

EVERYBODY = "muster-everybody"  # the queue of those who name none
ORDINARY = "muster-ordinary"  # the class of those who name none
_PARENT = "muster"  # only a queue that has a parent takes work
_UNLIMITED = -1
_GROUP_NAME = "pod-group-name"
_LABELS = "kai.scheduler/"
_UNITS = {"gpu": (GPU, ""), "cpu": ("cpu", "m"), "memory": ("memory", "M")}  # as KAI counts them


class KaiDialect(Dialect):
    """scheduling.run.ai/v2alpha2 and v2"""

    reads: tuple[Resource, ...] = (KAI_GROUP, KAI_QUEUE)
    group_kind: Resource | None = KAI_GROUP
    queue_kind: Resource | None = KAI_QUEUE
    phases: frozenset[str] = frozenset({"queued"})
    tells_why_a_queue_refuses = False  # on the group, and on pods only where there is a queue
    eviction_reason = "Evict"
    eviction_names_preemptor = False  # it is an event about the group

    def __init__(self) -> None:
        super().__init__("kai-scheduler")

    def pod(self, request: PodRequest, namespace: str) -> Manifest:
        manifest = super().pod(request, namespace)
        metadata = manifest["metadata"]
        if request.gang:
            metadata["annotations"][_GROUP_NAME] = request.gang
            if request.role:
                metadata["labels"][_LABELS + "subgroup-name"] = request.role
            return manifest
        metadata["labels"] |= {
            _LABELS + "queue": request.queue or EVERYBODY,
            _LABELS + "preemptibility": _preemptibility(protected=request.protected),
            "priorityClassName": request.priority_class or ORDINARY,
        }
        return manifest

    def gang(self, request: GangRequest, namespace: str) -> Manifest:
        if request.with_gangs:
            raise NotSupported("KAI has no word for gangs that start together")
        spec: Manifest = {
            "minMember": request.minimum,
            "queue": request.queue or EVERYBODY,
            "priorityClassName": request.priority_class or ORDINARY,
            "preemptibility": _preemptibility(protected=any(one.protected for one in request.members)),
        }
        if request.roles:
            spec["subGroups"] = [{"name": role, "minMember": least} for role, least in request.roles.items()]
        metadata = {"name": request.name, "namespace": namespace}
        return {"apiVersion": KAI_GROUP.api_version, "kind": KAI_GROUP.kind, "metadata": metadata, "spec": spec}

    def resized(self, request: GangRequest) -> Manifest:
        return {"spec": {"minMember": request.minimum}}

    def queue(self, request: QueueRequest) -> Manifest:
        """A limit is owned as well, so that nobody takes it back; without one, work is shared by weight."""
        if request.strictly_in_order or request.protects_head:
            raise NotSupported("KAI has no word for a queue that is served strictly in order")
        cpus = None if request.cpus is None else request.cpus * 1000
        memory = None if request.memory is None else thousandths(request.memory) // 10**9
        most = {"gpu": request.gpus, "cpu": cpus, "memory": memory}
        limited = any(amount is not None for amount in most.values())
        owned = _UNLIMITED if limited else 0
        resources = {name: _share(amount, owned, request.weight) for name, amount in most.items()}
        if request.guaranteed_gpus:
            resources["gpu"]["quota"] = request.guaranteed_gpus
        return _queue(request.name, {"parentQueue": _PARENT, "resources": resources})

    def blames(self, gang: str, namespace: str) -> tuple[str, ...]:
        return (f"{namespace}/{gang}",)

    def phase(self, group: Mapping[str, Any]) -> str:
        """KAI names none: a group waits until its pods say otherwise."""
        return "queued"

    def gang_of(self, pod: Pod) -> str:
        return pod.metadata.annotations.get(_GROUP_NAME, "")

    def queue_of(self, group: Thing) -> str:
        return str(group.spec.get("queue", ""))

    def capability(self, queue: Thing) -> dict[str, str]:
        resources = queue.spec.get("resources", {})
        limits = {name: resources.get(name, {}).get("limit", _UNLIMITED) for name in _UNITS}
        return {_UNITS[name][0]: f"{most}{_UNITS[name][1]}" for name, most in limits.items() if most != _UNLIMITED}

    def is_open(self, queue: Thing) -> bool:
        return True

    def promotion(self, priority_class: str) -> Manifest:
        return {"spec": {"priorityClassName": priority_class}}


def environment() -> list[Manifest]:
    """What is there before the first scene."""
    unlimited = {name: _share(None, _UNLIMITED, 1) for name in _UNITS}
    ordinary = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": ORDINARY}}
    return [
        {**ordinary, "value": 0},
        _queue(_PARENT, {"resources": unlimited}),
        _queue(EVERYBODY, {"parentQueue": _PARENT, "resources": unlimited}),
    ]


def _share(most: int | None, owned: int, weight: int) -> dict[str, int]:
    if most is None:
        return {"quota": owned, "limit": _UNLIMITED, "overQuotaWeight": weight}
    return {"quota": most, "limit": most, "overQuotaWeight": weight}


def _queue(name: str, spec: Manifest) -> Manifest:
    return {"apiVersion": KAI_QUEUE.api_version, "kind": KAI_QUEUE.kind, "metadata": {"name": name}, "spec": spec}


def _preemptibility(*, protected: bool) -> str:
    return "non-preemptible" if protected else "preemptible"
