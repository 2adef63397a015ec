"""The request of `muster submit`, and the manifests that are created for it, the job last.

A job that may not be retried has restartPolicy Never: then a lost replica fails the job, as in the walk-throughs. Gang,
queue and priority are set in schedulingPolicy, the priority also on the pods: operators copy the former into the
PodGroup and never onto pods. A tensorboard sees the logs only if --logdir is storage that it shares with the job.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from muster.arena.node_usage import GPU, is_control_plane, node_address
from muster.cluster.job_kinds import JobKind
from muster.cluster.resources import Resource
from muster.errors import UsageError
from muster.simulator.peer_loss import JOB_LABEL, ON_PEER_LOSS

MANAGED_BY = {"app.kubernetes.io/managed-by": "muster"}
_CODE = "code-sync"
_CODE_IN_TRAINING = "/root/code"
_CODE_IN_SYNC = "/code"
_GIT_IMAGE = "registry.k8s.io/git-sync/git-sync:v4.4.0"
_GANG_NAME = "pod-group.scheduling.sigs.k8s.io/name"
_GANG_MINIMUM = "pod-group.scheduling.sigs.k8s.io/min-available"
_QUEUE = "scheduling.volcano.sh/queue-name"
_TENSORBOARD_IMAGE = "tensorflow/tensorflow:2.19.0"
_TENSORBOARD_PORT = 6006

Manifest = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A request for a training job. `workers` counts the PyTorch master, and does not count the MPI launcher."""

    kind: JobKind
    name: str
    namespace: str
    image: str
    command: str
    gpus: int = 0
    workers: int = 1
    cpu: str | None = None
    memory: str | None = None
    priority: str | None = None
    queue: str | None = None
    gang: bool = False
    scheduler_name: str | None = None
    tolerations: Sequence[Mapping[str, str]] = ()
    selector: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    sync_source: str | None = None
    tensorboard: bool = False
    logdir: str = "/training_logs"
    retry: int = 0
    clean_task_policy: str = "None"
    running_timeout: int | None = None

    def __post_init__(self) -> None:
        if not self.command.strip():
            raise UsageError("there is no command to run: put it last, in quotes")
        if self.sync_source is not None and not self.code_directory:
            raise UsageError(f"--sync-source {self.sync_source!r} does not name a repository: give its Git URL")

    @property
    def identity(self) -> dict[str, str]:
        """The labels that select all objects of the job."""
        return {"app": self.kind.trainer, "release": self.name, **MANAGED_BY}

    @property
    def record_name(self) -> str:
        """The name of the ConfigMap that records the submission."""
        return f"{self.name}-{self.kind.trainer}"

    @property
    def code_directory(self) -> str:
        """The directory of the repository under /root/code: the last part of its address."""
        return (self.sync_source or "").rstrip("/").rpartition("/")[2].removesuffix(".git")


def manifests(wanted: Submission, resource: Resource) -> list[Manifest]:
    """All objects that the submission creates, with the job as `resource`, in the order of their creation."""
    helpers = tensorboard_manifests(wanted) if wanted.tensorboard else []
    job = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {
            "name": wanted.name,
            "namespace": wanted.namespace,
            "labels": {**wanted.labels, **wanted.identity},
            "annotations": dict(wanted.annotations),
        },
        "spec": _spec(wanted, resource.api_version.partition("/")[2]),
    }
    return [_record(wanted, [*helpers, job]), *helpers, job]


def reference(manifest: Manifest) -> str:
    """`pytorchjob.kubeflow.org/name`, as kubectl prints it."""
    group, slash, _ = manifest["apiVersion"].partition("/")
    return f"{manifest['kind'].lower()}{'.' + group if slash else ''}/{manifest['metadata']['name']}"


def _spec(wanted: Submission, version: str) -> dict[str, Any]:
    if version == wanted.kind.single_template_version:
        return _single_template_spec(wanted)
    spec = {"runPolicy": _run_policy(wanted), wanted.kind.replica_specs: _roles(wanted)}
    return {"slotsPerWorker": max(wanted.gpus, 1), **spec} if wanted.kind.has_launcher else spec


def _roles(wanted: Submission) -> dict[str, Any]:
    """A launcher runs the command, and its workers run what the operator sets; else all replicas are alike."""
    first, *others = wanted.kind.roles
    if wanted.kind.has_launcher:
        launcher = _role(wanted, 1, pod_template(wanted, trains=False))
        workers = _role(wanted, wanted.workers, pod_template(wanted, runs_command=False))
        return {first: launcher} | dict.fromkeys(others, workers)
    roles = {first: _role(wanted, 1 if others else wanted.workers, pod_template(wanted))}
    if wanted.workers > 1:
        roles |= dict.fromkeys(others, _role(wanted, wanted.workers - 1, pod_template(wanted)))
    return roles


def _role(wanted: Submission, replicas: int, template: dict[str, Any]) -> dict[str, Any]:
    return {"replicas": replicas, "restartPolicy": "OnFailure" if wanted.retry else "Never", "template": template}


def _run_policy(wanted: Submission) -> dict[str, Any]:
    policy: dict[str, Any] = {"cleanPodPolicy": wanted.clean_task_policy}
    if wanted.retry:
        policy["backoffLimit"] = wanted.retry
    if wanted.running_timeout:
        policy["activeDeadlineSeconds"] = wanted.running_timeout
    if wanted.gang or wanted.queue:
        # Without the launcher: some operators create it when the workers run; a gang that waits for it never starts.
        scheduling = {"minAvailable": wanted.workers if wanted.gang else None, "queue": wanted.queue}
        scheduling["priorityClass"] = wanted.priority
        policy["schedulingPolicy"] = {name: value for name, value in scheduling.items() if value}
    return policy


def _single_template_spec(wanted: Submission) -> dict[str, Any]:
    """v1alpha1: the operator creates launcher and workers from one template, without GPUs for the launcher."""
    template = pod_template(wanted)
    template["spec"]["restartPolicy"] = "Never"
    add_gang_metadata(template, wanted)
    spec = {"replicas": wanted.workers, "backoffLimit": wanted.retry, "cleanPodPolicy": wanted.clean_task_policy}
    if wanted.running_timeout:
        spec["activeDeadlineSeconds"] = wanted.running_timeout
    return {**spec, "template": template}


def _record(wanted: Submission, rest: list[Manifest]) -> Manifest:
    """The ConfigMap that records the request and the objects created for it."""
    values = {"image": wanted.image, "command": wanted.command, "gpus": wanted.gpus, "workers": wanted.workers}
    values |= {"priority": wanted.priority, "queue": wanted.queue, "gang": wanted.gang}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": wanted.record_name, "namespace": wanted.namespace, "labels": wanted.identity},
        "data": {
            "values": yaml.safe_dump(values, sort_keys=False, width=10_000),
            "app": "".join(f"{reference(one)}\n" for one in rest),
        },
    }


def pod_template(wanted: Submission, *, runs_command: bool = True, trains: bool = True) -> dict[str, Any]:
    """The pod template of a role. `trains`: its pods request the GPUs, CPUs and memory."""
    container: dict[str, Any] = {"name": wanted.kind.framework, "image": wanted.image}
    if runs_command:
        container["command"] = ["sh", "-c", wanted.command]
    resources = _resources(wanted) if trains else {}
    if resources:
        container["resources"] = {"requests": resources, "limits": dict(resources)}
    # The NVIDIA runtime shows all GPUs of a node to containers that request none.
    env = {**({} if GPU in resources else {"NVIDIA_VISIBLE_DEVICES": "void"}), **wanted.env}
    if env:
        container["env"] = [{"name": name, "value": value} for name, value in env.items()]
    spec: dict[str, Any] = {"containers": [container]}
    if wanted.sync_source is not None:
        _add_code_sync(spec, wanted)
    spec |= _placement(wanted)
    return {"metadata": {"labels": _labels(wanted), "annotations": _annotations(wanted)}, "spec": spec}


def add_gang_metadata(template: dict[str, Any], wanted: Submission) -> None:
    """Gang and queue as labels and annotations of the pods, for a version of the job that has no fields for them."""
    meta = template["metadata"]
    if wanted.gang:
        meta["labels"] |= {_GANG_NAME: wanted.record_name, _GANG_MINIMUM: str(wanted.workers)}
    if wanted.queue:
        meta["annotations"] |= {_QUEUE: wanted.queue}


def _resources(wanted: Submission) -> dict[str, str]:
    requests = {"cpu": wanted.cpu, "memory": wanted.memory, GPU: str(wanted.gpus) if wanted.gpus else None}
    return {name: amount for name, amount in requests.items() if amount}


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
    # For the workload simulator: on simulated nodes, the processes of one job crash together.
    return {ON_PEER_LOSS: "crash", **wanted.annotations}


def _add_code_sync(spec: dict[str, Any], wanted: Submission) -> None:
    """An init container fetches the repository once."""
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


def tensorboard_name(job: str) -> str:
    return f"{job}-tensorboard"


def tensorboard_manifests(wanted: Submission) -> list[dict[str, Any]]:
    """Service first: its port is known when the Deployment's pod starts."""
    labels = {**wanted.identity, "role": "tensorboard"}
    meta = {"name": tensorboard_name(wanted.name), "namespace": wanted.namespace, "labels": labels}
    container = {
        "name": "tensorboard",
        "image": _TENSORBOARD_IMAGE,
        "command": ["tensorboard", f"--logdir={wanted.logdir}", "--bind_all", f"--port={_TENSORBOARD_PORT}"],
        "ports": [{"containerPort": _TENSORBOARD_PORT}],
    }
    pod: dict[str, Any] = {"containers": [container]}
    if wanted.tolerations:  # it must be able to run where the job runs
        pod["tolerations"] = [dict(one) for one in wanted.tolerations]
    service = {"type": "NodePort", "selector": labels, "ports": [{"name": "tensorboard", "port": _TENSORBOARD_PORT}]}
    deployment = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod},
    }
    return [
        {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": service},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": deployment},
    ]


def tensorboard_address(service: Mapping[str, Any], nodes: Iterable[Mapping[str, Any]]) -> str | None:
    """A NodePort is open on every node; a control-plane node is the least likely to be removed."""
    ports = [port["nodePort"] for port in service["spec"].get("ports", []) if "nodePort" in port]
    ordered = sorted(nodes, key=lambda node: (not is_control_plane(node), node["metadata"]["name"]))
    addresses = [address for node in ordered if (address := node_address(node))]
    return f"http://{addresses[0]}:{ports[0]}" if ports and addresses else None
