"""Writes docs/behaviours.md from the features, and the schema of the ConformanceReport from its format.

`python docs/generate.py`; tests keep them together.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from muster.catalogue import Behaviour, read_features
from muster.report.conformance_format import schema

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "behaviours.md"
SCHEMA = ROOT / "docs" / "conformance.schema.json"


def page(behaviours: Iterable[Behaviour]) -> str:
    """One table per feature file: id, level, title."""
    lines = ["# What Muster judges", "", "Generated from features/ by `python docs/generate.py`."]
    ordered = sorted(behaviours, key=lambda one: (one.feature_file, one.id))
    for file, group in groupby(ordered, key=lambda one: one.feature_file):
        rows = list(group)
        lines += ["", f"## {rows[0].feature_title}", "", f"[{file.name}](../{file.relative_to(ROOT)})", ""]
        lines += ["| id | level | behaviour |", "|---|---|---|"]
        lines += [f"| {one.id} | {one.level} | {one.title} |" for one in rows]
    return "\n".join(lines) + "\n"


def current() -> str:
    return page(read_features(ROOT / "features").behaviours)


if __name__ == "__main__":
    PAGE.write_text(current())
    SCHEMA.write_text(json.dumps(schema(), indent=1) + "\n")
