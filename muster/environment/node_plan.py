"""Which nodes a scenario declares, whether real workers can hold them, and which worker stands for which node.

Decided from the text of the scenario before its first step: a scenario runs on real nodes or on simulated ones, never
on both. A node that takes no pod (a master with its taint and without GPUs) stays a Node object without a kubelet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from muster.run_options import NODE_TYPES
from muster.schedulers.requests import NodeRequest, Taint

REAL, SIMULATED = NODE_TYPES
# The verdicts of `python -m bench.compare_nodes`: by behaviour, scheduler and type of nodes.
OUTCOMES = Path(__file__).with_name("node_outcomes.json")
_RESTARTED = "a kubelet restarts the container of a failed pod with restartPolicy OnFailure, and the steps count pods"
_WEBHOOK = "the admission webhook of the operator is reached on a local cluster only"
NOT_HELD = {"JOB-03": _RESTARTED, "JOB-16": _RESTARTED, "TRO-9": _WEBHOOK, "TRO-12": _WEBHOOK}
_NODE = re.compile(
    r'a node(?: "(?P<name>[^"]+)")? with (?:(?P<gpus>\d+) GPUs?|(?P<cpus>\d+) CPUs and (?P<memory>\w+) of memory)'
    r'(?: and the (?:taint|label) "[^"]+")?(?: joins)?'
)
_TABLE = "nodes:"
_UNREACHABLE = re.compile(r'node "(?P<name>[^"]+)" becomes unreachable')
_POD_CPUS = re.compile(r"(?P<cpus>\d+) CPUs?\b")
_OTHER = NodeRequest("")


@dataclass(frozen=True)
class StepText:
    """A step as the feature has it, with the values of an outline's row."""

    text: str
    table: Sequence[Sequence[str]] = ()
    text_block: str = ""

    def with_values(self, row: Mapping[str, str]) -> StepText:
        """With the values of an outline's row in the place of `<name>`."""
        table = [[_render(cell, row) for cell in line] for line in self.table]
        return StepText(_render(self.text, row), table, _render(self.text_block, row))


@dataclass(frozen=True)
class Workers:
    """The real nodes of a cluster, all alike."""

    names: tuple[str, ...]
    cpus: int
    memory: str


@dataclass(frozen=True)
class NodePlan:
    """`real` maps the scenario's names to workers. It is empty where the scenario cannot be held: `reason` says why."""

    real: Mapping[str, str] = field(default_factory=dict)
    objects: tuple[str, ...] = ()  # nodes that take no pod, and have no kubelet
    reason: str = ""

    def translate(self, value: Any) -> Any:
        """A step's argument with the names of real nodes: text, names, or the cells of a table."""
        if isinstance(value, str):
            for name, worker in self.real.items():
                value = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", worker, value)
            return self._in_order(value) if "\n" in value else value
        if isinstance(value, (list, tuple)):
            return type(value)(self.translate(one) for one in value)
        return value

    def _in_order(self, block: str) -> str:
        """Lines that begin with the name of a node, in the order of these names, as commands list them."""
        names, lines = {*self.real.values(), *self.objects}, block.splitlines(keepends=True)
        places = [number for number, line in enumerate(lines) if line.split()[:1] and line.split()[0] in names]
        for place, line in zip(places, sorted(lines[place] for place in places), strict=True):
            lines[place] = line
        return "".join(lines)

    @property
    def label(self) -> str:
        """For a table of results."""
        return "real" if self.real else f"simulated: {self.reason}"

    def describe(self) -> str:
        """The mapping, for the reader of a report."""
        lines = [f"{name} is {worker}" for name, worker in self.real.items()]
        lines += [f"{name} is a Node object without a kubelet: it takes no pod" for name in self.objects]
        return "\n".join(lines)


@cache
def compared() -> frozenset[str]:
    """The behaviours that some scheduler has verdicts for on both types of nodes.

    They run on real nodes without being asked to: of any other, a difference would be found by a user.
    """
    found = msgspec.json.decode(OUTCOMES.read_bytes())
    on = {nodes: {(one["id"], one["scheduler"]) for one in found if one["nodes"] == nodes} for nodes in NODE_TYPES}
    return frozenset(id_ for id_, _ in on[REAL] & on[SIMULATED])


def plan_nodes(behaviour: str, steps: Iterable[StepText], workers: Workers, *, asked: str = "") -> NodePlan:
    """Map the nodes of a scenario to workers, both in the order of their names.

    `asked` is a type of nodes: real ones are then used for a behaviour that was not compared there yet, too.
    """
    texts = list(steps)
    wanted = declared_nodes(texts)
    objects = tuple(node.name for node in wanted if takes_no_pod(node))
    holding = [node for node in wanted if not takes_no_pod(node)]
    reason = _why_not(behaviour, texts, holding, workers)
    if not reason and asked == SIMULATED:
        reason = "as asked for"
    if not reason and asked != REAL and behaviour not in compared():
        reason = "not compared with real ones yet"
    if reason:
        return NodePlan(reason=reason)
    names = sorted({node.name for node in holding}, key=natural_order)
    return NodePlan(dict(zip(names, workers.names, strict=False)), objects)


def declared_nodes(steps: Iterable[StepText]) -> list[NodeRequest]:
    """Every node that a step of the scenario declares, also one that joins later."""
    found: list[NodeRequest] = []
    for step in steps:
        if step.text == _TABLE:
            header, *lines = step.table
            found += [_in_table(dict(zip(header, line, strict=True))) for line in lines]
        elif match := _NODE.fullmatch(step.text):
            name = match["name"] or f"gpu-{len(found) + 1}"
            cpus, memory = int(match["cpus"] or _OTHER.cpus), match["memory"] or _OTHER.memory
            found.append(NodeRequest(name, int(match["gpus"] or 0), cpus, memory))
    return found


def takes_no_pod(node: NodeRequest) -> bool:
    return not node.gpus and any(taint.key.startswith("node-role.kubernetes.io/") for taint in node.taints)


def _in_table(row: Mapping[str, str]) -> NodeRequest:
    taints = tuple(Taint.parse(text) for text in row["taints"].split())
    return NodeRequest(row["node"], int(row["GPUs"]), taints=taints)


def _why_not(behaviour: str, steps: Sequence[StepText], nodes: Sequence[NodeRequest], workers: Workers) -> str:
    """Why real workers cannot hold the scenario; empty if they can."""
    if behaviour in NOT_HELD:
        return NOT_HELD[behaviour]
    if not nodes:
        return "it declares no node"
    if any(_UNREACHABLE.fullmatch(step.text) for step in steps):
        return "a node that becomes unreachable would be a dead kubelet"
    number = len({node.name for node in nodes})
    if number > len(workers.names):
        return f"{number} nodes, and the cluster has {len(workers.names)} workers"
    for node in nodes:
        stated = (node.cpus, node.memory) != (_OTHER.cpus, _OTHER.memory)
        if stated and (node.cpus, node.memory) != (workers.cpus, workers.memory):
            return (
                f"{node.name} has {node.cpus} CPUs and {node.memory}, a worker {workers.cpus} CPUs and {workers.memory}"
            )
    asked = requested_cpus(steps)
    if any(cpus > workers.cpus for cpus in asked):
        return f"a pod requests {max(asked)} CPUs, and a worker has {workers.cpus}"
    return ""


def requested_cpus(steps: Iterable[StepText]) -> list[int]:
    """By pods, one by one."""
    return [int(match["cpus"]) for step in steps if "node" not in step.text for match in _POD_CPUS.finditer(step.text)]


def _render(text: str, row: Mapping[str, str]) -> str:
    for name, value in row.items():
        text = text.replace(f"<{name}>", value)
    return text


def natural_order(name: str) -> list[Any]:
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]
