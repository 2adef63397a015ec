"""A tensorboard beside a job: a Deployment that reads its logs, and a Service with a port on every node.

It sees the logs only where --logdir is storage that both share; a path inside the training's own container stays empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from muster.jobs.nodes import address_of, is_control_plane
from muster.jobs.requests import Submission

_IMAGE = "tensorflow/tensorflow:2.19.0"
_PORT = 6006


def tensorboard_name(job: str) -> str:
    return f"{job}-tensorboard"


def tensorboard_manifests(wanted: Submission) -> list[dict[str, Any]]:
    """Service first: its port is known when the Deployment's pod starts."""
    labels = {**wanted.identity, "role": "tensorboard"}
    meta = {"name": tensorboard_name(wanted.name), "namespace": wanted.namespace, "labels": labels}
    container = {
        "name": "tensorboard",
        "image": _IMAGE,
        "command": ["tensorboard", f"--logdir={wanted.logdir}", "--bind_all", f"--port={_PORT}"],
        "ports": [{"containerPort": _PORT}],
    }
    pod: dict[str, Any] = {"containers": [container]}
    if wanted.tolerations:  # it must find room where the job does
        pod["tolerations"] = [dict(one) for one in wanted.tolerations]
    service = {"type": "NodePort", "selector": labels, "ports": [{"name": "tensorboard", "port": _PORT}]}
    deployment = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    return [
        {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": service},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": deployment},
    ]


def tensorboard_address(service: Mapping[str, Any], nodes: Iterable[Mapping[str, Any]]) -> str | None:
    """Every node leads to it; one of the control plane is least likely to go away."""
    ports = [port["nodePort"] for port in service["spec"].get("ports", []) if "nodePort" in port]
    ordered = sorted(nodes, key=lambda node: (not is_control_plane(node), node["metadata"]["name"]))
    addresses = [address for node in ordered if (address := address_of(node))]
    return f"http://{addresses[0]}:{ports[0]}" if ports and addresses else None
