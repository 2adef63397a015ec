"""The timeline as one SVG file: who waited, who sat where, who had to go for whom, and when each promise held."""

from __future__ import annotations

from muster.report.svg_paper import COLOURS, WIDTH, Paper, between, fitting, short
from muster.report.timeline import Bar, Gang, Lane, Sentence, Timeline, Wait
from muster.report.timeline_svg_heat import draw_crowd

LARGEST = 60 * 1024  # bytes
_LEFT, _RIGHT = 214, WIDTH - 18  # where time begins and ends
_ROW, _THIN, _GAP = 17, 15, 9
_NAME = 148  # pixels for a name left of it
_AXIS = 58
_BADGE = 8  # radius
_TICKS = 8
_BARS = "bar: a pod from bound to gone, pale until it runs, hatched while it is asked to go, red frame: no room for it"
_LINES = "line: a pod waits, dashed: a node is held for it; red arrow: preempted for; bracket: gang; badge: a promise"
_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)


def draw(timeline: Timeline) -> str:
    """The picture, without its tooltips where it would be too large with them."""
    drawn = _Drawing(timeline, tooltips=True).svg()
    return drawn if len(drawn.encode()) <= LARGEST else _Drawing(timeline, tooltips=False).svg()


class _Drawing:
    def __init__(self, timeline: Timeline, *, tooltips: bool) -> None:
        self._timeline = timeline
        self._paper = Paper(tooltips=tooltips)
        self._y: float = _AXIS
        self._wait_rows: dict[str, float] = {}
        self._bar_tops: dict[str, float] = {}

    def svg(self) -> str:
        shown = self._timeline
        self._paper.text(14, 20, fitting(shown.title or "what happened", WIDTH - 40), "bold")
        self._place_rows()
        bottom = self._bottom()
        self._axis(bottom)
        self._y = _AXIS
        if shown.crowd:
            self._y = draw_crowd(self._paper, shown.crowd, self._x, self._y, _RIGHT)
        self._waiting()
        for gang in shown.gangs:
            self._gang(gang)
        self._y += _GAP if shown.gangs else 0
        self._queues()
        for lane in shown.lanes:
            self._lane(lane)
        self._arrows()
        self._promises(self._y)
        self._y += 14
        self._sentences()
        self._legend()
        return self._paper.finish(self._y + 6, shown.title or "timeline")

    def _x(self, at: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * min(1.0, at / self._timeline.seconds)

    def _place_rows(self) -> None:
        """Where rows will be: the arrows need both ends before either is drawn."""
        y = float(_AXIS)
        for wait in self._timeline.waits:
            self._wait_rows[wait.uid] = y + _THIN / 2
            y += _THIN
        y += _GAP if self._timeline.waits else 0
        y += _THIN * len(self._timeline.gangs) + (_GAP if self._timeline.gangs else 0)
        y += _THIN * len(self._timeline.queues) + (_GAP if self._timeline.queues else 0)
        for lane in self._timeline.lanes:
            for bar in lane.bars:
                self._bar_tops[bar.uid] = y + 2 + _ROW * min(bar.rows)
            y += _ROW * lane.rows + _GAP

    def _bottom(self) -> float:
        shown = self._timeline
        thin = sum(len(rows) * _THIN + (_GAP if rows else 0) for rows in (shown.waits, shown.gangs, shown.queues))
        crowd = draw_crowd(Paper(), shown.crowd, self._x, 0, _RIGHT) if shown.crowd else 0
        return _AXIS + thin + sum(_ROW * lane.rows + _GAP for lane in shown.lanes) + crowd

    def _axis(self, bottom: float) -> None:
        seconds = self._timeline.seconds
        step = next((one for one in _STEPS if seconds / one <= _TICKS), _STEPS[-1])
        for number in range(int(seconds / step) + 1):
            at = number * step
            self._paper.line("rule", self._x(at), _AXIS - 6, self._x(at), bottom)
            self._paper.text(self._x(at) + 3, _AXIS - 9, f"{at:g} s", "soft")

    def _waiting(self) -> None:
        for number, wait in enumerate(self._timeline.waits):
            if number == 0:
                self._paper.text(14, self._y + 11, "waiting", "soft")
            self._wait(wait)
            self._y += _THIN
        self._y += _GAP if self._timeline.waits else 0

    def _wait(self, wait: Wait) -> None:
        middle = self._y + _THIN / 2
        self._paper.box(f"c{wait.job % COLOURS}", _LEFT - 10, middle - 3, 6, 6)
        self._paper.text(_LEFT - 14, middle + 4, between(wait.pod, _NAME), anchor="end")
        self._paper.line("wait", self._x(wait.start), middle, self._x(wait.end), middle, wait.says)
        self._paper.circle("mark", self._x(wait.start), middle, 2.2)
        for start, end, node in wait.nominated:
            held = f"{node} is held for {wait.pod}, {start:.1f} s to {end:.1f} s"
            self._paper.line("held", self._x(start), middle - 4, self._x(end), middle - 4, held)

    def _gang(self, gang: Gang) -> None:
        middle = self._y + _THIN / 2
        self._paper.text(14, middle + 4, "gang", "soft")
        self._paper.box(f"c{gang.job % COLOURS}", _LEFT - 10, middle - 3, 6, 6)
        self._paper.text(_LEFT - 14, middle + 4, between(gang.name, _NAME), anchor="end")
        first = gang.end if gang.bound is None else gang.bound
        self._paper.line("wait", self._x(gang.start), middle, self._x(max(first, gang.start)), middle)
        if gang.bound is not None:
            self._bracket(gang, gang.bound, middle)
        for mark in gang.marks:
            self._diamond(self._x(mark.at), middle, f"{gang.name}: {mark.says} at {mark.at:.1f} s")
        self._y += _THIN

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
        self._paper.text(left + 5, middle + 4, fitting(words, right - left))

    def _queues(self) -> None:
        for queue in self._timeline.queues:
            middle = self._y + _THIN / 2
            self._paper.text(14, middle + 4, "queue", "soft")
            self._paper.text(_LEFT - 14, middle + 4, between(queue.name, _NAME), anchor="end")
            for number, mark in enumerate(queue.marks):
                self._diamond(self._x(mark.at), middle, f"{queue.name}: {mark.says} at {mark.at:.1f} s")
                until = queue.marks[number + 1].at if number + 1 < len(queue.marks) else self._timeline.seconds
                room = self._x(until) - self._x(mark.at) - 8
                self._paper.text(self._x(mark.at) + 8, middle + 4, fitting(mark.says, room), "soft")
            self._y += _THIN
        self._y += _GAP if self._timeline.queues else 0

    def _lane(self, lane: Lane) -> None:
        self._paper.box("band", 10, self._y, WIDTH - 20, _ROW * lane.rows + 3, round_=3)
        self._paper.text(14, self._y + 13, between(lane.node, _NAME), "bold")
        if lane.unused:
            self._paper.text(_RIGHT, self._y + _ROW * lane.rows, f"and {lane.unused} GPUs nobody held", "soft", "end")
        for row in range(lane.rows):
            label = f"GPU {row}" if row < lane.gpus else "slot"
            self._paper.text(_LEFT - 6, self._y + 13 + _ROW * row, label, "soft", "end")
        for bar in lane.bars:
            self._bar(bar)
        for mark in lane.marks:
            x = self._x(mark.at)
            self._paper.path("mark", f"M{short(x - 4)} {short(self._y - 4)}h8l-4 6z", f"{lane.node}: {mark.says}")
            self._paper.text(x + 6, self._y - 1, fitting(mark.says, _RIGHT - x), "soft")
        self._y += _ROW * lane.rows + _GAP

    def _bar(self, bar: Bar) -> None:
        left, right = self._x(bar.bound), self._x(bar.end)
        for first, count in _runs(bar.rows):
            top, height = self._y + 2 + _ROW * first, _ROW * count - 2
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
            self._paper.text(left + 4, top + height / 2 + 4, fitting(bar.pod, right - left))

    def _arrows(self) -> None:
        for arrow in self._timeline.arrows:
            x, top = self._x(arrow.at), self._bar_tops.get(arrow.victim)
            if top is None:
                continue
            start = self._wait_rows.get(arrow.preemptor)
            if start is None:
                self._paper.path("arrow", f"M{short(x - 4)} {short(top + 3)}l8 8m0 -8l-8 8")
                continue
            lean = min(14.0, (top - start) / 3)
            high, low = f"{short(x - lean)} {short(start + lean)}", f"{short(x - lean)} {short(top - lean)}"
            bend = f"C{high} {low} {short(x)} {short(top + 1)}"
            self._paper.path("arrow", f"M{short(x - 6)} {short(start)}{bend}", more=' marker-end="url(#head)"')

    def _promises(self, bottom: float) -> None:
        """A line for each moment at which something held, its number above; moments too close share a badge."""
        groups: list[list[tuple[int, Sentence]]] = []
        for number, sentence in enumerate(self._timeline.sentences, 1):
            near = groups and self._x(sentence.at) - self._x(groups[-1][-1][1].at) < 4 * _BADGE
            if near and groups[-1][0][1].status == sentence.status:
                groups[-1].append((number, sentence))
            else:
                groups.append([(number, sentence)])
        for group in groups:
            (first, sentence), (last, _) = group[0], group[-1]
            x, good = self._x(sentence.at), "yes" if sentence.status == "passed" else "no"
            words = str(first) if first == last else f"{first}–{last}"
            half = max(_BADGE, 4 + len(words) * 3.4)
            center = min(x, _RIGHT + 16 - half)
            self._paper.line(good, x, 40, x, bottom)
            self._paper.box(f"{good}-dot", center - half, 40 - 2 * _BADGE + 4, 2 * half, 14, round_=7)
            self._paper.text(center, 40 - _BADGE + 7, words, "badge", "middle")

    def _sentences(self) -> None:
        for number, sentence in enumerate(self._timeline.sentences, 1):
            held = sentence.status == "passed"
            self._paper.text(14, self._y + 4, f"{number}", "bold")
            self._paper.text(36, self._y + 4, f"{'✓' if held else '✗'} {sentence.at:.1f} s")
            self._paper.text(104, self._y + 4, fitting(sentence.text, WIDTH - 120))
            self._y += 16

    def _legend(self) -> None:
        words = () if self._timeline.crowd else (_BARS, _LINES)
        for line in (*words, *self._timeline.left_out):
            self._paper.text(14, self._y + 6, line, "soft")
            self._y += 16

    def _diamond(self, x: float, y: float, says: str) -> None:
        self._paper.path("mark", f"M{short(x)} {short(y - 4)}l4 4l-4 4l-4 -4z", says)


def _runs(rows: list[int]) -> list[tuple[int, int]]:
    """Rows that lie together are drawn as one."""
    runs: list[tuple[int, int]] = []
    for row in sorted(rows):
        if runs and sum(runs[-1]) == row:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((row, 1))
    return runs
