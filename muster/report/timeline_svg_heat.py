"""The heat map of many nodes: one path per shade, so that a thousand nodes cost no more than thirty-two."""

from __future__ import annotations

from collections.abc import Callable

from muster.report.heat import SHADES
from muster.report.svg_paper import Paper, fitting, short
from muster.report.timeline import Crowd

_BAND, _CURVE, _GAP, _WORDS = 12, 34, 10, 14


def height_of(crowd: Crowd) -> float:
    """How much of the picture it takes."""
    return (_CURVE + _GAP) * (2 if any(crowd.evicted) else 1) + _BAND * len(crowd.fill) + _WORDS + _GAP


def draw_crowd(paper: Paper, crowd: Crowd, x: Callable[[float], float], top: float, right: float) -> None:
    """Waiting pods as a curve, evictions as ticks, then the bands."""
    y = _columns(paper, "waiting", crowd.waiting, crowd.step, x, top, "wait")
    if any(crowd.evicted):
        y = _columns(paper, "evicted", crowd.evicted, crowd.step, x, y, "no")
    shades: dict[int, list[str]] = {}
    for number, fill in enumerate(crowd.fill):
        low = y + _BAND * number
        paper.text(14, low + 10, fitting(crowd.bands[number], 196), "soft")
        for start, end, shade in _stretches(fill):
            if shade > 0:
                width = x(end * crowd.step) - x(start * crowd.step)
                box = f"M{short(x(start * crowd.step))} {short(low + 1)}h{short(width)}v{_BAND - 1}h-{short(width)}z"
                shades.setdefault(shade, []).append(box)
    bottom = y + _BAND * len(crowd.fill)
    paper.box("band", x(0), y, right - x(0), bottom - y)
    for shade, boxes in sorted(shades.items()):
        kind = "hot" if shade > SHADES else "heat"
        strength = f' fill-opacity="{min(1.0, shade / SHADES):.2f}"'
        paper.path(kind, "".join(boxes), _told(shade), strength)
    paper.text(
        14, bottom + _WORDS, "colour: the share of GPUs in use, from pale to full; red: more than there are", "soft"
    )


def _columns(
    paper: Paper, name: str, counts: list[int], step: float, x: Callable[[float], float], top: float, kind: str
) -> float:
    most = max(counts, default=0)
    paper.text(14, top + 14, name)
    paper.text(14, top + 28, f"at most {most}", "soft")
    base = top + _CURVE
    drawn = f"M{short(x(0))} {short(base)}"
    for number, count in enumerate(counts):
        drawn += f"V{short(base - (_CURVE - 6) * count / (most or 1))}H{short(x((number + 1) * step))}"
    paper.path(kind, drawn, more=' fill="none"')
    return base + _GAP


def _stretches(fill: list[int]) -> list[tuple[int, int, int]]:
    """Neighbouring columns of one shade are one box."""
    stretches: list[tuple[int, int, int]] = []
    for column, shade in enumerate(fill):
        if stretches and stretches[-1][2] == shade:
            stretches[-1] = (stretches[-1][0], column + 1, shade)
        else:
            stretches.append((column, column + 1, shade))
    return stretches


def _told(shade: int) -> str:
    return "more in use than there is" if shade > SHADES else f"up to {100 * min(shade + 1, SHADES) // SHADES} % in use"
