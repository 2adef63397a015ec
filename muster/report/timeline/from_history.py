"""From a history to its timeline. Read it with `history.changed` held, or when nobody writes to it any more."""

from __future__ import annotations

from collections.abc import Sequence

from muster.chronicle.history import History
from muster.chronicle.lifelines import ROLE_LABEL, PodLife
from muster.chronicle.objects import Thing
from muster.chronicle.preemptions import BY_SCHEDULER
from muster.chronicle.quantities import GPU, readable
from muster.chronicle.records import Moment, Record
from muster.report import heat
from muster.report.plain_text import one_line
from muster.report.timeline import Arrow, Gang, Mark, Queue, Sentence, Timeline, Wait
from muster.report.timeline_names import LONGEST_NAME, Names
from muster.report.timeline_rooms import lane_of

_GROUP_KIND, _QUEUE_KIND = "PodGroup", "Queue"
_MOST_NODES, _MOST_PODS, _MOST_ROWS = 24, 160, 90  # beyond any of them the picture folds to a heat map
_MOST_WAITS, _MOST_GANGS, _MOST_MARKS = 16, 12, 24
_LONGEST_SAYING = 160
_SHORT_WAIT = 0.02  # of the whole: a wait that would hardly be seen
_MARGIN = 1.02


def read(history: History, title: str = "", sentences: Sequence[Sentence] = ()) -> Timeline:
    """The picture of everything so far, canaries left out."""
    return _Reader(history, title, list(sentences)).timeline()


class _Reader:
    def __init__(self, history: History, title: str, sentences: list[Sentence]) -> None:
        self._history, self._title, self._sentences = history, one_line(title, _LONGEST_SAYING), sentences
        self._pods = sorted(history.pods, key=lambda life: life.created)
        self._nodes = [life for life in history.nodes.values() if ROLE_LABEL not in life.node.metadata.labels]
        moments = [moment for life in self._pods for moment in _moments(life)]
        latest = max((self._at(moment) for moment in moments), default=0.0)
        self._end = _MARGIN * max(latest, max((one.at for one in sentences), default=0.0), 1.0)
        self._names = Names(history, self._pods)
        self._left_out: list[str] = []

    def timeline(self) -> Timeline:
        if len(self._nodes) > _MOST_NODES or len(self._pods) > _MOST_PODS:
            return self._crowded()
        bars = [life for life in self._pods if life.bound and life.node]
        lanes = [lane_of(self._history, node, bars, self._names, self._end) for node in self._nodes]
        lanes = [lane for lane in lanes if lane.rows]
        if sum(lane.rows for lane in lanes) > _MOST_ROWS:
            return self._crowded()
        arrows = self._arrows()
        return Timeline(
            title=self._title,
            seconds=round(self._end, 3),
            jobs=[self._names.job(job) for job in self._names.colours],
            lanes=lanes,
            waits=self._waits(arrows),
            gangs=self._gangs(),
            queues=self._queues(),
            arrows=arrows,
            sentences=self._said(),
            left_out=self._left_out,
        )

    def _crowded(self) -> Timeline:
        crowd = heat.crowd_of(self._history, self._nodes, self._pods, self._end)
        self._left_out.append(f"{len(self._nodes)} nodes and {len(self._pods)} pods: folded to a heat map")
        return Timeline(
            title=self._title,
            seconds=round(self._end, 3),
            jobs=[],
            queues=self._queues(),
            sentences=self._said(),
            crowd=crowd,
            left_out=self._left_out,
        )

    def _at(self, moment: Moment) -> float:
        return max(0.0, round(self._history.seconds(moment), 3))

    def _said(self) -> list[Sentence]:
        return [Sentence(one_line(one.text, _LONGEST_SAYING), one.at, one.status) for one in self._sentences]

    def _waits(self, arrows: list[Arrow]) -> list[Wait]:
        preemptors = {arrow.preemptor for arrow in arrows}
        waits = [wait for life in self._pods if (wait := self._wait(life, life.uid in preemptors))]
        if len(waits) > _MOST_WAITS:
            self._left_out.append(f"{len(waits) - _MOST_WAITS} more pods that waited")
            first = sorted(waits, key=lambda wait: (wait.uid not in preemptors, not wait.nominated))[:_MOST_WAITS]
            waits = [wait for wait in waits if wait in first]
        return waits

    def _wait(self, life: PodLife, is_preemptor: bool) -> Wait | None:
        stop = life.bound or life.gone or life.ended
        start, end = self._at(life.created), self._at(stop) if stop else self._end
        nominated = self._nominated(life, end)
        brief = end - start < _SHORT_WAIT * self._end
        told_by_gang = self._names.sizes[self._names.job_of[life.uid]] > 1  # its line shows how long they waited
        if (brief or told_by_gang) and not (is_preemptor or nominated):
            return None
        refusal = f": {life.refusal.message}" if life.refusal and life.refusal.message else ""
        says = one_line(f"{told(life)} waited {end - start:.1f} s{refusal}", _LONGEST_SAYING)
        return Wait(self._names.pod(life), life.uid, self._names.colour(life), start, end, nominated, says)

    def _nominated(self, life: PodLife, end: float) -> list[tuple[float, float, str]]:
        changes = [(self._at(moment), node) for moment, node in life.nominations]
        until = [at for at, _ in changes[1:]] + [end]
        return [
            (at, min(stop, end), one_line(node, LONGEST_NAME))
            for (at, node), stop in zip(changes, until, strict=False)
            if node and min(stop, end) > at
        ]

    def _arrows(self) -> list[Arrow]:
        """By what events and marks say, in whatever words: a pod's uid, its namespace/name, or its group's."""
        known = {life.uid: life for life in self._pods}
        known |= {f"{life.namespace}/{self._names.job_of[life.uid]}": life for life in reversed(self._pods)}
        known |= {f"{life.namespace}/{life.name}": life for life in self._pods}
        marked = {life.uid: life for life in self._pods if life.marked and life.mark}
        sayings = {life.uid: [life.mark.message] for life in marked.values() if life.mark}
        related: dict[str, str] = {}
        for _, event in self._history.events():
            if event.involved_object.uid in marked:
                sayings[event.involved_object.uid].append(event.message)
                if event.related and event.related.uid in known:
                    related[event.involved_object.uid] = event.related.uid
        arrows = []
        for uid, victim in marked.items():
            words = " ".join(one_line(text, 2000) for text in sayings[uid]).replace(",", " ").split()
            named = [known[word] for word in words if word in known and known[word].uid != uid]
            by = related.get(uid) or (named[0].uid if named else "")
            if victim.mark and victim.marked and (by or victim.mark.reason == BY_SCHEDULER):
                arrows.append(Arrow(by, uid, self._at(victim.marked)))
        return sorted(arrows, key=lambda arrow: arrow.at)

    def _gangs(self) -> list[Gang]:
        together: dict[str, list[PodLife]] = {}
        for life in self._pods:
            if (job := self._names.job_of[life.uid]) != life.name:
                together.setdefault(job, []).append(life)
        gangs = [self._gang(name, lives) for name, lives in together.items() if len(lives) > 1]
        if len(gangs) > _MOST_GANGS:
            self._left_out.append(f"{len(gangs) - _MOST_GANGS} more gangs")
        return gangs[:_MOST_GANGS]

    def _gang(self, name: str, lives: list[PodLife]) -> Gang:
        bound = [self._at(life.bound) for life in lives if life.bound]
        left = [moment for life in lives if (moment := life.deleting or life.let_go) and life.bound]
        lost = [life.gone for life in lives if life.gone]
        end = min(left, default=None) or (max(lost) if len(lost) == len(lives) else None)
        return Gang(
            name=self._names.job(name),
            job=self._names.colours[name],
            members=len(lives),
            start=min(self._at(life.created) for life in lives),
            bound=min(bound, default=None),
            whole=max(bound) if len(bound) == len(lives) else None,
            end=self._at(end) if end else self._end,
            marks=self._states(self._history.thing(_GROUP_KIND, name)),
        )

    def _queues(self) -> list[Queue]:
        names = dict.fromkeys(record.key[1] for record in self._history.records.get(_QUEUE_KIND, []))
        queues = [Queue(one_line(name, LONGEST_NAME), self._queue_marks(name)) for name in names]
        return [queue for queue in queues if queue.marks][:_MOST_GANGS]

    def _queue_marks(self, name: str) -> list[Mark]:
        """Queues that were there before the scenario and did not change are nothing to show."""
        records = self._history.thing(_QUEUE_KIND, name)
        return self._states([one for one in records if one.moment.at >= self._history.began])

    def _states(self, records: list[Record]) -> list[Mark]:
        marks: list[Mark] = []
        for record in records:
            says = _state(record)
            if says and (not marks or marks[-1].says != says):
                marks.append(Mark(self._at(record.moment), says))
        return marks[:_MOST_MARKS]


def told(life: PodLife) -> str:
    """A pod in a few words."""
    gpus = readable(life.asks.get(GPU, 0))
    return f"{one_line(life.name, LONGEST_NAME)} (priority {life.priority}, {gpus} GPU)"


def _state(record: Record) -> str:
    if record.change == "DELETED":
        return "deleted"
    thing = record.object
    if not isinstance(thing, Thing):
        return ""
    state = thing.status.get("phase") or thing.status.get("state") or ""
    capability = thing.spec.get("capability") or {}
    limits = (
        ", ".join(f"{amount} {name}" for name, amount in capability.items()) if isinstance(capability, dict) else ""
    )
    limit = f", at most {limits}" if limits else ""
    return one_line(f"{state or 'there'}{limit}", _LONGEST_SAYING)


def _moments(life: PodLife) -> list[Moment]:
    return [moment for moment in (life.created, life.marked, *life.milestones) if moment]
