"""What a gang asks for: the sum of what its pods ask for, as quantities again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.core.model import CPU
from scheduler.runtime.quantities import amount


def asked_by(pod_spec: Mapping[str, Any]) -> dict[str, int]:
    """Requests of a pod's containers; a limit counts where the request is missing. NotAQuantity where one is none."""
    total: dict[str, int] = {}
    for container in pod_spec["containers"]:
        resources = container.get("resources") or {}
        for resource, quantity in {**(resources.get("limits") or {}), **(resources.get("requests") or {})}.items():
            total[resource] = total.get(resource, 0) + amount(resource, quantity)
    return total


def added(amounts: Iterable[Mapping[str, int]]) -> dict[str, str]:
    total: dict[str, int] = {}
    for one in amounts:
        for resource, number in one.items():
            total[resource] = total.get(resource, 0) + number
    return {resource: _written(resource, number) for resource, number in sorted(total.items())}


def _written(resource: str, number: int) -> str:
    if resource == CPU:
        return f"{number}m" if number % 1000 else str(number // 1000)
    return str(number)
