"""What a job brings along: the ConfigMap that remembers it, and the Service and Deployment of its tensorboard."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from muster.cluster.api import Api, ApiRefused
from muster.cluster.resources import Resource

CONFIG_MAP = Resource("v1", "ConfigMap", "configmaps")
SERVICE = Resource("v1", "Service", "services")
DEPLOYMENT = Resource("apps/v1", "Deployment", "deployments")


def look_up(api: Api, resource: Resource, name: str, namespace: str) -> dict[str, Any] | None:
    """The object, or None when there is none."""
    try:
        return api.get(resource, name, namespace)
    except ApiRefused as refusal:
        if refusal.status == HTTPStatus.NOT_FOUND:
            return None
        raise


def is_of_job(found: Mapping[str, Any], job: str) -> bool:
    """A name alone proves nothing: only what carries the job's label is the job's."""
    labels: Mapping[str, str] = found["metadata"].get("labels") or {}
    return labels.get("release") == job
