"""Which row of its node's lane a pod is drawn in: a row per GPU, and below them slots for pods that ask for none.

The API server does not say which GPU a pod got, only how many. Rows are given out lowest first and returned when the
pod lets go, so that a picture reads like a rack; a pod for which no row is left is drawn below, as over-commitment.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from muster.chronicle.history import History
from muster.chronicle.lifelines import NodeLife, PodLife
from muster.chronicle.objects import Node
from muster.chronicle.quantities import GPU, amounts, readable
from muster.report.plain_text import one_line
from muster.report.timeline import Bar, Lane, Mark
from muster.report.timeline_names import LONGEST_NAME, Names

_MOST_MARKS = 12
_MOST_GPUS = 512  # a quantity may be any number, a row costs memory
_MANY = 4  # GPUs: up to here every one has its row, so that free room is seen


def lane_of(history: History, node: NodeLife, pods: Sequence[PodLife], names: Names, end: float) -> Lane:
    """The lane of one node with every pod that was ever bound to it."""
    gpus = min(_MOST_GPUS, max((_gpus(state) for _, state in node.states), default=0))
    here = sorted((life for life in pods if life.node == node.name), key=lambda life: life.bound or life.created)
    busy: list[float] = [0.0] * gpus  # until when each row is taken
    bars = []
    for life in here:
        bar = _bar(history, life, names, end)
        asked = min(_MOST_GPUS, ceil(life.asks.get(GPU, 0) / 1000))
        rows, over = _rows(busy, gpus, asked, bar.bound)
        for row in rows:
            busy[row] = bar.end
        bars.append(_placed(bar, rows, over))
    bars, shown, folded = _folded(bars, gpus)
    tall = len(busy) - gpus + shown + (1 if folded else 0)
    return Lane(one_line(node.name, LONGEST_NAME), shown, tall, bars, _marks(history, node), folded)


def _folded(bars: list[Bar], gpus: int) -> tuple[list[Bar], int, int]:
    """A node with many GPUs keeps rows for those that were ever held, and one for all the others together."""
    held = 1 + max((row for bar in bars for row in bar.rows if row < gpus), default=-1)
    free = gpus - held
    if gpus <= _MANY or free < 2:
        return bars, gpus, 0
    lift = free - 1
    moved = [_placed(bar, [row if row < gpus else row - lift for row in bar.rows], bar.over) for bar in bars]
    return moved, held, free


def _rows(busy: list[float], gpus: int, asked: int, at: float) -> tuple[list[int], bool]:
    """The lowest free rows; rows are added below where GPUs are not asked for, or not there."""
    candidates = range(gpus) if asked else range(gpus, len(busy))
    rows = [row for row in candidates if busy[row] <= at][: asked or 1]
    missing = (asked or 1) - len(rows)
    over = bool(asked and missing)
    if over:
        rows += [row for row in range(gpus, len(busy)) if busy[row] <= at][:missing]
    while len(rows) < (asked or 1):
        busy.append(0.0)
        rows.append(len(busy) - 1)
    return rows, over


def _bar(history: History, life: PodLife, names: Names, end: float) -> Bar:
    def at(moment_at: float) -> float:
        return max(0.0, round(moment_at - history.began, 3))

    assert life.bound
    stop = at(life.let_go.at) if life.let_go else end
    how = f"{life.pod.status.phase}" if life.ended else "deleted" if life.gone else "still there"
    gpus = readable(life.asks.get(GPU, 0))
    times = f"bound {at(life.bound.at):.1f} s, {how} {stop:.1f} s"
    return Bar(
        pod=names.pod(life),
        uid=life.uid,
        job=names.colour(life),
        rows=[],
        bound=at(life.bound.at),
        end=stop,
        running=at(life.running.at) if life.running else None,
        deleting=min(at(life.deleting.at), stop) if life.deleting else None,
        says=one_line(f"{life.name} (priority {life.priority}, {gpus} GPU): {times}", 160),
    )


def _placed(bar: Bar, rows: list[int], over: bool) -> Bar:
    return Bar(bar.pod, bar.uid, bar.job, rows, bar.bound, bar.end, bar.running, bar.deleting, over, bar.says)


def _gpus(node: Node) -> int:
    return amounts(node.status.allocatable).get(GPU, 0) // 1000


def _marks(history: History, node: NodeLife) -> list[Mark]:
    """What became of the node: taints, cordons, silence, its end."""
    marks: list[Mark] = []
    before = ""
    for moment, state in node.states:
        says = _condition_of(state)
        if says != before and (says or before) and moment.at >= history.began:
            marks.append(Mark(round(moment.at - history.began, 3), says or "open again"))
        before = says
    if node.gone:
        marks.append(Mark(round(node.gone.at - history.began, 3), "gone"))
    return marks[:_MOST_MARKS]


def _condition_of(node: Node) -> str:
    ours = ("node.kubernetes.io/not-ready", "muster.dev/")  # what is put there to begin with is no news
    taints = [f"{taint.key}:{taint.effect}" for taint in node.spec.taints if not taint.key.startswith(ours)]
    cordoned = ["cordoned"] if node.spec.unschedulable else []
    silent = [f"Ready={one.status}" for one in node.status.conditions if one.type == "Ready" and one.status != "True"]
    silent = silent if any(taint.key for taint in node.spec.taints) or silent == ["Ready=Unknown"] else []
    return one_line(" ".join([*taints, *cordoned, *silent]), 120)
