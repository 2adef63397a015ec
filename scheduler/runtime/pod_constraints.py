"""Convert a pod's host ports, pod (anti-)affinity and topology spread from API types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from scheduler.core.pod_constraints import (
    ANY_ADDRESS,
    HostPort,
    PodConstraints,
    PodSelection,
    PodTerm,
    Selector,
    SelectorRequirement,
    SpreadConstraint,
)
from scheduler.runtime.api_types import (
    Expression,
    LabelSelector,
    PodAffinity,
    PodAffinityTerm,
    PodSpec,
    TopologySpread,
)

_NO_AFFINITY = PodAffinity()


def pod_constraints(spec: PodSpec, namespace: str, labels: Mapping[str, str]) -> PodConstraints | None:
    """None for the many pods that have none."""
    affinity, anti_affinity = _NO_AFFINITY, _NO_AFFINITY
    if spec.affinity is not None:
        affinity = spec.affinity.pod_affinity or _NO_AFFINITY
        anti_affinity = spec.affinity.pod_anti_affinity or _NO_AFFINITY
    preferred = [(one.weight, _term(one.pod_affinity_term, namespace)) for one in affinity.preferred or ()]
    preferred += [(-one.weight, _term(one.pod_affinity_term, namespace)) for one in anti_affinity.preferred or ()]
    constraints = PodConstraints(
        ports=frozenset(_host_ports(spec)),
        affinity=_terms(affinity.required or (), namespace),
        anti_affinity=_terms(anti_affinity.required or (), namespace),
        preferred=tuple(preferred),
        spread=tuple(_spread(one, namespace, labels) for one in spec.topology_spread_constraints or ()),
    )
    return constraints or None


def label_selector(selector: LabelSelector | None) -> Selector | None:
    """A missing selector matches nothing, an empty one everything."""
    if selector is None:
        return None
    labels = (SelectorRequirement(key, "In", (value,)) for key, value in sorted((selector.match_labels or {}).items()))
    return *labels, *map(selector_requirement, selector.match_expressions or ())


def selector_requirement(expression: Expression) -> SelectorRequirement:
    return SelectorRequirement(expression.key, expression.operator, tuple(expression.values or ()))


def _host_ports(spec: PodSpec) -> Iterator[HostPort]:
    """Of init containers only sidecars: they run as long as the pod does."""
    sidecars = (one for one in spec.init_containers or () if one.restart_policy == "Always")
    for container in (*sidecars, *(spec.containers or ())):
        for port in container.ports or ():
            if port.host_port > 0:
                yield HostPort(port.host_ip or ANY_ADDRESS, port.protocol or "TCP", port.host_port)


def _terms(terms: Iterable[PodAffinityTerm], namespace: str) -> tuple[PodTerm, ...]:
    return tuple(_term(term, namespace) for term in terms)


def _term(term: PodAffinityTerm, namespace: str) -> PodTerm:
    """Without any namespaces, the pod's own is meant."""
    own = not term.namespaces and term.namespace_selector is None
    selection = PodSelection(
        selector=label_selector(term.label_selector),
        namespaces=frozenset((namespace,) if own else term.namespaces or ()),
        namespace_selector=label_selector(term.namespace_selector),
    )
    return PodTerm(term.topology_key, selection)


def _spread(found: TopologySpread, namespace: str, labels: Mapping[str, str]) -> SpreadConstraint:
    """The API server may have merged matchLabelKeys into the selector already: the same requirement does no harm."""
    selector = label_selector(found.label_selector)
    if selector is not None:
        keys = (key for key in found.match_label_keys or () if key in labels)
        selector = tuple(dict.fromkeys((*selector, *(SelectorRequirement(key, "In", (labels[key],)) for key in keys))))
    return SpreadConstraint(
        topology_key=found.topology_key,
        max_skew=found.max_skew,
        namespace=namespace,
        selector=selector,
        required=found.when_unsatisfiable == "DoNotSchedule",
        min_domains=found.min_domains or 1,
        honor_affinity=found.node_affinity_policy != "Ignore",
        honor_taints=found.node_taints_policy == "Honor",
    )
