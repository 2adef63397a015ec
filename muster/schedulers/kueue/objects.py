"""What an administrator of Kueue creates: one flavor of nodes, its topology, and queues.

The topology goes down to single nodes. Without one Kueue admits by quota alone and lets half a gang start; its
documentation recommends it as a default. Workloads that name no queue are in one with more quota than any scenario
uses, so that the nodes decide. Every queue covers all resources: a workload that requests an uncovered one is never
admitted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muster.cluster.resources import Resource, custom_resource
from muster.recording.quantities import GPU
from muster.schedulers.requests import QueueRequest

Manifest = dict[str, Any]

_VERSION = "kueue.x-k8s.io/v1beta2"
KUEUE_WORKLOAD = custom_resource(_VERSION, "Workload", "workloads")
KUEUE_CLUSTER_QUEUE = custom_resource(_VERSION, "ClusterQueue", "clusterqueues", namespaced=False)
KUEUE_LOCAL_QUEUE = custom_resource(_VERSION, "LocalQueue", "localqueues")
KUEUE_FLAVOR = custom_resource(_VERSION, "ResourceFlavor", "resourceflavors", namespaced=False)
KUEUE_TOPOLOGY = custom_resource(_VERSION, "Topology", "topologies", namespaced=False)

DEFAULT_QUEUE = "muster-unlimited"  # of pods that name none
PROBE_QUEUE = "muster-probes"
NODE_LABELS = {"muster.dev/flavor": "simulated"}
_FLAVOR = _TOPOLOGY = "muster"
_UNLIMITED = "1P"  # more quota than any scenario uses


def default_objects(*, preempts: bool) -> list[Manifest]:
    """What exists before the first scenario."""
    levels = [{"nodeLabel": "kubernetes.io/hostname"}]
    return [
        _object(KUEUE_TOPOLOGY, _TOPOLOGY, {"levels": levels}),
        _object(KUEUE_FLAVOR, _FLAVOR, {"nodeLabels": NODE_LABELS, "topologyName": _TOPOLOGY}),
        cluster_queue(QueueRequest(DEFAULT_QUEUE), preempts=preempts),
        cluster_queue(QueueRequest(PROBE_QUEUE), preempts=False),
    ]


def cluster_queue(request: QueueRequest, *, preempts: bool) -> Manifest:
    """A queue and its quota; `preempts`: its workloads may preempt lower-priority ones of the same queue."""
    requested = {"pods": None, GPU: request.gpus, "cpu": request.cpus, "memory": request.memory}
    quotas = [
        {"name": name, "nominalQuota": _UNLIMITED if limit is None else str(limit)} for name, limit in requested.items()
    ]
    group = {"coveredResources": list(requested), "flavors": [{"name": _FLAVOR, "resources": quotas}]}
    spec: Manifest = {
        "namespaceSelector": {},
        "queueingStrategy": "StrictFIFO" if request.strict_fifo else "BestEffortFIFO",
        "resourceGroups": [group],
        "preemption": {"withinClusterQueue": "LowerPriority" if preempts else "Never"},
    }
    return _object(KUEUE_CLUSTER_QUEUE, request.name, spec)


def local_queue(name: str, namespace: str) -> Manifest:
    """The LocalQueue by which the pods of a namespace use a queue."""
    manifest = _object(KUEUE_LOCAL_QUEUE, name, {"clusterQueue": name})
    manifest["metadata"]["namespace"] = namespace
    return manifest


def limits(spec: Mapping[str, Any]) -> dict[str, str]:
    """The capability of a queue, from the spec of its object."""
    quotas = [
        quota
        for group in spec.get("resourceGroups", [])
        for flavor in group["flavors"]
        for quota in flavor["resources"]
    ]
    return {quota["name"]: str(quota["nominalQuota"]) for quota in quotas if quota["nominalQuota"] != _UNLIMITED}


def _object(kind: Resource, name: str, spec: Manifest) -> Manifest:
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, "spec": spec}
