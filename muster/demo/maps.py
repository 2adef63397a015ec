"""Who has what of the cluster, cell by cell. Pure: nodes and pods of the API in, a map out.

A cell is a GPU; where no node has any, it is a CPU. A pod holds its cells until it has ended or is gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from muster.chronicle.quantities import thousandths
from muster.jobs import gpus
from muster.jobs.nodes import in_natural_order
from muster.jobs.views import JOB_LABELS

Manifest = Mapping[str, Any]
_GROUPS = ("pod-group.scheduling.sigs.k8s.io", "scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")


class Share(msgspec.Struct, frozen=True):
    """Cells of one pod, under the name of its job."""

    job: str
    cells: int
    leaving: bool = False


class NodeMap(msgspec.Struct, frozen=True):
    """One row: how many cells there are, who has them, and what a pod must tolerate here."""

    name: str
    cells: int
    held: tuple[Share, ...] = ()
    taints: tuple[str, ...] = ()


class Waiting(msgspec.Struct, frozen=True):
    """The pods of one job that have no node yet; `pod` is the first of them."""

    job: str
    pods: int
    pod: str


class ClusterMap(msgspec.Struct, frozen=True):
    """All rows, nodes without cells included, and those who wait."""

    unit: str
    nodes: tuple[NodeMap, ...]
    waiting: tuple[Waiting, ...] = ()


def cluster_map(nodes: Iterable[Manifest], pods: Sequence[Manifest], known_as: Mapping[str, str]) -> ClusterMap:
    """`known_as`: what a scenario calls a job whose name the API made up; such a job goes by both, its own first."""
    by_name = {node["metadata"]["name"]: node for node in nodes}
    unit = "GPU" if any(gpus.GPU in _capacity(node) for node in by_name.values()) else "CPU"
    names = {made: f"{called} {made}" for called, made in known_as.items()}
    rows = [
        NodeMap(name, _offered(by_name[name], unit), tuple(_held(name, pods, names, unit)), _taints(by_name[name]))
        for name in sorted(by_name, key=in_natural_order)
    ]
    return ClusterMap(unit, tuple(rows), tuple(_waiting(pods, names, unit)))


def is_restless(shown: ClusterMap) -> bool:
    """Somebody is leaving: in a moment the map will be another one."""
    return any(share.leaving for node in shown.nodes for share in node.held)


def job_of(pod: Manifest) -> str:
    """The training job or the group that it belongs to; a pod that is alone is its own."""
    meta = pod["metadata"]
    words = {**(meta.get("annotations") or {}), **(meta.get("labels") or {})}
    return next((words[label] for label in (*JOB_LABELS, *_GROUPS) if label in words), str(meta["name"]))


def _capacity(node: Manifest) -> Mapping[str, str]:
    return node.get("status", {}).get("capacity") or {}


def _taints(node: Manifest) -> tuple[str, ...]:
    taints = node.get("spec", {}).get("taints") or []
    return tuple(
        f"{one['key']}{'=' if one.get('value') else ''}{one.get('value', '')}:{one['effect']}" for one in taints
    )


def _offered(node: Manifest, unit: str) -> int:
    capacity = _capacity(node)
    return int(capacity.get(gpus.GPU, 0)) if unit == "GPU" else thousandths(capacity.get("cpu", "0")) // 1000


def _held(node: str, pods: Iterable[Manifest], names: Mapping[str, str], unit: str) -> Iterable[Share]:
    here = [pod for pod in pods if pod["spec"].get("nodeName") == node and gpus.holds_its_gpus(pod)]
    for pod in sorted(here, key=lambda pod: in_natural_order(pod["metadata"]["name"])):
        if cells := _asked(pod, unit):
            yield Share(_named(pod, names), cells, "deletionTimestamp" in pod["metadata"])


def _waiting(pods: Iterable[Manifest], names: Mapping[str, str], unit: str) -> Iterable[Waiting]:
    """In the order in which they came."""
    without = [pod for pod in pods if not pod["spec"].get("nodeName") and _asked(pod, unit)]
    without.sort(key=lambda pod: (pod["metadata"]["creationTimestamp"], in_natural_order(pod["metadata"]["name"])))
    counted = Counter(_named(pod, names) for pod in without)
    first = {_named(pod, names): pod["metadata"]["name"] for pod in reversed(without)}
    return [Waiting(job, number, first[job]) for job, number in counted.items()]


def _named(pod: Manifest, names: Mapping[str, str]) -> str:
    job = job_of(pod)
    return names.get(job, job)


def _asked(pod: Manifest, unit: str) -> int:
    if unit == "GPU":
        return gpus.limited(pod["spec"])
    resources = [one.get("resources") or {} for one in pod["spec"].get("containers", [])]
    asked = sum(thousandths((one.get("requests") or one.get("limits") or {}).get("cpu", "0")) for one in resources)
    return -(-asked // 1000)
