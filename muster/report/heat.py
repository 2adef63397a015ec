"""Many nodes in one picture: bands of nodes, columns of time, and how full each band was in each of them.

The cost grows with the number of bindings, not with nodes times columns: each binding and each release is added once,
and a running sum gives the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from muster.chronicle.history import History
from muster.chronicle.lifelines import NodeLife, PodLife
from muster.chronicle.quantities import GPU, amounts
from muster.chronicle.records import Moment
from muster.report.plain_text import one_line
from muster.report.timeline import Crowd

COLUMNS, BANDS, SHADES = 60, 32, 8
_SLOTS = "pods"  # what is counted where nobody has GPUs


def crowd_of(history: History, nodes: Sequence[NodeLife], pods: Sequence[PodLife], end: float) -> Crowd:
    """Bands in the order in which the nodes appeared."""
    step = end / COLUMNS
    size = -(-len(nodes) // BANDS) or 1
    bands = [nodes[first : first + size] for first in range(0, len(nodes), size)]
    place = {node.name: number for number, band in enumerate(bands) for node in band}
    resource = GPU if any(_offer(node, GPU) for node in nodes) else _SLOTS

    def column(moment: Moment | None) -> int:
        at = history.seconds(moment) if moment else end
        return min(COLUMNS, max(0, int(at / step)))

    used = [[0] * (COLUMNS + 1) for _ in bands]
    waiting, evicted = [0] * (COLUMNS + 1), [0] * (COLUMNS + 1)
    for life in pods:
        stop = life.bound or life.gone or life.ended
        waiting[column(life.created)] += 1
        waiting[column(stop)] -= 1
        if life.marked:
            evicted[column(life.marked)] += 1
        if life.bound and life.node in place:
            amount = life.asks.get(resource, 0)
            used[place[life.node]][column(life.bound)] += amount
            used[place[life.node]][column(life.let_go)] -= amount
    offers = [sum(_offer(node, resource) for node in band) for band in bands]
    return Crowd(
        bands=[_name(band) for band in bands],
        step=round(step, 4),
        fill=[_shades(changes, offer) for changes, offer in zip(used, offers, strict=True)],
        waiting=list(accumulate(waiting))[:COLUMNS],
        evicted=evicted[:COLUMNS],
    )


def _shades(changes: list[int], offer: int) -> list[int]:
    """From 0, nobody there, to SHADES, full; a little is never shown as nothing, nearly full never as full."""
    if not offer:
        return [-1] * COLUMNS
    totals = list(accumulate(changes))[:COLUMNS]
    return [min(SHADES + 1, max(int(SHADES * total / offer), 1 if total else 0)) for total in totals]


def _offer(node: NodeLife, resource: str) -> int:
    return amounts(node.states[-1][1].status.allocatable).get(resource, 0)


def _name(band: Sequence[NodeLife]) -> str:
    first, last = one_line(band[0].name, 24), one_line(band[-1].name, 24)
    return first if len(band) == 1 else f"{first} … {last}"
