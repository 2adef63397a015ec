"""Queries of the API server: which kinds of jobs it serves, and its jobs, nodes and events as the model sees them.

A CRD may serve a kind in several versions of different shape: `v1` has a template per role, `v1alpha1` of MPIJob a
single one. All versions show the same objects, so only the preferred one is requested.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from muster.arena.job_events import JobEvent, events_of_job
from muster.arena.job_manifests import tensorboard_address, tensorboard_name
from muster.arena.model import JOB_LABELS, RELEASE, TrainingJob, training_job
from muster.arena.node_usage import NodeRow, node_rows
from muster.arena.target import Target
from muster.cluster.api import Api, ApiRefused
from muster.cluster.job_kinds import GROUP, JOB_KINDS, JobKind
from muster.cluster.resources import EVENT, NODE, POD, SERVICE, Resource, job_resource
from muster.errors import HarnessError, UsageError


@dataclass(frozen=True)
class ServedKind:
    """A kind of job in the preferred version that the cluster serves."""

    kind: JobKind
    resource: Resource

    @property
    def version(self) -> str:
        return self.resource.api_version.partition("/")[2]


Found = tuple[ServedKind, dict[str, Any]]


def served_kinds(api: Api) -> list[ServedKind]:
    """The kinds that the cluster serves, in the order of the table; maybe none."""
    versions = sorted({version for kind in JOB_KINDS for version in kind.versions})
    plurals = {version: _served_plurals(api, version) for version in versions}
    return [
        ServedKind(kind, job_resource(kind, version))
        for kind in JOB_KINDS
        for version in [next((v for v in kind.versions if kind.plural in plurals[v]), None)]
        if version
    ]


def require_served(found: Sequence[ServedKind], *kinds: JobKind) -> list[ServedKind]:
    """Those of `kinds` that are served; HarnessError if none is."""
    served = [one for one in found if one.kind in kinds]
    if not served:
        names = " nor ".join(f"{kind.kind} ({GROUP}/{' or '.join(kind.versions)})" for kind in kinds)
        raise HarnessError(f"the cluster does not serve {names}: install the operator of training jobs and its CRDs")
    return served


def look_up(api: Api, resource: Resource, name: str, namespace: str) -> dict[str, Any] | None:
    """The object, or None if it does not exist."""
    try:
        return api.get(resource, name, namespace)
    except ApiRefused as refusal:
        if refusal.status == HTTPStatus.NOT_FOUND:
            return None
        raise


def belongs_to_job(found: Mapping[str, Any], job: str) -> bool:
    """By its label: another object may have the same name."""
    labels: Mapping[str, str] = found["metadata"].get("labels") or {}
    return labels.get(RELEASE) == job


def find_job_object(target: Target, name: str, trainer: str | None) -> Found | None:
    """The job of that name, or None; a UsageError if there are several and no type was given."""
    kinds = [kind for kind in JOB_KINDS if trainer in (None, kind.trainer)]
    found = [
        (served, job)
        for served in require_served(served_kinds(target.api), *kinds)
        if (job := look_up(target.api, served.resource, name, target.namespace))
    ]
    if len(found) > 1:
        types = " or ".join(f"--type {served.kind.trainer}" for served, _ in found)
        raise UsageError(f"{len(found)} training jobs are named {name!r}: say which with {types}")
    return found[0] if found else None


def find_job(target: Target, name: str, trainer: str | None) -> TrainingJob:
    found = find_job_object(target, name, trainer)
    if found is None:
        raise UsageError(no_such_job(target, name))
    served, job = found
    return training_job(served.kind, job, target.api.list(POD, target.namespace)["items"])


def no_such_job(target: Target, name: str) -> str:
    return f"there is no training job {name!r} in namespace {target.namespace}: muster list -A shows all jobs"


def all_jobs(api: Api, namespace: str | None) -> list[TrainingJob]:
    """The jobs of one namespace, or of all."""
    served = require_served(served_kinds(api), *JOB_KINDS)
    pods = _index_by_job(api.list(POD, namespace)["items"])
    jobs = [(one.kind, job) for one in served for job in api.list(one.resource, namespace)["items"]]
    return [training_job(kind, job, _candidates(pods, job["metadata"])) for kind, job in jobs]


def all_nodes(api: Api) -> list[NodeRow]:
    return node_rows(api.list(NODE)["items"], api.list(POD)["items"])


def find_events(target: Target, name: str, trainer: str | None) -> list[JobEvent]:
    """Also of a deleted job: its events are kept for an hour."""
    found = find_job_object(target, name, trainer)
    if found is not None:
        return job_events(target, find_job(target, name, found[0].kind.trainer))
    events = events_of_job(name, target.api.list(EVENT, target.namespace)["items"], pods=_pod_names(target))
    if not events:
        raise UsageError(no_such_job(target, name))
    return events


def job_events(target: Target, job: TrainingJob) -> list[JobEvent]:
    events = target.api.list(EVENT, target.namespace)["items"]
    members = [one.name for one in job.instances]
    return events_of_job(job.name, events, since=job.created, members=members, pods=_pod_names(target))


def tensorboard_of(target: Target, job: TrainingJob) -> str | None:
    """Its address; None if the job has none, or if the user may not list nodes."""
    service = look_up(target.api, SERVICE, tensorboard_name(job.name), target.namespace)
    if service is None or not belongs_to_job(service, job.name):
        return None
    try:
        return tensorboard_address(service, target.api.list(NODE)["items"])
    except ApiRefused:
        return None


def _served_plurals(api: Api, version: str) -> set[str]:
    try:
        answer = json.loads(api.read(f"/apis/{GROUP}/{version}"))
    except ApiRefused as refusal:
        if refusal.status == HTTPStatus.NOT_FOUND:
            return set()
        raise
    return {resource["name"] for resource in answer["resources"]}


def _pod_names(target: Target) -> dict[str, str]:
    """Pod names by UID: schedulers identify a preemptor by its UID only."""
    pods = target.api.list(POD, target.namespace)["items"]
    return {pod["metadata"]["uid"]: pod["metadata"]["name"] for pod in pods}


def _index_by_job(pods: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Pods by the UIDs and names of their possible jobs, so that a thousand jobs do not each scan all pods."""
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
