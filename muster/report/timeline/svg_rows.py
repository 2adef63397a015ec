"""Rows of a timeline as SVG: pending pods, gangs, queues, lanes of nodes, the arrows between them, the heat map.

The layout comes first: an arrow needs both its ends before either of them is drawn. A heat map is one path per shade,
so that a thousand nodes cost no more than thirty-two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from muster.report.timeline.svg_canvas import COLOURS, WIDTH, Canvas, bar_label, cut_end, cut_middle, rounded, width_of
from muster.report.timeline.timeline import SHADES, Bar, Gang, Heatmap, Lane, Mark, PendingPod, Queue, Timeline

LEFT, RIGHT = 214, WIDTH - 18  # where time begins and ends
TOP = 66  # below the title, the seconds and the badges
ROW, THIN, GAP = 17, 15, 9
_MARK = 9  # additional space above a lane with marks
_NAME = 148  # pixels for a name left of where time begins
_BEND = 14.0  # how far an arrow leans to the side
_BAND, _CURVE, _HEAT_GAP, _TEXT = 12, 34, 10, 14  # heights in a heat map


class Layout:
    """All heights, in pixels from the top of the picture: the middle of thin rows, the upper edge of lanes."""

    def __init__(self, timeline: Timeline) -> None:
        self._seconds = timeline.seconds
        self._y = float(TOP) + (_heatmap_height(timeline.heatmap) if timeline.heatmap else 0)
        self.pending = self._thin(len(timeline.pending))
        self.gangs = self._thin(len(timeline.gangs))
        self.queues = self._thin(len(timeline.queues))
        self.lanes: list[float] = []
        for lane in timeline.lanes:
            self._y += _MARK if lane.marks else 0
            self.lanes.append(self._y)
            self._y += ROW * lane.rows + GAP
        self.bottom = self._y
        self.pending_by_uid = {pod.uid: y for pod, y in zip(timeline.pending, self.pending, strict=True)}
        self.bars = {
            bar.uid: y + 2 + ROW * min(bar.rows)
            for lane, y in zip(timeline.lanes, self.lanes, strict=True)
            for bar in lane.bars
        }

    def x(self, at: float) -> float:
        """The position of a time."""
        return LEFT + (RIGHT - LEFT) * min(1.0, at / self._seconds)

    def _thin(self, number: int) -> list[float]:
        middles = [self._y + THIN * (row + 0.5) for row in range(number)]
        self._y += THIN * number + (GAP if number else 0)
        return middles


class Rows:
    """Draws on a canvas, at the places of the layout."""

    def __init__(self, canvas: Canvas, layout: Layout) -> None:
        self._canvas, self._layout, self._x = canvas, layout, layout.x

    def draw(self, shown: Timeline) -> None:
        """Arrows last: they lie above the bars that they point to."""
        for pod, middle in zip(shown.pending, self._layout.pending, strict=True):
            self._pending(pod, middle)
        for gang, middle in zip(shown.gangs, self._layout.gangs, strict=True):
            self._gang(gang, middle)
        for queue, middle in zip(shown.queues, self._layout.queues, strict=True):
            self._queue(queue, middle, shown.seconds)
        for lane, top in zip(shown.lanes, self._layout.lanes, strict=True):
            self._lane(lane, top)
        self._arrows(shown)

    def _title(self, kind: str, name: str, middle: float, job: int | None = None) -> None:
        self._canvas.text(14, middle + 4, kind, "soft")
        self._canvas.text(LEFT - 14, middle + 4, cut_middle(name, min(_NAME, LEFT - 32 - width_of(kind))), anchor="end")
        if job is not None:
            self._canvas.box(f"c{job % COLOURS}", LEFT - 10, middle - 3, 6, 6)

    def _pending(self, pod: PendingPod, middle: float) -> None:
        self._title("pending", pod.pod, middle, pod.job)
        self._canvas.line("pending", self._x(pod.start), middle, self._x(pod.end), middle, pod.text)
        self._canvas.circle("mark", self._x(pod.start), middle, 2.2)
        for start, end, node in pod.nominated:
            text = f"{pod.pod} is nominated to {node}, {start:.1f} s to {end:.1f} s"
            self._canvas.line("nominated", self._x(start), middle - 4, self._x(end), middle - 4, text)

    def _gang(self, gang: Gang, middle: float) -> None:
        self._title("gang", gang.name, middle, gang.job)
        first = gang.end if gang.bound is None else gang.bound
        self._canvas.line("pending", self._x(gang.start), middle, self._x(max(first, gang.start)), middle)
        self._canvas.circle("mark", self._x(gang.start), middle, 2.2)
        if gang.bound is not None:
            self._bracket(gang, gang.bound, middle)
        for mark in gang.marks:
            self._diamond(self._x(mark.at), middle, f"{gang.name}: {mark.text} at {mark.at:.1f} s")

    def _bracket(self, gang: Gang, bound: float, middle: float) -> None:
        left, right = self._x(bound), max(self._x(gang.end), self._x(bound) + 3)
        text = f"{gang.name}: first of {gang.members} bound at {bound:.1f} s"
        text += f", all at {gang.whole:.1f} s" if gang.whole is not None else ", never all"
        top, low = rounded(middle - 5), rounded(middle + 5)
        self._canvas.path("bracket", f"M{rounded(left)} {low}V{top}H{rounded(right)}V{low}", text)
        if gang.whole is not None:
            whole = self._x(gang.whole)
            self._canvas.box(f"c{gang.job % COLOURS}", whole, middle - 4, right - whole, 8, text)
        label = f"all {gang.members}" if gang.whole is not None else f"never all {gang.members}"
        inside = _first_clear_x(left + 5, width_of(label), [self._x(mark.at) for mark in gang.marks])
        fits = inside + width_of(label) <= right
        outside = _first_clear_x(right + 5, width_of(label), [self._x(mark.at) for mark in gang.marks])
        if fits or outside + width_of(label) <= WIDTH:
            self._canvas.text(inside if fits else outside, middle + 4, label)

    def _queue(self, queue: Queue, middle: float, seconds: float) -> None:
        self._title("queue", queue.name, middle)
        for number, mark in enumerate(queue.marks):
            x = self._x(mark.at)
            self._diamond(x, middle, f"{queue.name}: {mark.text} at {mark.at:.1f} s")
            until = queue.marks[number + 1].at if number + 1 < len(queue.marks) else seconds
            self._canvas.text(x + 8, middle + 4, cut_end(mark.text, self._x(until) - x - 8), "soft")

    def _lane(self, lane: Lane, top: float) -> None:
        self._canvas.box("band", 10, top, WIDTH - 20, ROW * lane.rows + 3, round_=3)
        beside = LEFT - 46 - width_of(lane.label(0))  # ids of GPUs may be long; bold text is wider than others
        self._canvas.text(14, top + 13, cut_middle(lane.node, min(_NAME, beside)), "bold")
        for row in range(lane.rows):
            self._canvas.text(LEFT - 6, top + 13 + ROW * row, lane.label(row), "soft", "end")
        for bar in lane.bars:
            self._bar(bar, top)
        self._node_marks(lane, top)

    def _node_marks(self, lane: Lane, top: float) -> None:
        """Text to the right of its triangle, or to the left where the picture ends."""
        for number, mark in enumerate(lane.marks):
            x = self._x(mark.at)
            self._canvas.path("mark", f"M{rounded(x - 4)} {rounded(top - 6)}h8l-4 6z", f"{lane.node}: {mark.text}")
            if RIGHT - x < width_of(mark.text):
                before = self._x(lane.marks[number - 1].at) if number else LEFT
                self._canvas.text(x - 6, top - 2, cut_end(mark.text, (x - before) / 2), "soft", "end")
            else:
                self._canvas.text(x + 6, top - 2, cut_end(mark.text, self._next_mark(lane.marks, number) - x), "soft")

    def _next_mark(self, marks: Sequence[Mark], number: int) -> float:
        return self._x(marks[number + 1].at) if number + 1 < len(marks) else RIGHT

    def _bar(self, bar: Bar, lane_top: float) -> None:
        left, right = self._x(bar.bound), self._x(bar.end)
        for first, count in _merged_rows(bar.rows):
            top, height = lane_top + 2 + ROW * first, ROW * count - 2
            running = self._x(bar.end if bar.running is None else min(bar.running, bar.end))
            if running - left >= 1:
                self._canvas.box(f"c{bar.job % COLOURS} early", left, top, running - left, height, bar.text)
            if bar.running is not None:
                self._canvas.box(f"c{bar.job % COLOURS}", running, top, right - running, height, bar.text)
            if bar.deleting is not None and right - self._x(bar.deleting) > 0.5:
                terminating = self._x(bar.deleting)
                hatched = (
                    f"M{rounded(terminating)} {rounded(top)}H{rounded(right)}v{rounded(height)}H{rounded(terminating)}z"
                )
                self._canvas.path(
                    "", hatched, f"{bar.pod} terminates from {bar.deleting:.1f} s on", ' fill="url(#grace)"'
                )
            if bar.overcommitted:
                self._canvas.box("over", left, top, right - left, height, f"{bar.pod}: too few GPUs were free")
            if name := bar_label(bar.pod, right - left):
                self._canvas.text(left + 4, top + height / 2 + 4, name, f"name n{bar.job % COLOURS}")

    def _arrows(self, shown: Timeline) -> None:
        for arrow in shown.arrows:
            x, end = self._x(arrow.at), self._layout.bars.get(arrow.victim)
            start = self._layout.pending_by_uid.get(arrow.preemptor)
            if end is None:
                continue
            if start is None:
                self._canvas.path("arrow", f"M{rounded(x - 4)} {rounded(end + 3)}l8 8m0 -8l-8 8")
                continue
            lean = min(_BEND, (end - start) / 3)
            high, low = f"{rounded(x - lean)} {rounded(start + lean)}", f"{rounded(x - lean)} {rounded(end - lean)}"
            bend = f"C{high} {low} {rounded(x)} {rounded(end + 1)}"
            self._canvas.path("arrow", f"M{rounded(x)} {rounded(start)}{bend}", more=' marker-end="url(#head)"')

    def _diamond(self, x: float, y: float, text: str) -> None:
        self._canvas.path("mark", f"M{rounded(x)} {rounded(y - 4)}l4 4l-4 4l-4 -4z", text)


def _first_clear_x(x: float, width: float, marks: Sequence[float]) -> float:
    """The first place from x on at which text of this width hides none of the marks."""
    for mark in sorted(marks):
        if x - 5 < mark < x + width + 5:
            x = mark + 7
    return x


def _merged_rows(rows: list[int]) -> list[tuple[int, int]]:
    """Adjacent rows are drawn as one."""
    runs: list[tuple[int, int]] = []
    for row in sorted(rows):
        if runs and sum(runs[-1]) == row:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((row, 1))
    return runs


def _heatmap_height(heatmap: Heatmap) -> float:
    """In pixels."""
    return (_CURVE + _HEAT_GAP) * (2 if any(heatmap.evicted) else 1) + _BAND * len(heatmap.fill) + _TEXT + _HEAT_GAP


def draw_heatmap(canvas: Canvas, heatmap: Heatmap, x: Callable[[float], float], top: float, right: float) -> None:
    """Pending pods as a curve, evictions as ticks, then the bands."""
    y = _columns(canvas, "pending", heatmap.pending, heatmap.step, x, top, "pending")
    if any(heatmap.evicted):
        y = _columns(canvas, "evicted", heatmap.evicted, heatmap.step, x, y, "no")
    shades: dict[int, list[str]] = {}
    for number, fill in enumerate(heatmap.fill):
        low = y + _BAND * number
        canvas.text(14, low + 10, cut_end(heatmap.bands[number], 196), "soft")
        for start, end, shade in _merged_columns(fill):
            if shade > 0:
                left = x(start * heatmap.step)
                width = rounded(x(end * heatmap.step) - left)
                box = f"M{rounded(left)} {rounded(low + 1)}h{width}v{_BAND - 1}h-{width}z"
                shades.setdefault(shade, []).append(box)
    bottom = y + _BAND * len(heatmap.fill)
    canvas.box("band", x(0), y, right - x(0), bottom - y)
    for shade, boxes in sorted(shades.items()):
        kind = "hot" if shade > SHADES else "heat"
        strength = f' fill-opacity="{min(1.0, shade / SHADES):.2f}"'
        canvas.path(kind, "".join(boxes), _usage(shade), strength)
    canvas.text(14, bottom + _TEXT, "colour: the share of GPUs in use, from pale to full; red: overcommitted", "soft")


def _columns(
    canvas: Canvas, name: str, counts: list[int], step: float, x: Callable[[float], float], top: float, kind: str
) -> float:
    most = max(counts, default=0)
    canvas.text(14, top + 14, name)
    canvas.text(14, top + 28, f"at most {most}", "soft")
    base = top + _CURVE
    drawn = f"M{rounded(x(0))} {rounded(base)}"
    for number, count in enumerate(counts):
        drawn += f"V{rounded(base - (_CURVE - 6) * count / (most or 1))}H{rounded(x((number + 1) * step))}"
    canvas.path(kind, drawn, more=' fill="none"')
    return base + _HEAT_GAP


def _merged_columns(fill: list[int]) -> list[tuple[int, int, int]]:
    """Adjacent columns of one shade are one box."""
    stretches: list[tuple[int, int, int]] = []
    for column, shade in enumerate(fill):
        if stretches and stretches[-1][2] == shade:
            stretches[-1] = (stretches[-1][0], column + 1, shade)
        else:
            stretches.append((column, column + 1, shade))
    return stretches


def _usage(shade: int) -> str:
    return "overcommitted" if shade > SHADES else f"up to {100 * min(shade + 1, SHADES) // SHADES} % in use"
