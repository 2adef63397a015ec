"""What happened in a scenario as a picture in numbers: lanes, bars, waits, arrows, marks. Drawn elsewhere.

Taken from the history alone, so that a picture can be made of any history, live or made up. All times are seconds since
the scenario began; what was there before it begins at 0.
"""

from __future__ import annotations

import msgspec


class Bar(msgspec.Struct, frozen=True):
    """A pod on a node, from bound to gone, in the rows of the lane that it holds."""

    pod: str
    uid: str
    job: int  # an index into Timeline.jobs; it chooses the colour
    rows: list[int]
    bound: float
    end: float
    running: float | None = None
    deleting: float | None = None  # from here on it is in its grace period
    over: bool = False  # it came when there was no room for it
    says: str = ""


class Lane(msgspec.Struct, frozen=True):
    """A node: first a row for each GPU, then as many as the pods without GPUs need; `free` GPUs may share one row."""

    node: str
    gpus: int
    rows: int
    bars: list[Bar]
    marks: list[Mark] = []
    free: int = 0  # GPUs of a large node that nobody ever held: the row after the last one held stands for them

    def label(self, row: int) -> str:
        """What a row is: one GPU, those that nobody held, or a slot."""
        if row < self.gpus:
            return f"GPU {row}"
        return f"GPU {row}–{row + self.free - 1}" if self.free and row == self.gpus else "slot"


class Wait(msgspec.Struct, frozen=True):
    """A pod that waits: from created to bound or gone, with the times at which a node was held for it."""

    pod: str
    uid: str
    job: int
    start: float
    end: float
    nominated: list[tuple[float, float, str]] = []
    says: str = ""


class Gang(msgspec.Struct, frozen=True):
    """Pods that belong together: when the first was bound, when all were, when the first of them let go."""

    name: str
    job: int
    members: int
    start: float
    bound: float | None
    whole: float | None
    end: float
    marks: list[Mark] = []


class Queue(msgspec.Struct, frozen=True):
    """A queue and what it said of itself."""

    name: str
    marks: list[Mark]


class Arrow(msgspec.Struct, frozen=True):
    """From a preemptor to its victim, by their uids; nobody stands for a preemptor that nobody has named."""

    preemptor: str
    victim: str
    at: float


class Mark(msgspec.Struct, frozen=True):
    """Something that happened at a moment."""

    at: float
    says: str


class Sentence(msgspec.Struct, frozen=True):
    """A step of the scenario, and when it was decided."""

    text: str
    at: float
    status: str


class Crowd(msgspec.Struct, frozen=True):
    """Too many to be drawn one by one: how full bands of nodes were over time, in eighths."""

    bands: list[str]
    step: float  # seconds per column
    fill: list[list[int]]  # by band and column; -1 where there was no node yet
    waiting: list[int]
    evicted: list[int]


class Timeline(msgspec.Struct, frozen=True):
    """All of it."""

    title: str
    seconds: float
    jobs: list[str]
    lanes: list[Lane] = []
    waits: list[Wait] = []
    gangs: list[Gang] = []
    queues: list[Queue] = []
    arrows: list[Arrow] = []
    sentences: list[Sentence] = []
    crowd: Crowd | None = None
    left_out: list[str] = []


def to_json(timeline: Timeline) -> bytes:
    """For other tools; `from_json` reads it back."""
    return msgspec.json.encode(timeline)


def from_json(content: bytes) -> Timeline:
    return msgspec.json.decode(content, type=Timeline)
