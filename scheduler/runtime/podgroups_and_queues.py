"""PodGroups and Queues of both families as the nouns of a decision.

Nobody has checked these objects: every field may be missing, null, or of a wrong type. What cannot be read becomes a
sentence in `problem`, never an exception.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from scheduler.core.model import Counts, Group, Key, Queue
from scheduler.runtime.objects import Custom, PriorityClass
from scheduler.runtime.quantities import NotAQuantity, amount, amounts
from scheduler.runtime.reading import seconds

VOLCANO = "volcano"
KOORDINATOR = "koordinator"
_PARTNERS = "gang.scheduling.koordinator.sh/groups"
_MATCH = "gang.scheduling.koordinator.sh/match-policy"
_MATCHES = frozenset({"once-satisfied", "waiting-and-running", "only-waiting"})
_MODE = "gang.scheduling.koordinator.sh/mode"
_MODES = frozenset({"Strict", "NonStrict"})
_LEAVES = "scheduling.muster.dev/disruption-mode"
_OPENED = frozenset({"", "Open"})
_STRICT = {"fifo": True, "traverse": False}  # anything else: as the configuration says


_T = TypeVar("_T")


class Unreadable(ValueError):
    """The text is a sentence for the object's owner."""


def read_group(found: Custom, kind: str, classes: Mapping[str, PriorityClass]) -> Group:
    meta, spec, status = found.metadata, _map(found.spec), _map(found.status)
    annotations = meta.annotations or {}
    problems: list[str] = []

    def read(what: Callable[[], _T], otherwise: _T) -> _T:
        """What cannot be read takes nothing of the rest away: members that run still use their queue's share."""
        try:
            return what()
        except Unreadable as trouble:
            problems.append(str(trouble))
            return otherwise

    # Both families take a minimum of nothing to mean that no member has to wait for another.
    minimum = max(read(lambda: _whole(spec, "minMember"), 1), 1)
    nothing: tuple[int | None, bool | None] = (None, None)
    priority, preempts = read(lambda: _class(spec, classes), nothing)
    group = Group(
        key=meta.key,
        kind=kind,
        uid=meta.uid,
        created=seconds(meta.creation_timestamp),
        minimum=minimum,
        roles=read(lambda: _roles(spec, minimum), {}),
        queue=_text(spec.get("queue")) if kind == VOLCANO else "",
        priority=priority,
        preempts=preempts,
        partners=read(lambda: _partners(annotations.get(_PARTNERS), meta.key), frozenset()),
        match=read(lambda: _match(annotations.get(_MATCH)), "once-satisfied"),
        leaves_whole=annotations.get(_LEAVES) == "all",
        least=read(lambda: _least(spec), {}) if kind == VOLCANO else {},
        phase=_text(status.get("phase")),
        counts=read_counts(status),
    )
    read(lambda: _mode(annotations.get(_MODE)), None)
    return replace(group, problem=problems[0]) if problems else group


def read_counts(status: Mapping[str, Any]) -> Counts:
    told = [status.get(name) for name in ("running", "succeeded", "failed")]
    return Counts(*(one if isinstance(one, int) else 0 for one in told))


def read_queue(found: Custom) -> Queue:
    spec, status = _map(found.spec), _map(found.status)
    opened, strict = _text(status.get("state")) in _OPENED, _STRICT.get(_text(spec.get("dequeueStrategy")))
    capability: dict[str, int] = {}
    problem = ""
    for resource, quantity in _map(spec.get("capability")).items():
        try:
            capability[resource] = amount(resource, quantity)
        except NotAQuantity as trouble:  # the others still count for those who are in it
            problem = problem or f"spec.capability: {trouble}"
    return Queue(found.metadata.name, capability, opened, strict, problem)


def _whole(spec: Mapping[str, Any], field: str) -> int:
    value = spec.get(field)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool):
        raise Unreadable(f"spec.{field} is no whole number: {str(value)[:60]!r}")
    return value


def _roles(spec: Mapping[str, Any], minimum: int) -> dict[str, int]:
    """Volcano looks at roles only when the gang's minimum has room for all of theirs."""
    roles = spec.get("minTaskMember")
    if not isinstance(roles, dict):
        return {}
    for role, least in roles.items():
        if not isinstance(least, int) or isinstance(least, bool):
            raise Unreadable(f"spec.minTaskMember.{role} is no whole number: {str(least)[:60]!r}")
    return roles if minimum >= sum(roles.values()) else {}


def _class(spec: Mapping[str, Any], classes: Mapping[str, PriorityClass]) -> tuple[int | None, bool | None]:
    name = _text(spec.get("priorityClassName"))
    if not name:
        return None, None
    if name not in classes:
        raise Unreadable(f"PriorityClass {name} does not exist")
    return classes[name].value, classes[name].preemption_policy != "Never"


def _partners(text: str | None, itself: Key) -> frozenset[Key]:
    if not text:
        return frozenset()
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        raise Unreadable(f"annotation {_PARTNERS} is no JSON list: {text[:60]!r}") from None
    if not isinstance(names, list) or not all(isinstance(name, str) and name.count("/") == 1 for name in names):
        raise Unreadable(f"annotation {_PARTNERS} is no list of namespace/name: {text[:60]!r}")
    return frozenset((name.split("/")[0], name.split("/")[1]) for name in names) - {itself}


def _mode(text: str | None) -> None:
    """Both are kept to alike: a gang that finds no room holds none, so that there is nothing to let go of."""
    if text and text not in _MODES:
        raise Unreadable(f"annotation {_MODE} is none of {', '.join(sorted(_MODES))}: {text[:60]!r}")


def _least(spec: Mapping[str, Any]) -> Mapping[str, int]:
    try:
        return amounts(_map(spec.get("minResources")))
    except NotAQuantity as trouble:
        raise Unreadable(f"spec.minResources: {trouble}") from None


def _match(text: str | None) -> str:
    if text and text not in _MATCHES:
        raise Unreadable(f"annotation {_MATCH} is none of {', '.join(sorted(_MATCHES))}: {text[:60]!r}")
    return text or "once-satisfied"


def _map(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
