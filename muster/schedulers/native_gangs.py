"""Kubernetes' own words for gangs, from 1.37 on: PodGroup of scheduling.k8s.io, named in the spec of its pods.

A group and its pods must have the same priority, or the scheduler takes none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from muster.cluster.resources import NATIVE_GROUP, Resource
from muster.errors import NotSupported
from muster.subject.dialect import Dialect, Manifest
from muster.subject.requests import GangRequest, PodRequest


class NativeGangsDialect(Dialect):
    """scheduling.k8s.io/v1beta1"""

    reads: tuple[Resource, ...] = (NATIVE_GROUP,)
    group_kind: Resource | None = NATIVE_GROUP
    phases: frozenset[str] = frozenset({"queued", "running"})  # a PodGroup of Kubernetes never ends
    eviction_names_preemptor = False  # it names the uid of the group, and no node

    def __init__(self) -> None:
        super().__init__("default-scheduler")

    def pod(self, request: PodRequest, namespace: str) -> Manifest:
        if request.protected:
            raise NotSupported("Kubernetes has no word for a pod that may not be evicted by those more important")
        if request.role:
            raise NotSupported("a PodGroup of Kubernetes has no word for the roles of a gang")
        manifest = super().pod(request, namespace)
        if request.gang:
            manifest["spec"]["schedulingGroup"] = {"podGroupName": request.gang}
        return manifest

    def gang(self, request: GangRequest, namespace: str) -> Manifest:
        if request.with_gangs:
            raise NotSupported("a PodGroup of Kubernetes 1.37 has no word for gangs that start together")
        if request.roles:
            raise NotSupported("a PodGroup of Kubernetes has no word for the roles of a gang")
        if any(replace(one, name="") != replace(request.members[0], name="") for one in request.members):
            raise NotSupported(
                "Kubernetes promises no place to a gang of unlike pods (PodGroup Scheduling, Limitations)"
            )
        spec: Manifest = {"schedulingPolicy": {"gang": {"minCount": request.minimum}}}
        if request.priority_class:
            spec["priorityClassName"] = request.priority_class
        if request.leaves_whole:
            spec["disruptionMode"] = {"all": {}}
        metadata = {"name": request.name, "namespace": namespace}
        return {"apiVersion": NATIVE_GROUP.api_version, "kind": "PodGroup", "metadata": metadata, "spec": spec}

    def resized(self, request: GangRequest) -> Manifest:
        return {"spec": {"schedulingPolicy": {"gang": {"minCount": request.minimum}}}}

    def phase(self, group: Mapping[str, Any]) -> str:
        conditions = group.get("status", {}).get("conditions") or ()
        scheduled = any(one["type"] == "PodGroupInitiallyScheduled" and one["status"] == "True" for one in conditions)
        return "running" if scheduled else "queued"
