"""Structure of a timeline without its times: pods in their order, preemptions, outcomes of steps.

Two runs of one scenario differ in times, in generated names, and in which of several equal pods ran where; none of that
is part of the structure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from muster.report.timeline.timeline import Bar, Gang, Lane, Timeline, from_json

KEPT = Path(__file__).resolve().parents[2] / "docs" / "timelines"
_GENERATED = re.compile(r" \(job-\w+\)|(?<=launcher|sorboard)-[\w…-]+")
_NUMBER = re.compile(r"(?<=pod)-\d$")
_TRANSIENT = ("created", "Completed", "deleted")  # a scenario may end before these


def assert_walkthroughs_look_the_same(directory: Path) -> None:
    """The timelines of a run, compared with those that are kept, in everything but times."""
    for number in range(1, 6):
        seen = structure(from_json((directory / f"DOC-{number}.json").read_bytes()))
        kept = structure(from_json((KEPT / f"doc-{number}.json").read_bytes()))
        assert seen == kept, f"DOC-{number}: if that is meant, python docs/timelines/draw.py RESULTS"


def structure(timeline: Timeline) -> list[str]:
    """A line for each row that is drawn, from top to bottom."""
    return [
        *_pending(timeline),
        *(f"gang: {_gang(gang)}" for gang in timeline.gangs),
        *(f"queue: {queue.name}, {queue.marks[-1].text}" for queue in timeline.queues),
        *_arrows(timeline),
        *sorted(f"lane: {_lane(lane, timeline)}" for lane in timeline.lanes),
        *(f"{number} {one.status}: {one.text}" for number, one in enumerate(timeline.steps, 1)),
    ]


def _pending(timeline: Timeline) -> Iterable[str]:
    """Preemptors and nominated pods: others may be too short to be drawn."""
    preemptors = {arrow.preemptor for arrow in timeline.arrows}
    for pod in timeline.pending:
        if pod.nominated or pod.uid in preemptors:
            yield f"pending: {pod.pod}{', nominated' if pod.nominated else ''}"


def _gang(gang: Gang) -> str:
    whole = "never bound" if gang.bound is None else "whole" if gang.whole is not None else "never whole"
    states = [mark.text for mark in gang.marks if mark.text not in _TRANSIENT]
    return ", ".join([f"{_GENERATED.sub('', gang.name)} of {gang.members}", whole, *states])


def _arrows(timeline: Timeline) -> list[str]:
    jobs = {bar.uid: _job(bar.job, timeline) for lane in timeline.lanes for bar in lane.bars}
    jobs |= {pod.uid: _job(pod.job, timeline) for pod in timeline.pending}
    drawn = Counter(f"{jobs.get(arrow.preemptor, 'unknown')} -> {jobs[arrow.victim]}" for arrow in timeline.arrows)
    return [f"arrow: {arrow}, {number} times" for arrow, number in sorted(drawn.items())]


def _lane(lane: Lane, timeline: Timeline) -> str:
    """Nodes and rows are interchangeable: only the order of the jobs counts, on the GPUs and in the slots."""
    ordered = sorted(lane.bars, key=lambda bar: bar.bound)
    on_gpus = _in_turn((bar for bar in ordered if bar.rows[0] < lane.gpus), timeline)
    in_slots = _in_turn((bar for bar in ordered if bar.rows[0] >= lane.gpus), timeline)
    marks = "".join(f" [{mark.text}]" for mark in lane.marks)
    return (
        f"{lane.gpus + lane.free} GPUs{marks}: {on_gpus or 'no pods'}{f'; without GPU {in_slots}' if in_slots else ''}"
    )


def _in_turn(bars: Iterable[Bar], timeline: Timeline) -> str:
    jobs = [f"{_job(bar.job, timeline)}{' (terminated)' if bar.deleting is not None else ''}" for bar in bars]
    return ", ".join(dict.fromkeys(jobs))


def _job(number: int, timeline: Timeline) -> str:
    return _NUMBER.sub("", _GENERATED.sub("", timeline.jobs[number]))
