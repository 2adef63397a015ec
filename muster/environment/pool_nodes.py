"""The nodes of a scenario on a pool: which real node stands for which of them, or why the scenario is not staged there.

The nodes belong to another owner and are used as they are: with the GPUs that they advertise, with their own taints and
labels, and with whatever runs there already. So a scenario that wants another number of GPUs, or that changes a node,
cannot be staged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muster.cluster.api import Api
from muster.environment.node_plan import (
    NodePlan,
    StepText,
    declared_nodes,
    natural_order,
    requested_cpus,
    takes_no_pod,
)
from muster.environment.real_nodes import RealNodes
from muster.recording.objects import Pod
from muster.recording.quantities import GPU, amounts, readable, requests_of, thousandths
from muster.schedulers.requests import NodeRequest

_FAMILIES = ("DOC", "PRE", "TNT", "GNG", "JPR", "QUE")  # of whose behaviours kubelets are known to hold some
_ENOUGH_CPUS = 4  # of a node of which the scenario says nothing: all that were tried fit there
_ROLE = "node-role.kubernetes.io/"
_CHANGES = re.compile(
    r'and the (?:taint|label) "|^node "[^"]+" (?:gets|is|becomes)\b|^the taints? of |^a node .* joins$'
)
_SHOWS_IMAGE = "Container image "
_SHOWS_ROLES = "ROLE"
_MPI = re.compile(r"\bsubmit mpi|\bMPIJob\b|\bmpi\b")
_DEFAULT = NodeRequest("")


@dataclass(frozen=True)
class Offer:
    """One node of the pool, with what pods of others leave free there, in thousandths."""

    name: str
    gpus: int
    cpu: int
    memory: int
    role: str = ""
    unusable: str = ""  # why it cannot be used now


def offers_of(nodes: Iterable[Mapping[str, Any]], pods_on: Callable[[str], Sequence[Pod]]) -> list[Offer]:
    """From Node objects and the pods of other tenants that are bound to each."""
    return [_offer(node, pods_on(node["metadata"]["name"])) for node in nodes]


def _offer(node: Mapping[str, Any], pods: Sequence[Pod]) -> Offer:
    total = amounts(node["status"].get("allocatable", {}))
    held = [(pod, requests_of(pod)) for pod in pods]
    on_gpus = [f"{pod.metadata.namespace}/{pod.metadata.name}" for pod, requests in held if requests.get(GPU)]
    labels = node["metadata"].get("labels", {})
    roles = [label.removeprefix(_ROLE) for label in labels if label.startswith(_ROLE)]
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in node["status"].get("conditions") or [])
    if node.get("spec", {}).get("unschedulable"):
        unusable = "it is cordoned"
    elif not ready:
        unusable = "it is not ready"
    else:
        unusable = f"{on_gpus[0]} uses its GPUs" if on_gpus else ""
    cpu, memory = (total.get(name, 0) - sum(one.get(name, 0) for _, one in held) for name in ("cpu", "memory"))
    return Offer(node["metadata"]["name"], total.get(GPU, 0) // 1000, cpu, memory, ",".join(roles), unusable)


def plan_pool(behaviour: str, steps: Iterable[StepText], offers: Sequence[Offer]) -> NodePlan:
    """`reason` is set, and nothing mapped, where the scenario cannot be staged."""
    texts = list(steps)
    wanted = declared_nodes(texts)
    holding = [node for node in wanted if not takes_no_pod(node)]
    if reason := _why_never(behaviour, texts, holding):
        return NodePlan(reason=reason)
    usable = [offer for offer in offers if not offer.unusable]
    real: dict[str, str] = {}
    for node in sorted({node.name: node for node in holding}.values(), key=lambda node: natural_order(node.name)):
        fitting = [offer for offer in usable if not _misfit(node, offer, texts)]
        if not fitting:
            return NodePlan(reason=_why_not(node, len(real), texts, offers, usable))
        real[node.name] = fitting[0].name
        usable.remove(fitting[0])
    return NodePlan(real, tuple(node.name for node in wanted if takes_no_pod(node)))


def _why_never(behaviour: str, steps: Sequence[StepText], nodes: Sequence[NodeRequest]) -> str:
    """On no pool, whatever it has."""
    if behaviour.partition("-")[0] not in _FAMILIES:
        return "it was not tried on real nodes yet"
    if not nodes:
        return "it declares no node"
    if any(node.taints for node in nodes) or any(_CHANGES.search(step.text) for step in steps):
        return "it changes a node (taints, labels, cordons), and Muster changes none of these nodes"
    if any(_SHOWS_IMAGE in cell for step in steps for line in step.table for cell in line):
        return "it compares an event that names the image, which is that of --training-image"
    if any(_MPI.search(f"{step.text}\n{step.text_block}") for step in steps):
        return "the launcher of an MPIJob needs an image of its own, which only a kind cluster has"
    return ""


def _misfit(node: NodeRequest, offer: Offer, steps: Sequence[StepText]) -> str:
    """Why a node of the pool cannot stand for this one; empty if it can."""
    if offer.gpus != node.gpus:
        return f"{offer.gpus} GPUs"
    if (node.cpus, node.memory) == (_DEFAULT.cpus, _DEFAULT.memory):
        enough = max([_ENOUGH_CPUS, *requested_cpus(steps)])
        if offer.cpu < 1000 * enough:
            return f"{readable(offer.cpu)} of {enough} CPUs free"
    elif offer.cpu != 1000 * node.cpus or offer.memory < thousandths(node.memory):
        return f"{readable(offer.cpu)} CPUs free, not {node.cpus} and {node.memory} of memory"
    if offer.role and any(_SHOWS_ROLES in step.text_block for step in steps):
        return f"the role {offer.role}, which the output of a command would show"
    return ""


def _why_not(
    node: NodeRequest, mapped: int, steps: Sequence[StepText], offers: Sequence[Offer], left: Sequence[Offer]
) -> str:
    """One sentence that says what was wanted, and of each node that is left why it is not that."""
    unusable = [f"{offer.name}: {offer.unusable}" for offer in offers if offer.unusable]
    why = [f"{offer.name}: {_misfit(node, offer, steps)}" for offer in left] + unusable
    listed = "; ".join(why) or "no other node was given"
    used = f", and {mapped} of them stand for other nodes" if mapped else ""
    return f"none of the {len(offers)} given nodes can stand for {node.name} with {node.gpus} GPUs{used} ({listed})"


def describe_nodes(nodes: Sequence[Mapping[str, Any]], selector: str) -> str:
    """Their number, and the versions of kubelet, container runtime and kernel that they report."""
    fields = ("kubeletVersion", "containerRuntimeVersion", "kernelVersion")
    reported = [node["status"].get("nodeInfo", {}) for node in nodes]
    versions = [", ".join(filter(None, (info.get(field) for field in fields))) for info in reported]
    return f"{len(nodes)} with {selector}, kubelet {'; '.join(dict.fromkeys(versions)) or 'unknown'}"


class PoolNodes(RealNodes):
    """`use` confines pods to the nodes with these names, and is called again with none when the scenario is over."""

    look_at = "kubectl describe node {}"

    def __init__(self, api: Api, labels: dict[str, str], plan: NodePlan, use: Callable[[Sequence[str]], None]) -> None:
        super().__init__(api, labels, plan, None)
        self._use = use
        use(tuple(plan.real.values()))

    def add(self, request: NodeRequest) -> None:
        if self.has_own_objects(request.name):
            super().add(request)
        else:
            self._used.append(request)

    def has_own_objects(self, node: str) -> bool:
        return node not in self._mapping.real.values()

    def open(self, requests: list[NodeRequest]) -> None:
        return

    def remove(self) -> None:
        used, self._used = self._used, []
        super().remove()
        self._used = used
        self._use(())
