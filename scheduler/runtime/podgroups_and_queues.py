"""Convert PodGroups (Volcano's and Koordinator's) and Queues to the scheduler's types.

The API server validates little of them: every field may be missing, null, or of a wrong type. An invalid field becomes
a message in `problem`, never an exception.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from scheduler.core.scheduling_types import Counts, Group, Key, Queue
from scheduler.runtime.api_types import CustomResource, PriorityClass
from scheduler.runtime.convert import timestamp_seconds
from scheduler.runtime.field_table import KOORDINATOR_PODGROUP, QUEUE, VOLCANO_PODGROUP
from scheduler.runtime.quantities import InvalidQuantity, amount, amounts
from scheduler.runtime.refused_fields import refusal

VOLCANO = "volcano"
KOORDINATOR = "koordinator"
_KINDS = {VOLCANO: VOLCANO_PODGROUP, KOORDINATOR: KOORDINATOR_PODGROUP}
_LINKED_GROUPS = "gang.scheduling.koordinator.sh/groups"
_MATCH_POLICY = "gang.scheduling.koordinator.sh/match-policy"
_MATCH_POLICIES = frozenset({"once-satisfied", "waiting-and-running", "only-waiting"})
_MODE = "gang.scheduling.koordinator.sh/mode"
_MODES = frozenset({"Strict", "NonStrict"})
_DISRUPTION_MODE = "scheduling.muster.dev/disruption-mode"
_SCHEDULER_NAME = "scheduling.muster.dev/scheduler-name"
_OPEN_STATES = frozenset({"", "Open"})
_STRICT = {"fifo": True, "traverse": False}  # anything else: as configured


_T = TypeVar("_T")


class InvalidField(ValueError):
    """A field of a PodGroup is invalid; the text names the field and the value."""


def convert_podgroup(found: CustomResource, kind: str, classes: Mapping[str, PriorityClass]) -> Group:
    meta, spec, status = found.metadata, _map(found.spec), _map(found.status)
    annotations = meta.annotations or {}
    problems: list[str] = []

    def read(convert: Callable[[], _T], default: _T) -> _T:
        """An invalid field does not invalidate the rest: running members still count towards their queue."""
        try:
            return convert()
        except InvalidField as error:
            problems.append(str(error))
            return default

    # In both APIs a minMember of 0 means that no member waits for another.
    min_member = max(read(lambda: _integer(spec, "minMember"), 1), 1)
    nothing: tuple[int | None, bool | None] = (None, None)
    priority, preempts = read(lambda: _priority_class(spec, classes), nothing)
    group = Group(
        key=meta.key,
        kind=kind,
        uid=meta.uid,
        created=timestamp_seconds(meta.creation_timestamp),
        min_member=min_member,
        roles=read(lambda: _roles(spec, min_member), {}),
        queue=_text(spec.get("queue")) if kind == VOLCANO else "",
        priority=priority,
        preempts=preempts,
        linked_groups=read(lambda: _linked_groups(annotations.get(_LINKED_GROUPS), meta.key), frozenset()),
        match_policy=read(lambda: _match_policy(annotations.get(_MATCH_POLICY)), "once-satisfied"),
        disruption_mode_all=annotations.get(_DISRUPTION_MODE) == "all",
        scheduler=annotations.get(_SCHEDULER_NAME, ""),
        min_resources=read(lambda: _min_resources(spec), {}) if kind == VOLCANO else {},
        phase=_text(status.get("phase")),
        counts=convert_member_counts(status),
    )
    read(lambda: _mode(annotations.get(_MODE)), None)
    read(lambda: schedule_timeout(found), 0)
    problem = problems[0] if problems else refusal(_KINDS[kind], spec, annotations)
    return replace(group, problem=problem) if problem else group


def schedule_timeout(found: CustomResource) -> int:
    """Seconds that a gang may keep capacity reserved; 0: without a limit. Only Koordinator's PodGroup has the field."""
    return max(_integer(_map(found.spec), "scheduleTimeoutSeconds"), 0)


def convert_member_counts(status: Mapping[str, Any]) -> Counts:
    values = [status.get(name) for name in ("running", "succeeded", "failed")]
    return Counts(*(one if isinstance(one, int) else 0 for one in values))


def convert_queue(found: CustomResource) -> Queue:
    spec, status = _map(found.spec), _map(found.status)
    is_open, strict = _text(status.get("state")) in _OPEN_STATES, _STRICT.get(_text(spec.get("dequeueStrategy")))
    capability: dict[str, int] = {}
    problem = ""
    for resource, quantity in _map(spec.get("capability")).items():
        try:
            capability[resource] = amount(resource, quantity)
        except InvalidQuantity as error:  # the other resources still limit the queue
            problem = problem or f"spec.capability: {error}"
    problem = problem or refusal(QUEUE, spec, found.metadata.annotations)
    return Queue(found.metadata.name, capability, is_open, strict, problem)


def _integer(spec: Mapping[str, Any], field: str) -> int:
    value = spec.get(field)
    if value is None:
        return 0
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidField(f"spec.{field} is not an integer: {str(value)[:60]!r}")
    return value


def _roles(spec: Mapping[str, Any], min_member: int) -> dict[str, int]:
    """Volcano ignores minTaskMember when its sum exceeds minMember."""
    roles = spec.get("minTaskMember")
    if not isinstance(roles, dict):
        return {}
    for role, count in roles.items():
        if not isinstance(count, int) or isinstance(count, bool):
            raise InvalidField(f"spec.minTaskMember.{role} is not an integer: {str(count)[:60]!r}")
    return roles if min_member >= sum(roles.values()) else {}


def _priority_class(spec: Mapping[str, Any], classes: Mapping[str, PriorityClass]) -> tuple[int | None, bool | None]:
    name = _text(spec.get("priorityClassName"))
    if not name:
        return None, None
    if name not in classes:
        raise InvalidField(f"PriorityClass {name} does not exist")
    return classes[name].value, classes[name].preemption_policy != "Never"


def _linked_groups(text: str | None, own_key: Key) -> frozenset[Key]:
    if not text:
        return frozenset()
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidField(f"annotation {_LINKED_GROUPS} is not a JSON list: {text[:60]!r}") from None
    if not isinstance(names, list) or not all(isinstance(name, str) and name.count("/") == 1 for name in names):
        raise InvalidField(f"annotation {_LINKED_GROUPS} is not a list of namespace/name: {text[:60]!r}")
    return frozenset((name.split("/")[0], name.split("/")[1]) for name in names) - {own_key}


def _mode(text: str | None) -> None:
    """Both modes are the same here: a gang that does not fit reserves nothing that could be released."""
    if text and text not in _MODES:
        raise InvalidField(f"annotation {_MODE} must be one of {', '.join(sorted(_MODES))}: {text[:60]!r}")


def _min_resources(spec: Mapping[str, Any]) -> Mapping[str, int]:
    try:
        return amounts(_map(spec.get("minResources")))
    except InvalidQuantity as error:
        raise InvalidField(f"spec.minResources: {error}") from None


def _match_policy(text: str | None) -> str:
    if text and text not in _MATCH_POLICIES:
        raise InvalidField(
            f"annotation {_MATCH_POLICY} must be one of {', '.join(sorted(_MATCH_POLICIES))}: {text[:60]!r}"
        )
    return text or "once-satisfied"


def _map(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
