"""The timeline for a terminal: a line per row, a character per moment. Small on purpose: the SVG has the rest."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from muster.report.timeline.timeline import SHADES, Bar, Gang, Heatmap, Lane, PendingPod, Timeline

_LABEL = 20  # letters left of the rows
_BOUND, _RUNNING, _TERMINATING, _PENDING, _NOMINATED = "░", "█", "▒", "·", "┄"
_LEGEND = f"{_BOUND} bound {_RUNNING} running {_TERMINATING} terminating {_PENDING} pending {_NOMINATED} nominated"
_FILL = " ▁▂▃▄▅▆▇█"
_MOST_LINES = 24
_MOST_BANDS = 8
_MOST_ARROWS = 6


def write(timeline: Timeline, width: int = 100) -> str:
    """At most about two dozen lines of at most `width` letters."""
    columns = max(20, width - _LABEL)
    body = _heatmap(timeline.heatmap, columns) if timeline.heatmap else _rows(timeline, columns)
    if len(body) > _MOST_LINES:
        body = [*body[: _MOST_LINES - 1], f"… and {len(body) - _MOST_LINES + 1} more rows, see the SVG"]
    lines = [_axis(timeline.seconds, columns), *body, *_preempted(timeline, width)]
    for number, step in enumerate(timeline.steps, 1):
        lines.append(_short(f"{f'{number} {step.status}':{_LABEL}}{step.at:5.1f} s  {step.text}", width))
    if not timeline.heatmap:
        lines.append(f"{'':{_LABEL}}{_LEGEND}")
    return "\n".join(lines)


def _preempted(timeline: Timeline, width: int) -> list[str]:
    """The arrows of the SVG as lines."""
    names = {bar.uid: bar.pod for lane in timeline.lanes for bar in lane.bars}
    names |= {pod.uid: pod.pod for pod in timeline.pending}
    pairs = [(one.at, names.get(one.victim, "a pod"), names.get(one.preemptor, "?")) for one in timeline.arrows]
    lines = [f"{'preempted':{_LABEL}}{at:5.1f} s  {victim} for {preemptor}" for at, victim, preemptor in pairs]
    shown = [_short(line, width) for line in lines[:_MOST_ARROWS]]
    return shown + ([f"… and {len(lines) - len(shown)} more were preempted"] if len(lines) > len(shown) else [])


def _axis(seconds: float, columns: int) -> str:
    end = f"{seconds:.1f} s"
    return f"{'':{_LABEL}}0 s{end:>{columns - 3}}"


def _rows(timeline: Timeline, columns: int) -> list[str]:
    def column(at: float) -> int:
        return min(columns, round(columns * at / timeline.seconds))

    rows = [_pending(pod, columns, column) for pod in timeline.pending]
    rows += [_gang(gang, columns, column) for gang in timeline.gangs]
    for lane in timeline.lanes:
        rows += _lane(lane, columns, timeline.seconds)
    return rows


def _pending(pod: PendingPod, columns: int, column: Callable[[float], int]) -> str:
    cells = [" "] * columns
    start, end = column(pod.start), column(pod.end)
    cells[start:end] = _PENDING * (end - start)
    for since, until, _ in pod.nominated:
        cells[column(since) : column(until)] = _NOMINATED * (column(until) - column(since))
    return f"{_name(pod.pod):{_LABEL}}{''.join(cells)}".rstrip()


def _gang(gang: Gang, columns: int, column: Callable[[float], int]) -> str:
    """Pending until its first pod is bound, then a bracket, doubled from the moment at which all are."""
    cells = [" "] * (columns + 1)
    start, end = column(gang.start), column(gang.end)
    bound = end if gang.bound is None else column(gang.bound)
    whole = end if gang.whole is None else column(gang.whole)
    cells[start:bound] = _PENDING * (bound - start)
    if bound < end:
        cells[bound:end] = "─" * (whole - bound) + "═" * (end - whole)
        cells[bound], cells[end - 1] = "[", "]"
    return f"gang {_name(gang.name, _LABEL - 6):{_LABEL - 5}}{''.join(cells[:columns])}".rstrip()


def _lane(lane: Lane, columns: int, seconds: float) -> list[str]:
    rows = [[" "] * columns for _ in range(lane.rows)]
    for bar in lane.bars:
        drawn = _bar(bar, columns, seconds)
        start = min(columns - 1, round(columns * bar.bound / seconds))
        for number, row in enumerate(bar.rows):
            named = _with_name(drawn, bar.pod) if number == 0 else drawn
            rows[row][start : start + len(named)] = named[: columns - start]
    label = _name(lane.node, _LABEL - 5)
    return [
        f"{label if number == 0 else '':{_LABEL - 4}}{_number(lane, number):>3} {''.join(row)}".rstrip()
        for number, row in enumerate(rows)
    ]


def _number(lane: Lane, row: int) -> str:
    """Of a GPU, of a GPU and all after it, or of none."""
    return str(row) if row < lane.gpus else f"{row}+" if lane.free and row == lane.gpus else "-"


def _bar(bar: Bar, columns: int, seconds: float) -> list[str]:
    scale = columns / seconds
    start, end = round(bar.bound * scale), max(round(bar.end * scale), round(bar.bound * scale) + 1)
    running = end if bar.running is None else round(bar.running * scale)
    terminating = end if bar.deleting is None else round(bar.deleting * scale)
    return [_TERMINATING if at >= terminating else _RUNNING if at >= running else _BOUND for at in range(start, end)]


def _with_name(drawn: list[str], name: str) -> list[str]:
    """The name inside the bar, where the bar stays visible on both sides."""
    space = len(drawn) - 4
    shown = name if len(name) <= space else _name(name, space) if space > 3 else ""
    return [*drawn[:1], *f" {shown} ", *drawn[len(shown) + 3 :]] if shown else drawn


def _heatmap(heatmap: Heatmap, columns: int) -> list[str]:
    size = -(-len(heatmap.fill) // _MOST_BANDS) or 1
    rows = [_levels("pending", heatmap.pending, columns)]
    rows += [_levels("evicted", heatmap.evicted, columns)] if any(heatmap.evicted) else []
    for first in range(0, len(heatmap.fill), size):
        band = heatmap.fill[first : first + size]
        means = [sum(max(0, shade) for shade in column) / len(band) for column in zip(*band, strict=True)]
        cells = [_FILL[min(SHADES, ceil(mean))] for mean in means]
        rows.append(f"{_name(heatmap.bands[first]):{_LABEL}}{''.join(_stretched(cells, columns))}".rstrip())
    return rows


def _levels(name: str, counts: list[int], columns: int) -> str:
    most = max(counts, default=0)
    cells = [_FILL[-(-SHADES * count // most) if most else 0] for count in counts]
    return f"{f'{name} ≤ {most}':{_LABEL}}{''.join(_stretched(cells, columns))}".rstrip()


def _stretched(cells: list[str], columns: int) -> list[str]:
    return [cells[number * len(cells) // columns] for number in range(columns)] if cells else []


def _name(text: str, longest: int = _LABEL - 1) -> str:
    """Names differ at their ends: the middle is left out."""
    if len(text) <= longest:
        return text
    tail = longest // 2
    return f"{text[: longest - tail - 1]}…{text[-tail:]}"


def _short(text: str, longest: int) -> str:
    """One character shorter than the line, so that a blank follows."""
    return text if len(text) < longest else f"{text[: longest - 2]}…"
