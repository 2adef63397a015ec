"""The timeline as one SVG file: who waited, who sat where, who had to go for whom, and when each promise held."""

from __future__ import annotations

from muster.report.svg_paper import WIDTH, Paper, fitting, width_of
from muster.report.timeline import Sentence, Timeline
from muster.report.timeline_layout import RIGHT, TOP, Layout
from muster.report.timeline_svg_heat import draw_crowd
from muster.report.timeline_svg_rows import Rows

LARGEST = 60 * 1024  # bytes
_SECONDS = 36  # where the numbers of the axis stand
_BADGES, _BADGE = 50, 8  # the middle of the badges, and their radius
_MOST_TICKS = 8
_LINE = 16
_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)


def draw(timeline: Timeline) -> str:
    """The picture, without its tooltips where it would be too large with them."""
    drawn = _Drawing(timeline, tooltips=True).svg()
    return drawn if len(drawn.encode()) <= LARGEST else _Drawing(timeline, tooltips=False).svg()


class _Drawing:
    def __init__(self, timeline: Timeline, *, tooltips: bool) -> None:
        self._timeline = timeline
        self._paper = Paper(tooltips=tooltips)
        self._layout = Layout(timeline)
        self._y = self._layout.bottom

    def svg(self) -> str:
        shown = self._timeline
        self._paper.text(14, 20, fitting(shown.title or "what happened", WIDTH - 40), "bold")
        self._axis()
        if shown.crowd:
            draw_crowd(self._paper, shown.crowd, self._layout.x, TOP, RIGHT)
        Rows(self._paper, self._layout).draw(shown)
        self._promises()
        self._y += 14
        self._sentences()
        self._legend()
        return self._paper.finish(self._y + 6, shown.title or "timeline")

    def _axis(self) -> None:
        seconds = self._timeline.seconds
        step = next((one for one in _STEPS if seconds / one <= _MOST_TICKS), _STEPS[-1])
        for number in range(int(seconds / step) + 1):
            x = self._layout.x(number * step)
            self._paper.line("rule", x, _SECONDS + 3, x, self._layout.bottom)
            self._paper.text(x, _SECONDS, f"{number * step:g} s", "soft", "middle")

    def _promises(self) -> None:
        """A line for each moment at which something held, its number above; moments too close share a badge."""
        groups: list[list[tuple[int, Sentence]]] = []
        for number, sentence in enumerate(self._timeline.sentences, 1):
            room = self._layout.x(sentence.at) - self._layout.x(groups[-1][0][1].at) if groups else 0.0
            near = groups and room < _half(_words(groups[-1])) + _half(str(number)) + 2
            if near and groups[-1][0][1].status == sentence.status:
                groups[-1].append((number, sentence))
            else:
                groups.append([(number, sentence)])
        taken = 0.0
        for group in groups:
            taken = self._badge(group[0][1], _words(group), taken)

    def _badge(self, sentence: Sentence, words: str, taken: float) -> float:
        """To the right of what is taken already; returns how far it reaches itself."""
        x, good = self._layout.x(sentence.at), "yes" if sentence.status == "passed" else "no"
        half = _half(words)
        center = min(max(x, taken + half + 1), RIGHT + 16 - half)
        self._paper.line(good, x, _BADGES, x, self._layout.bottom)
        self._paper.box(f"{good}-dot", center - half, _BADGES - 7, 2 * half, 14, round_=7)
        self._paper.text(center, _BADGES + 4, words, "badge", "middle")
        return center + half

    def _sentences(self) -> None:
        for number, sentence in enumerate(self._timeline.sentences, 1):
            held = sentence.status == "passed"
            self._paper.text(14, self._y + 4, f"{number}", "bold")
            self._paper.text(36, self._y + 4, f"{'✓' if held else '✗'} {sentence.at:.1f} s", "" if held else "bad")
            self._paper.text(104, self._y + 4, fitting(sentence.text, WIDTH - 60), "" if held else "bad")
            self._y += _LINE

    def _legend(self) -> None:
        for line in (*_lines(_explained(self._timeline)), *self._timeline.left_out):
            self._paper.text(14, self._y + 6, line, "soft")
            self._y += _LINE


def _words(group: list[tuple[int, Sentence]]) -> str:
    (first, _), (last, _) = group[0], group[-1]
    return str(first) if first == last else f"{first}–{last}"


def _half(words: str) -> float:
    """Of the width of a badge."""
    return max(_BADGE, 4 + len(words) * 3.4)


def _explained(shown: Timeline) -> list[str]:
    """Only what is in the picture."""
    bars = [bar for lane in shown.lanes for bar in lane.bars]
    states = [gang.marks for gang in shown.gangs if gang.marks] + [queue.marks for queue in shown.queues]
    words = {
        "bar: a pod from bound to gone, pale until it runs": bars,
        "hatched: it is asked to go": [bar for bar in bars if bar.deleting is not None],
        "red frame: there was no room for it": [bar for bar in bars if bar.over],
        "line: a pod waits": shown.waits,
        "dashed: a node is held for it": [wait for wait in shown.waits if wait.nominated],
        "red arrow: from a preemptor to its victim": [arrow for arrow in shown.arrows if arrow.preemptor],
        "red cross: a victim of nobody knows whom": [arrow for arrow in shown.arrows if not arrow.preemptor],
        "bracket: a gang, filled while it is whole": [gang for gang in shown.gangs if gang.bound is not None],
        "diamond: a new state of a gang or a queue": states,
        "triangle: a change of the node": [lane for lane in shown.lanes if lane.marks],
        "badge: a promise is decided": shown.sentences,
    }
    return [text for text, seen in words.items() if seen]


def _lines(parts: list[str]) -> list[str]:
    lines: list[str] = []
    for part in parts:
        if lines and width_of(f"{lines[-1]}; {part}") < WIDTH - 28:
            lines[-1] += f"; {part}"
        else:
            lines.append(part)
    return lines
