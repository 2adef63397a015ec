"""Claims, volumes and storage classes for tests of the scheduler's runtime, as the API server would show them."""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.client import ADDED
from scheduler.runtime.api_types import ApiNode, ApiPod
from scheduler.runtime.cache import Cache
from scheduler.runtime.volume_types import ApiClaim, ApiStorageClass, ApiVolume

NAMESPACE = "ns"
Object = dict[str, Any]


def observe_node(cache: Cache, name: str, *, cpu: str = "8", **labels: str) -> None:
    """A node with the label kubernetes.io/hostname."""
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}}
    found = {"metadata": metadata, "status": {"allocatable": {"pods": "110", "cpu": cpu}}}
    cache.observe_node(ADDED, msgspec.convert(found, ApiNode))


def observe_pod(cache: Cache, name: str, *claims: str, gang: str = "", cpu: str = "1", **more: Any) -> None:
    """A pod that mounts these claims; its uid is its name. `more` are further fields of its spec."""
    volumes: list[Object] = [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
    annotations = {"scheduling.k8s.io/group-name": gang} if gang else {}
    spec = {
        "schedulerName": "muster-scheduler",
        "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}],
        "volumes": volumes,
        **more,
    }
    metadata = {"namespace": NAMESPACE, "name": name, "uid": name, "resourceVersion": "5", "annotations": annotations}
    cache.observe_pod(ADDED, msgspec.convert({"metadata": metadata, "spec": spec, "status": {}}, ApiPod))


def claim(name: str, *, storage_class: str = "", size: str = "1Gi", version: int = 5, **more: Any) -> Object:
    """A claim whose uid is its name. `more`: `volume` (bound to it), `annotations`, `phase`, or fields of its spec."""
    annotations, phase = dict(more.pop("annotations", {})), more.pop("phase", "Pending")
    volume = more.pop("volume", "")
    if volume:
        annotations["pv.kubernetes.io/bind-completed"] = "yes"
    metadata = {"name": name, "namespace": NAMESPACE, "uid": name, "resourceVersion": str(version)}
    metadata |= {key: more.pop(key) for key in ("deletionTimestamp", "ownerReferences") if key in more}
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
        "storageClassName": storage_class,
        "volumeName": volume,
        **more,
    }
    return {"metadata": {**metadata, "annotations": annotations}, "spec": spec, "status": {"phase": phase}}


def volume(name: str, *nodes: str, storage_class: str = "", size: str = "1Gi", version: int = 5, **more: Any) -> Object:
    """A volume on these nodes, or on all. `more`: `claim` (it is for this), `labels`, `phase`, fields of its spec."""
    phase, labels, for_claim = more.pop("phase", "Available"), more.pop("labels", {}), more.pop("claim", "")
    spec = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": size}, "storageClassName": storage_class, **more}
    if nodes:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term("kubernetes.io/hostname", *nodes)]}}
    if for_claim:
        spec["claimRef"] = {"namespace": NAMESPACE, "name": for_claim, "uid": for_claim}
    metadata = {"name": name, "uid": name, "resourceVersion": str(version), "labels": labels}
    return {"metadata": metadata, "spec": spec, "status": {"phase": phase}}


def term(key: str, *values: str) -> Object:
    return {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}


def observe_claim(cache: Cache, found: Object, change: str = ADDED) -> None:
    cache.volumes.observe_claim(change, msgspec.convert(found, ApiClaim))


def observe_volume(cache: Cache, found: Object, change: str = ADDED) -> None:
    cache.volumes.observe_volume(change, msgspec.convert(found, ApiVolume))


def observe_class(cache: Cache, name: str, *, waits: bool = True, provisioner: str = "", **more: Any) -> None:
    found = {
        "metadata": {"name": name},
        "provisioner": provisioner or "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer" if waits else "Immediate",
        **more,
    }
    cache.volumes.observe_class(ADDED, msgspec.convert(found, ApiStorageClass))
