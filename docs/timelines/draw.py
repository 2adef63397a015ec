"""The pictures of the five documents, from a real run: keeps their data beside them, and draws it.

muster run -m documents
python docs/timelines/draw.py results/latest    # data and pictures
python docs/timelines/draw.py                   # the pictures anew, after a change of how they are drawn
"""

from __future__ import annotations

import sys
from pathlib import Path

from muster.report.results import TIMELINE_DIRECTORY
from muster.report.timeline import from_json
from muster.report.timeline_svg import draw

HERE = Path(__file__).resolve().parent


def keep(results: Path) -> None:
    """What the run has seen of each document; one that did not run to its end is not kept."""
    for number in range(1, 6):
        content = (results / TIMELINE_DIRECTORY / f"DOC-{number}.json").read_bytes()
        if any(sentence.status != "passed" for sentence in from_json(content).sentences):
            raise SystemExit(f"DOC-{number} did not pass in {results}: nothing is drawn of it")
        (HERE / f"doc-{number}.json").write_bytes(content)


def redraw() -> None:
    for file in sorted(HERE.glob("*.json")):
        file.with_suffix(".svg").write_text(draw(from_json(file.read_bytes())), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        keep(Path(sys.argv[1]))
    redraw()
