"""PodGroups and Queues of both families as the nouns of a decision.

Nobody has checked these objects: every field may be missing, null, or of a wrong type. What cannot be read becomes a
sentence in `problem`, never an exception.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from scheduler.core.model import Counts, Group, Key, Queue
from scheduler.runtime.objects import Custom, PriorityClass
from scheduler.runtime.quantities import NotAQuantity, amounts
from scheduler.runtime.reading import seconds

VOLCANO = "volcano"
KOORDINATOR = "koordinator"
_PARTNERS = "gang.scheduling.koordinator.sh/groups"
_MATCH = "gang.scheduling.koordinator.sh/match-policy"
_MATCHES = frozenset({"once-satisfied", "waiting-and-running", "only-waiting"})
_LEAVES = "scheduling.muster.dev/disruption-mode"
_OPENED = frozenset({"", "Open"})
_STRICT = {"fifo": True, "traverse": False}  # anything else: as the configuration says


class Unreadable(ValueError):
    """The text is a sentence for the object's owner."""


def read_group(found: Custom, kind: str, classes: Mapping[str, PriorityClass]) -> Group:
    meta, spec, status = found.metadata, _map(found.spec), _map(found.status)
    annotations = meta.annotations or {}
    basics: dict[str, Any] = {"key": meta.key, "kind": kind, "uid": meta.uid, "phase": _text(status.get("phase"))}
    basics |= {"created": seconds(meta.creation_timestamp), "counts": read_counts(status)}
    try:
        # Both families take a minimum of nothing to mean that no member has to wait for another.
        minimum = max(_whole(spec, "minMember"), 1)
        priority, preempts = _class(spec, classes)
        return Group(
            **basics,
            minimum=minimum,
            roles=_roles(spec, minimum),
            queue=_text(spec.get("queue")) if kind == VOLCANO else "",
            priority=priority,
            preempts=preempts,
            partners=_partners(annotations.get(_PARTNERS), meta.key),
            match=_match(annotations.get(_MATCH)),
            leaves_whole=annotations.get(_LEAVES) == "all",
        )
    except Unreadable as trouble:
        return Group(**basics, minimum=1, problem=str(trouble))


def read_counts(status: Mapping[str, Any]) -> Counts:
    told = [status.get(name) for name in ("running", "succeeded", "failed")]
    return Counts(*(one if isinstance(one, int) else 0 for one in told))


def read_queue(found: Custom) -> Queue:
    spec, status = _map(found.spec), _map(found.status)
    opened, strict = _text(status.get("state")) in _OPENED, _STRICT.get(_text(spec.get("dequeueStrategy")))
    try:
        capability = amounts(_map(spec.get("capability")))
    except NotAQuantity as trouble:
        return Queue(found.metadata.name, {}, opened, strict, f"spec.capability: {trouble}")
    return Queue(found.metadata.name, capability, opened, strict)


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


def _match(text: str | None) -> str:
    if text and text not in _MATCHES:
        raise Unreadable(f"annotation {_MATCH} is none of {', '.join(sorted(_MATCHES))}: {text[:60]!r}")
    return text or "once-satisfied"


def _map(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
