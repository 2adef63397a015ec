"""Draw the timelines of the five walk-throughs from a real run, and keep their data beside them.

muster run -m documents
python docs/timelines/draw.py results/latest    # data and pictures
python docs/timelines/draw.py                   # the pictures again, after a change of the drawing code
"""

from __future__ import annotations

import sys
from pathlib import Path

from muster.report.results import TIMELINE_DIRECTORY
from muster.report.timeline.svg import draw
from muster.report.timeline.timeline import from_json

HERE = Path(__file__).resolve().parent


def keep(results: Path) -> None:
    """Copy the timeline of each walk-through; one that did not pass is refused."""
    for number in range(1, 6):
        content = (results / TIMELINE_DIRECTORY / f"DOC-{number}.json").read_bytes()
        if any(step.status != "passed" for step in from_json(content).steps):
            raise SystemExit(f"DOC-{number} did not pass in {results}: it is not drawn")
        (HERE / f"doc-{number}.json").write_bytes(content)


def redraw() -> None:
    for file in sorted(HERE.glob("*.json")):
        file.with_suffix(".svg").write_text(draw(from_json(file.read_bytes())), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        keep(Path(sys.argv[1]))
    redraw()
