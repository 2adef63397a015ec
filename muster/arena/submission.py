"""Submitting and deleting jobs: all or nothing.

Whatever can be known to fail fails before an object is created or deleted. A submission that is rejected half-way
deletes only the objects that it created itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from http import HTTPStatus

from muster.arena.job_manifests import Manifest, Submission, manifests, reference, tensorboard_name
from muster.arena.queries import (
    ServedKind,
    belongs_to_job,
    find_job_object,
    look_up,
    no_such_job,
    require_served,
    served_kinds,
)
from muster.arena.target import Target
from muster.cluster.api import Api, ApiRefused
from muster.cluster.job_kinds import JOB_KINDS
from muster.cluster.resources import CONFIG_MAP, DEPLOYMENT, NAMESPACE, PRIORITY_CLASS, SERVICE, Resource
from muster.errors import HarnessError, MusterError, UsageError

_CREATED_BY = {"createdBy": "muster"}
_HELPERS = {one.kind: one for one in (CONFIG_MAP, SERVICE, DEPLOYMENT)}


def prepare(api: Api, wanted: Submission) -> list[Manifest]:
    """The manifests, after all checks that need no write."""
    found = served_kinds(api)
    prepared = manifests(wanted, require_served(found, wanted.kind)[0].resource)
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
            raise _exists_already(helper)
    return prepared


def submit(api: Api, prepared: Sequence[Manifest]) -> list[str]:
    """Create all objects, or none; returns what was done to which of them, as kubectl prints it."""
    created: list[Manifest] = []
    done: list[str] = []
    try:
        for manifest in prepared:
            answer = _create(api, manifest)
            created.append(manifest)
            done.append(f"{reference(manifest)} created")
            if manifest["kind"] == CONFIG_MAP.kind:
                _label(api, manifest)
                done.append(f"{reference(manifest)} labeled")
        _adopt(api, prepared, answer)
    except BaseException as error:
        left = _undo(api, created)
        if left and isinstance(error, MusterError):
            raise HarnessError(f"{error}; {', '.join(left)} could not be deleted again") from None
        raise
    return done


def delete_jobs(target: Target, names: Sequence[str], trainer: str | None, report: Callable[[str], None]) -> None:
    """Delete all of them, or none if one does not exist."""
    objects = {name: _objects_of(target, name, trainer) for name in dict.fromkeys(names)}
    for name, found in objects.items():
        if not found:
            raise UsageError(f"{no_such_job(target, name)}; nothing was deleted")
    for name, found in objects.items():
        for resource, object_name in found:
            target.api.delete(resource, object_name, target.namespace)
        report(f"The training job {name} has been deleted successfully")


def _exists(api: Api, resource: Resource, name: str) -> bool:
    """What the user may not read counts as existing: the API server rejects the job if it does not."""
    try:
        api.get(resource, name)
    except ApiRefused as refusal:
        if refusal.status not in (HTTPStatus.NOT_FOUND, HTTPStatus.FORBIDDEN):
            raise
        return refusal.status == HTTPStatus.FORBIDDEN
    return True


def _check_name(api: Api, wanted: Submission, served: ServedKind) -> None:
    """Of any kind: pods of two jobs of the same name would have the same names."""
    if look_up(api, served.resource, wanted.name, wanted.namespace):
        raise UsageError(
            f"{served.kind.trainer} {wanted.name!r} exists already in namespace {wanted.namespace}: "
            f"choose another name, or delete it with muster delete {wanted.name} -n {wanted.namespace}"
        )


def _exists_already(manifest: Manifest) -> UsageError:
    return UsageError(
        f"{reference(manifest)} exists already in namespace {manifest['metadata']['namespace']}: "
        "choose another name, or delete it if it is not needed"
    )


def _create(api: Api, manifest: Manifest) -> Manifest:
    meta, resource = manifest["metadata"], _resource(manifest)
    try:
        answer = api.post(resource.path(meta["namespace"]), manifest)
    except ApiRefused as refusal:
        if refusal.reason == "AlreadyExists":
            raise _exists_already(manifest) from None
        raise HarnessError(
            f"the API server rejects {reference(manifest)}: {refusal.message}; no object of the job was kept"
        ) from None
    # If the response was lost, the object exists all the same.
    return answer or api.get(resource, meta["name"], meta["namespace"])


def _label(api: Api, record: Manifest) -> None:
    """The label by which Arena's record says what wrote it; in a request of its own, as there."""
    meta = record["metadata"]
    api.patch(CONFIG_MAP, meta["name"], {"metadata": {"labels": _CREATED_BY}}, namespace=meta["namespace"])


def _adopt(api: Api, prepared: Sequence[Manifest], job: Manifest) -> None:
    """Make the job the owner of the other objects: deleting it with any tool deletes them."""
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


def _objects_of(target: Target, name: str, trainer: str | None) -> list[tuple[Resource, str]]:
    """The job first, then the objects created with it, even if the job itself is gone."""
    found = find_job_object(target, name, trainer)
    job = [] if found is None else [(found[0].resource, name)]
    kinds = [kind for kind in JOB_KINDS if trainer in (None, kind.trainer)]
    helpers = [(CONFIG_MAP, f"{name}-{kind.trainer}") for kind in kinds]
    helpers += [(SERVICE, tensorboard_name(name)), (DEPLOYMENT, tensorboard_name(name))]
    owned = [
        (resource, helper)
        for resource, helper in helpers
        if (found_helper := look_up(target.api, resource, helper, target.namespace))
        and belongs_to_job(found_helper, name)
    ]
    return [*job, *owned]
