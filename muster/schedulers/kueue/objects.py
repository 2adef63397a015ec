"""What an administrator of Kueue sets up: one flavor of nodes, its topology, and queues.

The topology goes down to single nodes. Without one Kueue admits by quota alone and lets half a gang start; its
documentation recommends it as a default. Work that names no queue is in one with quota beyond every scene, so that the
nodes decide; every queue covers all resources, for work that asks for one that is not covered is never admitted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muster.chronicle.quantities import GPU
from muster.cluster.resources import KUEUE_CLUSTER_QUEUE, KUEUE_FLAVOR, KUEUE_LOCAL_QUEUE, KUEUE_TOPOLOGY, Resource
from muster.subject.requests import QueueRequest

Manifest = dict[str, Any]

EVERYBODY, CANARIES = "muster-everybody", "muster-canaries"  # queues of those who name none
NODE_LABELS = {"muster.dev/flavor": "simulated"}
_FLAVOR = _TOPOLOGY = "muster"
_BEYOND = "1P"  # a quota that no scene comes near to


def environment(*, preempts: bool) -> list[Manifest]:
    """Everything that is there before the first scene."""
    levels = [{"nodeLabel": "kubernetes.io/hostname"}]
    return [
        _object(KUEUE_TOPOLOGY, _TOPOLOGY, {"levels": levels}),
        _object(KUEUE_FLAVOR, _FLAVOR, {"nodeLabels": NODE_LABELS, "topologyName": _TOPOLOGY}),
        cluster_queue(QueueRequest(EVERYBODY), preempts=preempts),
        cluster_queue(QueueRequest(CANARIES), preempts=False),
    ]


def cluster_queue(request: QueueRequest, *, preempts: bool) -> Manifest:
    """A queue and its quota; `preempts`: its work may take the place of less important work of the same queue."""
    asked = {"pods": None, GPU: request.gpus, "cpu": request.cpus, "memory": request.memory}
    quotas = [{"name": name, "nominalQuota": _BEYOND if most is None else str(most)} for name, most in asked.items()]
    group = {"coveredResources": list(asked), "flavors": [{"name": _FLAVOR, "resources": quotas}]}
    spec: Manifest = {
        "namespaceSelector": {},
        "queueingStrategy": "StrictFIFO" if request.strictly_in_order else "BestEffortFIFO",
        "resourceGroups": [group],
        "preemption": {"withinClusterQueue": "LowerPriority" if preempts else "Never"},
    }
    return _object(KUEUE_CLUSTER_QUEUE, request.name, spec)


def local_queue(name: str, namespace: str) -> Manifest:
    """The door to a queue for the pods of one namespace."""
    manifest = _object(KUEUE_LOCAL_QUEUE, name, {"clusterQueue": name})
    manifest["metadata"]["namespace"] = namespace
    return manifest


def limits(spec: Mapping[str, Any]) -> dict[str, str]:
    """What a queue may use at most, by the spec of its object."""
    quotas = [
        quota
        for group in spec.get("resourceGroups", [])
        for flavor in group["flavors"]
        for quota in flavor["resources"]
    ]
    return {one["name"]: str(one["nominalQuota"]) for one in quotas if one["nominalQuota"] != _BEYOND}


def _object(kind: Resource, name: str, spec: Manifest) -> Manifest:
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, "spec": spec}
