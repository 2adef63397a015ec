"""Data of a timeline: lanes, bars, pending pods, arrows, marks. Drawing is in `svg` and `text`.

Built from the history alone, so that any history can be drawn, recorded or constructed. All times are seconds since the
scenario began; what existed before begins at 0. The names of the JSON fields are those of version 0.1.
"""

from __future__ import annotations

import msgspec

SHADES = 8  # of a heat map: this one is full, one more is overcommitted


class Bar(msgspec.Struct, frozen=True):
    """A pod on a node, from bound to deleted, in the rows of the lane that it holds."""

    pod: str
    uid: str
    job: int  # an index into Timeline.jobs; it chooses the colour
    rows: list[int]
    bound: float
    end: float
    running: float | None = None
    deleting: float | None = None  # from here on it is terminating
    overcommitted: bool = msgspec.field(default=False, name="over")  # it was bound when too few GPUs were free
    text: str = msgspec.field(default="", name="says")


class Lane(msgspec.Struct, frozen=True):
    """A node: first a row for each GPU, then as many as the pods without GPUs need; `free` GPUs may share one row.

    `gpu_ids` are those that the kubelet of a real node has given to pods, by row; empty where it gave none.
    """

    node: str
    gpus: int
    rows: int
    bars: list[Bar]
    marks: list[Mark] = []
    free: int = 0  # GPUs of a large node that were never used: the row after the last used one stands for them
    gpu_ids: list[str] = []

    def label(self, row: int) -> str:
        """What a row is: one GPU, all unused ones, or a slot."""
        if row < len(self.gpu_ids) and self.gpu_ids[row]:
            return self.gpu_ids[row]
        if row < self.gpus:
            return f"GPU {row}"
        return f"GPU {row}–{row + self.free - 1}" if self.free and row == self.gpus else "slot"


class PendingPod(msgspec.Struct, frozen=True):
    """A pending pod: from created to bound or deleted, with its nominated nodes."""

    pod: str
    uid: str
    job: int
    start: float
    end: float
    nominated: list[tuple[float, float, str]] = []
    text: str = msgspec.field(default="", name="says")


class Gang(msgspec.Struct, frozen=True):
    """A gang: when its first pod was bound, when all were, when the first of them terminated."""

    name: str
    job: int
    members: int
    start: float
    bound: float | None
    whole: float | None
    end: float
    marks: list[Mark] = []


class Queue(msgspec.Struct, frozen=True):
    """A queue and the states that it reported."""

    name: str
    marks: list[Mark]


class Arrow(msgspec.Struct, frozen=True):
    """From a preemptor to its victim, by their uids; the preemptor is empty where nothing names it."""

    preemptor: str
    victim: str
    at: float


class Mark(msgspec.Struct, frozen=True):
    """Something that happened at a moment."""

    at: float
    text: str = msgspec.field(name="says")


class StepOutcome(msgspec.Struct, frozen=True):
    """A step of the scenario, and when it was decided."""

    text: str
    at: float
    status: str


class Heatmap(msgspec.Struct, frozen=True):
    """Too many nodes to be drawn one by one: how full bands of nodes were over time, in eighths."""

    bands: list[str]
    step: float  # seconds per column
    fill: list[list[int]]  # by band and column; -1 where there was no node yet
    pending: list[int] = msgspec.field(name="waiting")
    evicted: list[int]


class Timeline(msgspec.Struct, frozen=True):
    """Everything that is drawn of one scenario."""

    title: str
    seconds: float
    jobs: list[str]
    lanes: list[Lane] = []
    pending: list[PendingPod] = msgspec.field(default_factory=list, name="waits")
    gangs: list[Gang] = []
    queues: list[Queue] = []
    arrows: list[Arrow] = []
    steps: list[StepOutcome] = msgspec.field(default_factory=list, name="sentences")
    heatmap: Heatmap | None = msgspec.field(default=None, name="crowd")
    left_out: list[str] = []


def to_json(timeline: Timeline) -> bytes:
    """For other tools; `from_json` reads it back."""
    return msgspec.json.encode(timeline)


def from_json(content: bytes) -> Timeline:
    return msgspec.json.decode(content, type=Timeline)
