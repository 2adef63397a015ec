"""The failure report: what was wanted, what was seen, what came nearest, and what is free on each node.

Written for a reader who did not watch the run. The tables are cut at a handful of rows: the whole history is in the
results.
"""

from __future__ import annotations

from muster.assertions.allocation import free_resources
from muster.assertions.pods import describe_pod
from muster.recording.history import History
from muster.recording.pod_history import NodeHistory, PodHistory
from muster.recording.quantities import GPU, readable

_MAX_ROWS = 12
_LABEL_WIDTH = 9


def failure_report(
    history: History, *, wanted: str, seen: str, nearest: str = "", about: tuple[str, ...] = (), reproduce: str = ""
) -> str:
    """The whole report as text."""
    lines = [_line("wanted", wanted), _line("seen", seen)]
    if nearest:
        lines.append(_line("nearest", nearest))
    pods = history.pods_named(about) or _pending(history)
    states = [f"{pod.name} {describe_pod(history, pod)}" for pod in pods]
    lines += [_line("pod", state) for state in states if state != nearest]
    lines += _indent("nodes", node_table(history, pods))
    if reproduce:
        lines.append(_line("repeat", reproduce))
    return "\n".join(lines)


def _pending(history: History) -> list[PodHistory]:
    return [pod for pod in history.pods if not pod.bound and not pod.deleting]


def node_table(history: History, pods: list[PodHistory]) -> list[str]:
    """Free and allocatable resources of each node with its pods, and below them what pending pods request."""
    pending = [pod for pod in _pending(history) if pod in pods]
    resources = _requested_resources(pods)
    rows = [["node", *(f"{_short(name)} free/total" for name in resources), "taints", "pods (priority)"]]
    nodes = [node for node in history.nodes.values() if node.gone is None and not node.is_probe]
    rows += [_node_row(history, node, resources) for node in nodes[:_MAX_ROWS]]
    for pod in pending:
        requests = [readable(pod.requests.get(name, 0)) for name in resources]
        rows.append([f"{pod.name} requests", *requests, "", f"priority {pod.priority}"])
    table = _aligned(rows)
    if len(nodes) > _MAX_ROWS:
        table.append(f"… and {len(nodes) - _MAX_ROWS} more nodes")
    return table


def _requested_resources(pods: list[PodHistory]) -> list[str]:
    requested = {name for pod in pods for name, amount in pod.requests.items() if amount and name != "pods"}
    return sorted(requested or {GPU})


def _node_row(history: History, node: NodeHistory, resources: list[str]) -> list[str]:
    total, free = node.allocatable_at(history.now), free_resources(history, node.name, history.now)
    amounts = [f"{readable(free.get(name, 0))}/{readable(total.get(name, 0))}" for name in resources]
    taints = " ".join(f"{taint.key}:{taint.effect}" for taint in node.latest.spec.taints) or "-"
    if node.latest.spec.unschedulable:
        taints = "cordoned"
    bound = [pod for pod in history.pods if pod.node == node.name and pod.holds_resources_at(history.now)]
    names = [f"{pod.name} ({pod.priority}{', terminating' if pod.deleting else ''})" for pod in bound[:_MAX_ROWS]]
    return [node.name, *amounts, taints, ", ".join(names) or "-"]


def _short(resource: str) -> str:
    return resource.rsplit("/", 1)[-1]


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _line(label: str, text: str) -> str:
    return f"{label:<{_LABEL_WIDTH}}{text}"


def _indent(label: str, lines: list[str]) -> list[str]:
    return [_line(label if number == 0 else "", line) for number, line in enumerate(lines)]
