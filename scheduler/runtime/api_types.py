"""The fields of API objects that the scheduler reads, decoded straight from bytes; everything else is never parsed.

The API server validates built-in kinds, so their types are reliable. Spec and status of custom resources may hold
anything: they stay untyped, and `podgroups_and_queues` checks every field.
"""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.client import Metadata

Quantities = dict[str, str | int]


class Resources(msgspec.Struct):
    """Resources of a container, or of a pod as a whole."""

    requests: Quantities | None = None
    limits: Quantities | None = None


class Container(msgspec.Struct, rename="camel"):
    """A container; an init container with restartPolicy Always is a sidecar."""

    resources: Resources = msgspec.field(default_factory=Resources)
    restart_policy: str = ""


class Toleration(msgspec.Struct):
    """A toleration of a pod."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


class Expression(msgspec.Struct):
    """One requirement of a selector."""

    key: str
    operator: str
    values: list[str] | None = None


class NodeTerm(msgspec.Struct, rename="camel"):
    """A node selector term: all requirements must match."""

    match_expressions: list[Expression] | None = None
    match_fields: list[Expression] | None = None


class NodeSelector(msgspec.Struct, rename="camel"):
    """A node selector: any of the terms must match."""

    node_selector_terms: list[NodeTerm] | None = None


class PreferredTerm(msgspec.Struct):
    """A preferred term with its weight."""

    weight: int
    preference: NodeTerm


class NodeAffinity(msgspec.Struct):
    """Required and preferred node affinity."""

    required: NodeSelector | None = msgspec.field(name="requiredDuringSchedulingIgnoredDuringExecution", default=None)
    preferred: list[PreferredTerm] | None = msgspec.field(
        name="preferredDuringSchedulingIgnoredDuringExecution", default=None
    )


class Affinity(msgspec.Struct, rename="camel"):
    """Node affinity; pod affinity is not supported."""

    node_affinity: NodeAffinity | None = None


class Gate(msgspec.Struct):
    """A scheduling gate."""

    name: str = ""


class ResourceClaim(msgspec.Struct):
    """A claim on devices (dynamic resource allocation)."""

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
    resource_claims: list[ResourceClaim] | None = None


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
    """A label selector."""

    match_labels: dict[str, str] | None = None
    match_expressions: list[Expression] | None = None


class BudgetSpec(msgspec.Struct):
    """spec of a PodDisruptionBudget"""

    selector: LabelSelector | None = None


class DisruptionBudgetStatus(msgspec.Struct, rename="camel"):
    """status of a PodDisruptionBudget"""

    disruptions_allowed: int = 0


class ApiBudget(msgspec.Struct):
    """A PodDisruptionBudget."""

    metadata: Metadata
    spec: BudgetSpec = msgspec.field(default_factory=BudgetSpec)
    status: DisruptionBudgetStatus = msgspec.field(default_factory=DisruptionBudgetStatus)


class PriorityClass(msgspec.Struct, rename="camel"):
    """A PriorityClass."""

    metadata: Metadata
    value: int = 0
    preemption_policy: str = ""


class CustomResource(msgspec.Struct):
    """A PodGroup or a Queue."""

    metadata: Metadata
    spec: Any = None
    status: Any = None


class Command(msgspec.Struct):
    """A bus.volcano.sh/v1alpha1 Command: an action that a controller shall apply to its target."""

    metadata: Metadata
    action: Any = None
    target: Any = None
