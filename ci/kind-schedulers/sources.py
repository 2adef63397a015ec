"""Where each installation comes from, and what is changed in the manifests that its module ships."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from muster.operators.webhook_certificate import issue

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


def _volcano(manifests: list[Manifest]) -> list[Manifest]:
    """Its Job makes a certificate with openssl and kubectl, which its image has and this one has not: done here."""
    kept = [one for one in manifests if "admission-init" not in one["metadata"]["name"]]
    return [*kept, _certificate_secret("volcano-admission-secret", "volcano-admission-service", "volcano-system")]


def _koordinator(manifests: list[Manifest]) -> list[Manifest]:
    """Scheduler and manager, which fit on a node of 2 CPUs; the scheduler is configured as by Koordinator's chart."""
    kept = [one for one in manifests if one["metadata"]["name"] not in ("koord-koordlet", "koord-descheduler")]
    for manifest in kept:
        if manifest["kind"] == "Deployment":
            manifest["spec"]["replicas"] = 1
            manifest["spec"]["strategy"] = {"type": "Recreate"}
        if manifest["metadata"]["name"] == "koord-scheduler-config":
            settings = yaml.safe_load(manifest["data"]["koord-scheduler-config"])
            profile = settings["profiles"][0]
            profile["plugins"]["postFilter"]["enabled"] = [
                one for one in profile["plugins"]["postFilter"]["enabled"] if one["name"] != "DefaultPreemption"
            ]
            arguments = {"apiVersion": settings["apiVersion"], "kind": "CoschedulingArgs", "enablePreemption": True}
            profile["pluginConfig"].append({"name": "Coscheduling", "args": arguments})
            manifest["data"]["koord-scheduler-config"] = yaml.safe_dump(settings)
    return kept


def _certificate_secret(name: str, service: str, namespace: str) -> Manifest:
    """With an authority of its own."""
    with tempfile.TemporaryDirectory() as directory:
        content = issue(f"{service}.{namespace}.svc", Path(directory))
    data = {file: base64.b64encode(content[file]).decode() for file in ("tls.crt", "tls.key", "ca.crt")}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace}, "data": data}


SOURCES = {
    "training-operator": Source(
        component="training-operator",
        manifests="manifests/overlays/standalone",
        programs={"training-operator": "training-operator"},
        places={"training-operator": "manager"},
        keys={"operator": "kubeflow/training-operator"},
    ),
    "volcano": Source(
        component="vc-scheduler",
        manifests="installer/volcano-development.yaml",
        programs={
            "vc-scheduler": "vc-scheduler",
            "vc-controller-manager": "vc-controller-manager",
            "vc-webhook-manager": "vc-webhook-manager",
        },
        keys={"deployment": "volcano-system/volcano-scheduler"},
        change=_volcano,
    ),
    "koordinator": Source(
        component="koord-scheduler",
        manifests="config/default",
        programs={"koord-scheduler": "koord-scheduler", "koord-manager": "koord-manager"},
        keys={"deployment": "koordinator-system/koord-scheduler"},
        change=_koordinator,
    ),
    "kueue": Source(
        component="kueue",
        manifests="config/default",
        programs={"kueue": "kueue"},
        places={"kueue": "manager"},
        keys={"deployment": "kueue-system/kueue-controller-manager"},
    ),
}
