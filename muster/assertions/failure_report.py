"""A failure, told so that a person who was not there understands it: wanted, seen, nearest, who blocks it.

The tables are cut at a handful of rows: a story is read, not searched. The whole history is in the results.
"""

from __future__ import annotations

from muster.chronicle.facts import describe_life
from muster.chronicle.history import History
from muster.chronicle.lifelines import ROLE_LABEL, NodeLife, PodLife
from muster.chronicle.preemptions import free_on
from muster.chronicle.quantities import GPU, readable

_MOST_ROWS = 12
_LABEL_WIDTH = 9


def tell(
    history: History, *, wanted: str, seen: str, nearest: str = "", about: tuple[str, ...] = (), reproduce: str = ""
) -> str:
    """The whole story as text."""
    lines = [_line("wanted", wanted), _line("seen", seen)]
    if nearest:
        lines.append(_line("nearest", nearest))
    concerned = [life for name in about if (life := history.pod(name))] or _waiting(history)
    told = [f"{life.name} {describe_life(history, life)}" for life in concerned]
    lines += [_line("pod", sentence) for sentence in told if sentence != nearest]
    lines += _indent("nodes", node_table(history, concerned))
    if reproduce:
        lines.append(_line("repeat", reproduce))
    return "\n".join(lines)


def _waiting(history: History) -> list[PodLife]:
    return [life for life in history.pods if not life.bound and not life.deleting]


def node_table(history: History, concerned: list[PodLife]) -> list[str]:
    """Free against asked, node by node, and who sits there."""
    waiting = [life for life in _waiting(history) if life in concerned]
    resources = _interesting(history, concerned)
    rows = [["node", *(f"{_short(name)} free/all" for name in resources), "taints", "held by"]]
    nodes = [life for life in history.nodes.values() if life.gone is None and not _is_canary_node(life)]
    rows += [_row(history, life, resources) for life in nodes[:_MOST_ROWS]]
    for life in waiting:
        asks = [readable(life.asks.get(name, 0)) for name in resources]
        rows.append([f"{life.name} asks", *asks, "", f"priority {life.priority}"])
    table = _aligned(rows)
    if len(nodes) > _MOST_ROWS:
        table.append(f"… and {len(nodes) - _MOST_ROWS} more nodes")
    return table


def _interesting(history: History, concerned: list[PodLife]) -> list[str]:
    asked = {name for life in concerned for name, amount in life.asks.items() if amount and name != "pods"}
    return sorted(asked or {GPU})


def _row(history: History, life: NodeLife, resources: list[str]) -> list[str]:
    offers, free = life.offers_at(history.now), free_on(history, life.name, history.now)
    room = [f"{readable(free.get(name, 0))}/{readable(offers.get(name, 0))}" for name in resources]
    taints = " ".join(f"{taint.key}:{taint.effect}" for taint in life.node.spec.taints) or "-"
    if life.node.spec.unschedulable:
        taints = "cordoned"
    there = [pod for pod in history.pods if pod.node == life.name and pod.holds_room_at(history.now)]
    names = [f"{pod.name} ({pod.priority}{', leaving' if pod.deleting else ''})" for pod in there[:_MOST_ROWS]]
    return [life.name, *room, taints, ", ".join(names) or "-"]


def _is_canary_node(life: NodeLife) -> bool:
    return ROLE_LABEL in life.node.metadata.labels


def _short(resource: str) -> str:
    return resource.rsplit("/", 1)[-1]


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _line(label: str, text: str) -> str:
    return f"{label:<{_LABEL_WIDTH}}{text}"


def _indent(label: str, lines: list[str]) -> list[str]:
    return [_line(label if number == 0 else "", line) for number, line in enumerate(lines)]
