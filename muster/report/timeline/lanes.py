"""Lanes of a timeline: which row of its node a pod is drawn in, and what pods and jobs are called there.

There is a row per GPU, and below them are slots for pods that request none. The API server does not say which GPU a pod
got, only how many: rows are given out lowest first and returned when the pod releases them; a pod for which no row is
left is drawn below, as overcommitted. On real nodes the containers say it, and a pod has the rows of its GPUs. Which
pods belong together is read from the labels and annotations that schedulers and operators write: a timeline must not
depend on a dialect, since the dialect may be what is broken.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import ceil

import msgspec

from muster.recording.history import History
from muster.recording.objects import Node
from muster.recording.pod_history import NodeHistory, PodHistory
from muster.recording.quantities import GPU, amounts, readable
from muster.report.sanitize import one_line
from muster.report.timeline.timeline import Bar, Lane, Mark

LONGEST_NAME = 40
_LONGEST_ID = 8  # letters of a GPU's id left of its row; the tooltip of a pod has it in full
_DIGITS = 4  # an id that ends with more of them is no number of a GPU
_JOBS = ("training.kubeflow.org/job-name", "job-name")
_MOST_MARKS = 12
_MOST_GPUS = 512  # a quantity may be any number, a row costs memory
_MANY = 4  # GPUs: up to here every one has its row, so that free ones are seen


def lane_of(history: History, node: NodeHistory, pods: Sequence[PodHistory], names: Names, end: float) -> Lane:
    """The lane of one node with every pod that was ever bound to it."""
    gpus = min(_MOST_GPUS, max((gpus_of(state) for _, state in node.states), default=0))
    here = sorted((pod for pod in pods if pod.node == node.name), key=lambda pod: pod.bound or pod.created)
    busy: list[float] = [0.0] * gpus  # until when each row is taken
    ids = _gpu_ids(history, here, gpus)
    bars = []
    for pod in here:
        bar = _bar(history, pod, names, end)
        rows, overcommitted = [ids.index(one) for one in history.gpu_ids.get(pod.uid, ()) if one in ids], False
        if not rows:
            rows, overcommitted = _rows(busy, gpus, min(_MOST_GPUS, gpus_requested(pod)), bar.bound)
        for row in rows:
            busy[row] = bar.end
        bars.append(_placed(bar, rows, overcommitted))
    bars, shown, folded = _fold_unused_gpus(bars, gpus)
    tall = len(busy) - gpus + shown + (1 if folded else 0)
    shown_ids = [one if len(one) <= _LONGEST_ID else f"…{one[1 - _LONGEST_ID :]}" for one in map(_plain, ids)]
    return Lane(one_line(node.name, LONGEST_NAME), shown, tall, bars, _marks(history, node), folded, shown_ids)


def _plain(gpu_id: str) -> str:
    return one_line(gpu_id, LONGEST_NAME)


def _gpu_ids(history: History, pods: Sequence[PodHistory], gpus: int) -> list[str]:
    """The ids by row: one that ends with the number of a row has that one, others have the rows that are left."""
    found = sorted({one for pod in pods for one in history.gpu_ids.get(pod.uid, ())}, key=lambda one: (len(one), one))
    rows = [""] * gpus if found else []
    others = []
    for one in found:
        number = re.search(r"\d+$", one)
        row = int(number[0]) if number and len(number[0]) < _DIGITS else gpus
        if row < gpus and not rows[row]:
            rows[row] = one
        else:
            others.append(one)
    for one in others:
        if "" in rows:
            rows[rows.index("")] = one
    return rows


def _fold_unused_gpus(bars: list[Bar], gpus: int) -> tuple[list[Bar], int, int]:
    """A node with many GPUs keeps rows for those that were ever held, and one for all the others together."""
    held = 1 + max((row for bar in bars for row in bar.rows if row < gpus), default=-1)
    free = gpus - held
    if gpus <= _MANY or free < 2:
        return bars, gpus, 0
    lift = free - 1
    moved = [_placed(bar, [row if row < gpus else row - lift for row in bar.rows], bar.overcommitted) for bar in bars]
    return moved, held, free


def _rows(busy: list[float], gpus: int, requested: int, at: float) -> tuple[list[int], bool]:
    """The lowest free rows; rows are added below for pods that request no GPU, or more than there are."""
    candidates = range(gpus) if requested else range(gpus, len(busy))
    rows = [row for row in candidates if busy[row] <= at][: requested or 1]
    missing = (requested or 1) - len(rows)
    overcommitted = bool(requested and missing)
    if overcommitted:
        rows += [row for row in range(gpus, len(busy)) if busy[row] <= at][:missing]
    while len(rows) < (requested or 1):
        busy.append(0.0)
        rows.append(len(busy) - 1)
    return rows, overcommitted


def _bar(history: History, pod: PodHistory, names: Names, end: float) -> Bar:
    def at(moment_at: float) -> float:
        return max(0.0, round(moment_at - history.began, 3))

    assert pod.bound
    stop = at(pod.released.at) if pod.released else end
    how = f"{pod.latest.status.phase}" if pod.ended else "deleted" if pod.gone else "present until"
    gpus = readable(pod.requests.get(GPU, 0))
    held = ", ".join(history.gpu_ids.get(pod.uid, ()))
    gpus += f" GPU: {held}" if held else " GPU"
    times = f"bound {at(pod.bound.at):.1f} s, {how} {stop:.1f} s"
    return Bar(
        pod=names.pod(pod),
        uid=pod.uid,
        job=names.colour(pod),
        rows=[],
        bound=at(pod.bound.at),
        end=stop,
        running=at(pod.running.at) if pod.running else None,
        deleting=min(at(pod.deleting.at), stop) if pod.deleting else None,
        text=one_line(f"{pod.name} (priority {pod.priority}, {gpus}): {times}", 160),
    )


def _placed(bar: Bar, rows: list[int], overcommitted: bool) -> Bar:
    return msgspec.structs.replace(bar, rows=rows, overcommitted=overcommitted)


def gpus_of(node: Node) -> int:
    """Allocatable GPUs of a node."""
    return amounts(node.status.allocatable).get(GPU, 0) // 1000


def gpus_requested(pod: PodHistory) -> int:
    """Whole GPUs: a part of one takes the whole."""
    return ceil(pod.requests.get(GPU, 0) / 1000)


def _marks(history: History, node: NodeHistory) -> list[Mark]:
    """Changes of the node: taints, cordons, a lost heartbeat, its deletion."""
    marks: list[Mark] = []
    before = ""
    for moment, state in node.states:
        text = _condition_of(state)
        if text != before and (text or before) and moment.at >= history.began:
            marks.append(Mark(round(moment.at - history.began, 3), text or "schedulable again"))
        before = text
    if node.gone:
        marks.append(Mark(round(node.gone.at - history.began, 3), "deleted"))
    return marks[:_MOST_MARKS]


def _condition_of(node: Node) -> str:
    initial = ("node.kubernetes.io/not-ready", "muster.dev/")  # every new node carries them
    taints = [f"{taint.key}:{taint.effect}" for taint in node.spec.taints if not taint.key.startswith(initial)]
    cordoned = ["cordoned"] if node.spec.unschedulable else []
    unready = [f"Ready={one.status}" for one in node.status.conditions if one.type == "Ready" and one.status != "True"]
    unready = unready if any(taint.key for taint in node.spec.taints) or unready == ["Ready=Unknown"] else []
    return one_line(" ".join([*taints, *cordoned, *unready]), 120)


class Names:
    """Names of the pods of one history, and the colour of each job."""

    def __init__(self, history: History, pods: Sequence[PodHistory]) -> None:
        self._aliases = {generated: alias for alias, generated in history.aliases.items()}
        self.job_of = {pod.uid: job_of(history, pod) for pod in pods}
        self.sizes = Counter(self.job_of.values())
        self.colours = {job: number for number, job in enumerate(dict.fromkeys(self.job_of.values()))}

    def colour(self, pod: PodHistory) -> int:
        return self.colours[self.job_of[pod.uid]]

    def pod(self, pod: PodHistory) -> str:
        """A pod of job-x7k2p, which the scenario calls A, is A-worker-0 here; its tooltip has the full name."""
        job = self.job_of[pod.uid]
        suffix = pod.name.removeprefix(job) if job in self._aliases else ""
        return one_line(f"{self._aliases[job]}{suffix}" if suffix else pod.name, LONGEST_NAME)

    def job(self, job: str) -> str:
        """As the scenario calls it, followed by its generated name."""
        return one_line(f"{self._aliases[job]} ({job})" if job in self._aliases else job, LONGEST_NAME)


def job_of(history: History, pod: PodHistory) -> str:
    """The gang or the job that a pod belongs to, or the pod itself."""
    labels = pod.latest.metadata.labels
    return history.group_of(pod) or next((labels[key] for key in _JOBS if labels.get(key)), pod.name)
