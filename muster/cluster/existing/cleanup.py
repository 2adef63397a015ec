"""Clearing away what a run made: found by its label, deleted by name, waited for, and listed if it will not go.

Pods first: on simulated nodes nobody is left to say that they have stopped, so they are deleted without grace, or their
namespace would wait for them. What is under way, or was made meanwhile, is asked again until the time is over.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import tenacity

from muster.cluster.api import Api, ApiRefused
from muster.cluster.fences import RUN_LABEL, Fence, is_run
from muster.cluster.foreign.heartbeats import sign_of_life
from muster.cluster.resources import (
    KOORDINATOR_DEVICE,
    LEASE,
    NAMESPACE,
    NODE,
    POD,
    PRIORITY_CLASS,
    VOLCANO_QUEUE,
    Resource,
)
from muster.errors import MusterError

Grant = Callable[[str], None]  # gives us rights in a namespace of another user's run

_CLUSTER_WIDE = (NODE, PRIORITY_CLASS, VOLCANO_QUEUE, KOORDINATOR_DEVICE)
_NODE_LEASES = "kube-node-lease"
_PAUSE = 0.2  # seconds between two looks: a dozen kinds go, and no one watch tells of them all


@dataclass
class Remains:
    """What there is of one run."""

    run: str
    namespaces: list[dict[str, Any]] = field(default_factory=list)
    others: list[tuple[Resource, str]] = field(default_factory=list)
    oldest: str = ""  # creationTimestamp

    @property
    def first(self) -> dict[str, Any] | None:
        token = Fence(self.run).token
        return next((one for one in self.namespaces if one["metadata"]["name"] == token), None)

    def names(self) -> list[str]:
        return [_described_thing(*one) for one in self.others] + [_described(one) for one in self.namespaces]


def find(api: Api) -> dict[str, Remains]:
    """Everything that carries a run's label, by run. A kind that is not served, or not for us, has nothing."""
    found: dict[str, Remains] = {}
    for kind in (NAMESPACE, *_CLUSTER_WIDE):
        for one in _labelled(api, kind):
            metadata = one["metadata"]
            run = metadata["labels"][RUN_LABEL]
            if not is_run(run) or Fence(run).token not in metadata["name"]:
                continue  # somebody else's label, or a copy of ours: not made by a run
            remains = found.setdefault(run, Remains(run))
            remains.oldest = min(remains.oldest or metadata["creationTimestamp"], metadata["creationTimestamp"])
            if kind is NAMESPACE:
                remains.namespaces.append(one)
            else:
                remains.others.append((kind, metadata["name"]))
    return found


def spared(api: Api, remains: Iterable[Remains], *, older_than: float = 0.0) -> dict[str, str]:
    """Runs that are left alone, each with the reason: they go on, or were begun less than so many seconds ago."""
    found: dict[str, str] = {}
    for one in remains:
        if reason := one.first and sign_of_life(api, one.first):
            found[one.run] = reason
        elif (api.now() - datetime.datetime.fromisoformat(one.oldest)).total_seconds() < older_than:
            found[one.run] = "it is younger than --older-than"
    return found


def clear(api: Api, run: str, *, within: float, grant: Grant = lambda _: None) -> list[str]:
    """Delete everything of a run; what is still there when the time is over, by name, with the reason if any."""
    granted: set[str] = set()
    known: list[str] = []  # names

    def sweep() -> list[str]:
        nonlocal known
        try:
            remains, leases = find(api).get(run, Remains(run)), _node_leases(api, run)
            known = remains.names() + [f"lease {lease}" for lease in leases]
            known = _delete(api, remains, grant, granted) + [
                f"lease {lease}" + _refusal(api, api.delete, LEASE, lease, _NODE_LEASES) for lease in leases
            ]
        except MusterError as trouble:  # no answer: what was seen last is still there, for all we know
            return [*known, f"perhaps more of run {run} ({trouble})"]
        return known

    attempts = tenacity.Retrying(
        retry=tenacity.retry_if_result(bool),
        wait=tenacity.wait_fixed(_PAUSE),
        stop=tenacity.stop_after_delay(within),
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else [],
    )
    left: list[str] = attempts(sweep)
    return left


def _delete(api: Api, remains: Remains, grant: Grant, granted: set[str]) -> list[str]:
    """Ask each thing by itself to go: one that may not be deleted keeps no other. Their names, and why not."""
    asked: list[str] = []
    for one in sorted(remains.namespaces, key=lambda one: str(one["metadata"]["name"]), reverse=True):
        namespace = one["metadata"]["name"]
        refusal = _refusal(api, _delete_pods, api, namespace, grant, granted)
        if "deletionTimestamp" not in one["metadata"]:
            refusal += _refusal(api, api.delete, NAMESPACE, namespace)
        asked.append(_described(one) + refusal)
    for kind, name in remains.others:
        asked.append(_described_thing(kind, name) + _refusal(api, api.delete, kind, name, grace=0))
    return asked


def _refusal(api: Api, delete: Callable[..., None], *what: Any, **how: Any) -> str:
    """Why it was not done, in brackets; empty when it was."""
    try:
        delete(*what, **how)
    except ApiRefused as refusal:
        return f" ({refusal.message})"
    except MusterError as trouble:
        api.read("/version")  # a webhook that is down may look like a server that is: then this raises
        return f" ({trouble})"
    return ""


def _delete_pods(api: Api, namespace: str, grant: Grant, granted: set[str]) -> None:
    if not api.list(POD, namespace, limit="1")["items"]:
        return
    if namespace not in granted:
        granted.add(namespace)
        grant(namespace)
    try:
        api.delete_all(POD, namespace, gracePeriodSeconds="0")
    except ApiRefused as refusal:
        if refusal.status not in (403, 404):  # our rights there have gone with the namespace, and the pods will
            raise


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
        return []  # they belong to their nodes, and go with them
    return [one["metadata"]["name"] for one in items if one["metadata"]["name"].endswith(Fence(run).suffix)]


def _described_thing(kind: Resource, name: str) -> str:
    return f"{kind.kind.lower()} {name}"


def _described(namespace: dict[str, Any]) -> str:
    told = [
        one.get("message", "")
        for one in namespace.get("status", {}).get("conditions", [])
        if one.get("status") == "True" and one["type"] != "NamespaceDeletionDiscoveryFailure"
    ]
    why = f" ({'; '.join(filter(None, told))})" if any(told) else ""
    return f"namespace {namespace['metadata']['name']}{why}"
