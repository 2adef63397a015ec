"""What separates scenarios from the cluster's own life, and from the remains of a run that was killed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tenacity

from muster import timeouts
from muster.cluster.api import Api, ApiRefused
from muster.cluster.resources import (
    CONFIG_MAP,
    DEFINITION,
    DEPLOYMENT,
    DISRUPTION_BUDGET,
    NAMESPACE,
    NODE,
    POD,
    PRIORITY_CLASS,
    REPLICA_SET,
    SERVICE,
    Resource,
)
from muster.errors import HarnessError

REAL = "kubernetes.io/os"  # the label that every kubelet puts on its node, and scenarios never do
SIMULATED = f"!{REAL}"
_ITS_OWN = ("kube-system", "kube-public", "kube-node-lease", "local-path-storage")  # namespaces of every kind cluster
_HOME = "default"  # theirs as well, but scenarios work in it
_AT_HOME = (DEPLOYMENT, REPLICA_SET, SERVICE, CONFIG_MAP, DISRUPTION_BUDGET)
_ALWAYS_AT_HOME = ("kubernetes", "kube-root-ca.crt")


def close_real_nodes(api: Api) -> None:
    """Once everything that belongs there has its place: nothing of a scenario may find one."""
    settled = tenacity.Retrying(
        retry=tenacity.retry_if_result(bool),
        wait=tenacity.wait_fixed(0.1),
        stop=tenacity.stop_after_delay(timeouts.SETTING_UP),
    )
    try:
        settled(lambda: [pod for pod in api.list(POD, "kube-system")["items"] if "nodeName" not in pod["spec"]])
    except tenacity.RetryError:
        raise HarnessError("the kind cluster's own pods found no place in time: try MUSTER_TIMEOUT_SCALE=3") from None
    for node in api.list(NODE, labelSelector=REAL)["items"]:
        api.patch(NODE, node["metadata"]["name"], {"spec": {"unschedulable": True}})


def clear_remains(api: Api, node: str) -> None:
    """Nothing of an earlier run is left when this returns: a namespace that is still going could not be made again."""
    attempts = tenacity.Retrying(
        retry=tenacity.retry_if_result(bool),
        wait=tenacity.wait_fixed(0.1),
        stop=tenacity.stop_after_delay(timeouts.CLEARING_AWAY),
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else [],
    )
    if left := attempts(_sweep, api):
        raise HarnessError(
            f"The kind cluster of an earlier run does not get rid of {', '.join(left)} within "
            f"{timeouts.CLEARING_AWAY:g} s: remove it with `docker rm -f -v {node}` and run again."
        )


def _sweep(api: Api) -> list[str]:
    """Ask everything that is still there to go; what it was, by name."""
    found = list(_remains(api))
    for kind, one in found:
        name, namespace = one["metadata"]["name"], one["metadata"].get("namespace")
        if one["metadata"].get("finalizers"):  # whoever would take them off has ended with the run
            _let_go(api, kind, name, namespace)
        if not (kind is NAMESPACE and "deletionTimestamp" in one["metadata"]):
            api.delete(kind, name, namespace, grace=0)
    return [f"{kind.kind} {one['metadata']['name']}" for kind, one in found]


def _remains(api: Api) -> Iterator[tuple[Resource, dict[str, Any]]]:
    """Makers of pods before pods, and those before their namespaces."""
    for kind in _custom_kinds(api):
        yield from ((kind, one) for one in api.list(kind)["items"])
    for kind in _AT_HOME:
        yield from ((kind, one) for one in api.list(kind, _HOME)["items"] if _name(one) not in _ALWAYS_AT_HOME)
    yield from ((POD, one) for one in api.list(POD)["items"] if _is_ours(one))
    yield from ((NODE, one) for one in api.list(NODE, labelSelector=SIMULATED)["items"])
    classes = api.list(PRIORITY_CLASS)["items"]
    yield from ((PRIORITY_CLASS, one) for one in classes if not _name(one).startswith("system-"))
    namespaces = api.list(NAMESPACE)["items"]
    yield from ((NAMESPACE, one) for one in namespaces if _name(one) not in (_HOME, *_ITS_OWN))


def _custom_kinds(api: Api) -> Iterator[Resource]:
    """Jobs, groups, queues: a kind cluster comes with no kind of that sort, so that all of them are a scheduler's."""
    for one in api.list(DEFINITION)["items"]:
        spec = one["spec"]
        stored = next(version["name"] for version in spec["versions"] if version["storage"])
        names, namespaced = spec["names"], spec["scope"] == "Namespaced"
        yield Resource(f"{spec['group']}/{stored}", names["kind"], names["plural"], namespaced)


def _is_ours(pod: dict[str, Any]) -> bool:
    """Some scenarios put pods beside those of the system; ours have a mark."""
    metadata = pod["metadata"]
    return metadata["namespace"] not in _ITS_OWN or "muster.dev/termination" in (metadata.get("annotations") or {})


def _let_go(api: Api, kind: Resource, name: str, namespace: str | None) -> None:
    try:
        api.patch(kind, name, {"metadata": {"finalizers": None}}, namespace=namespace)
    except ApiRefused as refusal:
        if refusal.status != 404:
            raise


def _name(one: dict[str, Any]) -> str:
    return str(one["metadata"]["name"])
