"""Where each row of a timeline lies: an arrow needs both its ends before either of them is drawn."""

from __future__ import annotations

from muster.report.svg_paper import WIDTH
from muster.report.timeline import Timeline
from muster.report.timeline_svg_heat import height_of

LEFT, RIGHT = 214, WIDTH - 18  # where time begins and ends
TOP = 66  # below the title, the seconds and the badges
ROW, THIN, GAP = 17, 15, 9
_MARK = 9  # more room above a lane with marks


class Layout:
    """All heights, in pixels from the top of the picture: the middle of thin rows, the upper edge of lanes."""

    def __init__(self, timeline: Timeline) -> None:
        self._seconds = timeline.seconds
        self._y = float(TOP) + (height_of(timeline.crowd) if timeline.crowd else 0)
        self.waits = self._thin(len(timeline.waits))
        self.gangs = self._thin(len(timeline.gangs))
        self.queues = self._thin(len(timeline.queues))
        self.lanes: list[float] = []
        for lane in timeline.lanes:
            self._y += _MARK if lane.marks else 0
            self.lanes.append(self._y)
            self._y += ROW * lane.rows + GAP
        self.bottom = self._y
        self.waiting = {wait.uid: y for wait, y in zip(timeline.waits, self.waits, strict=True)}
        self.bars = {
            bar.uid: y + 2 + ROW * min(bar.rows)
            for lane, y in zip(timeline.lanes, self.lanes, strict=True)
            for bar in lane.bars
        }

    def x(self, at: float) -> float:
        """Where a moment lies."""
        return LEFT + (RIGHT - LEFT) * min(1.0, at / self._seconds)

    def _thin(self, number: int) -> list[float]:
        middles = [self._y + THIN * (row + 0.5) for row in range(number)]
        self._y += THIN * number + (GAP if number else 0)
        return middles
