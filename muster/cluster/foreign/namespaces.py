"""A namespace of a run: what is created is what was rehearsed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


def namespace_manifest(name: str, annotations: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    labels = {"pod-security.kubernetes.io/enforce": "privileged"}  # nothing runs: there is nothing to secure
    metadata = {"name": name, "labels": labels, "annotations": dict(annotations)}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
