"""The timeline for a terminal: a line per row, a letter per moment. Small on purpose, the picture has the rest."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from muster.report.heat import SHADES
from muster.report.timeline import Bar, Crowd, Gang, Lane, Timeline, Wait

_LABEL = 20  # letters left of the rows
_BOUND, _RUNS, _LEAVES, _WAITS, _HELD = "░", "█", "▒", "·", "┄"
_FILL = " ▁▂▃▄▅▆▇█"
_MOST_LINES = 24
_MOST_BANDS = 8
_MOST_ARROWS = 6


def write(timeline: Timeline, width: int = 100) -> str:
    """At most about two dozen lines of at most `width` letters."""
    columns = max(20, width - _LABEL)
    body = _crowd(timeline.crowd, columns) if timeline.crowd else _rows(timeline, columns)
    if len(body) > _MOST_LINES:
        body = [*body[: _MOST_LINES - 1], f"… and {len(body) - _MOST_LINES + 1} more rows, see the picture"]
    lines = [_axis(timeline.seconds, columns), *body, *_preempted(timeline, width)]
    for number, sentence in enumerate(timeline.sentences, 1):
        held = "held" if sentence.status == "passed" else sentence.status
        lines.append(_short(f"{f'{number} {held}':{_LABEL}}{sentence.at:5.1f} s  {sentence.text}", width))
    if not timeline.crowd:
        lines.append(f"{'':{_LABEL}}{_BOUND} bound {_RUNS} runs {_LEAVES} leaves {_WAITS} waits {_HELD} a node is held")
    return "\n".join(lines)


def _preempted(timeline: Timeline, width: int) -> list[str]:
    """What arrows are in a picture."""
    names = {bar.uid: bar.pod for lane in timeline.lanes for bar in lane.bars}
    names |= {wait.uid: wait.pod for wait in timeline.waits}
    pairs = [(one.at, names.get(one.victim, "a pod"), names.get(one.preemptor, "?")) for one in timeline.arrows]
    told = [f"{'preempted':{_LABEL}}{at:5.1f} s  {victim} for {preemptor}" for at, victim, preemptor in pairs]
    shown = [_short(line, width) for line in told[:_MOST_ARROWS]]
    return shown + ([f"… and {len(told) - len(shown)} more were preempted"] if len(told) > len(shown) else [])


def _axis(seconds: float, columns: int) -> str:
    end = f"{seconds:.1f} s"
    return f"{'':{_LABEL}}0 s{end:>{columns - 3}}"


def _rows(timeline: Timeline, columns: int) -> list[str]:
    def column(at: float) -> int:
        return min(columns, round(columns * at / timeline.seconds))

    rows = [_wait(wait, columns, column) for wait in timeline.waits]
    rows += [_gang(gang, columns, column) for gang in timeline.gangs]
    for lane in timeline.lanes:
        rows += _lane(lane, columns, timeline.seconds)
    return rows


def _wait(wait: Wait, columns: int, column: Callable[[float], int]) -> str:
    cells = [" "] * columns
    start, end = column(wait.start), column(wait.end)
    cells[start:end] = _WAITS * (end - start)
    for since, until, _ in wait.nominated:
        cells[column(since) : column(until)] = _HELD * (column(until) - column(since))
    return f"{_name(wait.pod):{_LABEL}}{''.join(cells)}".rstrip()


def _gang(gang: Gang, columns: int, column: Callable[[float], int]) -> str:
    """Waits until its first pod is bound, then a bracket, doubled from the moment at which all are."""
    cells = [" "] * (columns + 1)
    start, end = column(gang.start), column(gang.end)
    bound = end if gang.bound is None else column(gang.bound)
    whole = end if gang.whole is None else column(gang.whole)
    cells[start:bound] = _WAITS * (bound - start)
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
            named = _named(drawn, bar.pod) if number == 0 else drawn
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
    leaving = end if bar.deleting is None else round(bar.deleting * scale)
    return [_LEAVES if at >= leaving else _RUNS if at >= running else _BOUND for at in range(start, end)]


def _named(drawn: list[str], name: str) -> list[str]:
    """The name inside the bar, where the bar stays visible on both sides."""
    room = len(drawn) - 4
    shown = name if len(name) <= room else _name(name, room) if room > 3 else ""
    return [*drawn[:1], *f" {shown} ", *drawn[len(shown) + 3 :]] if shown else drawn


def _crowd(crowd: Crowd, columns: int) -> list[str]:
    size = -(-len(crowd.fill) // _MOST_BANDS) or 1
    rows = [_levels("waiting", crowd.waiting, columns)]
    rows += [_levels("evicted", crowd.evicted, columns)] if any(crowd.evicted) else []
    for first in range(0, len(crowd.fill), size):
        band = crowd.fill[first : first + size]
        means = [sum(max(0, shade) for shade in column) / len(band) for column in zip(*band, strict=True)]
        cells = [_FILL[min(SHADES, ceil(mean))] for mean in means]
        rows.append(f"{_name(crowd.bands[first]):{_LABEL}}{''.join(_stretched(cells, columns))}".rstrip())
    return rows


def _levels(name: str, counts: list[int], columns: int) -> str:
    most = max(counts, default=0)
    cells = [_FILL[-(-SHADES * count // most) if most else 0] for count in counts]
    return f"{f'{name} ≤ {most}':{_LABEL}}{''.join(_stretched(cells, columns))}".rstrip()


def _stretched(cells: list[str], columns: int) -> list[str]:
    return [cells[number * len(cells) // columns] for number in range(columns)] if cells else []


def _name(text: str, longest: int = _LABEL - 1) -> str:
    """Names differ at their ends: what is left out is their middle."""
    if len(text) <= longest:
        return text
    tail = longest // 2
    return f"{text[: longest - tail - 1]}…{text[-tail:]}"


def _short(text: str, longest: int) -> str:
    """Cut where it would leave no blank after it."""
    return text if len(text) < longest else f"{text[: longest - 2]}…"
