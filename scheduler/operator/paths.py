"""Where the operator's kinds live in the API."""

from __future__ import annotations

from scheduler.client import Metadata
from scheduler.operator.names import API_VERSION, MPI, PYTORCH
from scheduler.operator.objects import Json

JOBS = {PYTORCH: f"/apis/{API_VERSION}/pytorchjobs", MPI: f"/apis/{API_VERSION}/mpijobs"}
PODS, SERVICES = "/api/v1/pods", "/api/v1/services"
_PLURALS = {"Pod": "pods", "Service": "services", "PodGroup": "podgroups"}


def one(collection: str, metadata: Metadata, subresource: str = "") -> str:
    """One object of a kind, from the path of them all."""
    root, plural = collection.rsplit("/", 1)
    return f"{root}/namespaces/{metadata.namespace}/{plural}/{metadata.name}{subresource}"


def home(manifest: Json) -> str:
    """Where an object like this is created."""
    version, plural = manifest["apiVersion"], _PLURALS[manifest["kind"]]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    return f"{root}/namespaces/{manifest['metadata']['namespace']}/{plural}"


def groups(api_version: str) -> str:
    return f"/apis/{api_version}/podgroups"
