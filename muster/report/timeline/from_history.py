"""Build the timeline of a history. Call it with `history.changed` held, or when nothing is written to it any more.

Many nodes become a heat map: bands of nodes, columns of time. Its cost grows with the number of bindings, not with
nodes times columns: each binding and each release is added once, and a running sum gives the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from muster.recording.conventions import BY_SCHEDULER
from muster.recording.history import History
from muster.recording.objects import CustomObject
from muster.recording.pod_history import NodeHistory, PodHistory
from muster.recording.quantities import GPU, amounts, readable
from muster.recording.records import Moment, Record
from muster.report.sanitize import one_line
from muster.report.timeline.lanes import LONGEST_NAME, Names, lane_of
from muster.report.timeline.timeline import (
    SHADES,
    Arrow,
    Gang,
    Heatmap,
    Mark,
    PendingPod,
    Queue,
    StepOutcome,
    Timeline,
)

_GROUP_KIND, _QUEUE_KIND = "PodGroup", "Queue"
_MOST_NODES, _MOST_PODS, _MOST_ROWS = 24, 160, 90  # more than any of them becomes a heat map
_MOST_PENDING, _MOST_GANGS, _MOST_MARKS = 16, 12, 24
_LONGEST_TEXT = 160
_SHORT_WAIT = 0.02  # of the whole time: a line that would hardly be seen
_COLUMNS, _BANDS = 60, 32  # of a heat map
_SLOTS = "pods"  # what is counted where no node has GPUs
_MARGIN = 1.02


def read(history: History, title: str = "", steps: Sequence[StepOutcome] = ()) -> Timeline:
    """Everything so far, without probe pods."""
    return _Reader(history, title, list(steps)).timeline()


class _Reader:
    def __init__(self, history: History, title: str, steps: list[StepOutcome]) -> None:
        self._history, self._title, self._steps = history, one_line(title, _LONGEST_TEXT), steps
        self._pods = sorted(history.pods, key=lambda pod: pod.created)
        self._nodes = [pod for pod in history.nodes.values() if not pod.is_probe]
        moments = [moment for pod in self._pods for moment in _moments(pod)]
        latest = max((self._at(moment) for moment in moments), default=0.0)
        self._end = _MARGIN * max(latest, max((step.at for step in steps), default=0.0), 1.0)
        self._names = Names(history, self._pods)
        self._left_out: list[str] = []

    def timeline(self) -> Timeline:
        if len(self._nodes) > _MOST_NODES or len(self._pods) > _MOST_PODS:
            return self._as_heatmap()
        bars = [pod for pod in self._pods if pod.bound and pod.node]
        lanes = [lane_of(self._history, node, bars, self._names, self._end) for node in self._nodes]
        lanes = [lane for lane in lanes if lane.rows]
        if sum(lane.rows for lane in lanes) > _MOST_ROWS:
            return self._as_heatmap()
        arrows = self._arrows()
        return Timeline(
            title=self._title,
            seconds=round(self._end, 3),
            jobs=[self._names.job(job) for job in self._names.colours],
            lanes=lanes,
            pending=self._pending(arrows),
            gangs=self._gangs(),
            queues=self._queues(),
            arrows=arrows,
            steps=self._shortened_steps(),
            left_out=self._left_out,
        )

    def _as_heatmap(self) -> Timeline:
        heatmap = _heatmap(self._history, self._nodes, self._pods, self._end)
        self._left_out.append(f"{len(self._nodes)} nodes and {len(self._pods)} pods: shown as a heat map")
        return Timeline(
            title=self._title,
            seconds=round(self._end, 3),
            jobs=[],
            queues=self._queues(),
            steps=self._shortened_steps(),
            heatmap=heatmap,
            left_out=self._left_out,
        )

    def _at(self, moment: Moment) -> float:
        return max(0.0, round(self._history.seconds(moment), 3))

    def _shortened_steps(self) -> list[StepOutcome]:
        return [StepOutcome(one_line(step.text, _LONGEST_TEXT), step.at, step.status) for step in self._steps]

    def _pending(self, arrows: list[Arrow]) -> list[PendingPod]:
        preemptors = {arrow.preemptor for arrow in arrows}
        found = [shown for pod in self._pods if (shown := self._pending_pod(pod, pod.uid in preemptors))]
        if len(found) > _MOST_PENDING:
            self._left_out.append(f"{len(found) - _MOST_PENDING} more pending pods")
            first = sorted(found, key=lambda one: (one.uid not in preemptors, not one.nominated))[:_MOST_PENDING]
            found = [one for one in found if one in first]
        return found

    def _pending_pod(self, pod: PodHistory, is_preemptor: bool) -> PendingPod | None:
        stop = pod.bound or pod.gone or pod.ended
        start, end = self._at(pod.created), self._at(stop) if stop else self._end
        nominated = self._nominated(pod, end)
        brief = end - start < _SHORT_WAIT * self._end
        in_gang = self._names.sizes[self._names.job_of[pod.uid]] > 1  # the line of the gang shows how long
        if (brief or in_gang) and not (is_preemptor or nominated):
            return None
        failure = pod.scheduling_failure
        reason = f": {failure.message}" if failure and failure.message else ""
        text = one_line(f"{_described(pod)} pending {end - start:.1f} s{reason}", _LONGEST_TEXT)
        return PendingPod(self._names.pod(pod), pod.uid, self._names.colour(pod), start, end, nominated, text)

    def _nominated(self, pod: PodHistory, end: float) -> list[tuple[float, float, str]]:
        changes = [(self._at(moment), node) for moment, node in pod.nominations]
        until = [at for at, _ in changes[1:]] + [end]
        return [
            (at, min(stop, end), one_line(node, LONGEST_NAME))
            for (at, node), stop in zip(changes, until, strict=False)
            if node and min(stop, end) > at
        ]

    def _arrows(self) -> list[Arrow]:
        """Events and conditions name a preemptor in any way: a pod's uid, its namespace/name, or its group's."""
        known = {pod.uid: pod for pod in self._pods}
        known |= {f"{pod.namespace}/{self._names.job_of[pod.uid]}": pod for pod in reversed(self._pods)}
        known |= {f"{pod.namespace}/{pod.name}": pod for pod in self._pods}
        marked = {pod.uid: pod for pod in self._pods if pod.disrupted and pod.disruption}
        messages = {pod.uid: [pod.disruption.message] for pod in marked.values() if pod.disruption}
        related: dict[str, str] = {}
        for _, event in self._history.events():
            if event.involved_object.uid in marked:
                messages[event.involved_object.uid].append(event.message)
                if event.related and event.related.uid in known:
                    related[event.involved_object.uid] = event.related.uid
        arrows = []
        for uid, victim in marked.items():
            tokens = " ".join(one_line(text, 2000) for text in messages[uid]).replace(",", " ").split()
            named = [known[token] for token in tokens if token in known and known[token].uid != uid]
            by = related.get(uid) or (named[0].uid if named else "")
            if victim.disruption and victim.disrupted and (by or victim.disruption.reason == BY_SCHEDULER):
                arrows.append(Arrow(by, uid, self._at(victim.disrupted)))
        return sorted(arrows, key=lambda arrow: arrow.at)

    def _gangs(self) -> list[Gang]:
        by_job: dict[str, list[PodHistory]] = {}
        for pod in self._pods:
            if (job := self._names.job_of[pod.uid]) != pod.name:
                by_job.setdefault(job, []).append(pod)
        gangs = [self._gang(name, pods) for name, pods in by_job.items() if len(pods) > 1]
        if len(gangs) > _MOST_GANGS:
            self._left_out.append(f"{len(gangs) - _MOST_GANGS} more gangs")
        return gangs[:_MOST_GANGS]

    def _gang(self, name: str, pods: list[PodHistory]) -> Gang:
        bound = [self._at(pod.bound) for pod in pods if pod.bound]
        left = [moment for pod in pods if (moment := pod.deleting or pod.released) and pod.bound]
        lost = [pod.gone for pod in pods if pod.gone]
        end = min(left, default=None) or (max(lost) if len(lost) == len(pods) else None)
        return Gang(
            name=self._names.job(name),
            job=self._names.colours[name],
            members=len(pods),
            start=min(self._at(pod.created) for pod in pods),
            bound=min(bound, default=None),
            whole=max(bound) if len(bound) == len(pods) else None,
            end=self._at(end) if end else self._end,
            marks=self._states(self._history.custom_objects(_GROUP_KIND, name)),
        )

    def _queues(self) -> list[Queue]:
        names = dict.fromkeys(record.key[1] for record in self._history.records.get(_QUEUE_KIND, []))
        queues = [Queue(one_line(name, LONGEST_NAME), self._queue_marks(name)) for name in names]
        return [queue for queue in queues if queue.marks][:_MOST_GANGS]

    def _queue_marks(self, name: str) -> list[Mark]:
        """None for a queue that existed before the scenario and did not change."""
        records = self._history.custom_objects(_QUEUE_KIND, name)
        return self._states([one for one in records if one.moment.at >= self._history.began])

    def _states(self, records: list[Record]) -> list[Mark]:
        marks: list[Mark] = []
        for record in records:
            text = _state(record)
            if text and (not marks or marks[-1].text != text):
                marks.append(Mark(self._at(record.moment), text))
        return marks[:_MOST_MARKS]


def _described(pod: PodHistory) -> str:
    gpus = readable(pod.requests.get(GPU, 0))
    return f"{one_line(pod.name, LONGEST_NAME)} (priority {pod.priority}, {gpus} GPU)"


def _state(record: Record) -> str:
    if record.change == "DELETED":
        return "deleted"
    found = record.object
    if not isinstance(found, CustomObject):
        return ""
    state = found.status.get("phase") or found.status.get("state") or ""
    capability = found.spec.get("capability") or {}
    limits = (
        ", ".join(f"{amount} {name}" for name, amount in capability.items()) if isinstance(capability, dict) else ""
    )
    limit = f", at most {limits}" if limits else ""
    return one_line(f"{state or 'created'}{limit}", _LONGEST_TEXT)


def _moments(pod: PodHistory) -> list[Moment]:
    return [moment for moment in (pod.created, pod.disrupted, *pod.milestones) if moment]


def _heatmap(history: History, nodes: Sequence[NodeHistory], pods: Sequence[PodHistory], end: float) -> Heatmap:
    """Bands in the order in which the nodes appeared."""
    step = end / _COLUMNS
    size = -(-len(nodes) // _BANDS) or 1
    bands = [nodes[first : first + size] for first in range(0, len(nodes), size)]
    band_of = {node.name: number for number, band in enumerate(bands) for node in band}
    resource = GPU if any(_allocatable(node, GPU) for node in nodes) else _SLOTS

    def column(moment: Moment | None) -> int:
        at = history.seconds(moment) if moment else end
        return min(_COLUMNS, max(0, int(at / step)))

    used = [[0] * (_COLUMNS + 1) for _ in bands]
    pending, evicted = [0] * (_COLUMNS + 1), [0] * (_COLUMNS + 1)
    for pod in pods:
        stop = pod.bound or pod.gone or pod.ended
        pending[column(pod.created)] += 1
        pending[column(stop)] -= 1
        if pod.disrupted:
            evicted[column(pod.disrupted)] += 1
        if pod.bound and pod.node in band_of:
            amount = pod.requests.get(resource, 0)
            used[band_of[pod.node]][column(pod.bound)] += amount
            used[band_of[pod.node]][column(pod.released)] -= amount
    capacities = [sum(_allocatable(node, resource) for node in band) for band in bands]
    return Heatmap(
        bands=[_band_name(band) for band in bands],
        step=round(step, 4),
        fill=[_shades(changes, capacity) for changes, capacity in zip(used, capacities, strict=True)],
        pending=list(accumulate(pending))[:_COLUMNS],
        evicted=evicted[:_COLUMNS],
    )


def _shades(changes: list[int], capacity: int) -> list[int]:
    """From 0, empty, to SHADES, full; a little is never shown as empty, nearly full never as full."""
    if not capacity:
        return [-1] * _COLUMNS
    totals = list(accumulate(changes))[:_COLUMNS]
    return [min(SHADES + 1, max(int(SHADES * total / capacity), 1 if total else 0)) for total in totals]


def _allocatable(node: NodeHistory, resource: str) -> int:
    return amounts(node.states[-1][1].status.allocatable).get(resource, 0)


def _band_name(band: Sequence[NodeHistory]) -> str:
    first, last = one_line(band[0].name, 24), one_line(band[-1].name, 24)
    return first if len(band) == 1 else f"{first} … {last}"
