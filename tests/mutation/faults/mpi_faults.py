"""Faults of an operator in MPI jobs: hostfile, host discovery, SSH keys, the launcher; and an ignored elasticPolicy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scheduler.operator import creations, mpi_config_map, mpi_exec_pods, mpi_job, mpi_ssh_pods, replica_manifests
from scheduler.operator.actions import Action, CreateService, EnsureObject
from scheduler.operator.api_objects import Job, Json
from scheduler.operator.job_spec import JobSpec
from scheduler.operator.lost_replicas import Profile
from scheduler.operator.mpi_spec import OPEN_MPI, MpiSpec
from scheduler.operator.pytorch_job import PyTorchJob
from tests.mutation.faults.registry import Patch, operator_fault


@operator_fault('JOB-19: the hostfile of job "wide" has the line')
def slots_per_worker_is_ignored(patch: Patch) -> None:
    """Every line of the hostfile has one slot."""
    original = mpi_config_map.hostfile
    patch.function(original, lambda job, spec, mpi: original(job, spec, replace(mpi, slots=1)))


@operator_fault('JOB-19: the hostfile of job "default" has the line')
def hostfile_has_the_first_worker_only(patch: Patch) -> None:
    """The hostfile ends after its first line."""
    original = mpi_config_map.hostfile
    patch.function(original, lambda job, spec, mpi: f"{original(job, spec, mpi).splitlines()[0]}\n")


@operator_fault('JOB-19: "OMPI_MCA_orte_default_hostfile" of "default-launcher" names the hostfile')
def hostfile_is_not_mounted(patch: Patch) -> None:
    """The launcher has no volume with the hostfile."""
    original = mpi_exec_pods.launcher_spec

    def unmounted(job: Job, mpi: MpiSpec, pod_spec: Json, kubectl_image: str) -> Json:
        changed = original(job, mpi, pod_spec, kubectl_image)
        container = {**changed["containers"][0], "volumeMounts": []}
        return {**changed, "volumes": [], "containers": [container, *changed["containers"][1:]]}

    patch.function(original, unmounted)


@operator_fault('JOB-20: discover_hosts.sh of job "elastic" prints no host')
def pending_workers_are_discovered(patch: Patch) -> None:
    """discover_hosts.sh prints all workers, also those that do not run."""

    def all_workers(job: Job, spec: JobSpec, mpi: MpiSpec, _roles: Any) -> str:
        lines = mpi_config_map.hostfile(job, spec, mpi).splitlines()
        return "\n".join(["#!/bin/sh", *(f"echo {line.split()[0]}" for line in lines)])

    patch.function(mpi_config_map.discover_hosts, all_workers)


@operator_fault('JOB-20: discover_hosts.sh of job "elastic" prints "elastic-worker-0", "elastic-worker-1"')
def discovered_hosts_are_not_updated(patch: Patch) -> None:
    """The ConfigMap stays as it was created."""
    patch.function(mpi_config_map.needs_update, lambda _found, _manifest: False)


@operator_fault('JOB-21: "default-launcher", "default-worker-0", "default-worker-1" of job "default" have the SSH keys')
def workers_have_no_ssh_keys(patch: Patch) -> None:
    """The Secret is mounted into the launcher only."""
    original = mpi_ssh_pods.worker_spec

    def without_keys(job: Job, mpi: MpiSpec, name: str, pod_spec: Json) -> Json:
        kept = {key: pod_spec[key] for key in ("volumes", "containers") if key in pod_spec}
        changed = original(job, mpi, name, pod_spec)
        return {key: value for key, value in changed.items() if key != "volumes"} | kept

    patch.function(original, without_keys)


@operator_fault('JOB-21: "default-launcher", "default-worker-0", "default-worker-1" of job "default" have the SSH keys')
def no_ssh_secret(patch: Patch) -> None:
    """The Secret that the pods mount is not created."""
    original = creations.ensure_access

    def without_secret(*arguments: Any) -> list[Action]:
        return [one for one in original(*arguments) if not isinstance(one, EnsureObject)]

    patch.function(original, without_secret)


@operator_fault('JOB-21: "elsewhere-launcher", "elsewhere-worker-0" of job "elsewhere" have the SSH keys')
def ssh_mount_path_is_ignored(patch: Patch) -> None:
    """The keys are always in /root/.ssh."""
    original = mpi_job._read_ssh
    patch.function(original, lambda spec: replace(original(spec), ssh_mount_path="/root/.ssh"))


@operator_fault('JOB-21: a headless service of job "default" resolves')
def mpi_job_has_no_service(patch: Patch) -> None:
    """The host names of the pods do not resolve."""
    original = creations.create_mpi_objects

    def without_service(*arguments: Any) -> list[Action]:
        return [one for one in original(*arguments) if not isinstance(one, CreateService)]

    patch.function(original, without_service)


@operator_fault('JOB-22: "at-once-launcher" is created')
def launcher_always_waits(patch: Patch) -> None:
    """Every launcher is created when all workers are ready, whatever launcherCreationPolicy says."""
    patch.function(creations.may_create, lambda _spec, role, roles: role != "Launcher" or roles["Worker"].all_ready)


@operator_fault(
    'JOB-23: job "retries" continues with a new "retries-launcher"',
    'JOB-24: "train-worker-1" runs again',
)
def lost_pods_of_v2beta1_fail_the_job(patch: Patch) -> None:
    """The restartPolicy of a role decides, as in v1: with Never the job fails."""
    patch.function(mpi_job._v2beta1_role, lambda role, _path: role)


@operator_fault('JOB-22: job "later" got a launcher without GPUs after its workers were ready')
def launcher_that_waits_requests_a_gpu(patch: Patch) -> None:
    """The launcher that waits for the workers requests one GPU, as they do."""
    original = replica_manifests._mpi_pod_spec

    def with_gpu(job: Job, mpi: MpiSpec, role: str, name: str, pod_spec: Json, profile: Profile) -> Json:
        found = original(job, mpi, role, name, pod_spec, profile)
        if role != "Launcher" or not mpi.launcher_waits:
            return found
        gpus = {"resources": {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}}}
        return {**found, "containers": [{**container, **gpus} for container in found["containers"]]}

    patch.function(original, with_gpu)


@operator_fault('JOB-25: the hostfile of job "train" has the line')
def every_hostfile_is_of_open_mpi(patch: Patch) -> None:
    """The hostfile has the form of Open MPI, whatever the implementation."""
    original = mpi_config_map.hostfile
    patch.function(original, lambda job, spec, mpi: original(job, spec, replace(mpi, implementation=OPEN_MPI)))


@operator_fault('JOB-26: job "elastic" has pods with PET_NNODES "1:2", or a Failed condition that names')
def elastic_policy_is_ignored(patch: Patch) -> None:
    """An elastic job runs with a fixed number of replicas."""
    original = PyTorchJob.read

    def without_policy(kind: PyTorchJob, spec: Json) -> JobSpec:
        return original(kind, {key: value for key, value in spec.items() if key != "elasticPolicy"})

    patch.attribute(PyTorchJob, "read", without_policy)
