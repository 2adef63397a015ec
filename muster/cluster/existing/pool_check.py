"""Whether the nodes that `--node-selector` names can be given to a run. Nothing is changed, there or elsewhere.

The trap: pods of a run preempt others. Where no taint keeps other tenants' pods off these nodes, those could be the
victims, so that a node without one is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from muster.cluster.api import Api
from muster.cluster.existing.lease import alive_because
from muster.cluster.node_pool import HOSTNAME
from muster.cluster.resources import NAMESPACE, NODE
from muster.cluster.run_scope import RUN_LABEL, RunScope
from muster.errors import HarnessError

POOL = "muster.dev/nodes"  # annotation of a run's first namespace: the real nodes that it uses
_GPU = "nvidia.com/gpu"
_HARD = ("NoSchedule", "NoExecute")

Node = Mapping[str, Any]


def pool_nodes(api: Api, selector: Mapping[str, str]) -> list[Node]:
    """In the order of their names."""
    wanted = ",".join(f"{key}={value}" for key, value in selector.items())
    found: list[Node] = api.list(NODE, labelSelector=wanted)["items"]
    return sorted(found, key=_name)


def pool_problems(nodes: Sequence[Node], selector: Mapping[str, str]) -> list[str]:
    """Why these nodes cannot be used, each with what to do about it."""
    wanted = ",".join(f"{key}={value}" for key, value in selector.items())
    if not nodes:
        labels = " ".join(wanted.split(","))
        return [f"no node has the labels of --node-selector {wanted}: kubectl label nodes NAME {labels}"]
    return [problem for node in nodes for problem in _problems(node, selector)]


def _problems(node: Node, selector: Mapping[str, str]) -> Iterator[str]:
    name, taints = _name(node), node.get("spec", {}).get("taints") or []
    status = node.get("status", {})
    ready = [one for one in status.get("conditions") or [] if one["type"] == "Ready"]
    if node.get("spec", {}).get("unschedulable"):
        yield f"the node {name} is cordoned: kubectl uncordon {name}"
    elif not ready or ready[0]["status"] != "True":
        yield f"the node {name} is not ready: kubectl describe node {name}"
    elif status.get("allocatable", {}).get(_GPU, "0") == "0":
        yield f"the node {name} advertises no {_GPU}: has its device plugin registered (kubectl describe node {name})?"
    hard = [taint for taint in taints if taint["effect"] in _HARD and "node.kubernetes.io/" not in taint["key"]]
    keeping = [taint for taint in hard if selector.get(taint["key"], "") == taint.get("value") != ""]
    if not keeping:
        pair = next(f"{key}={value}" for key, value in selector.items())
        yield (
            f"nothing keeps other tenants' pods off the node {name}, and pods of the run could preempt them:"
            f" kubectl taint nodes {name} {pair}:NoSchedule"
        )
    for taint in hard:
        if taint not in keeping:
            yield f"the node {name} has the taint {taint['key']}, which pods of a run do not tolerate: choose others"
    if node["metadata"].get("labels", {}).get(HOSTNAME) != name:
        yield f"the label {HOSTNAME} of the node {name} is not its name, by which pods choose it: choose others"


def require_unused(api: Api, scope: RunScope) -> None:
    """Raise if another run uses one of these nodes. Of two that start at once the younger one ends."""
    assert scope.pool
    runs = [one for one in api.list(NAMESPACE, labelSelector=RUN_LABEL)["items"] if _nodes_of(one)]
    own = next(_order(one) for one in runs if _name(one) == scope.token)
    for other in runs:
        shared = sorted(_nodes_of(other).intersection(scope.pool.nodes))
        run = other["metadata"]["labels"][RUN_LABEL]
        if not shared or _order(other) >= own:
            continue
        if reason := alive_because(api, other):
            raise HarnessError(f"run {run} uses {', '.join(shared)} ({reason}): wait until it has ended")
        raise HarnessError(f"run {run} was killed and may have pods on {', '.join(shared)}: muster cleanup --run {run}")


def _nodes_of(namespace: Mapping[str, Any]) -> frozenset[str]:
    return frozenset((namespace["metadata"].get("annotations") or {}).get(POOL, "").split())


def _order(namespace: Mapping[str, Any]) -> tuple[str, str]:
    return namespace["metadata"]["creationTimestamp"], _name(namespace)


def _name(one: Mapping[str, Any]) -> str:
    return str(one["metadata"]["name"])
