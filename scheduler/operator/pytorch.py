"""PyTorchJob: one master and any number of workers, or workers alone.

The master's fate is the job's: it runs as soon as the master runs and succeeds when the master succeeds. Without one
the first worker leads, and all workers have to succeed.
"""

from __future__ import annotations

from collections.abc import Mapping

from scheduler.operator.members import Role
from scheduler.operator.objects import Json
from scheduler.operator.profiles import ON_FAILURE
from scheduler.operator.specs import CLEAN_NONE, Invalid, Spec, mapping, replicas, run_policy

_REPLICAS = "pytorchReplicaSpecs"


def read(spec: Json) -> Spec:
    path = f"spec.{_REPLICAS}"
    wanted = mapping(spec, _REPLICAS, "spec")
    unknown = sorted(set(wanted) - {"Master", "Worker"})
    if unknown:
        raise Invalid(f"{path}.{unknown[0]}", "is no role of a PyTorchJob: Master, Worker")
    master = replicas(wanted, "Master", path, policy=ON_FAILURE)
    worker = replicas(wanted, "Worker", path, policy=ON_FAILURE)
    if master is not None and master.count != 1:
        raise Invalid(f"{path}.Master.replicas", f"must be 1, not {master.count}")
    roles = tuple(one for one in (master, worker) if one is not None)
    if not roles:
        raise Invalid(path, "must have a Master or a Worker")
    processes = spec.get("nprocPerNode")
    return Spec(roles, run_policy(spec, clean=CLEAN_NONE), processes="" if processes is None else str(processes))


def is_running(roles: Mapping[str, Role]) -> bool:
    return _leaders(roles).active > 0


def has_succeeded(roles: Mapping[str, Role]) -> bool:
    leaders = _leaders(roles)
    return leaders.succeeded == leaders.replicas.count


def _leaders(roles: Mapping[str, Role]) -> Role:
    return roles.get("Master") or roles["Worker"]
