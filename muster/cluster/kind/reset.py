"""Prepare the real nodes of a kind cluster, and delete leftovers of a killed run from a reused one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import tenacity
import yaml

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
from muster.cluster.run_scope import DEFAULT_NAMESPACE
from muster.errors import HarnessError
from muster.suite import paths

REAL = "kubernetes.io/os"  # the label that every kubelet puts on its node, and scenarios never do
SIMULATED = f"!{REAL}"
_GPU = "nvidia.com/gpu"
_KUBELET_LABEL = re.compile(
    r"(beta\.)?kubernetes\.io/|node\.kubernetes\.io/"
)  # that a kubelet sets; scenarios set others
_SYSTEM_NAMESPACES = ("kube-system", "kube-public", "kube-node-lease", "local-path-storage")
_KINDS_IN_DEFAULT = (DEPLOYMENT, REPLICA_SET, SERVICE, CONFIG_MAP, DISRUPTION_BUDGET)
_ALWAYS_IN_DEFAULT = ("kubernetes", "kube-root-ca.crt")


def cordon_real_nodes(api: Api) -> None:
    """Wait until the cluster's own pods are bound, then close the real nodes to the pods of scenarios."""
    attempts = tenacity.Retrying(
        retry=tenacity.retry_if_result(bool),
        wait=tenacity.wait_fixed(0.1),
        stop=tenacity.stop_after_delay(timeouts.SETTING_UP),
    )
    try:
        attempts(lambda: [pod for pod in api.list(POD, "kube-system")["items"] if "nodeName" not in pod["spec"]])
    except tenacity.RetryError:
        raise HarnessError("the kind cluster's own pods were not bound in time: try MUSTER_TIMEOUT_SCALE=3") from None
    for node in api.list(NODE, labelSelector=REAL)["items"]:
        api.patch(NODE, node["metadata"]["name"], {"spec": {"unschedulable": True}})


def prepare_workers(api: Api, workers: Sequence[str]) -> None:
    """Return when every worker is ready and reports GPUs, if only none; `kind create` succeeds without either.

    What a killed run has left on the nodes of a reused cluster is taken from them.
    """
    for manifest in yaml.safe_load_all((paths.manifests() / "kind" / "local-images.yaml").read_text()):
        api.ensure(manifest)
    for worker in workers:
        labels = api.get(NODE, worker)["metadata"]["labels"]
        left = dict.fromkeys(label for label in labels if not _KUBELET_LABEL.match(label))
        api.patch(NODE, worker, {"metadata": {"labels": left}, "spec": {"taints": None}})
    attempts = tenacity.Retrying(
        retry=tenacity.retry_if_result(bool),
        wait=tenacity.wait_fixed(0.2),
        stop=tenacity.stop_after_delay(timeouts.SETTING_UP),
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else "",
    )
    if problem := attempts(lambda: first_problem(api.list(NODE)["items"], workers)):
        raise HarnessError(
            f"{problem} after {timeouts.SETTING_UP:g} s: use an image of `make kind-image`, try "
            "MUSTER_TIMEOUT_SCALE=3, or run with --node-type simulated"
        )


def first_problem(nodes: Sequence[dict[str, Any]], workers: Sequence[str]) -> str:
    """Why the workers cannot be used yet; empty if they can."""
    known = {node["metadata"]["name"]: node.get("status", {}) for node in nodes}
    for name in workers:
        if name not in known:
            return f"the worker {name} has not joined the cluster"
        conditions = known[name].get("conditions") or []
        if not any(one["type"] == "Ready" and one["status"] == "True" for one in conditions):
            return f"the worker {name} is not ready"
        if _GPU not in known[name].get("allocatable", {}):
            return f"the device plugin of the worker {name} has not registered {_GPU}"
    return ""


def delete_leftovers(api: Api, removal_command: str) -> None:
    """Delete what an earlier run left, and wait until it is gone: a terminating namespace cannot be created again."""
    attempts = tenacity.Retrying(
        retry=tenacity.retry_if_result(bool),
        wait=tenacity.wait_fixed(0.1),
        stop=tenacity.stop_after_delay(timeouts.CLEARING_AWAY),
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else [],
    )
    if left := attempts(_delete_found, api):
        raise HarnessError(
            f"The kind cluster of an earlier run still has {', '.join(left)} after "
            f"{timeouts.CLEARING_AWAY:g} s: remove it with `{removal_command}` and run again."
        )


def _delete_found(api: Api) -> list[str]:
    """Delete everything that is still there; return its names."""
    found = list(_leftovers(api))
    for kind, one in found:
        name, namespace = one["metadata"]["name"], one["metadata"].get("namespace")
        if one["metadata"].get("finalizers"):  # the controller that would remove them has ended with the run
            _remove_finalizers(api, kind, name, namespace)
        if not (kind is NAMESPACE and "deletionTimestamp" in one["metadata"]):
            api.delete(kind, name, namespace, grace=0)
    return [f"{kind.kind} {one['metadata']['name']}" for kind, one in found]


def _leftovers(api: Api) -> Iterator[tuple[Resource, dict[str, Any]]]:
    """Owners of pods before pods, and pods before their namespaces."""
    for kind in _custom_kinds(api):
        yield from ((kind, one) for one in api.list(kind)["items"])
    for kind in _KINDS_IN_DEFAULT:
        items = api.list(kind, DEFAULT_NAMESPACE)["items"]
        yield from ((kind, one) for one in items if _name(one) not in _ALWAYS_IN_DEFAULT)
    yield from ((POD, one) for one in api.list(POD)["items"] if _is_scenario_pod(one))
    yield from ((NODE, one) for one in api.list(NODE, labelSelector=SIMULATED)["items"])
    classes = api.list(PRIORITY_CLASS)["items"]
    yield from ((PRIORITY_CLASS, one) for one in classes if not _name(one).startswith("system-"))
    namespaces = api.list(NAMESPACE)["items"]
    yield from ((NAMESPACE, one) for one in namespaces if _name(one) not in (DEFAULT_NAMESPACE, *_SYSTEM_NAMESPACES))


def _custom_kinds(api: Api) -> Iterator[Resource]:
    """Jobs, groups, queues: a new kind cluster has no custom kinds, so that all of them come from a scheduler."""
    for one in api.list(DEFINITION)["items"]:
        spec = one["spec"]
        stored = next(version["name"] for version in spec["versions"] if version["storage"])
        names, namespaced = spec["names"], spec["scope"] == "Namespaced"
        yield Resource(f"{spec['group']}/{stored}", names["kind"], names["plural"], namespaced)


def _is_scenario_pod(pod: dict[str, Any]) -> bool:
    """Some scenarios create pods in system namespaces; those have an annotation."""
    metadata = pod["metadata"]
    in_system = metadata["namespace"] in _SYSTEM_NAMESPACES
    return not in_system or "muster.dev/termination" in (metadata.get("annotations") or {})


def _remove_finalizers(api: Api, kind: Resource, name: str, namespace: str | None) -> None:
    try:
        api.patch(kind, name, {"metadata": {"finalizers": None}}, namespace=namespace)
    except ApiRefused as refusal:
        if refusal.status != 404:
            raise


def _name(one: dict[str, Any]) -> str:
    return str(one["metadata"]["name"])
