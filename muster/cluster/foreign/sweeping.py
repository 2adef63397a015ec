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
from muster.cluster.foreign.heartbeats import is_alive
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
        told = [f"{kind.kind.lower()} {name}" for kind, name in self.others]
        return told + [_described(one) for one in self.namespaces]


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


def dead(api: Api, remains: Iterable[Remains], *, older_than: float = 0.0) -> list[Remains]:
    """Those whose run has ended, so many seconds after they were begun at the earliest."""
    now = datetime.datetime.now(datetime.UTC)
    return [
        one
        for one in remains
        if (now - datetime.datetime.fromisoformat(one.oldest)).total_seconds() >= older_than
        and not (one.first and is_alive(api, one.first, now))
    ]


def clear(api: Api, run: str, *, within: float, grant: Grant = lambda _: None) -> list[str]:
    """Delete everything of a run; what is still there when the time is over, by name, with the reason if any."""
    granted: set[str] = set()

    def sweep() -> list[str]:
        try:
            remains = find(api).get(run)
            leases = _node_leases(api, run)
            for lease in leases:
                api.delete(LEASE, lease, _NODE_LEASES)
            if remains is None:
                return [f"lease {lease}" for lease in leases]
            _delete(api, remains, grant, granted)
            return remains.names()
        except MusterError as trouble:
            return [f"perhaps more of run {run}: {trouble}"]

    attempts = tenacity.Retrying(
        retry=tenacity.retry_if_result(bool),
        wait=tenacity.wait_fixed(_PAUSE),
        stop=tenacity.stop_after_delay(within),
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else [],
    )
    left: list[str] = attempts(sweep)
    return left


def _delete(api: Api, remains: Remains, grant: Grant, granted: set[str]) -> None:
    for one in sorted(remains.namespaces, key=lambda one: str(one["metadata"]["name"]), reverse=True):
        namespace = one["metadata"]["name"]
        if api.list(POD, namespace, limit="1")["items"]:
            if namespace not in granted:
                granted.add(namespace)
                grant(namespace)
            _delete_pods(api, namespace)
        if "deletionTimestamp" not in one["metadata"]:
            api.delete(NAMESPACE, namespace)
    for kind, name in remains.others:
        api.delete(kind, name, grace=0)


def _delete_pods(api: Api, namespace: str) -> None:
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


def _described(namespace: dict[str, Any]) -> str:
    told = [
        one.get("message", "")
        for one in namespace.get("status", {}).get("conditions", [])
        if one.get("status") == "True" and one["type"] != "NamespaceDeletionDiscoveryFailure"
    ]
    why = f" ({'; '.join(filter(None, told))})" if any(told) else ""
    return f"namespace {namespace['metadata']['name']}{why}"
