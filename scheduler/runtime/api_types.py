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
    claims: Any = None


class ContainerPort(msgspec.Struct, rename="camel"):
    """A port of a container; with a hostPort it is also one of the node."""

    host_port: int = 0
    host_ip: str = msgspec.field(name="hostIP", default="")
    protocol: str = ""


class RestartRule(msgspec.Struct):
    """What becomes of a container that has ended."""

    action: str = ""


class VolumeMount(msgspec.Struct, rename="camel"):
    """A volume in a container."""

    bind_mount_options: Any = None


class Container(msgspec.Struct, rename="camel"):
    """A container; an init container with restartPolicy Always is a sidecar."""

    name: str = ""
    resources: Resources = msgspec.field(default_factory=Resources)
    restart_policy: str = ""
    restart_policy_rules: list[RestartRule] | None = None
    ports: list[ContainerPort] | None = None
    volume_mounts: list[VolumeMount] | None = None


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


class LabelSelector(msgspec.Struct, rename="camel"):
    """A label selector."""

    match_labels: dict[str, str] | None = None
    match_expressions: list[Expression] | None = None


class PodAffinityTerm(msgspec.Struct, rename="camel"):
    """A term of pod (anti-)affinity; the API server has merged matchLabelKeys and mismatchLabelKeys into it."""

    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: list[str] | None = None
    namespace_selector: LabelSelector | None = None


class WeightedPodAffinityTerm(msgspec.Struct, rename="camel"):
    """A preferred term with its weight."""

    weight: int
    pod_affinity_term: PodAffinityTerm


class PodAffinity(msgspec.Struct):
    """Required and preferred pod affinity, or anti-affinity."""

    required: list[PodAffinityTerm] | None = msgspec.field(
        name="requiredDuringSchedulingIgnoredDuringExecution", default=None
    )
    preferred: list[WeightedPodAffinityTerm] | None = msgspec.field(
        name="preferredDuringSchedulingIgnoredDuringExecution", default=None
    )


class Affinity(msgspec.Struct, rename="camel"):
    """Affinity to nodes and to pods."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpread(msgspec.Struct, rename="camel"):
    """A topology spread constraint."""

    max_skew: int = 1
    topology_key: str = ""
    when_unsatisfiable: str = "DoNotSchedule"
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: list[str] | None = None


class Gate(msgspec.Struct):
    """A scheduling gate."""

    name: str = ""


class ClaimSource(msgspec.Struct, rename="camel"):
    """persistentVolumeClaim of a volume"""

    claim_name: str = ""


class EphemeralSource(msgspec.Struct):
    """ephemeral of a volume: its claim is named after the pod and the volume"""


class PodVolume(msgspec.Struct, rename="camel"):
    """A volume of a pod: the claims that it mounts, and the sources that are refused."""

    name: str = ""
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: EphemeralSource | None = None
    aws_elastic_block_store: Any = None
    azure_disk: Any = None
    azure_file: Any = None
    cinder: Any = None
    gce_persistent_disk: Any = None
    iscsi: Any = None
    portworx_volume: Any = None
    rbd: Any = None
    vsphere_volume: Any = None


class PodSpec(msgspec.Struct, rename="camel"):
    """spec of a pod"""

    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    resources: Resources | None = None
    overhead: Quantities | None = None
    node_name: str = ""
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    topology_spread_constraints: list[TopologySpread] | None = None
    tolerations: list[Toleration] | None = None
    priority: int = 0
    preemption_policy: str = ""
    scheduler_name: str = ""
    scheduling_gates: list[Gate] | None = None
    scheduling_group: Any = None
    resource_claims: Any = None
    volumes: list[PodVolume] | None = None


class Condition(msgspec.Struct, rename="camel"):
    """A condition of a pod."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class ContainerStatus(msgspec.Struct, rename="camel"):
    """What the node has allocated to a container, and what that uses: other than requested while it is resized."""

    name: str = ""
    allocated_resources: Quantities | None = None
    resources: Resources | None = None


class PodStatus(msgspec.Struct, rename="camel"):
    """status of a pod"""

    phase: str = "Pending"
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None
    allocated_resources: Quantities | None = None
    resources: Resources | None = None
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


class Namespace(msgspec.Struct):
    """A namespace; only its labels matter."""

    metadata: Metadata


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
