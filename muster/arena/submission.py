"""Submitting: all checks first, then one object after the other, and back again if one of them is refused.

Whatever can be known to fail fails before anything is created. What is undone is only what this submission created:
an object that was there before is somebody's.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from muster.cluster.api import Api, ApiRefused
from muster.cluster.resources import NAMESPACE, PRIORITY_CLASS, Resource
from muster.errors import HarnessError, MusterError, UsageError
from muster.jobs.kinds import Served, discover, must_serve
from muster.jobs.manifests import Manifest, manifests, reference
from muster.jobs.objects import CONFIG_MAP, DEPLOYMENT, SERVICE, look_up
from muster.jobs.requests import Submission

_HELPERS = {one.kind: one for one in (CONFIG_MAP, SERVICE, DEPLOYMENT)}


def prepare(api: Api, wanted: Submission) -> list[Manifest]:
    """The manifests, once everything speaks for their success."""
    found = discover(api)
    prepared = manifests(wanted, must_serve(found, wanted.kind)[0])
    namespace = wanted.namespace
    if not _exists(api, NAMESPACE, namespace):
        raise UsageError(f"there is no namespace {namespace!r}: create it with kubectl create namespace {namespace}")
    if wanted.priority and not _exists(api, PRIORITY_CLASS, wanted.priority):
        known = ", ".join(one["metadata"]["name"] for one in api.list(PRIORITY_CLASS)["items"])
        raise UsageError(
            f"there is no PriorityClass {wanted.priority!r}: choose from {known}, "
            f"or create it with kubectl create priorityclass {wanted.priority} --value=NUMBER"
        )
    for other in found:
        _check_name(api, wanted, other)
    for helper in prepared[:-1]:
        if look_up(api, _resource(helper), helper["metadata"]["name"], namespace):
            raise _in_the_way(helper)
    return prepared


def submit(api: Api, prepared: Sequence[Manifest]) -> list[str]:
    """Create all of them, or none; returns what they are called."""
    created: list[Manifest] = []
    try:
        for manifest in prepared:
            answer = _create(api, manifest)
            created.append(manifest)
        _adopt(api, prepared, answer)
    except BaseException as trouble:
        left = _undo(api, created)
        if left and isinstance(trouble, MusterError):
            raise HarnessError(f"{trouble}; it left {', '.join(left)} behind, which could not be removed") from None
        raise
    return [reference(manifest) for manifest in prepared]


def _exists(api: Api, resource: Resource, name: str) -> bool:
    """What is not ours to see counts as there: the cluster will say if it is not."""
    try:
        api.get(resource, name)
    except ApiRefused as refusal:
        if refusal.status not in (HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN):
            raise
        return refusal.status == HTTPStatus.FORBIDDEN
    return True


def _check_name(api: Api, wanted: Submission, served: Served) -> None:
    """Of either kind: the pods of both would have the same names."""
    if look_up(api, served.resource, wanted.name, wanted.namespace):
        raise UsageError(
            f"{served.kind.trainer} {wanted.name!r} exists already in namespace {wanted.namespace}: "
            f"choose another name, or remove it with muster delete {wanted.name} -n {wanted.namespace}"
        )


def _in_the_way(manifest: Manifest) -> UsageError:
    return UsageError(
        f"{reference(manifest)} exists already in namespace {manifest['metadata']['namespace']}: "
        "choose another name, or remove it if nobody needs it"
    )


def _create(api: Api, manifest: Manifest) -> Manifest:
    meta, resource = manifest["metadata"], _resource(manifest)
    try:
        answer = api.post(resource.path(meta["namespace"]), manifest)
    except ApiRefused as refusal:
        if refusal.reason == "AlreadyExists":
            raise _in_the_way(manifest) from None
        raise HarnessError(
            f"the API server refuses {reference(manifest)}: {refusal.message}; nothing of the job was kept"
        ) from None
    # An answer that was lost on its way leaves us without the object; it is there all the same.
    return answer or api.get(resource, meta["name"], meta["namespace"])


def _adopt(api: Api, prepared: Sequence[Manifest], job: Manifest) -> None:
    """Whoever deletes the job, with whatever tool, deletes the rest."""
    owner = {"apiVersion": job["apiVersion"], "kind": job["kind"]}
    owner |= {"name": job["metadata"]["name"], "uid": job["metadata"]["uid"]}
    for manifest in prepared[:-1]:
        meta = manifest["metadata"]
        change = {"metadata": {"ownerReferences": [owner]}}
        api.patch(_resource(manifest), meta["name"], change, namespace=meta["namespace"])


def _undo(api: Api, created: Sequence[Manifest]) -> list[str]:
    left = []
    for manifest in reversed(created):
        try:
            api.delete(_resource(manifest), manifest["metadata"]["name"], manifest["metadata"]["namespace"])
        except MusterError:
            left.append(reference(manifest))
    return left


def _resource(manifest: Manifest) -> Resource:
    known = _HELPERS.get(manifest["kind"])
    if known:
        return known
    return Resource(manifest["apiVersion"], manifest["kind"], f"{manifest['kind'].lower()}s")
