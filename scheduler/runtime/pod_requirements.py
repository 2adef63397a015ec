"""What a pod asks for and where it can be, counted as Kubernetes counts.

The sum of the containers, or the largest moment of initialisation if that is more: an init container runs beside the
sidecars that were started before it. What the pod says as a whole replaces the sum, and its overhead comes on top.
"""

from __future__ import annotations

from collections.abc import Iterable

from scheduler.core.model import PODS, Requirement, Shape, Toleration
from scheduler.runtime.objects import Container, Expression, NodeAffinity, NodeTerm, PodSpec, Resources
from scheduler.runtime.quantities import LARGEST_HELD, exact

NO_REQUESTS = ((PODS, 1),)
_NOWHERE = (Requirement("metadata.name", "In"),)  # a term without lines matches no node at all

_shared: dict[Shape, Shape] = {}
_SHARED_AT_MOST = 10_000


def shape_of(spec: PodSpec, requests: tuple[tuple[str, int], ...]) -> Shape:
    """Equal shapes are one object: pods of a job share theirs, and comparing them costs nothing."""
    affinity = (spec.affinity.node_affinity if spec.affinity else None) or NodeAffinity()
    liked = ((one.weight, _term(one.preference)) for one in affinity.preferred or ())
    shape = Shape(
        requests=requests,
        selector=tuple(sorted((spec.node_selector or {}).items())),
        affinity=_terms(affinity.required.node_selector_terms or ()) if affinity.required else (),
        preferred=tuple((weight, term) for weight, term in liked if term),
        tolerations=tuple(
            Toleration(one.key, one.operator or "Equal", one.value, one.effect) for one in spec.tolerations or ()
        ),
    )
    if len(_shared) >= _SHARED_AT_MOST:
        _shared.clear()
    return _shared.setdefault(shape, shape)


def requests_of(spec: PodSpec) -> tuple[tuple[str, int], ...]:
    """Raises NotAQuantity with a sentence for the pod's owner where something is no quantity at all."""
    total = _initialisation(spec.init_containers or (), _sum(spec.containers or ()))
    if spec.resources:
        total |= _asked(spec.resources)
    for name, quantity in (spec.overhead or {}).items():
        total[name] = total.get(name, 0) + exact(name, quantity)
    total[PODS] = 1
    return tuple(sorted((name, needed) for name, needed in total.items() if needed))


def bounded(requests: tuple[tuple[str, int], ...], *, has_node: bool) -> tuple[tuple[tuple[str, int], ...], str]:
    """What to count, and what is wrong with it.

    A pod that asks for the impossible waits for ever. One that somebody put on a node by hand fills that node: it must
    not count as nothing, nor as a sum beyond all numbers that comes out as free room.
    """
    absurd = [name for name, needed in requests if needed > LARGEST_HELD]
    if not absurd:
        return requests, ""
    held = tuple((name, min(needed, LARGEST_HELD)) for name, needed in requests) if has_node else NO_REQUESTS
    return held, f"the pod's containers ask for more {absurd[0]} than any machine has"


def _initialisation(containers: Iterable[Container], main: dict[str, int]) -> dict[str, int]:
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in containers:
        now = _plus(sidecars, _asked(container.resources))
        if container.restart_policy == "Always":
            sidecars = now
        peak = _max(peak, now)
    return _max(peak, _plus(main, sidecars))


def _sum(containers: Iterable[Container]) -> dict[str, int]:
    total: dict[str, int] = {}
    for container in containers:
        total = _plus(total, _asked(container.resources))
    return total


def _asked(resources: Resources) -> dict[str, int]:
    asked = {**(resources.limits or {}), **(resources.requests or {})}
    return {name: exact(name, quantity) for name, quantity in asked.items()}


def _plus(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    if not one:
        return other
    return {name: one.get(name, 0) + other.get(name, 0) for name in one.keys() | other.keys()}


def _max(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in one.keys() | other.keys()}


def _terms(terms: Iterable[NodeTerm]) -> tuple[tuple[Requirement, ...], ...]:
    return tuple(term for term in map(_term, terms) if term) or (_NOWHERE,)


def _term(term: NodeTerm) -> tuple[Requirement, ...]:
    return tuple(map(requirement, [*(term.match_expressions or ()), *(term.match_fields or ())]))


def requirement(line: Expression) -> Requirement:
    return Requirement(line.key, line.operator, tuple(line.values or ()))
