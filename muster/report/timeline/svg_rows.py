"""The rows of a timeline: pods that wait, gangs, queues, the lanes of the nodes, and the arrows between them."""

from __future__ import annotations

from collections.abc import Sequence

from muster.report.svg_paper import COLOURS, WIDTH, Paper, between, fitting, naming, short, width_of
from muster.report.timeline import Bar, Gang, Lane, Mark, Queue, Timeline, Wait
from muster.report.timeline_layout import LEFT, RIGHT, ROW, Layout

_NAME = 148  # pixels for a name left of where time begins
_BEND = 14.0  # how far an arrow leans to the side


class Rows:
    """Draws on a paper, where the layout says."""

    def __init__(self, paper: Paper, layout: Layout) -> None:
        self._paper, self._layout, self._x = paper, layout, layout.x

    def draw(self, shown: Timeline) -> None:
        """Arrows last: they lie above the bars that they point at."""
        for wait, middle in zip(shown.waits, self._layout.waits, strict=True):
            self._wait(wait, middle)
        for gang, middle in zip(shown.gangs, self._layout.gangs, strict=True):
            self._gang(gang, middle)
        for queue, middle in zip(shown.queues, self._layout.queues, strict=True):
            self._queue(queue, middle, shown.seconds)
        for lane, top in zip(shown.lanes, self._layout.lanes, strict=True):
            self._lane(lane, top)
        self._arrows(shown)

    def _title(self, kind: str, name: str, middle: float, job: int | None = None) -> None:
        self._paper.text(14, middle + 4, kind, "soft")
        self._paper.text(LEFT - 14, middle + 4, between(name, _NAME), anchor="end")
        if job is not None:
            self._paper.box(f"c{job % COLOURS}", LEFT - 10, middle - 3, 6, 6)

    def _wait(self, wait: Wait, middle: float) -> None:
        self._title("waits", wait.pod, middle, wait.job)
        self._paper.line("wait", self._x(wait.start), middle, self._x(wait.end), middle, wait.says)
        self._paper.circle("mark", self._x(wait.start), middle, 2.2)
        for start, end, node in wait.nominated:
            held = f"{node} is held for {wait.pod}, {start:.1f} s to {end:.1f} s"
            self._paper.line("held", self._x(start), middle - 4, self._x(end), middle - 4, held)

    def _gang(self, gang: Gang, middle: float) -> None:
        self._title("gang", gang.name, middle, gang.job)
        first = gang.end if gang.bound is None else gang.bound
        self._paper.line("wait", self._x(gang.start), middle, self._x(max(first, gang.start)), middle)
        self._paper.circle("mark", self._x(gang.start), middle, 2.2)
        if gang.bound is not None:
            self._bracket(gang, gang.bound, middle)
        for mark in gang.marks:
            self._diamond(self._x(mark.at), middle, f"{gang.name}: {mark.says} at {mark.at:.1f} s")

    def _bracket(self, gang: Gang, bound: float, middle: float) -> None:
        left, right = self._x(bound), max(self._x(gang.end), self._x(bound) + 3)
        says = f"{gang.name}: first of {gang.members} bound at {bound:.1f} s"
        says += f", all at {gang.whole:.1f} s" if gang.whole is not None else ", never all of them"
        top, low = short(middle - 5), short(middle + 5)
        self._paper.path("bracket", f"M{short(left)} {low}V{top}H{short(right)}V{low}", says)
        if gang.whole is not None:
            whole = self._x(gang.whole)
            self._paper.box(f"c{gang.job % COLOURS}", whole, middle - 4, right - whole, 8, says)
        words = f"all {gang.members}" if gang.whole is not None else f"never all {gang.members}"
        inside = _clear(left + 5, width_of(words), [self._x(mark.at) for mark in gang.marks])
        fits = inside + width_of(words) <= right
        outside = _clear(right + 5, width_of(words), [self._x(mark.at) for mark in gang.marks])
        if fits or outside + width_of(words) <= WIDTH:
            self._paper.text(inside if fits else outside, middle + 4, words)

    def _queue(self, queue: Queue, middle: float, seconds: float) -> None:
        self._title("queue", queue.name, middle)
        for number, mark in enumerate(queue.marks):
            x = self._x(mark.at)
            self._diamond(x, middle, f"{queue.name}: {mark.says} at {mark.at:.1f} s")
            until = queue.marks[number + 1].at if number + 1 < len(queue.marks) else seconds
            self._paper.text(x + 8, middle + 4, fitting(mark.says, self._x(until) - x - 8), "soft")

    def _lane(self, lane: Lane, top: float) -> None:
        self._paper.box("band", 10, top, WIDTH - 20, ROW * lane.rows + 3, round_=3)
        self._paper.text(14, top + 13, between(lane.node, _NAME), "bold")
        for row in range(lane.rows):
            self._paper.text(LEFT - 6, top + 13 + ROW * row, lane.label(row), "soft", "end")
        for bar in lane.bars:
            self._bar(bar, top)
        self._node_marks(lane, top)

    def _node_marks(self, lane: Lane, top: float) -> None:
        """Words to the right of their triangle, to the left of it where there is no room any more."""
        for number, mark in enumerate(lane.marks):
            x = self._x(mark.at)
            self._paper.path("mark", f"M{short(x - 4)} {short(top - 6)}h8l-4 6z", f"{lane.node}: {mark.says}")
            if RIGHT - x < width_of(mark.says):
                before = self._x(lane.marks[number - 1].at) if number else LEFT
                self._paper.text(x - 6, top - 2, fitting(mark.says, (x - before) / 2), "soft", "end")
            else:
                self._paper.text(x + 6, top - 2, fitting(mark.says, self._room(lane.marks, number) - x), "soft")

    def _room(self, marks: Sequence[Mark], number: int) -> float:
        return self._x(marks[number + 1].at) if number + 1 < len(marks) else RIGHT

    def _bar(self, bar: Bar, lane_top: float) -> None:
        left, right = self._x(bar.bound), self._x(bar.end)
        for first, count in _runs(bar.rows):
            top, height = lane_top + 2 + ROW * first, ROW * count - 2
            running = self._x(bar.end if bar.running is None else min(bar.running, bar.end))
            if running - left >= 1:
                self._paper.box(f"c{bar.job % COLOURS} early", left, top, running - left, height, bar.says)
            if bar.running is not None:
                self._paper.box(f"c{bar.job % COLOURS}", running, top, right - running, height, bar.says)
            if bar.deleting is not None and right - self._x(bar.deleting) > 0.5:
                going = self._x(bar.deleting)
                place = f"M{short(going)} {short(top)}H{short(right)}v{short(height)}H{short(going)}z"
                self._paper.path("", place, f"{bar.pod} is asked to go at {bar.deleting:.1f} s", ' fill="url(#grace)"')
            if bar.over:
                self._paper.box("over", left, top, right - left, height, f"{bar.pod}: no room was left for it")
            if name := naming(bar.pod, right - left):
                self._paper.text(left + 4, top + height / 2 + 4, name, f"name n{bar.job % COLOURS}")

    def _arrows(self, shown: Timeline) -> None:
        for arrow in shown.arrows:
            x, end = self._x(arrow.at), self._layout.bars.get(arrow.victim)
            start = self._layout.waiting.get(arrow.preemptor)
            if end is None:
                continue
            if start is None:
                self._paper.path("arrow", f"M{short(x - 4)} {short(end + 3)}l8 8m0 -8l-8 8")
                continue
            lean = min(_BEND, (end - start) / 3)
            high, low = f"{short(x - lean)} {short(start + lean)}", f"{short(x - lean)} {short(end - lean)}"
            bend = f"C{high} {low} {short(x)} {short(end + 1)}"
            self._paper.path("arrow", f"M{short(x)} {short(start)}{bend}", more=' marker-end="url(#head)"')

    def _diamond(self, x: float, y: float, says: str) -> None:
        self._paper.path("mark", f"M{short(x)} {short(y - 4)}l4 4l-4 4l-4 -4z", says)


def _clear(x: float, width: float, marks: Sequence[float]) -> float:
    """The first place from x on at which words of this width hide none of the marks."""
    for mark in sorted(marks):
        if x - 5 < mark < x + width + 5:
            x = mark + 7
    return x


def _runs(rows: list[int]) -> list[tuple[int, int]]:
    """Rows that lie together are drawn as one."""
    runs: list[tuple[int, int]] = []
    for row in sorted(rows):
        if runs and sum(runs[-1]) == row:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((row, 1))
    return runs
