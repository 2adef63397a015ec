"""Manifests of the pods and services of a job, from its templates.

The rendezvous variables override a template's own: replicas find each other only if all agree on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.operator import mpi_exec_pods, mpi_ssh_pods, pod_group
from scheduler.operator.api_objects import INDEX, Job, Json
from scheduler.operator.containers import with_variables
from scheduler.operator.job_kinds import KINDS
from scheduler.operator.job_spec import EXIT_CODE, NEVER, JobSpec, ReplicaSpec
from scheduler.operator.lost_replicas import Profile
from scheduler.operator.mpi_spec import MpiSpec
from scheduler.operator.replica_names import client_labels, owner_reference, replica_labels, replica_name, selector

_PORT_NAME = "pytorchjob-port"
_DEFAULT_PORT = 23456
_CONTAINER = "pytorch"
# Read by the workload simulator of the harness: which pods crash together where pods have no processes.
_SIMULATED_JOB = "muster.dev/job"
_ON_PEER_LOSS = "muster.dev/on-peer-loss"


def pod_manifest(job: Job, spec: JobSpec, replicas: ReplicaSpec, index: int, profile: Profile) -> Json:
    template = replicas.template
    own = template.get("metadata") or {}
    chief = index == 0 and replicas is spec.replicas[0]
    labels = {
        **client_labels(job),
        **(own.get("labels") or {}),
        **replica_labels(job, replicas.role, index, chief=chief),
    }
    annotations = dict(own.get("annotations") or {})
    if profile.peers_crash:
        labels.setdefault(_SIMULATED_JOB, job.metadata.name)
        annotations.setdefault(_ON_PEER_LOSS, "crash")
    restart_policy = NEVER if replicas.restart_policy == EXIT_CODE else replicas.restart_policy
    pod_spec = {**template["spec"], "restartPolicy": restart_policy}
    if KINDS[job.kind].has_rendezvous:
        variables = rendezvous_variables(job, spec, replicas, index)
        pod_spec["containers"] = [with_variables(container, variables) for container in pod_spec["containers"]]
    if spec.mpi is not None:
        name = replica_name(job, spec, replicas.role, index)
        pod_spec = _mpi_pod_spec(job, spec.mpi, replicas.role, name, pod_spec, profile)
    dialect = pod_group.dialect_of(spec, profile)
    if dialect:
        pod_group.join_group(dialect, job, spec, replicas.role, labels, annotations, pod_spec)
    if scheduler := pod_group.scheduler_name(dialect, profile, pod_spec):
        pod_spec["schedulerName"] = scheduler
    metadata = {**_metadata(job, spec, replicas, index), "labels": labels, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod_spec}


def service_manifest(job: Job, spec: JobSpec, replicas: ReplicaSpec, index: int) -> Json:
    """Headless: a DNS name for one replica, published before it is ready."""
    labels = {**selector(job, replicas.role), INDEX: str(index)}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**_metadata(job, spec, replicas, index), "labels": labels},
        "spec": {
            "clusterIP": "None",
            "selector": labels,
            "ports": [{"name": _PORT_NAME, "port": _port(replicas.template["spec"])}],
            "publishNotReadyAddresses": True,
        },
    }


def rendezvous_variables(job: Job, spec: JobSpec, replicas: ReplicaSpec, index: int) -> dict[str, str]:
    """Address, rank and world size, as torch.distributed and torchrun read them."""
    master = spec.role("Master")
    leader = master or spec.replicas[0]
    address, port = replica_name(job, spec, leader.role, 0), str(_port(leader.template["spec"]))
    rank = str(index + (1 if master and replicas.role == "Worker" else 0))
    per_node = int(spec.nproc_per_node) if spec.nproc_per_node.isdecimal() else 1
    return {
        "PYTHONUNBUFFERED": "1",
        "MASTER_ADDR": address,
        "MASTER_PORT": port,
        "WORLD_SIZE": str(spec.total * per_node),
        "RANK": rank,
        "PET_MASTER_ADDR": address,
        "PET_MASTER_PORT": port,
        "PET_NNODES": str(spec.total),
        "PET_NPROC_PER_NODE": spec.nproc_per_node or "auto",
        "PET_NODE_RANK": rank,
    }


def _port(pod_spec: Mapping[str, Any]) -> int:
    """The rendezvous port that the training container declares, else the default."""
    containers = pod_spec["containers"]
    training = next((one for one in containers if one["name"] == _CONTAINER), containers[0])
    declared: Json = next((port for port in training.get("ports") or () if port.get("name") == _PORT_NAME), {})
    number = declared.get("containerPort")
    return number if isinstance(number, int) else _DEFAULT_PORT


def _mpi_pod_spec(job: Job, mpi: MpiSpec, role: str, name: str, pod_spec: Json, profile: Profile) -> Json:
    launcher = role == "Launcher"
    if mpi.uses_ssh:
        configure = mpi_ssh_pods.launcher_spec if launcher else mpi_ssh_pods.worker_spec
        return configure(job, mpi, name, pod_spec)
    if launcher:
        return mpi_exec_pods.launcher_spec(job, mpi, pod_spec, profile.kubectl_image)
    return mpi_exec_pods.worker_spec(job, pod_spec)


def _metadata(job: Job, spec: JobSpec, replicas: ReplicaSpec, index: int) -> Json:
    return {
        "name": replica_name(job, spec, replicas.role, index),
        "namespace": job.metadata.namespace,
        "ownerReferences": [owner_reference(job)],
    }
