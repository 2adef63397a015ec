"""The objects of a submission, in the order in which they are created; the job comes last, when all it needs is there.

A job that may not be retried has restartPolicy Never: with it, a lost member ends the job, as the documents show.
The gang, its queue and its priority go into schedulingPolicy, the priority also onto the pods: operators copy the first
into the PodGroup and never onto pods.
"""

from __future__ import annotations

from typing import Any

import yaml

from muster.jobs.kinds import Served
from muster.jobs.requests import Submission
from muster.jobs.templates import gang_marks, pod_template
from muster.jobs.tensorboards import tensorboard_manifests

Manifest = dict[str, Any]


def manifests(wanted: Submission, served: Served) -> list[Manifest]:
    """Everything that the submission creates."""
    helpers = tensorboard_manifests(wanted) if wanted.tensorboard else []
    job = {
        "apiVersion": served.resource.api_version,
        "kind": served.resource.kind,
        "metadata": {
            "name": wanted.name,
            "namespace": wanted.namespace,
            "labels": {**wanted.labels, **wanted.identity},
            "annotations": dict(wanted.annotations),
        },
        "spec": _spec(wanted, served.version),
    }
    return [_record(wanted, [*helpers, job]), *helpers, job]


def reference(manifest: Manifest) -> str:
    """`pytorchjob.kubeflow.org/name`, as kubectl calls it."""
    group, slash, _ = manifest["apiVersion"].partition("/")
    return f"{manifest['kind'].lower()}{'.' + group if slash else ''}/{manifest['metadata']['name']}"


def _spec(wanted: Submission, version: str) -> dict[str, Any]:
    if wanted.kind.word == "pytorch":
        return {"runPolicy": _run_policy(wanted), "pytorchReplicaSpecs": _pytorch_roles(wanted)}
    if version == "v1alpha1":
        return _one_template(wanted)
    slots = max(wanted.gpus, 1)
    return {"slotsPerWorker": slots, "runPolicy": _run_policy(wanted), "mpiReplicaSpecs": _mpi_roles(wanted)}


def _pytorch_roles(wanted: Submission) -> dict[str, Any]:
    roles = {"Master": _role(wanted, 1, pod_template(wanted))}
    if wanted.workers > 1:
        roles["Worker"] = _role(wanted, wanted.workers - 1, pod_template(wanted))
    return roles


def _mpi_roles(wanted: Submission) -> dict[str, Any]:
    """The launcher runs the command; the workers wait for it, with what the operator makes them run."""
    return {
        "Launcher": _role(wanted, 1, pod_template(wanted, trains=False)),
        "Worker": _role(wanted, wanted.workers, pod_template(wanted, runs_command=False)),
    }


def _role(wanted: Submission, replicas: int, template: dict[str, Any]) -> dict[str, Any]:
    return {"replicas": replicas, "restartPolicy": "OnFailure" if wanted.retry else "Never", "template": template}


def _run_policy(wanted: Submission) -> dict[str, Any]:
    policy: dict[str, Any] = {"cleanPodPolicy": wanted.clean_task_policy}
    if wanted.retry:
        policy["backoffLimit"] = wanted.retry
    if wanted.running_timeout:
        policy["activeDeadlineSeconds"] = wanted.running_timeout
    if wanted.gang or wanted.queue:
        # Not the MPI launcher: some operators create it when the workers run, and a gang that waits for it never would.
        scheduling = {"minAvailable": wanted.workers if wanted.gang else None, "queue": wanted.queue}
        scheduling["priorityClass"] = wanted.priority
        policy["schedulingPolicy"] = {name: value for name, value in scheduling.items() if value}
    return policy


def _one_template(wanted: Submission) -> dict[str, Any]:
    """v1alpha1: the operator makes launcher and workers of one template, and takes the GPUs off the launcher."""
    template = pod_template(wanted)
    template["spec"]["restartPolicy"] = "Never"
    gang_marks(template, wanted)
    spec = {"replicas": wanted.workers, "backoffLimit": wanted.retry, "cleanPodPolicy": wanted.clean_task_policy}
    if wanted.running_timeout:
        spec["activeDeadlineSeconds"] = wanted.running_timeout
    return {**spec, "template": template}


def _record(wanted: Submission, rest: list[Manifest]) -> Manifest:
    """What was asked for and what came of it, for whoever looks at the cluster later."""
    values = {"image": wanted.image, "command": wanted.command, "gpus": wanted.gpus, "workers": wanted.workers}
    values |= {"priority": wanted.priority, "queue": wanted.queue, "gang": wanted.gang}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": wanted.record, "namespace": wanted.namespace, "labels": wanted.identity},
        "data": {
            "values": yaml.safe_dump(values, sort_keys=False, width=10_000),
            "app": "".join(f"{reference(one)}\n" for one in rest),
        },
    }
