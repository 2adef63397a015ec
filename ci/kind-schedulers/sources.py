"""Where each installation comes from, and what is changed in the manifests that its module ships."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Manifest = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Source:
    """`manifests` is a file or a kustomization of the module that the program `component` is built from."""

    component: str
    manifests: str
    programs: Mapping[str, str]  # the last part of an image's repository -> the program in it
    places: Mapping[str, str] = field(default_factory=dict)  # and its place, where that is not the image's name
    keys: Mapping[str, str]  # of the installation: deployment, operator
    change: Callable[[list[Manifest]], list[Manifest]] = lambda manifests: manifests


SOURCES = {
    "training-operator": Source(
        component="training-operator",
        manifests="manifests/overlays/standalone",
        programs={"training-operator": "training-operator"},
        places={"training-operator": "manager"},
        keys={"operator": "kubeflow/training-operator"},
    ),
}
