"""The fields of API objects that scheduling reads, decoded straight from bytes; everything else is never parsed.

Built-in kinds are checked by the API server, so their types can be relied on. Specs and statuses of custom kinds hold
whatever somebody wrote: they stay plain, and `reading` looks at every field with suspicion.
"""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.client import Metadata

Quantities = dict[str, str | int]


class Resources(msgspec.Struct):
    """What a container, or a pod as a whole, asks for."""

    requests: Quantities | None = None
    limits: Quantities | None = None


class Container(msgspec.Struct, rename="camel"):
    """A container; an init container that restarts always is a sidecar."""

    resources: Resources = msgspec.field(default_factory=Resources)
    restart_policy: str = ""


class Toleration(msgspec.Struct):
    """What a pod puts up with."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


class Expression(msgspec.Struct):
    """One line of a selector."""

    key: str
    operator: str
    values: list[str] | None = None


class NodeTerm(msgspec.Struct, rename="camel"):
    """A node selector term: all lines hold."""

    match_expressions: list[Expression] | None = None
    match_fields: list[Expression] | None = None


class NodeSelector(msgspec.Struct, rename="camel"):
    """Any of the terms holds."""

    node_selector_terms: list[NodeTerm] | None = None


class PreferredTerm(msgspec.Struct):
    """A term that counts in favour of a node."""

    weight: int
    preference: NodeTerm


class NodeAffinity(msgspec.Struct):
    """Which nodes a pod wants, and which it likes."""

    required: NodeSelector | None = msgspec.field(name="requiredDuringSchedulingIgnoredDuringExecution", default=None)
    preferred: list[PreferredTerm] | None = msgspec.field(
        name="preferredDuringSchedulingIgnoredDuringExecution", default=None
    )


class Affinity(msgspec.Struct, rename="camel"):
    """Affinity to nodes; affinity between pods is not read."""

    node_affinity: NodeAffinity | None = None


class Gate(msgspec.Struct):
    """Somebody holds the pod back."""

    name: str = ""


class PodSpec(msgspec.Struct, rename="camel"):
    """spec of a pod"""

    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    resources: Resources | None = None
    overhead: Quantities | None = None
    node_name: str = ""
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: list[Toleration] | None = None
    priority: int = 0
    preemption_policy: str = ""
    scheduler_name: str = ""
    scheduling_gates: list[Gate] | None = None


class Condition(msgspec.Struct):
    """A condition of a pod."""

    type: str
    status: str
    reason: str = ""
    message: str = ""


class PodStatus(msgspec.Struct, rename="camel"):
    """status of a pod"""

    phase: str = "Pending"
    start_time: str | None = None
    nominated_node_name: str = ""
    conditions: list[Condition] | None = None


class ApiPod(msgspec.Struct):
    """A pod."""

    metadata: Metadata
    spec: PodSpec
    status: PodStatus = msgspec.field(default_factory=PodStatus)


class ApiTaint(msgspec.Struct):
    """A taint of a node."""

    key: str
    effect: str
    value: str = ""


class NodeSpec(msgspec.Struct):
    """spec of a node"""

    taints: list[ApiTaint] | None = None
    unschedulable: bool = False


class NodeStatus(msgspec.Struct):
    """status of a node"""

    allocatable: Quantities | None = None


class ApiNode(msgspec.Struct):
    """A node."""

    metadata: Metadata
    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)


class LabelSelector(msgspec.Struct, rename="camel"):
    """Which pods."""

    match_labels: dict[str, str] | None = None
    match_expressions: list[Expression] | None = None


class BudgetSpec(msgspec.Struct):
    """spec of a disruption budget"""

    selector: LabelSelector | None = None


class BudgetStatus(msgspec.Struct, rename="camel"):
    """status of a disruption budget"""

    disruptions_allowed: int = 0


class ApiBudget(msgspec.Struct):
    """A PodDisruptionBudget."""

    metadata: Metadata
    spec: BudgetSpec = msgspec.field(default_factory=BudgetSpec)
    status: BudgetStatus = msgspec.field(default_factory=BudgetStatus)


class PriorityClass(msgspec.Struct, rename="camel"):
    """What a priority's name stands for."""

    metadata: Metadata
    value: int = 0
    preemption_policy: str = ""


class Custom(msgspec.Struct):
    """A PodGroup or a Queue of either family."""

    metadata: Metadata
    spec: Any = None
    status: Any = None


class Command(msgspec.Struct):
    """bus.volcano.sh/v1alpha1: somebody asks a controller to do something to its target."""

    metadata: Metadata
    action: Any = None
    target: Any = None
