"""What a pod requires of other pods: host ports, claims, pod (anti-)affinity, topology spread; and which counters.

A counter says how many pods of one sort each node has: the pods that a selector matches, the pods that own an
anti-affinity term, the pods that use a host port or a claim. Every constraint is a question about the counters it
names, so that what a binding, a nomination or an eviction changes is a few numbers, as with resources.

Trap: labels are not part of a pod's requirements, or no two pods of a job would be alike. The counters that count a pod
are: two pods that the same selectors match are alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from scheduler.core.volume_requirements import VolumeRequirement

ANY_ADDRESS = "0.0.0.0"  # a host port on all addresses of its node
NODE_NAME = "field:metadata.name"  # the key of a node's name; the colon keeps it apart from every label


@dataclass(frozen=True, slots=True)
class SelectorRequirement:
    """One requirement of a selector: `key operator values`; the key is a label, or NODE_NAME."""

    key: str
    operator: str  # In, NotIn, Exists, DoesNotExist, Gt, Lt
    values: tuple[str, ...] = ()


Selector = tuple[SelectorRequirement, ...]  # all must match; an empty one matches everything


@dataclass(frozen=True, slots=True)
class PodSelection:
    """Which pods an affinity term means. A selector that is None matches nothing."""

    selector: Selector | None
    namespaces: frozenset[str] = frozenset()
    namespace_selector: Selector | None = None


@dataclass(frozen=True, slots=True)
class PodTerm:
    """A term of pod (anti-)affinity: pods, and the label of nodes that says what is near."""

    topology_key: str
    pods: PodSelection


@dataclass(frozen=True, slots=True)
class SpreadConstraint:
    """A topology spread constraint over the pods of the pod's own namespace."""

    topology_key: str
    max_skew: int
    namespace: str
    selector: Selector | None
    required: bool = True  # whenUnsatisfiable: DoNotSchedule
    min_domains: int = 1
    honor_affinity: bool = True  # only nodes that match the pod's node affinity make up domains
    honor_taints: bool = False  # only nodes whose taints the pod tolerates make up domains


@dataclass(frozen=True, slots=True)
class MatchingPods:
    """Counts the pods that match all of these selections, terminating ones included."""

    selections: tuple[PodSelection, ...]


@dataclass(frozen=True, slots=True)
class SpreadPods:
    """Counts the pods that a topology spread means: terminating ones are left out."""

    namespace: str
    selector: Selector


@dataclass(frozen=True, slots=True)
class AntiAffinityOwners:
    """Counts the pods that have this required anti-affinity term."""

    term: PodTerm


@dataclass(frozen=True, slots=True)
class PreferenceOwners:
    """Counts the pods that have this preferred term, or this required affinity term, which attracts a little."""

    term: PodTerm
    weight: int  # negative: anti-affinity


@dataclass(frozen=True, slots=True)
class HostPort:
    """Counts the pods that use this port of their node."""

    address: str
    protocol: str
    port: int


@dataclass(frozen=True, slots=True)
class ExclusiveClaim:
    """Counts the pods that mount this claim, which only one pod of the cluster may use at a time."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class VolumeUsers:
    """Counts the pods that are given a place for volumes that are still free: each takes some of them."""

    requirement: VolumeRequirement


Counter = MatchingPods | SpreadPods | AntiAffinityOwners | PreferenceOwners | HostPort | ExclusiveClaim | VolumeUsers

_AFFINITY_ATTRACTS = 1  # a required affinity term also attracts the pods that it means, with kube-scheduler's weight


@dataclass(frozen=True)
class PodConstraints:
    """The constraints of a pod. Pods of one job share one object."""

    ports: frozenset[HostPort] = frozenset()
    affinity: tuple[PodTerm, ...] = ()  # required: one pod must match all terms
    anti_affinity: tuple[PodTerm, ...] = ()  # required: no pod may match any term
    preferred: tuple[tuple[int, PodTerm], ...] = ()  # weights, negative for anti-affinity, and terms
    spread: tuple[SpreadConstraint, ...] = ()
    claims: frozenset[ExclusiveClaim] = frozenset()
    volumes: frozenset[VolumeUsers] = frozenset()

    def __bool__(self) -> bool:
        on_pods = self.affinity or self.anti_affinity or self.preferred or self.spread
        return bool(self.ports or self.claims or self.volumes or on_pods)

    @cached_property
    def own_counters(self) -> frozenset[Counter]:
        """The counters that count a pod with these constraints, whatever its labels are."""
        owners: list[Counter] = [AntiAffinityOwners(term) for term in self.anti_affinity]
        owners += [PreferenceOwners(term, weight) for weight, term in self.preferred]
        owners += [PreferenceOwners(term, _AFFINITY_ATTRACTS) for term in self.affinity]
        return self.ports | self.claims | self.volumes | frozenset(owners)

    @cached_property
    def counters(self) -> frozenset[Counter]:
        """All counters that decisions about pods with these constraints, or beside them, ask."""
        return self.own_counters | frozenset(self._selecting_counters())

    def _selecting_counters(self) -> Iterator[Counter]:
        if self.affinity:
            yield matching_all(self.affinity)
        for term in (*self.affinity, *self.anti_affinity, *(term for _, term in self.preferred)):
            yield matching(term)
        for constraint in self.spread:
            if counter := spread_counter(constraint):
                yield counter


def matching(term: PodTerm) -> MatchingPods:
    return MatchingPods((term.pods,))


def matching_all(terms: tuple[PodTerm, ...]) -> MatchingPods:
    return MatchingPods(tuple(dict.fromkeys(term.pods for term in terms)))


def spread_counter(constraint: SpreadConstraint) -> SpreadPods | None:
    """None where no pod is counted: kube-scheduler lets neither a missing nor an empty selector count any."""
    return SpreadPods(constraint.namespace, constraint.selector) if constraint.selector else None
