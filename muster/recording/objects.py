"""The few fields of pods, nodes and events that questions need, decoded straight from bytes.

The full object stays beside them as bytes (see records.py): decoding 3 % of a pod costs 3 % of the time. Trap: to the
API, null is the same as a field that is left out, but msgspec refuses it where the type does not allow it. So always
decode with `decoder`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

_T = TypeVar("_T")


def decoder(kind: type[_T]) -> Callable[[bytes | msgspec.Raw], _T]:
    """Decodes an object of that type; a field that is null has its default."""
    fast = msgspec.json.Decoder(kind).decode

    def decode(raw: bytes | msgspec.Raw) -> _T:
        try:
            return fast(raw)
        except msgspec.ValidationError:  # rare: Go writes null for an empty list or map without `omitempty`
            return msgspec.convert(_without_nulls(msgspec.json.decode(raw)), kind)

    return decode


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(one) for key, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value


class OwnerReference(msgspec.Struct):
    """An owner of an object; the controller is the one that creates and deletes it."""

    uid: str = ""
    controller: bool | None = None


class Meta(msgspec.Struct, rename="camel"):
    """metadata"""

    name: str
    uid: str = ""
    namespace: str = ""
    resource_version: str = "0"
    deletion_timestamp: str | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: list[OwnerReference] = []


class Resources(msgspec.Struct):
    """A container's resources; for extended resources requests equal limits, so requests are enough."""

    requests: dict[str, str | int] = {}
    limits: dict[str, str | int] = {}


class Container(msgspec.Struct):
    """A container, as far as its resources are concerned."""

    resources: Resources = msgspec.field(default_factory=Resources)


class Toleration(msgspec.Struct, rename="camel"):
    """A toleration of a pod."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


class Taint(msgspec.Struct):
    """A taint of a node."""

    key: str
    effect: str
    value: str = ""


class Condition(msgspec.Struct):
    """A condition of a pod or a node."""

    type: str
    status: str
    reason: str = ""
    message: str = ""


class SchedulingGroup(msgspec.Struct, rename="camel"):
    """The PodGroup of scheduling.k8s.io that a pod belongs to."""

    pod_group_name: str = ""


class PodSpec(msgspec.Struct, rename="camel"):
    """spec of a pod"""

    node_name: str = ""
    priority: int = 0
    scheduler_name: str = ""
    scheduling_group: SchedulingGroup | None = None
    containers: list[Container] = []
    tolerations: list[Toleration] = []


class NotRunning(msgspec.Struct):
    """Why a container does not run yet, or no longer."""

    reason: str = ""
    message: str = ""


class ContainerState(msgspec.Struct):
    """The state of a container that does not run."""

    waiting: NotRunning | None = None
    terminated: NotRunning | None = None


class ContainerStatus(msgspec.Struct):
    """What a kubelet reports of a container."""

    image: str = ""
    state: ContainerState = msgspec.field(default_factory=ContainerState)


class PodStatus(msgspec.Struct, rename="camel"):
    """status of a pod"""

    phase: str = "Pending"
    reason: str = ""
    message: str = ""
    nominated_node_name: str = ""
    conditions: list[Condition] = []
    container_statuses: list[ContainerStatus] = []
    init_container_statuses: list[ContainerStatus] = []


class Pod(msgspec.Struct):
    """A pod, as far as scheduling is concerned."""

    metadata: Meta
    spec: PodSpec
    status: PodStatus = msgspec.field(default_factory=PodStatus)


class NodeSpec(msgspec.Struct):
    """spec of a node"""

    taints: list[Taint] = []
    unschedulable: bool = False


class NodeStatus(msgspec.Struct):
    """status of a node"""

    allocatable: dict[str, str | int] = {}
    conditions: list[Condition] = []


class Node(msgspec.Struct):
    """A node, as far as scheduling is concerned."""

    metadata: Meta
    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)


class Reference(msgspec.Struct):
    """The object that an event is about."""

    kind: str = ""
    name: str = ""
    namespace: str = ""
    uid: str = ""


class Event(msgspec.Struct, rename="camel"):
    """An event: what a component reports."""

    metadata: Meta
    involved_object: Reference
    reason: str = ""
    message: str = ""
    type: str = ""
    related: Reference | None = None
    event_time: str | None = None
    first_timestamp: str | None = None

    @property
    def when(self) -> str:
        """When it was first reported, as the API writes times; the newer and the older API use different fields."""
        return self.event_time or self.first_timestamp or ""


class CustomObject(msgspec.Struct):
    """An object of a scheduler's own kind (a PodGroup, a queue): its dialect knows what the fields mean."""

    metadata: Meta
    spec: dict[str, Any] = {}
    status: dict[str, Any] = {}


Object = Pod | Node | Event | CustomObject
