"""The MPIJob: workers, and a launcher that starts processes in them.

Three layouts under one kind, told apart by their fields, because the API server shows every job in the version that is
asked for. `mpiReplicaSpecs` is v1; with a field that only v2beta1 has (its CRD sets their defaults) it is v2beta1. One
`template` for both roles is v1alpha1, as Arena writes it: there the launcher is the template without its resources.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scheduler.operator.api_objects import Json
from scheduler.operator.job_kind import JobKind, Roles
from scheduler.operator.job_spec import (
    CLEAN_NONE,
    CLEAN_RUNNING,
    NEVER,
    ON_FAILURE,
    InvalidSpec,
    JobSpec,
    OnLoss,
    ReplicaSpec,
    read_number,
    read_replicas,
    read_run_policy,
    read_string,
    read_template,
)
from scheduler.operator.mpi_spec import AT_STARTUP, IMPLEMENTATIONS, OPEN_MPI, WAIT_FOR_WORKERS_READY, MpiSpec

_V2BETA1_FIELDS = frozenset({"mpiImplementation", "sshAuthMountPath", "launcherCreationPolicy", "runLauncherAsWorker"})
_SSH_MOUNT_PATH = "/root/.ssh"
_BACKOFF_LIMIT = 6  # of v2beta1, whose launcher is a batch Job upstream
_GPU = "nvidia.com/gpu"


def is_v2beta1(spec: object) -> bool:
    return isinstance(spec, dict) and not _V2BETA1_FIELDS.isdisjoint(spec)


class MPIJob(JobKind):
    """The launcher's end is the job's."""

    kind = "MPIJob"
    plural = "mpijobs"
    api_versions = ("kubeflow.org/v1", "kubeflow.org/v2beta1")  # the CRD of the mpi-operator serves the latter alone
    roles = ("Launcher", "Worker")
    replica_specs = "mpiReplicaSpecs"
    managers = ("kubeflow.org/training-operator", "kubeflow.org/mpi-operator")

    def read(self, spec: Json) -> JobSpec:
        if spec.get(self.replica_specs) is None and spec.get("template") is not None:
            return _read_single_template(spec)
        path, found, later = f"spec.{self.replica_specs}", self._check_roles(spec), is_v2beta1(spec)
        launcher = read_replicas(found, "Launcher", path, default_restart_policy=ON_FAILURE if later else NEVER)
        worker = read_replicas(found, "Worker", path, default_restart_policy=NEVER)
        if launcher is None or launcher.count != 1:
            raise InvalidSpec(f"{path}.Launcher", "there must be exactly one")
        roles: tuple[ReplicaSpec, ...] = (launcher, worker) if worker is not None else (launcher,)
        run_policy = read_run_policy(spec, default_clean_pod_policy=CLEAN_NONE)
        if not later:
            return JobSpec(roles, run_policy, mpi=_read_exec(spec, launcher))
        limit = _BACKOFF_LIMIT if run_policy.backoff_limit is None else run_policy.backoff_limit
        roles = tuple(_v2beta1_role(role, path) for role in roles)
        return JobSpec(roles, replace(run_policy, backoff_limit=limit), mpi=_read_ssh(spec))

    def is_running(self, spec: JobSpec, roles: Roles) -> bool:
        """With v2beta1 all workers have to run as well."""
        complete = "Worker" not in roles or roles["Worker"].active == roles["Worker"].spec.count
        return roles["Launcher"].active > 0 and (complete or spec.mpi is None or not spec.mpi.uses_ssh)

    def has_succeeded(self, roles: Roles) -> bool:
        return roles["Launcher"].succeeded == 1

    def operator_name(self, spec: object) -> str:
        return "mpi-operator" if is_v2beta1(spec) else super().operator_name(spec)

    def labels(self, job: str, role: str, index: int, *, chief: bool) -> dict[str, str]:
        return {
            "training.kubeflow.org/job-role": role,
            "group_name": "kubeflow.org",
            "mpi_job_name": job,
            "mpi_role_type": role,
        }

    def legacy_status(self, roles: Roles) -> Json:
        """The v1alpha1 fields, which clients of that version read instead of conditions."""
        launcher = roles["Launcher"]
        counts = (("Succeeded", launcher.succeeded), ("Failed", launcher.failed), ("Active", launcher.active))
        state = next((state for state, count in counts if count), "")
        return {"workerReplicas": roles["Worker"].active, **({"launcherStatus": state} if state else {})}


def launcher_template(template: Json) -> Json:
    """The template without the resources of its containers: a v1alpha1 launcher needs no GPU."""
    pod = template["spec"]
    containers = [{key: value for key, value in one.items() if key != "resources"} for one in pod["containers"]]
    return {**template, "spec": {**pod, "containers": containers}}


def _read_single_template(spec: Json) -> JobSpec:
    count = read_number(spec, "replicas", "spec", minimum=1)
    template = read_template(spec, "spec")
    launcher = ReplicaSpec("Launcher", 1, NEVER, launcher_template(template))
    worker = ReplicaSpec("Worker", count or 1, NEVER, template)
    run_policy = read_run_policy(spec, default_clean_pod_policy=CLEAN_RUNNING)
    slots = read_number(spec, "slotsPerWorker", "spec", minimum=1)
    mpi = MpiSpec(slots=slots or _limit(template, _GPU) or 1)
    return JobSpec((launcher, worker), run_policy, single_template=True, mpi=mpi)


def _read_exec(spec: Json, launcher: ReplicaSpec) -> MpiSpec:
    """v1: processes run in a launcher that has GPUs, too."""
    limits = [limit for one in launcher.template["spec"]["containers"] for limit in _limits(one).items()]
    return MpiSpec(
        slots=read_number(spec, "slotsPerWorker", "spec", minimum=1) or 1,
        main_container=read_string(spec, "mainContainer", "spec"),
        launcher_is_worker=any("gpu" in name and str(amount) != "0" for name, amount in limits),
    )


def _read_ssh(spec: Json) -> MpiSpec:
    """v2beta1."""
    launcher_is_worker = spec.get("runLauncherAsWorker") or False
    if not isinstance(launcher_is_worker, bool):
        raise InvalidSpec("spec.runLauncherAsWorker", "must be true or false")
    policies = (AT_STARTUP, WAIT_FOR_WORKERS_READY)
    policy = read_string(spec, "launcherCreationPolicy", "spec", policies) or AT_STARTUP
    return MpiSpec(
        slots=read_number(spec, "slotsPerWorker", "spec", minimum=1) or 1,
        implementation=read_string(spec, "mpiImplementation", "spec", IMPLEMENTATIONS) or OPEN_MPI,
        ssh_mount_path=read_string(spec, "sshAuthMountPath", "spec") or _SSH_MOUNT_PATH,
        launcher_is_worker=launcher_is_worker,
        launcher_waits=policy == WAIT_FOR_WORKERS_READY,
    )


def _v2beta1_role(role: ReplicaSpec, path: str) -> ReplicaSpec:
    """The launcher is retried, and a worker is created again only when it is deleted: the launcher decides the job."""
    if role.restart_policy not in (NEVER, ON_FAILURE):
        raise InvalidSpec(f"{path}.{role.role}.restartPolicy", f"must be {NEVER} or {ON_FAILURE} in v2beta1")
    return replace(role, on_loss=OnLoss.RETRY if role.role == "Launcher" else OnLoss.RECREATE_DELETED)


def _limits(container: Json) -> dict[str, Any]:
    return (container.get("resources") or {}).get("limits") or {}


def _limit(template: Json, resource: str) -> int:
    """Of the first container, 0 if it has none. Quantities of GPUs are whole numbers."""
    text = str(_limits(template["spec"]["containers"][0]).get(resource, ""))
    return int(text) if text.isdecimal() else 0
