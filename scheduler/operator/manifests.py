"""The pods and services of a job, from its templates."""

from __future__ import annotations

from scheduler.operator import groups
from scheduler.operator.environment import PORT_NAME, port_of, rendezvous, with_environment
from scheduler.operator.names import PYTORCH, client_labels, owner, replica_labels, replica_name, selector
from scheduler.operator.objects import INDEX, Job, Json
from scheduler.operator.profiles import EXIT_CODE, NEVER, Profile
from scheduler.operator.specs import Replicas, Spec

# How the harness learns whose processes belong together where pods are objects only.
_PLAYED_JOB = "muster.dev/job"
_PLAYED_LOSS = "muster.dev/on-peer-loss"


def pod(job: Job, spec: Spec, replicas: Replicas, index: int, profile: Profile) -> Json:
    template = replicas.template
    own = template.get("metadata") or {}
    chief = index == 0 and replicas is spec.replicas[0]
    labels = {
        **client_labels(job),
        **(own.get("labels") or {}),
        **replica_labels(job, replicas, index, chief=chief),
    }
    annotations = dict(own.get("annotations") or {})
    if profile.peers_crash:
        labels.setdefault(_PLAYED_JOB, job.metadata.name)
        annotations.setdefault(_PLAYED_LOSS, "crash")
    inner = {**template["spec"], "restartPolicy": NEVER if replicas.policy == EXIT_CODE else replicas.policy}
    if job.kind == PYTORCH:
        values = rendezvous(job, spec, replicas, index)
        inner["containers"] = [with_environment(container, values) for container in inner["containers"]]
    dialect = groups.dialect_of(spec, profile)
    if dialect:
        groups.join(dialect, job, spec, replicas, labels, annotations, inner)
    if not inner.get("schedulerName"):
        name = profile.scheduler_name or (dialect.scheduler_name if dialect else "")
        inner |= {"schedulerName": name} if name else {}
    metadata = {**_metadata(job, spec, replicas, index), "labels": labels, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": inner}


def service(job: Job, spec: Spec, replicas: Replicas, index: int) -> Json:
    """Headless: a name in the DNS for one replica, before it is ready, too."""
    found_by = {**selector(job, replicas.role), INDEX: str(index)}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**_metadata(job, spec, replicas, index), "labels": found_by},
        "spec": {
            "clusterIP": "None",
            "selector": found_by,
            "ports": [{"name": PORT_NAME, "port": port_of(replicas.template["spec"])}],
            "publishNotReadyAddresses": True,
        },
    }


def _metadata(job: Job, spec: Spec, replicas: Replicas, index: int) -> Json:
    return {
        "name": replica_name(job, spec, replicas.role, index),
        "namespace": job.metadata.namespace,
        "ownerReferences": [owner(job)],
    }
