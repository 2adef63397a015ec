"""How many GPUs a pod asks for. Requests equal limits, and often only the limits are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GPU = "nvidia.com/gpu"
_FINISHED = ("Succeeded", "Failed")


def requested(pod_spec: Mapping[str, Any]) -> int:
    return _effective(pod_spec, "requests", "limits")


def limited(pod_spec: Mapping[str, Any]) -> int:
    return _effective(pod_spec, "limits", "requests")


def holds_its_gpus(pod: Mapping[str, Any]) -> bool:
    """From the binding until it has ended or is gone: a pod that is being deleted still has its GPUs."""
    return bool(pod["spec"].get("nodeName")) and pod.get("status", {}).get("phase") not in _FINISHED


def _effective(pod_spec: Mapping[str, Any], *fields: str) -> int:
    """Containers run together, init containers one after the other before them; a restartable one stays."""
    together = sum(_of(container, fields) for container in pod_spec.get("containers", []))
    peak = 0
    for container in pod_spec.get("initContainers", []):
        if container.get("restartPolicy") == "Always":
            together += _of(container, fields)
        else:
            peak = max(peak, _of(container, fields))
    return max(together, peak)


def _of(container: Mapping[str, Any], fields: tuple[str, ...]) -> int:
    resources = container.get("resources") or {}
    return next((int(resources[field][GPU]) for field in fields if GPU in (resources.get(field) or {})), 0)
