"""The table of job kinds: everything in which a PyTorchJob and an MPIJob differ. A new kind is one class here.

Muster has a table of its own (muster/cluster/job_kinds.py, which lists all places of a new kind): the harness shares no
code with the reference.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from scheduler.operator.api_objects import Json
from scheduler.operator.job_spec import (
    CLEAN_NONE,
    CLEAN_RUNNING,
    NEVER,
    ON_FAILURE,
    InvalidSpec,
    JobSpec,
    ReplicaSpec,
    read_number,
    read_object,
    read_replicas,
    read_run_policy,
    read_template,
)
from scheduler.operator.replicas import RoleReplicas

API_VERSION = "kubeflow.org/v1"
Roles = Mapping[str, RoleReplicas]


class JobKind(ABC):
    """One kind of training job of kubeflow.org/v1."""

    kind: ClassVar[str]
    plural: ClassVar[str]
    roles: ClassVar[tuple[str, ...]]
    replica_specs: ClassVar[str]  # the field of the spec that holds a replica spec per role
    has_rendezvous: ClassVar[bool] = False  # replicas find each other by environment variables and headless services
    launcher: ClassVar[str] = ""  # a role without GPUs that is created when all workers are ready

    @property
    def path(self) -> str:
        return f"/apis/{API_VERSION}/{self.plural}"

    @abstractmethod
    def read(self, spec: Json) -> JobSpec:
        """Validate a spec, or raise InvalidSpec."""

    @abstractmethod
    def is_running(self, roles: Roles) -> bool:
        """Whether the job as a whole is Running."""

    @abstractmethod
    def has_succeeded(self, roles: Roles) -> bool:
        """Whether the job as a whole has Succeeded."""

    @abstractmethod
    def labels(self, job: str, role: str, index: int, *, chief: bool) -> dict[str, str]:
        """Labels of a replica beside those of all kinds, those of earlier operators included."""

    def may_create(self, role: str, roles: Roles) -> bool:
        """A launcher waits until all workers are ready."""
        return role != self.launcher or "Worker" not in roles or roles["Worker"].all_ready

    def legacy_status(self, roles: Roles) -> Json:
        """Status fields of a single-template job, beside the conditions."""
        return {}

    def _check_roles(self, spec: Json) -> Json:
        found = read_object(spec, self.replica_specs, "spec")
        unknown = sorted(set(found) - set(self.roles))
        if unknown:
            known = ", ".join(self.roles)
            raise InvalidSpec(f"spec.{self.replica_specs}.{unknown[0]}", f"is not a role of {self.kind}: {known}")
        return found


class PyTorchJob(JobKind):
    """One master and any number of workers, or workers alone.

    The job runs as soon as the master runs and succeeds when the master succeeds. Without a master the first worker
    leads, and all workers have to succeed.
    """

    kind = "PyTorchJob"
    plural = "pytorchjobs"
    roles = ("Master", "Worker")
    replica_specs = "pytorchReplicaSpecs"
    has_rendezvous = True

    def read(self, spec: Json) -> JobSpec:
        path = f"spec.{self.replica_specs}"
        found = self._check_roles(spec)
        master = read_replicas(found, "Master", path, default_restart_policy=ON_FAILURE)
        worker = read_replicas(found, "Worker", path, default_restart_policy=ON_FAILURE)
        if master is not None and master.count != 1:
            raise InvalidSpec(f"{path}.Master.replicas", f"must be 1, not {master.count}")
        roles = tuple(role for role in (master, worker) if role is not None)
        if not roles:
            raise InvalidSpec(path, "must have a Master or a Worker")
        nproc = spec.get("nprocPerNode")
        run_policy = read_run_policy(spec, default_clean_pod_policy=CLEAN_NONE)
        return JobSpec(roles, run_policy, nproc_per_node="" if nproc is None else str(nproc))

    def is_running(self, roles: Roles) -> bool:
        return _leading(roles).active > 0

    def has_succeeded(self, roles: Roles) -> bool:
        return _leading(roles).succeeded == _leading(roles).spec.count

    def labels(self, job: str, role: str, index: int, *, chief: bool) -> dict[str, str]:
        labels = {
            "group-name": "kubeflow.org",
            "controller-name": "pytorch-operator",
            "pytorch-job-name": job,
            "pytorch-replica-type": role,
            "pytorch-replica-index": str(index),
        }
        if chief:
            labels |= {"training.kubeflow.org/job-role": "master", "job-role": "master"}
        return labels


class MPIJob(JobKind):
    """Workers, and a launcher that connects to them.

    Two layouts under one kind, told apart by their fields: `mpiReplicaSpecs` (v1), and one `template` for both roles
    (v1alpha1, as Arena writes it), where the launcher is the template without its resources: it needs no GPU.
    """

    kind = "MPIJob"
    plural = "mpijobs"
    roles = ("Launcher", "Worker")
    replica_specs = "mpiReplicaSpecs"
    launcher = "Launcher"

    def read(self, spec: Json) -> JobSpec:
        if spec.get(self.replica_specs) is None and spec.get("template") is not None:
            return self._read_single_template(spec)
        path = f"spec.{self.replica_specs}"
        found = self._check_roles(spec)
        launcher = read_replicas(found, "Launcher", path, default_restart_policy=NEVER)
        worker = read_replicas(found, "Worker", path, default_restart_policy=NEVER)
        if launcher is None or launcher.count != 1:
            raise InvalidSpec(f"{path}.Launcher", "there must be exactly one")
        roles = (launcher, worker) if worker is not None else (launcher,)
        return JobSpec(roles, read_run_policy(spec, default_clean_pod_policy=CLEAN_NONE))

    def is_running(self, roles: Roles) -> bool:
        return roles["Launcher"].active > 0

    def has_succeeded(self, roles: Roles) -> bool:
        return roles["Launcher"].succeeded == 1

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

    def _read_single_template(self, spec: Json) -> JobSpec:
        count = read_number(spec, "replicas", "spec", minimum=1)
        template = read_template(spec, "spec")
        launcher = ReplicaSpec("Launcher", 1, NEVER, launcher_template(template))
        worker = ReplicaSpec("Worker", count or 1, NEVER, template)
        run_policy = read_run_policy(spec, default_clean_pod_policy=CLEAN_RUNNING)
        return JobSpec((launcher, worker), run_policy, single_template=True)


def launcher_template(template: Json) -> Json:
    """The template without the resources of its containers."""
    pod = template["spec"]
    containers = [{key: value for key, value in one.items() if key != "resources"} for one in pod["containers"]]
    return {**template, "spec": {**pod, "containers": containers}}


def _leading(roles: Roles) -> RoleReplicas:
    return roles.get("Master") or roles["Worker"]


KINDS: dict[str, JobKind] = {kind.kind: kind for kind in (PyTorchJob(), MPIJob())}
