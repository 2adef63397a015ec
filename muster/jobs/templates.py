"""The pod of a training job: one container, what it asks for, where it may run.

A container without GPUs is told so: the NVIDIA runtime shows all of a node's GPUs to images that ask for nothing.
"""

from __future__ import annotations

from typing import Any

from muster.jobs.gpus import GPU
from muster.jobs.requests import Submission
from muster.player.jobs import JOB_LABEL, ON_PEER_LOSS

_CODE = "code-sync"
_CODE_IN_TRAINING = "/root/code"
_CODE_IN_SYNC = "/code"
_GIT_IMAGE = "registry.k8s.io/git-sync/git-sync:v4.4.0"
_GANG_NAME = "pod-group.scheduling.sigs.k8s.io/name"
_GANG_MINIMUM = "pod-group.scheduling.sigs.k8s.io/min-available"
_QUEUE = "scheduling.volcano.sh/queue-name"


def pod_template(wanted: Submission, *, runs_command: bool = True, trains: bool = True) -> dict[str, Any]:
    """A role's template. `trains`: it does the computing, so the GPUs, CPUs and memory are asked for it."""
    container: dict[str, Any] = {"name": wanted.kind.container, "image": wanted.image}
    if runs_command:
        container["command"] = ["sh", "-c", wanted.command]
    resources = _resources(wanted) if trains else {}
    if resources:
        container["resources"] = {"requests": resources, "limits": dict(resources)}
    env = {**({} if GPU in resources else {"NVIDIA_VISIBLE_DEVICES": "void"}), **wanted.env}
    if env:
        container["env"] = [{"name": name, "value": value} for name, value in env.items()]
    spec: dict[str, Any] = {"containers": [container]}
    if wanted.sync_source is not None:
        _synchronise(spec, wanted)
    spec |= _placement(wanted)
    return {"metadata": {"labels": _labels(wanted), "annotations": _annotations(wanted)}, "spec": spec}


def gang_marks(template: dict[str, Any], wanted: Submission) -> None:
    """Gang and queue on the pods themselves, for a version of the job that has no field for them."""
    meta = template["metadata"]
    if wanted.gang:
        meta["labels"] |= {_GANG_NAME: wanted.record, _GANG_MINIMUM: str(wanted.workers)}
    if wanted.queue:
        meta["annotations"] |= {_QUEUE: wanted.queue}


def _resources(wanted: Submission) -> dict[str, str]:
    asked = {"cpu": wanted.cpu, "memory": wanted.memory, GPU: str(wanted.gpus) if wanted.gpus else None}
    return {name: amount for name, amount in asked.items() if amount}


def _placement(wanted: Submission) -> dict[str, Any]:
    fields = {
        "priorityClassName": wanted.priority,
        "schedulerName": wanted.scheduler_name,
        "nodeSelector": dict(wanted.selector),
        "tolerations": [dict(one) for one in wanted.tolerations],
    }
    return {name: value for name, value in fields.items() if value}


def _labels(wanted: Submission) -> dict[str, str]:
    return {**wanted.labels, **wanted.identity, JOB_LABEL: wanted.name}


def _annotations(wanted: Submission) -> dict[str, str]:
    # On nodes that are objects only, the player needs to know that these processes do not outlive each other.
    return {ON_PEER_LOSS: "crash", **wanted.annotations}


def _synchronise(spec: dict[str, Any], wanted: Submission) -> None:
    """The repository is fetched once, before the training starts."""
    arguments = [f"--repo={wanted.sync_source}", f"--root={_CODE_IN_SYNC}", f"--link={wanted.code_directory}"]
    spec["initContainers"] = [
        {
            "name": "init-code",
            "image": _GIT_IMAGE,
            "args": [*arguments, "--one-time"],
            "volumeMounts": [{"name": _CODE, "mountPath": _CODE_IN_SYNC}],
        }
    ]
    spec["containers"][0]["volumeMounts"] = [{"name": _CODE, "mountPath": _CODE_IN_TRAINING}]
    spec["volumes"] = [{"name": _CODE, "emptyDir": {}}]
