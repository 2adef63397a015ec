"""Additions to the containers of a pod template; the template itself is never changed."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler.operator.api_objects import Json


def with_variables(container: Json, variables: Mapping[str, str]) -> Json:
    """The variables override those of the same name."""
    own = [one for one in container.get("env") or () if one.get("name") not in variables]
    return {**container, "env": own + [{"name": name, "value": value} for name, value in variables.items()]}


def with_mount(container: Json, volume: str, path: str) -> Json:
    mounts = list(container.get("volumeMounts") or ())
    return {**container, "volumeMounts": [*mounts, {"name": volume, "mountPath": path}]}


def with_volume(pod_spec: Json, volume: Json) -> Json:
    return {**pod_spec, "volumes": [*(pod_spec.get("volumes") or ()), volume]}


def with_first_container(pod_spec: Json, container: Json) -> Json:
    """The first container is the training container, which the operators of MPI jobs configure."""
    return {**pod_spec, "containers": [container, *pod_spec["containers"][1:]]}
