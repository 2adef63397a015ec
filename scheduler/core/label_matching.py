"""Whether one requirement of a selector matches labels, as Kubernetes evaluates it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from scheduler.core.pod_constraints import SelectorRequirement

_INTEGER = re.compile("([+-]?)0*([0-9]{1,19})")
_INT64 = range(-(1 << 63), 1 << 63)


def requirement_matches(requirement: SelectorRequirement, labels: Mapping[str, str]) -> bool:
    """Evaluate one selector requirement as Kubernetes does: a missing label is in no list, and compares to nothing."""
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value in requirement.values
        case "NotIn":
            return value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return bool(requirement.values) and compares(value or "", requirement.operator, requirement.values[0])
    return False


def compares(value: str, operator: str, bound: str) -> bool:
    """Gt or Lt of whole numbers; anything else compares to nothing."""
    number, limit = _parse_int(value), _parse_int(bound)
    if number is None or limit is None:
        return False
    return number > limit if operator == "Gt" else number < limit


def _parse_int(text: str) -> int | None:
    """As Go's ParseInt reads it with 64 bits: ASCII digits only, and None for what does not fit."""
    found = _INTEGER.fullmatch(text)
    if found is None:
        return None
    number = int("".join(found.groups()))
    return number if number in _INT64 else None
