"""Claims, volumes and storage classes: the fields that the scheduler reads, and what it makes of them.

An API object changes often, and seldom in a way that matters here: the converted objects compare equal then, whatever
their resourceVersion is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from scheduler.client import Metadata
from scheduler.core.node_table import term_matches
from scheduler.core.pod_constraints import Selector, SelectorRequirement
from scheduler.core.scheduling_types import Key, Node
from scheduler.runtime.api_types import LabelSelector, NodeSelector, Quantities, Resources
from scheduler.runtime.pod_constraints import label_selector
from scheduler.runtime.pod_requirements import node_terms
from scheduler.runtime.quantities import InvalidQuantity, exact

SELECTED_NODE = "volume.kubernetes.io/selected-node"
BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
_BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"  # before there was a field; it still has precedence
_NO_PROVISIONER = "kubernetes.io/no-provisioner"

# Labels of a volume, and of nodes: the old ones mean the same as the new ones.
_ZONE_LABELS = {
    "topology.kubernetes.io/zone": "",
    "topology.kubernetes.io/region": "",
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
}
_NO_ZONE = tuple(SelectorRequirement(label, "DoesNotExist") for label in _ZONE_LABELS)


class ClaimSpec(msgspec.Struct, rename="camel"):
    """spec of a PersistentVolumeClaim"""

    access_modes: list[str] | None = None
    resources: Resources = msgspec.field(default_factory=Resources)
    selector: LabelSelector | None = None
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None
    volume_name: str = ""


class PhaseStatus(msgspec.Struct):
    """status of a claim or a volume"""

    phase: str = ""


class ApiClaim(msgspec.Struct):
    """A PersistentVolumeClaim."""

    metadata: Metadata
    spec: ClaimSpec = msgspec.field(default_factory=ClaimSpec)
    status: PhaseStatus = msgspec.field(default_factory=PhaseStatus)


class ClaimReference(msgspec.Struct):
    """Which claim a volume is bound to, or reserved for."""

    namespace: str = ""
    name: str = ""
    uid: str = ""


class VolumeNodeAffinity(msgspec.Struct):
    """nodeAffinity of a volume"""

    required: NodeSelector | None = None


class VolumeSpec(msgspec.Struct, rename="camel"):
    """spec of a PersistentVolume"""

    access_modes: list[str] | None = None
    capacity: Quantities | None = None
    claim_ref: ClaimReference | None = None
    node_affinity: VolumeNodeAffinity | None = None
    storage_class_name: str = ""
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None


class ApiVolume(msgspec.Struct):
    """A PersistentVolume."""

    metadata: Metadata
    spec: VolumeSpec = msgspec.field(default_factory=VolumeSpec)
    status: PhaseStatus = msgspec.field(default_factory=PhaseStatus)


class TopologyExpression(msgspec.Struct):
    """A label of nodes, and the values that are allowed."""

    key: str
    values: list[str] | None = None


class TopologyTerm(msgspec.Struct, rename="camel"):
    """All expressions must match."""

    match_label_expressions: list[TopologyExpression] | None = None


class ApiStorageClass(msgspec.Struct, rename="camel"):
    """A StorageClass."""

    metadata: Metadata
    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: list[TopologyTerm] | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """What a claim asks of a volume, or what a volume offers."""

    size: int
    access_modes: frozenset[str]
    mode: str
    attributes_class: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim. `volume` is set from the moment that it is meant for one; the claim is bound when `is_bound` says so."""

    key: Key
    uid: str
    storage_class: str
    shape: Shape
    selector: Selector = ()
    volume: str = ""
    is_bound: bool = False
    is_lost: bool = False  # its volume was deleted
    is_terminating: bool = False
    selected_node: str = ""
    owner: str = ""  # uid of the controller: the pod, for an ephemeral volume
    version: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume. Without terms every node can use it."""

    name: str
    uid: str
    storage_class: str
    shape: Shape
    labels: frozenset[tuple[str, str]] = frozenset()
    claim: tuple[Key, str] | None = None  # key and uid of the claim that it is bound to or reserved for
    terms: tuple[Selector, ...] | None = None
    zones: tuple[tuple[Selector, ...], ...] = ()  # of its labels: all must hold, by one of their terms
    is_available: bool = False
    is_terminating: bool = False
    version: int = field(default=0, compare=False)

    def is_for(self, claim: Claim) -> bool:
        """A reference without a uid means any claim of that name."""
        return self.claim in ((claim.key, claim.uid), (claim.key, ""))


@dataclass(frozen=True, slots=True)
class StorageClass:
    """A storage class. Volumes can be provisioned on nodes that match one of the topologies; None: on every node."""

    name: str
    waits_for_consumer: bool
    provisions: bool
    topologies: tuple[Selector, ...] | None = None

    def provisions_on(self, node: Node) -> bool:
        return self.provisions and (self.topologies is None or any(term_matches(node, one) for one in self.topologies))


def convert_claim(found: ApiClaim) -> Claim:
    meta, spec = found.metadata, found.spec
    annotations = meta.annotations or {}
    modes = spec.access_modes, spec.volume_mode, spec.volume_attributes_class_name
    return Claim(
        key=meta.key,
        uid=meta.uid,
        storage_class=annotations.get(_CLASS_ANNOTATION) or spec.storage_class_name or "",
        shape=_shape(spec.resources.requests, *modes),
        selector=label_selector(spec.selector) or (),
        volume=spec.volume_name,
        is_bound=bool(spec.volume_name) and _BIND_COMPLETED in annotations,
        is_lost=found.status.phase == "Lost",
        is_terminating=meta.deletion_timestamp is not None,
        selected_node=annotations.get(SELECTED_NODE, ""),
        owner=next((one.uid for one in meta.owner_references or () if one.controller), ""),
        version=int(meta.resource_version or 0),
    )


def convert_volume(found: ApiVolume) -> Volume:
    meta, spec = found.metadata, found.spec
    reference, required = spec.claim_ref, spec.node_affinity.required if spec.node_affinity else None
    labels = meta.labels or {}
    return Volume(
        name=meta.name,
        uid=meta.uid,
        storage_class=(meta.annotations or {}).get(_CLASS_ANNOTATION) or spec.storage_class_name,
        shape=_shape(spec.capacity, spec.access_modes, spec.volume_mode, spec.volume_attributes_class_name),
        labels=frozenset(labels.items()),
        claim=((reference.namespace, reference.name), reference.uid) if reference else None,
        terms=node_terms(required) if required else None,
        zones=tuple(_zone_terms(label, labels[label]) for label in _ZONE_LABELS if label in labels),
        is_available=found.status.phase == "Available",
        is_terminating=meta.deletion_timestamp is not None,
        version=int(meta.resource_version or 0),
    )


def convert_storage_class(found: ApiStorageClass) -> StorageClass:
    return StorageClass(
        name=found.metadata.name,
        waits_for_consumer=found.volume_binding_mode == "WaitForFirstConsumer",
        provisions=found.provisioner not in ("", _NO_PROVISIONER),
        topologies=tuple(filter(None, map(_topology, found.allowed_topologies))) if found.allowed_topologies else None,
    )


def _shape(sizes: Quantities | None, access_modes: list[str] | None, mode: str | None, attributes: str | None) -> Shape:
    try:
        size = exact("storage", (sizes or {}).get("storage", 0))
    except InvalidQuantity:
        size = 0
    return Shape(size, frozenset(access_modes or ()), mode or "Filesystem", attributes or "")


def _topology(term: TopologyTerm) -> Selector:
    """An empty term matches no node."""
    expressions = term.match_label_expressions or ()
    return tuple(SelectorRequirement(one.key, "In", tuple(one.values or ())) for one in expressions)


def _zone_terms(label: str, value: str) -> tuple[Selector, ...]:
    """A node in one of the zones, or one without any zone or region; several zones are separated by two underscores."""
    zones = tuple(value.split("__"))
    terms: list[Selector] = [(SelectorRequirement(label, "In", zones),)]
    if new := _ZONE_LABELS[label]:
        terms.append((SelectorRequirement(new, "In", zones), SelectorRequirement(label, "DoesNotExist")))
    return *terms, _NO_ZONE
