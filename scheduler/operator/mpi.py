"""MPIJob: workers that wait to be called, and a launcher that calls them, so it comes when all of them are ready.

Two layouts under one kind, told apart by their fields: `mpiReplicaSpecs` (v1), and one `template` for both roles
(v1alpha1, as Arena writes it), where the launcher is the template without its resources: it needs no GPU.
"""

from __future__ import annotations

from collections.abc import Mapping

from scheduler.operator.members import Role
from scheduler.operator.objects import Json
from scheduler.operator.profiles import NEVER
from scheduler.operator.specs import (
    CLEAN_NONE,
    CLEAN_RUNNING,
    Invalid,
    Replicas,
    Spec,
    mapping,
    number,
    replicas,
    run_policy,
    template,
)

LAUNCHER, WORKER = "Launcher", "Worker"
_REPLICAS = "mpiReplicaSpecs"


def read(spec: Json) -> Spec:
    if spec.get(_REPLICAS) is None and spec.get("template") is not None:
        return _single_template(spec)
    path = f"spec.{_REPLICAS}"
    wanted = mapping(spec, _REPLICAS, "spec")
    unknown = sorted(set(wanted) - {LAUNCHER, WORKER})
    if unknown:
        raise Invalid(f"{path}.{unknown[0]}", "is no role of an MPIJob: Launcher, Worker")
    launcher = replicas(wanted, LAUNCHER, path, policy=NEVER)
    worker = replicas(wanted, WORKER, path, policy=NEVER)
    if launcher is None or launcher.count != 1:
        raise Invalid(f"{path}.Launcher", "there must be exactly one")
    roles = (launcher, worker) if worker is not None else (launcher,)
    return Spec(roles, run_policy(spec, clean=CLEAN_NONE))


def is_running(roles: Mapping[str, Role]) -> bool:
    return roles[LAUNCHER].active > 0


def has_succeeded(roles: Mapping[str, Role]) -> bool:
    return roles[LAUNCHER].succeeded == 1


def may_launch(roles: Mapping[str, Role]) -> bool:
    return WORKER not in roles or roles[WORKER].all_ready


def old_status(roles: Mapping[str, Role]) -> Json:
    """What readers of the v1alpha1 layout look at instead of conditions."""
    launcher = roles[LAUNCHER]
    stands = (("Succeeded", launcher.succeeded), ("Failed", launcher.failed), ("Active", launcher.active))
    said = next((word for word, count in stands if count), "")
    return {"workerReplicas": roles[WORKER].active, **({"launcherStatus": said} if said else {})}


def _single_template(spec: Json) -> Spec:
    count = number(spec, "replicas", "spec", least=1)
    both = template(spec, "spec")
    roles = (Replicas(LAUNCHER, 1, NEVER, _without_resources(both)), Replicas(WORKER, count or 1, NEVER, both))
    return Spec(roles, run_policy(spec, clean=CLEAN_RUNNING), single_template=True)


def _without_resources(both: Json) -> Json:
    inner = both["spec"]
    containers = [{key: value for key, value in one.items() if key != "resources"} for one in inner["containers"]]
    return {**both, "spec": {**inner, "containers": containers}}
