"""The timeline as one SVG file: pending pods, pods on nodes, preemptions, and when each Then step was decided."""

from __future__ import annotations

from muster.report.timeline.svg_canvas import WIDTH, Canvas, cut_end, width_of
from muster.report.timeline.svg_rows import RIGHT, TOP, Layout, Rows, draw_heatmap
from muster.report.timeline.timeline import StepOutcome, Timeline

LARGEST = 60 * 1024  # bytes
_SECONDS = 36  # where the numbers of the axis stand
_BADGES, _BADGE = 50, 8  # the middle of the badges, and their radius
_MOST_TICKS = 8
_LINE = 16
_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)


def draw(timeline: Timeline) -> str:
    """The SVG, without tooltips where it would be too large with them."""
    drawn = _Drawing(timeline, tooltips=True).svg()
    return drawn if len(drawn.encode()) <= LARGEST else _Drawing(timeline, tooltips=False).svg()


class _Drawing:
    def __init__(self, timeline: Timeline, *, tooltips: bool) -> None:
        self._timeline = timeline
        self._canvas = Canvas(tooltips=tooltips)
        self._layout = Layout(timeline)
        self._y = self._layout.bottom

    def svg(self) -> str:
        shown = self._timeline
        self._canvas.text(14, 20, cut_end(shown.title or "what happened", WIDTH - 40), "bold")
        self._axis()
        if shown.heatmap:
            draw_heatmap(self._canvas, shown.heatmap, self._layout.x, TOP, RIGHT)
        Rows(self._canvas, self._layout).draw(shown)
        self._badges()
        self._y += 14
        self._step_list()
        self._legend()
        return self._canvas.finish(self._y + 6, shown.title or "timeline")

    def _axis(self) -> None:
        seconds = self._timeline.seconds
        step = next((one for one in _STEPS if seconds / one <= _MOST_TICKS), _STEPS[-1])
        for number in range(int(seconds / step) + 1):
            x = self._layout.x(number * step)
            self._canvas.line("rule", x, _SECONDS + 3, x, self._layout.bottom)
            self._canvas.text(x, _SECONDS, f"{number * step:g} s", "soft", "middle")

    def _badges(self) -> None:
        """A line for each decided step, its number above; steps too close to each other share a badge."""
        groups: list[list[tuple[int, StepOutcome]]] = []
        for number, step in enumerate(self._timeline.steps, 1):
            distance = self._layout.x(step.at) - self._layout.x(groups[-1][0][1].at) if groups else 0.0
            near = groups and distance < _half(_numbers(groups[-1])) + _half(str(number)) + 2
            if near and groups[-1][0][1].status == step.status:
                groups[-1].append((number, step))
            else:
                groups.append([(number, step)])
        taken = 0.0
        for group in groups:
            taken = self._badge(group[0][1], _numbers(group), taken)

    def _badge(self, step: StepOutcome, numbers: str, taken: float) -> float:
        """To the right of what is taken already; returns how far it reaches itself."""
        x, good = self._layout.x(step.at), "yes" if step.status == "passed" else "no"
        half = _half(numbers)
        center = min(max(x, taken + half + 1), RIGHT + 16 - half)
        self._canvas.line(good, x, _BADGES, x, self._layout.bottom)
        self._canvas.box(f"{good}-dot", center - half, _BADGES - 7, 2 * half, 14, round_=7)
        self._canvas.text(center, _BADGES + 4, numbers, "badge", "middle")
        return center + half

    def _step_list(self) -> None:
        for number, step in enumerate(self._timeline.steps, 1):
            passed = step.status == "passed"
            self._canvas.text(14, self._y + 4, f"{number}", "bold")
            self._canvas.text(36, self._y + 4, f"{'✓' if passed else '✗'} {step.at:.1f} s", "" if passed else "bad")
            self._canvas.text(104, self._y + 4, cut_end(step.text, WIDTH - 60), "" if passed else "bad")
            self._y += _LINE

    def _legend(self) -> None:
        for line in (*_lines(_legend_entries(self._timeline)), *self._timeline.left_out):
            self._canvas.text(14, self._y + 6, line, "soft")
            self._y += _LINE


def _numbers(group: list[tuple[int, StepOutcome]]) -> str:
    (first, _), (last, _) = group[0], group[-1]
    return str(first) if first == last else f"{first}–{last}"


def _half(numbers: str) -> float:
    """Of the width of a badge."""
    return max(_BADGE, 4 + len(numbers) * 3.4)


def _legend_entries(shown: Timeline) -> list[str]:
    """The legend of what this timeline contains."""
    bars = [bar for lane in shown.lanes for bar in lane.bars]
    states = [gang.marks for gang in shown.gangs if gang.marks] + [queue.marks for queue in shown.queues]
    entries = {
        "bar: a pod from bound to deleted, pale until it runs": bars,
        "hatched: terminating": [bar for bar in bars if bar.deleting is not None],
        "red frame: too few GPUs were free": [bar for bar in bars if bar.overcommitted],
        "line: a pending pod": shown.pending,
        "dashed: its nominated node": [pod for pod in shown.pending if pod.nominated],
        "red arrow: from a preemptor to its victim": [arrow for arrow in shown.arrows if arrow.preemptor],
        "red cross: a victim whose preemptor is not named": [arrow for arrow in shown.arrows if not arrow.preemptor],
        "bracket: a gang, filled while all members are bound": [gang for gang in shown.gangs if gang.bound is not None],
        "diamond: a new state of a PodGroup or a queue": states,
        "triangle: a change of the node": [lane for lane in shown.lanes if lane.marks],
        "badge: a Then step is decided": shown.steps,
    }
    return [text for text, seen in entries.items() if seen]


def _lines(parts: list[str]) -> list[str]:
    lines: list[str] = []
    for part in parts:
        if lines and width_of(f"{lines[-1]}; {part}") < WIDTH - 28:
            lines[-1] += f"; {part}"
        else:
            lines.append(part)
    return lines
