"""The ConfigMap <job>-config of an MPIJob: what mpirun reads to find its hosts and to start processes on them.

| key | what it is |
|---|---|
| hostfile | all hosts with their slots, whether their pods run or not |
| discover_hosts.sh | prints the hosts that run now; Elastic Horovod calls it again and again |
| kubexec.sh | started by mpirun instead of ssh, without SSH between the pods only |
"""

from __future__ import annotations

from collections.abc import Mapping

from scheduler.operator.api_objects import JOB_NAME, ConfigMap, Job, Json
from scheduler.operator.job_spec import JobSpec
from scheduler.operator.mpi_spec import OPEN_MPI, MpiSpec
from scheduler.operator.replica_names import owner_reference, replica_name
from scheduler.operator.replicas import RoleReplicas

VOLUME, MOUNT_PATH = "mpi-job-config", "/etc/mpi"
HOSTFILE, DISCOVER_HOSTS, KUBEXEC = "hostfile", "discover_hosts.sh", "kubexec.sh"
KUBECTL_PATH = "/opt/kube"  # of the kubectl that kubexec.sh calls
_READ, _EXECUTE = 0o444, 0o555


def config_name(job: Job) -> str:
    return f"{job.metadata.name}-config"


def config_manifest(job: Job, spec: JobSpec, mpi: MpiSpec, roles: Mapping[str, RoleReplicas]) -> Json:
    files = {HOSTFILE: hostfile(job, spec, mpi), DISCOVER_HOSTS: discover_hosts(job, spec, mpi, roles)}
    if not mpi.uses_ssh:
        files[KUBEXEC] = _kubexec(mpi)
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": owned(job, config_name(job)), "data": files}


def needs_update(found: ConfigMap, manifest: Json) -> bool:
    return bool(found.data != manifest["data"])


def config_volume(job: Job, *files: str) -> Json:
    items = [{"key": one, "path": one, "mode": _READ if one == HOSTFILE else _EXECUTE} for one in files]
    return {"name": VOLUME, "configMap": {"name": config_name(job), "items": items}}


def hostfile(job: Job, spec: JobSpec, mpi: MpiSpec) -> str:
    worker = spec.role("Worker")
    pods = [replica_name(job, spec, "Worker", index) for index in range(worker.count if worker else 0)]
    separator = " slots=" if mpi.implementation == OPEN_MPI else ":"
    hosts = [host(job, mpi, pod) for pod in [*_launchers(job, spec, mpi), *pods]]
    return "".join(f"{one}{separator}{mpi.slots}\n" for one in hosts)


def discover_hosts(job: Job, spec: JobSpec, mpi: MpiSpec, roles: Mapping[str, RoleReplicas]) -> str:
    running = roles["Worker"].running if "Worker" in roles else []
    hosts = [host(job, mpi, pod) for pod in [*_launchers(job, spec, mpi), *running]]
    slots = "" if mpi.uses_ssh else f":{mpi.slots}"
    return "\n".join(["#!/bin/sh", *(f"echo {one}{slots}" for one in hosts), ""])


def host(job: Job, mpi: MpiSpec, pod: str) -> str:
    """For kubectl exec the name of the pod, for SSH its host name behind the service of the job."""
    return f"{pod}.{job.metadata.name}.{job.metadata.namespace}.svc" if mpi.uses_ssh else pod


def owned(job: Job, name: str) -> Json:
    """Metadata of an object of the job that belongs to no single replica."""
    labels = {"app": job.metadata.name, "release": job.metadata.name, JOB_NAME: job.metadata.name}
    metadata = {"name": name, "namespace": job.metadata.namespace, "labels": labels}
    return {**metadata, "ownerReferences": [owner_reference(job)]}


def _launchers(job: Job, spec: JobSpec, mpi: MpiSpec) -> list[str]:
    return [replica_name(job, spec, "Launcher", 0)] if mpi.launcher_is_worker else []


def _kubexec(mpi: MpiSpec) -> str:
    container = f" --container {mpi.main_container}" if mpi.main_container else ""
    run = f'exec {KUBECTL_PATH}/kubectl exec "$pod"{container} -- /bin/sh -c "$*"'
    return "\n".join(["#!/bin/sh", "pod=$1", "shift", run, ""])
