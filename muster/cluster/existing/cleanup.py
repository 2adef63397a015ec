"""Delete the objects of a run on an existing cluster: found by label, deleted by name, and awaited.

Pods first, without grace: simulated nodes have no kubelet that would report their end, and their namespace would wait
for them. Those on real nodes have a second: until their containers have ended they hold GPUs. Deletion is repeated
until the time is over, for objects that were created meanwhile.
"""

from __future__ import annotations

import datetime
import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import tenacity

from muster import timeouts
from muster.cluster.api import Api, ApiRefused
from muster.cluster.existing import rbac
from muster.cluster.existing.lease import alive_because
from muster.cluster.kubeconfig_files import Kubeconfig
from muster.cluster.resources import (
    LEASE,
    NAMESPACE,
    NODE,
    POD,
    PRIORITY_CLASS,
    Resource,
)
from muster.cluster.run_scope import RUN_LABEL, RunScope, SchedulerObjects, belongs_to_run, is_run_id, open_api
from muster.errors import MusterError
from muster.run_options import RunOptions

Grant = Callable[[str], None]  # gives Muster permissions in a namespace of another user's run

_NODE_LEASES = "kube-node-lease"
_REAL_GRACE = 1  # seconds, of a pod with a kubelet
_PAUSE = 0.2  # seconds between two attempts: polled, because no single watch covers all kinds


@dataclass
class Leftovers:
    """The objects of one run."""

    run: str
    namespaces: list[dict[str, Any]] = field(default_factory=list)
    others: list[tuple[Resource, str]] = field(default_factory=list)
    oldest: str = ""  # creationTimestamp

    @property
    def first_namespace(self) -> dict[str, Any] | None:
        token = RunScope(self.run).token
        return next((one for one in self.namespaces if one["metadata"]["name"] == token), None)

    def names(self) -> list[str]:
        return [_described(*one) for one in self.others] + [_described_namespace(one) for one in self.namespaces]


def find_runs(api: Api, objects: SchedulerObjects) -> dict[str, Leftovers]:
    """All objects with a run's label, by run. A kind that is not served, or may not be listed, has none."""
    found: dict[str, Leftovers] = {}
    for kind in (NAMESPACE, NODE, PRIORITY_CLASS, *objects.cluster_scoped):
        for one in _labelled(api, kind):
            metadata = one["metadata"]
            run = metadata["labels"][RUN_LABEL]
            if not is_run_id(run) or RunScope(run).token not in metadata["name"]:
                continue  # the same label on an object that no run created
            leftovers = found.setdefault(run, Leftovers(run))
            leftovers.oldest = min(leftovers.oldest or metadata["creationTimestamp"], metadata["creationTimestamp"])
            if kind is NAMESPACE:
                leftovers.namespaces.append(one)
            else:
                leftovers.others.append((kind, metadata["name"]))
    return found


def skipped_runs(api: Api, leftovers: Iterable[Leftovers], *, older_than: float = 0.0) -> dict[str, str]:
    """Runs that must not be deleted, with the reason: they are alive, or younger than that many seconds."""
    found: dict[str, str] = {}
    for one in leftovers:
        if reason := one.first_namespace and alive_because(api, one.first_namespace):
            found[one.run] = reason
        elif (api.now() - datetime.datetime.fromisoformat(one.oldest)).total_seconds() < older_than:
            found[one.run] = "it is younger than --older-than"
    return found


def delete_run(
    api: Api, run: str, objects: SchedulerObjects, *, within: float, grant: Grant = lambda _: None
) -> list[str]:
    """Delete every object of a run; return those that are still there when the time is over, with reasons."""
    granted: set[str] = set()
    known: list[str] = []  # names

    def attempt() -> list[str]:
        nonlocal known
        try:
            leftovers, leases = find_runs(api, objects).get(run, Leftovers(run)), _node_leases(api, run)
            known = leftovers.names() + [f"lease {lease}" for lease in leases]
            known = _delete(api, leftovers, grant, granted) + [
                f"lease {lease}" + _refusal(api, api.delete, LEASE, lease, _NODE_LEASES) for lease in leases
            ]
        except MusterError as error:  # no response: the objects that were seen last may still be there
            return [*known, f"perhaps more of run {run} ({error})"]
        return known

    attempts = tenacity.Retrying(
        retry=tenacity.retry_if_result(bool),
        wait=tenacity.wait_fixed(_PAUSE),
        stop=tenacity.stop_after_delay(within),
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else [],
    )
    left: list[str] = attempts(attempt)
    return left


def clean_up_after_run(options: RunOptions, objects: SchedulerObjects) -> bool:
    """Delete what crashed workers of this run left, or say how to with --keep; false if objects stay."""
    clean = True
    try:
        api = open_api(Kubeconfig.find(options.kubeconfig), options.context)
        runs = [run for run in find_runs(api, objects) if belongs_to_run(run, options.run_id)]
        for run in sorted(runs):
            if options.keep:
                _print(f"kept on the cluster: run {run}; to delete it: {cleanup_command(options, run)}")
                continue
            grant = partial(rbac.try_to_bind_scenario_role, api)
            left = delete_run(api, run, objects, within=timeouts.CLEARING_AWAY, grant=grant)
            clean = clean and not left
            if left:
                _print(f"left on the cluster: {', '.join(left)}; try again with: {cleanup_command(options, run)}")
            else:
                _print(f"run {run} was deleted after its process had ended")
    except MusterError as error:
        _print(f"what is left on the cluster is not known ({error}); later: {cleanup_command(options, options.run_id)}")
        return False
    return clean


def cleanup_command(options: RunOptions, run: str) -> str:
    """The command that deletes the objects of a run."""
    arguments = ["muster", "cleanup", "--run", run]
    for option, value in (("--kubeconfig", options.kubeconfig), ("--context", options.context)):
        arguments += [option, str(value)] if value else []
    return shlex.join(arguments)


def _print(line: str) -> None:
    sys.stderr.write(f"muster: {line}\n")


def _delete(api: Api, leftovers: Leftovers, grant: Grant, granted: set[str]) -> list[str]:
    """Delete each object by itself: one that cannot be deleted keeps no other. Returns their names, and why not."""
    names: list[str] = []
    for one in sorted(leftovers.namespaces, key=lambda one: str(one["metadata"]["name"]), reverse=True):
        namespace = one["metadata"]["name"]
        refusal = _refusal(api, _delete_pods, api, namespace, RunScope(leftovers.run), grant, granted)
        if "deletionTimestamp" not in one["metadata"]:
            refusal += _refusal(api, api.delete, NAMESPACE, namespace)
        names.append(_described_namespace(one) + refusal)
    for kind, name in leftovers.others:
        names.append(_described(kind, name) + _refusal(api, api.delete, kind, name, grace=0))
    return names


def _refusal(api: Api, delete: Callable[..., None], *what: Any, **how: Any) -> str:
    """Why the deletion failed, in brackets; empty if it did not."""
    try:
        delete(*what, **how)
    except ApiRefused as refusal:
        return f" ({refusal.message})"
    except MusterError as error:
        api.read("/version")  # raises if the API server is down, and not just a webhook
        return f" ({error})"
    return ""


def _delete_pods(api: Api, namespace: str, scope: RunScope, grant: Grant, granted: set[str]) -> None:
    pods = api.list(POD, namespace)["items"]
    if not pods:
        return
    if namespace not in granted:
        granted.add(namespace)
        grant(namespace)
    real = [one for one in pods if (node := _node_of(one)) and not scope.holds_node(node)]
    elsewhere = ",".join(dict.fromkeys(f"spec.nodeName!={_node_of(one)}" for one in real))
    try:
        for one in real:
            if one["metadata"].get("deletionGracePeriodSeconds", _REAL_GRACE + 1) > _REAL_GRACE:
                api.delete(POD, one["metadata"]["name"], namespace, grace=_REAL_GRACE)
        query = {"fieldSelector": elsewhere} if real else {}
        api.delete_all(POD, namespace, gracePeriodSeconds="0", **query)
    except ApiRefused as refusal:
        if refusal.status not in (403, 404):  # the role binding was deleted with the namespace, and so will the pods be
            raise


def _node_of(pod: dict[str, Any]) -> str:
    return str(pod["spec"].get("nodeName", ""))


def _labelled(api: Api, kind: Resource) -> list[dict[str, Any]]:
    try:
        items: list[dict[str, Any]] = api.list(kind, labelSelector=RUN_LABEL)["items"]
    except ApiRefused as refusal:
        if refusal.status in (403, 404) and kind is not NAMESPACE:
            return []
        raise
    return items


def _node_leases(api: Api, run: str) -> list[str]:
    try:
        items = api.list(LEASE, _NODE_LEASES)["items"]
    except ApiRefused:
        return []  # they are deleted with their nodes
    return [one["metadata"]["name"] for one in items if one["metadata"]["name"].endswith(RunScope(run).suffix)]


def _described(kind: Resource, name: str) -> str:
    return f"{kind.kind.lower()} {name}"


def _described_namespace(namespace: dict[str, Any]) -> str:
    """With the conditions that say why it is still terminating."""
    messages = [
        one.get("message", "")
        for one in namespace.get("status", {}).get("conditions", [])
        if one.get("status") == "True" and one["type"] != "NamespaceDeletionDiscoveryFailure"
    ]
    why = f" ({'; '.join(filter(None, messages))})" if any(messages) else ""
    return f"namespace {namespace['metadata']['name']}{why}"
