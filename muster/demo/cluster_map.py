"""Map of the cluster: which job uses which GPUs, and the same as text. Input are nodes and pods of the API.

A cell is a GPU; where no node has any, it is a CPU. A pod uses its cells until it has finished or is deleted. In the
text a letter is a job, so that it is readable without colours; lower case is a terminating pod.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import ascii_uppercase
from typing import Any

import msgspec
from rich.text import Text

from muster.arena.model import JOB_LABELS
from muster.arena.node_usage import GPU, gpu_limit, holds_gpus, natural_key
from muster.recording.quantities import thousandths
from muster.schedulers import group_name_keys

Manifest = Mapping[str, Any]

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")
_FREE = "."
_NO_LETTER = "#"  # for the twenty-seventh job and those after it


class Allocation(msgspec.Struct, frozen=True):
    """Cells of one pod, under the name of its job."""

    job: str
    cells: int
    terminating: bool = False


class NodeMap(msgspec.Struct, frozen=True):
    """One row: the cells of a node, their allocations, and its taints."""

    name: str
    cells: int
    allocations: tuple[Allocation, ...] = ()
    taints: tuple[str, ...] = ()


class PendingJob(msgspec.Struct, frozen=True):
    """The pending pods of one job; `pod` is the first of them."""

    job: str
    pods: int
    pod: str


class ClusterMap(msgspec.Struct, frozen=True):
    """All nodes, also those without cells, and pending jobs."""

    unit: str
    nodes: tuple[NodeMap, ...]
    pending: tuple[PendingJob, ...] = ()

    @property
    def jobs(self) -> set[str]:
        """Jobs that use cells or are pending."""
        running = {allocation.job for node in self.nodes for allocation in node.allocations}
        return running | {pending.job for pending in self.pending}


def cluster_map(nodes: Iterable[Manifest], pods: Sequence[Manifest], aliases: Mapping[str, str]) -> ClusterMap:
    """`aliases`: names of the scenario for jobs with a generated name; such a job is shown with both names."""
    by_name = {node["metadata"]["name"]: node for node in nodes}
    unit = "GPU" if any(GPU in _capacity(node) for node in by_name.values()) else "CPU"
    names = {generated: f"{alias} {generated}" for alias, generated in aliases.items()}
    rows = [
        NodeMap(
            name,
            _capacity_of(by_name[name], unit),
            tuple(_allocations(name, pods, names, unit)),
            _taints(by_name[name]),
        )
        for name in sorted(by_name, key=natural_key)
    ]
    return ClusterMap(unit, tuple(rows), tuple(_pending(pods, names, unit)))


def has_terminating_pods(cluster: ClusterMap) -> bool:
    """Whether the map is about to change."""
    return any(allocation.terminating for node in cluster.nodes for allocation in node.allocations)


def job_of(pod: Manifest) -> str:
    """The training job or the group of a pod, or the pod itself."""
    meta = pod["metadata"]
    keys = {**(meta.get("annotations") or {}), **(meta.get("labels") or {})}
    return next((keys[label] for label in (*JOB_LABELS, *group_name_keys()) if label in keys), str(meta["name"]))


def _capacity(node: Manifest) -> Mapping[str, str]:
    return node.get("status", {}).get("capacity") or {}


def _taints(node: Manifest) -> tuple[str, ...]:
    taints = node.get("spec", {}).get("taints") or []
    return tuple(
        f"{one['key']}{'=' if one.get('value') else ''}{one.get('value', '')}:{one['effect']}" for one in taints
    )


def _capacity_of(node: Manifest, unit: str) -> int:
    capacity = _capacity(node)
    return int(capacity.get(GPU, 0)) if unit == "GPU" else thousandths(capacity.get("cpu", "0")) // 1000


def _allocations(node: str, pods: Iterable[Manifest], names: Mapping[str, str], unit: str) -> Iterable[Allocation]:
    on_node = [pod for pod in pods if pod["spec"].get("nodeName") == node and holds_gpus(pod)]
    for pod in sorted(on_node, key=lambda pod: natural_key(pod["metadata"]["name"])):
        if cells := _cells_of(pod, unit):
            yield Allocation(_named(pod, names), cells, "deletionTimestamp" in pod["metadata"])


def _pending(pods: Iterable[Manifest], names: Mapping[str, str], unit: str) -> Iterable[PendingJob]:
    """In the order of their creation."""
    pending = [pod for pod in pods if not pod["spec"].get("nodeName") and _cells_of(pod, unit)]
    pending.sort(key=lambda pod: (pod["metadata"]["creationTimestamp"], natural_key(pod["metadata"]["name"])))
    counted = Counter(_named(pod, names) for pod in pending)
    first = {_named(pod, names): pod["metadata"]["name"] for pod in reversed(pending)}
    return [PendingJob(job, number, first[job]) for job, number in counted.items()]


def _named(pod: Manifest, names: Mapping[str, str]) -> str:
    job = job_of(pod)
    return names.get(job, job)


def _cells_of(pod: Manifest, unit: str) -> int:
    if unit == "GPU":
        return gpu_limit(pod["spec"])
    resources = [one.get("resources") or {} for one in pod["spec"].get("containers", [])]
    requested = sum(thousandths((one.get("requests") or one.get("limits") or {}).get("cpu", "0")) for one in resources)
    return -(-requested // 1000)


class Legend:
    """The letter of each job, the same during the whole demo."""

    def __init__(self) -> None:
        self._letters: dict[str, str] = {}

    def letter(self, job: str) -> str:
        """A job whose alias is a letter gets that letter."""
        if job not in self._letters:
            free = [one for one in ascii_uppercase if one not in self._letters.values()]
            alias = job.partition(" ")[0]
            self._letters[job] = alias if alias in free else (free or [_NO_LETTER])[0]
        return self._letters[job]

    def style(self, job: str) -> str:
        self.letter(job)
        return f"bold {_COLOURS[list(self._letters).index(job) % len(_COLOURS)]}"


def draw_map(cluster: ClusterMap, legend: Legend) -> Iterator[Text]:
    """Nodes, then the running jobs, then the pending ones; nodes without cells share a line."""
    width = max((len(node.name) for node in cluster.nodes), default=0)
    for node in cluster.nodes:
        if node.cells:
            yield _row(node, width, legend)
    if without := [node.name for node in cluster.nodes if not node.cells]:
        yield Text(f"no {cluster.unit}s: {', '.join(without)}", style="dim")
    running = dict.fromkeys(allocation.job for node in cluster.nodes for allocation in node.allocations)
    for job in running:
        yield _job_line(job, legend)
    for pending in cluster.pending:
        state = f"{pending.pods} pods pending" if pending.pods > 1 else "pending"
        yield Text.assemble(_job_line(pending.job, legend), f"  {state}")


def _row(node: NodeMap, width: int, legend: Legend) -> Text:
    row = Text(f"{node.name:{width}} ")
    for allocation in node.allocations:
        for _ in range(allocation.cells):
            row.append(" ").append(_cell(allocation, legend), legend.style(allocation.job))
    free = node.cells - sum(allocation.cells for allocation in node.allocations)
    row.append(f" {_FREE}" * free, "dim")
    return row.append(f"  {' '.join(node.taints)}", "dim") if node.taints else row


def _cell(allocation: Allocation, legend: Legend) -> str:
    letter = legend.letter(allocation.job)
    return letter.lower() if allocation.terminating else letter


def _job_line(job: str, legend: Legend) -> Text:
    """The letter and the name; an alias that is the letter is not repeated."""
    letter = legend.letter(job)
    return Text.assemble((letter, legend.style(job)), " ", job.removeprefix(f"{letter} "))
