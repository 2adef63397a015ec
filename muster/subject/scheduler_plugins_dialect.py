"""The words of SIG Scheduling's plugins: PodGroup of scheduling.x-k8s.io, tied to pods by a label.

A group has no priority, only its pods do. It has no roles either: where everybody of every role is needed, its minimum
says the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muster.cluster.resources import PLUGINS_GROUP, Resource
from muster.errors import NotSupported
from muster.subject.dialect import Dialect, Manifest
from muster.subject.requests import GangRequest, PodRequest

PLACES_HELD = 1  # second that members hold their places for the rest of the gang; the project's examples say 10
_LABEL = "scheduling.x-k8s.io/pod-group"
_PHASES = {"Running": "running", "Finished": "finished", "Failed": "finished"}


class SchedulerPluginsDialect(Dialect):
    """scheduling.x-k8s.io/v1alpha1"""

    reads: tuple[Resource, ...] = (PLUGINS_GROUP,)
    group_kind: Resource | None = PLUGINS_GROUP

    def __init__(self) -> None:
        super().__init__("scheduler-plugins-scheduler")  # as the project's chart calls it

    def pod(self, request: PodRequest, namespace: str) -> Manifest:
        if request.protected:
            raise NotSupported("the plugins have no word for a pod that may not be evicted by those more important")
        manifest = super().pod(request, namespace)
        if request.gang:
            manifest["metadata"]["labels"][_LABEL] = request.gang
        return manifest

    def gang(self, request: GangRequest, namespace: str) -> Manifest:
        if request.with_gangs:
            raise NotSupported("the plugin Coscheduling has no word for gangs that start together")
        self.refuse_to_leave_whole(request)
        metadata = {"name": request.name, "namespace": namespace}
        spec = {"minMember": request.minimum, "scheduleTimeoutSeconds": PLACES_HELD}
        return {"apiVersion": PLUGINS_GROUP.api_version, "kind": "PodGroup", "metadata": metadata, "spec": spec}

    def resized(self, request: GangRequest) -> Manifest:
        return {"spec": {"minMember": request.minimum}}

    def phase(self, group: Mapping[str, Any]) -> str:
        return _PHASES.get(group.get("status", {}).get("phase", ""), "queued")
