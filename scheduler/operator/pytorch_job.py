"""The PyTorchJob."""

from __future__ import annotations

from scheduler.operator.api_objects import Json
from scheduler.operator.job_kind import JobKind, Roles
from scheduler.operator.job_spec import (
    CLEAN_NONE,
    ON_FAILURE,
    InvalidSpec,
    JobSpec,
    read_replicas,
    read_run_policy,
)
from scheduler.operator.replicas import RoleReplicas


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
        if spec.get("elasticPolicy") is not None:
            raise InvalidSpec("spec.elasticPolicy", "is not supported: the number of replicas is fixed")
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

    def is_running(self, spec: JobSpec, roles: Roles) -> bool:
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


def _leading(roles: Roles) -> RoleReplicas:
    return roles.get("Master") or roles["Worker"]
