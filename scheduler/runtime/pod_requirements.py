"""A pod's effective requests and placement constraints, computed as Kubernetes does.

The sum of the containers, or the peak during initialization if that is higher: an init container runs beside the
sidecars that were started before it. Pod-level resources replace the sum; the overhead is added.
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler.core.scheduling_types import PODS, PodRequirements, SelectorRequirement, Toleration
from scheduler.runtime.api_types import Container, Expression, NodeAffinity, NodeTerm, PodSpec, Resources
from scheduler.runtime.quantities import MAX_AMOUNT, exact

NO_REQUESTS = ((PODS, 1),)
_NO_NODE = (SelectorRequirement("metadata.name", "In"),)  # an empty term matches no node

_interned: dict[PodRequirements, PodRequirements] = {}
_MAX_INTERNED = 10_000


def pod_requirements(spec: PodSpec, requests: tuple[tuple[str, int], ...]) -> PodRequirements:
    """Equal requirements are one object: pods of a job share it, and comparing is cheap."""
    affinity = (spec.affinity.node_affinity if spec.affinity else None) or NodeAffinity()
    preferred = ((one.weight, _term(one.preference)) for one in affinity.preferred or ())
    requirements = PodRequirements(
        requests=requests,
        selector=tuple(sorted((spec.node_selector or {}).items())),
        affinity=_terms(affinity.required.node_selector_terms or ()) if affinity.required else (),
        preferred=tuple((weight, term) for weight, term in preferred if term),
        tolerations=tuple(
            Toleration(one.key, one.operator or "Equal", one.value, one.effect) for one in spec.tolerations or ()
        ),
    )
    if len(_interned) >= _MAX_INTERNED:
        _interned.clear()
    return _interned.setdefault(requirements, requirements)


def pod_requests(spec: PodSpec) -> tuple[tuple[str, int], ...]:
    """Raises InvalidQuantity."""
    total = _init_peak(spec.init_containers or (), _sum(spec.containers or ()))
    if spec.resources:
        total |= _requested(spec.resources)
    for name, quantity in (spec.overhead or {}).items():
        total[name] = total.get(name, 0) + exact(name, quantity)
    total[PODS] = 1
    return tuple(sorted((name, amount) for name, amount in total.items() if amount))


def cap_requests(requests: tuple[tuple[str, int], ...], *, has_node: bool) -> tuple[tuple[tuple[str, int], ...], str]:
    """The requests to count, and what is wrong with them.

    A pod with excessive requests stays pending. One that was created with a nodeName fills that node: it must neither
    count as nothing, nor overflow the sum so that the node looks free.
    """
    excessive = [name for name, amount in requests if amount > MAX_AMOUNT]
    if not excessive:
        return requests, ""
    counted = tuple((name, min(amount, MAX_AMOUNT)) for name, amount in requests) if has_node else NO_REQUESTS
    return counted, f"the pod requests more {excessive[0]} than any node can have"


def _init_peak(containers: Iterable[Container], main: dict[str, int]) -> dict[str, int]:
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in containers:
        running = _plus(sidecars, _requested(container.resources))
        if container.restart_policy == "Always":
            sidecars = running
        peak = _max(peak, running)
    return _max(peak, _plus(main, sidecars))


def _sum(containers: Iterable[Container]) -> dict[str, int]:
    total: dict[str, int] = {}
    for container in containers:
        total = _plus(total, _requested(container.resources))
    return total


def _requested(resources: Resources) -> dict[str, int]:
    requested = {**(resources.limits or {}), **(resources.requests or {})}
    return {name: exact(name, quantity) for name, quantity in requested.items()}


def _plus(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    if not one:
        return other
    return {name: one.get(name, 0) + other.get(name, 0) for name in one.keys() | other.keys()}


def _max(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in one.keys() | other.keys()}


def _terms(terms: Iterable[NodeTerm]) -> tuple[tuple[SelectorRequirement, ...], ...]:
    return tuple(term for term in map(_term, terms) if term) or (_NO_NODE,)


def _term(term: NodeTerm) -> tuple[SelectorRequirement, ...]:
    return tuple(map(selector_requirement, [*(term.match_expressions or ()), *(term.match_fields or ())]))


def selector_requirement(expression: Expression) -> SelectorRequirement:
    return SelectorRequirement(expression.key, expression.operator, tuple(expression.values or ()))
