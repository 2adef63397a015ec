"""How the processes of a PyTorch job find each other: addresses, ranks and sizes as environment variables.

The operator's values win over a template's: a rendezvous works only when all replicas agree on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.operator.names import replica_name
from scheduler.operator.objects import Job, Json
from scheduler.operator.specs import Replicas, Spec

PORT_NAME = "pytorchjob-port"
_DEFAULT_PORT = 23456
_CONTAINER = "pytorch"


def rendezvous(job: Job, spec: Spec, replicas: Replicas, index: int) -> dict[str, str]:
    master = spec.of("Master")
    leader = master or spec.replicas[0]
    address, port = replica_name(job, spec, leader.role, 0), str(port_of(leader.template["spec"]))
    rank = str(index + (1 if master and replicas.role == "Worker" else 0))
    per_node = int(spec.processes) if spec.processes.isdecimal() else 1
    return {
        "PYTHONUNBUFFERED": "1",
        "MASTER_ADDR": address,
        "MASTER_PORT": port,
        "WORLD_SIZE": str(spec.total * per_node),
        "RANK": rank,
        "PET_MASTER_ADDR": address,
        "PET_MASTER_PORT": port,
        "PET_NNODES": str(spec.total),
        "PET_NPROC_PER_NODE": spec.processes or "auto",
        "PET_NODE_RANK": rank,
    }


def port_of(pod_spec: Mapping[str, Any]) -> int:
    """The rendezvous port that the training container declares, else the customary one."""
    containers = pod_spec["containers"]
    training = next((one for one in containers if one["name"] == _CONTAINER), containers[0])
    declared: Json = next((port for port in training.get("ports") or () if port.get("name") == PORT_NAME), {})
    number = declared.get("containerPort")
    return number if isinstance(number, int) else _DEFAULT_PORT


def with_environment(container: Json, values: Mapping[str, str]) -> Json:
    own = [one for one in container.get("env") or () if one.get("name") not in values]
    return {**container, "env": own + [{"name": name, "value": value} for name, value in values.items()]}
