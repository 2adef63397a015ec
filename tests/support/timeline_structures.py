"""What a timeline shows, without its times: who is in it, in which order, who had to go for whom, what held.

Two runs of one scenario differ in times, in made-up names, and in which of several equal pods went where; none of that
is in a structure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from muster.report.timeline import Bar, Gang, Lane, Timeline, from_json

KEPT = Path(__file__).resolve().parent.parent / "docs" / "timelines"
_MADE_UP = re.compile(r" \(job-\w+\)|(?<=launcher|sorboard)-[\w…-]+")
_NUMBER = re.compile(r"(?<=pod)-\d$")
_FLEETING = ("there", "Completed", "deleted")  # states that a scenario may end before


def assert_documents_look_as_ever(directory: Path) -> None:
    """The timelines of a run, compared with those that are kept, in everything but times."""
    for number in range(1, 6):
        seen = structure(from_json((directory / f"DOC-{number}.json").read_bytes()))
        kept = structure(from_json((KEPT / f"doc-{number}.json").read_bytes()))
        assert seen == kept, f"DOC-{number}: if that is meant, python docs/timelines/draw.py RESULTS"


def structure(timeline: Timeline) -> list[str]:
    """A line for each thing that is drawn, in the order from top to bottom."""
    return [
        *_waits(timeline),
        *(f"gang: {_gang(gang)}" for gang in timeline.gangs),
        *(f"queue: {queue.name}, {queue.marks[-1].says}" for queue in timeline.queues),
        *_arrows(timeline),
        *sorted(f"lane: {_lane(lane, timeline)}" for lane in timeline.lanes),
        *(f"{number} {one.status}: {one.text}" for number, one in enumerate(timeline.sentences, 1)),
    ]


def _waits(timeline: Timeline) -> Iterable[str]:
    """Those that must be seen: others may be too short for the picture."""
    preemptors = {arrow.preemptor for arrow in timeline.arrows}
    for wait in timeline.waits:
        if wait.nominated or wait.uid in preemptors:
            yield f"waits: {wait.pod}{', a node is held' if wait.nominated else ''}"


def _gang(gang: Gang) -> str:
    whole = "never bound" if gang.bound is None else "whole" if gang.whole is not None else "never whole"
    states = [mark.says for mark in gang.marks if mark.says not in _FLEETING]
    return ", ".join([f"{_MADE_UP.sub('', gang.name)} of {gang.members}", whole, *states])


def _arrows(timeline: Timeline) -> list[str]:
    jobs = {bar.uid: _job(bar.job, timeline) for lane in timeline.lanes for bar in lane.bars}
    jobs |= {wait.uid: _job(wait.job, timeline) for wait in timeline.waits}
    drawn = Counter(f"{jobs.get(arrow.preemptor, 'nobody')} -> {jobs[arrow.victim]}" for arrow in timeline.arrows)
    return [f"arrow: {arrow}, {number} times" for arrow, number in sorted(drawn.items())]


def _lane(lane: Lane, timeline: Timeline) -> str:
    """Nodes and rows are alike: only who came after whom is told, on the GPUs and in the slots."""
    ordered = sorted(lane.bars, key=lambda bar: bar.bound)
    on_gpus = _in_turn((bar for bar in ordered if bar.rows[0] < lane.gpus), timeline)
    in_slots = _in_turn((bar for bar in ordered if bar.rows[0] >= lane.gpus), timeline)
    marks = "".join(f" [{mark.says}]" for mark in lane.marks)
    return (
        f"{lane.gpus + lane.free} GPUs{marks}: {on_gpus or 'nobody'}{f'; beside them {in_slots}' if in_slots else ''}"
    )


def _in_turn(bars: Iterable[Bar], timeline: Timeline) -> str:
    told = [f"{_job(bar.job, timeline)}{' (asked to go)' if bar.deleting is not None else ''}" for bar in bars]
    return ", ".join(dict.fromkeys(told))


def _job(number: int, timeline: Timeline) -> str:
    return _NUMBER.sub("", _MADE_UP.sub("", timeline.jobs[number]))
