"""Writes docs/behaviours.md, docs/schedulers.md and the schema of the ConformanceReport from their sources.

`python docs/generate.py`; tests keep them together.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from muster.report.conformance_format import schema
from muster.schedulers import SCHEDULERS, Scheduler
from muster.suite.behaviours import Behaviour, read_features

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "behaviours.md"
SCHEDULERS_PAGE = ROOT / "docs" / "schedulers.md"
SCHEMA = ROOT / "docs" / "conformance.schema.json"


def page(behaviours: Iterable[Behaviour]) -> str:
    """One table per feature file: id, level, title."""
    lines = ["# Behaviours", "", "Generated from features/ by `python docs/generate.py`."]
    ordered = sorted(behaviours, key=lambda one: (one.feature_file, one.id))
    for file, group in groupby(ordered, key=lambda one: one.feature_file):
        rows = list(group)
        lines += ["", f"## {rows[0].feature_title}", "", f"[{file.name}](../{file.relative_to(ROOT)})", ""]
        lines += ["| id | level | behaviour |", "|---|---|---|"]
        lines += [f"| {one.id} | {one.level} | {one.title} |" for one in rows]
    return "\n".join(lines) + "\n"


def current() -> str:
    return page(read_features(ROOT / "features").behaviours)


def schedulers_page(built_in: Iterable[type[Scheduler]]) -> str:
    """One table, then for each scheduler its configurations and settings."""
    lines = [
        "# Schedulers",
        "",
        "Generated from muster/schedulers by `python docs/generate.py`. A claim links to its source.",
    ]
    lines += ["", "| `--scheduler` | claims | existing cluster |", "|---|---|---|"]
    details = []
    for scheduler in built_in:
        for configuration in scheduler.configurations:
            cells = f"`{_choice(scheduler, configuration)}`", _claims(scheduler, configuration), _on_existing(scheduler)
            lines.append(f"| {' | '.join(cells)} |")
        details += ["", f"## {scheduler.name}", "", inspect.cleandoc(scheduler.__doc__ or "")]
        if kinds := scheduler.dialect_class.created_kinds():
            details += ["", "Objects: " + ", ".join(f"{kind.kind} of {kind.api_version}" for kind in kinds) + "."]
        if scheduler.reported_settings:
            settings = "; ".join(f"{name}: {value}" for name, value in scheduler.reported_settings.items())
            details += ["", f"Settings that differ from production: {settings}."]
        if scheduler.excuses:
            details += ["", "Not asked of it, although it claims the capability:", ""]
            details += [f"- {excuse.text} ([source]({excuse.source}))" for excuse in scheduler.excuses]
    own = "| `mine=FILE` | those of [your description](your-scheduler.md) | as installed there |"
    return "\n".join([*lines, own, *details]) + "\n"


def _choice(scheduler: type[Scheduler], configuration: str) -> str:
    return scheduler.name if configuration == "default" else f"{scheduler.name}:{configuration}"


def _claims(scheduler: type[Scheduler], configuration: str) -> str:
    claims = scheduler.claims(configuration).items()
    return ", ".join(f"[{name}]({source if '://' in source else f'../{source}'})" for name, source in claims)


def _on_existing(scheduler: type[Scheduler]) -> str:
    if scheduler.existing_cluster_backoff is None:
        return "no"
    return "started beside it" if scheduler.name_beside_existing_cluster else "as installed there"


if __name__ == "__main__":
    PAGE.write_text(current())
    SCHEDULERS_PAGE.write_text(schedulers_page(SCHEDULERS))
    SCHEMA.write_text(json.dumps(schema(), indent=1) + "\n")
