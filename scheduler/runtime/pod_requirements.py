"""A pod's effective requests and placement constraints, computed as Kubernetes does.

The sum of the containers, or the peak during initialization if that is higher: an init container runs beside the
sidecars that were started before it. Pod-level resources replace the sum; the overhead is added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scheduler.core.pod_constraints import NODE_NAME, PodConstraints, SelectorRequirement
from scheduler.core.scheduling_types import PODS, PodRequirements, Toleration
from scheduler.runtime.api_types import (
    Container,
    NodeAffinity,
    NodeSelector,
    NodeTerm,
    PodSpec,
    PodStatus,
    Quantities,
    Resources,
)
from scheduler.runtime.pod_constraints import selector_requirement
from scheduler.runtime.quantities import MAX_AMOUNT, exact

Amounts = dict[str, int]  # by resource

NO_REQUESTS = ((PODS, 1),)
_NO_NODE = (SelectorRequirement(NODE_NAME, "In"),)  # an empty term matches no node

_interned: dict[PodRequirements, PodRequirements] = {}
_MAX_INTERNED = 10_000


def pod_requirements(
    spec: PodSpec, requests: tuple[tuple[str, int], ...], constraints: PodConstraints | None
) -> PodRequirements:
    """Equal requirements are one object: pods of a job share it, and comparing is cheap."""
    affinity = (spec.affinity.node_affinity if spec.affinity else None) or NodeAffinity()
    preferred = ((one.weight, _term(one.preference)) for one in affinity.preferred or ())
    requirements = PodRequirements(
        requests=requests,
        selector=tuple(sorted((spec.node_selector or {}).items())),
        affinity=node_terms(affinity.required) if affinity.required else (),
        preferred=tuple((weight, term) for weight, term in preferred if term),
        tolerations=tuple(
            Toleration(one.key, one.operator or "Equal", one.value, one.effect) for one in spec.tolerations or ()
        ),
        constraints=constraints,
    )
    return intern(requirements)


def intern(requirements: PodRequirements) -> PodRequirements:
    """The object that stands for all that are equal."""
    if len(_interned) >= _MAX_INTERNED:
        _interned.clear()
    return _interned.setdefault(requirements, requirements)


def pod_requests(spec: PodSpec, status: PodStatus) -> tuple[tuple[str, int], ...]:
    """Raises InvalidQuantity."""
    total = _container_total(spec, status)
    if spec.resources:
        total |= _pod_level(spec.resources, status)
    for name, quantity in (spec.overhead or {}).items():
        total[name] = total.get(name, 0) + exact(name, quantity)
    total[PODS] = 1
    return tuple(sorted((name, amount) for name, amount in total.items() if amount))


def _container_total(spec: PodSpec, status: PodStatus) -> Amounts:
    """While a pod is resized in place, the most of what it requests, what was allocated, and what it uses.

    What its node can never give it does not count.
    """
    statuses = {one.name: one for one in (*(status.container_statuses or ()), *(status.init_container_statuses or ()))}

    def requested(container: Container) -> Amounts:
        return _requested(container.resources)

    def allocated(container: Container) -> Amounts:
        found = statuses.get(container.name)
        if found is None or found.allocated_resources is None:
            return {} if infeasible else requested(container)
        return _amounts(found.allocated_resources)

    def used(container: Container) -> Amounts:
        found = statuses.get(container.name)
        if found is None or found.resources is None or found.resources.requests is None:
            return allocated(container)
        return _amounts(found.resources.requests)

    if not any(one.allocated_resources or one.resources for one in statuses.values()):
        return _total(spec, requested)
    infeasible = _is_infeasible(status)
    on_node = _max(_total(spec, allocated), _total(spec, used))
    return on_node if infeasible else _max(on_node, _total(spec, requested))


def _pod_level(resources: Resources, status: PodStatus) -> Amounts:
    requested = _requested(resources)
    if status.resources is None:
        return requested
    on_node = _max(_amounts(status.resources.requests or {}), _amounts(status.allocated_resources or {}))
    return on_node if _is_infeasible(status) else _max(on_node, requested)


def _is_infeasible(status: PodStatus) -> bool:
    return any((one.type, one.reason) == ("PodResizePending", "Infeasible") for one in status.conditions or ())


def _total(spec: PodSpec, amounts: Callable[[Container], Amounts]) -> Amounts:
    total: Amounts = {}
    for container in spec.containers or ():
        total = _plus(total, amounts(container))
    return _init_peak(spec.init_containers or (), total, amounts)


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


def _init_peak(containers: Iterable[Container], main: Amounts, amounts: Callable[[Container], Amounts]) -> Amounts:
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in containers:
        running = _plus(sidecars, amounts(container))
        if container.restart_policy == "Always":
            sidecars = running
        peak = _max(peak, running)
    return _max(peak, _plus(main, sidecars))


def _requested(resources: Resources) -> Amounts:
    return _amounts({**(resources.limits or {}), **(resources.requests or {})})


def _amounts(quantities: Quantities) -> Amounts:
    return {name: exact(name, quantity) for name, quantity in quantities.items()}


def _plus(one: Amounts, other: Amounts) -> Amounts:
    if not one:
        return other
    return {name: one.get(name, 0) + other.get(name, 0) for name in one.keys() | other.keys()}


def _max(one: Amounts, other: Amounts) -> Amounts:
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in one.keys() | other.keys()}


def node_terms(selector: NodeSelector) -> tuple[tuple[SelectorRequirement, ...], ...]:
    """The terms of a node selector; there is always one, because no terms would mean no requirement."""
    return tuple(term for term in map(_term, selector.node_selector_terms or ()) if term) or (_NO_NODE,)


def _term(term: NodeTerm) -> tuple[SelectorRequirement, ...]:
    """The API server admits no field but the name."""
    fields = (SelectorRequirement(NODE_NAME, one.operator, tuple(one.values or ())) for one in term.match_fields or ())
    return *map(selector_requirement, term.match_expressions or ()), *fields
