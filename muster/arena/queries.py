"""From names to jobs: what the API server has, sorted into views."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from muster.cluster.api import Api, ApiRefused
from muster.cluster.resources import EVENT, NODE, POD
from muster.errors import UsageError
from muster.jobs.events import Happening, happenings
from muster.jobs.kinds import KINDS, Served, discover, must_serve
from muster.jobs.nodes import NodeRow, node_rows
from muster.jobs.objects import SERVICE, is_of_job, look_up
from muster.jobs.targets import Target
from muster.jobs.tensorboards import tensorboard_address, tensorboard_name
from muster.jobs.views import JOB_LABELS, RELEASE, TrainingJob, training_job

Found = tuple[Served, dict[str, Any]]


def find_object(target: Target, name: str, trainer: str | None) -> Found | None:
    """The job of that name, or None; a UsageError when there are two and nobody said which."""
    kinds = [kind for kind in KINDS if trainer in (None, kind.trainer)]
    found = [
        (served, job)
        for served in must_serve(discover(target.api), *kinds)
        if (job := look_up(target.api, served.resource, name, target.namespace))
    ]
    if len(found) > 1:
        types = " or ".join(f"--type {served.kind.trainer}" for served, _ in found)
        raise UsageError(f"{len(found)} training jobs are named {name!r}: say which with {types}")
    return found[0] if found else None


def find_job(target: Target, name: str, trainer: str | None) -> TrainingJob:
    found = find_object(target, name, trainer)
    if found is None:
        raise UsageError(no_such_job(target, name))
    served, job = found
    return training_job(served.kind, job, target.api.list(POD, target.namespace)["items"])


def no_such_job(target: Target, name: str) -> str:
    return f"there is no training job {name!r} in namespace {target.namespace}: muster list -A shows those there are"


def all_jobs(api: Api, namespace: str | None) -> list[TrainingJob]:
    """Of one namespace, or of all."""
    served = must_serve(discover(api), *KINDS)
    pods = _by_job(api.list(POD, namespace)["items"])
    jobs = [(one.kind, job) for one in served for job in api.list(one.resource, namespace)["items"]]
    return [training_job(kind, job, _candidates(pods, job["metadata"])) for kind, job in jobs]


def all_nodes(api: Api) -> list[NodeRow]:
    return node_rows(api.list(NODE)["items"], api.list(POD)["items"])


def events_of(target: Target, name: str, trainer: str | None) -> list[Happening]:
    """Also when the job itself is gone: its events stay for an hour."""
    found = find_object(target, name, trainer)
    if found is not None:
        return job_events(target, find_job(target, name, found[0].kind.trainer))
    gone = happenings(name, target.api.list(EVENT, target.namespace)["items"], pods=_names(target))
    if not gone:
        raise UsageError(no_such_job(target, name))
    return gone


def job_events(target: Target, job: TrainingJob) -> list[Happening]:
    events = target.api.list(EVENT, target.namespace)["items"]
    members = [one.name for one in job.instances]
    return happenings(job.name, events, since=job.created, members=members, pods=_names(target))


def _names(target: Target) -> dict[str, str]:
    """Who is behind a UID: schedulers name a preemptor by nothing else."""
    pods = target.api.list(POD, target.namespace)["items"]
    return {pod["metadata"]["uid"]: pod["metadata"]["name"] for pod in pods}


def tensorboard_of(target: Target, job: TrainingJob) -> str | None:
    """Its address; None when the job has none, or when we may not see the nodes that lead to it."""
    service = look_up(target.api, SERVICE, tensorboard_name(job.name), target.namespace)
    if service is None or not is_of_job(service, job.name):
        return None
    try:
        return tensorboard_address(service, target.api.list(NODE)["items"])
    except ApiRefused:
        return None


def _by_job(pods: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Every pod under the UIDs and names it might be looked for by: a thousand jobs must not each look at all pods."""
    index: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for pod in pods:
        meta = pod["metadata"]
        labels = meta.get("labels") or {}
        keys = {owner["uid"] for owner in meta.get("ownerReferences") or []}
        keys |= {f"{meta['namespace']}/{labels[label]}" for label in (*JOB_LABELS, RELEASE) if label in labels}
        for key in keys:
            index[key].append(pod)
    return index


def _candidates(index: dict[str, list[dict[str, Any]]], job: dict[str, Any]) -> list[dict[str, Any]]:
    pods = [*index.get(job["uid"], ()), *index.get(f"{job['namespace']}/{job['name']}", ())]
    return list({pod["metadata"]["uid"]: pod for pod in pods}.values())
