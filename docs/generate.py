"""Writes docs/behaviours.md, docs/schedulers.md and the schema of the ConformanceReport from their sources.

Of docs/reference-scheduler.md it writes the tables between two comments: what the reference scheduler reads; of
docs/kind.md which behaviours run on real nodes.
`python docs/generate.py`; tests keep them together.
"""

from __future__ import annotations

import inspect
import json
import statistics
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from bench.node_outcomes import DIFFERENCES, Outcome, pairs, read_outcomes, same_verdict
from muster.cluster.kind.kind_cluster import WORKERS
from muster.cluster.kind.machine_files import CPUS, GIBIBYTES
from muster.environment.node_plan import StepText, Workers, plan_nodes
from muster.operators import OPERATORS
from muster.report.conformance_format import schema
from muster.schedulers import SCHEDULERS, Scheduler
from muster.schedulers.unclaimed import absence
from muster.suite.behaviours import CAPABILITIES, Behaviour, id_order, read_features
from scheduler.runtime.field_table import KINDS, PARTS, Kind, Row, Support

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "behaviours.md"
SCHEDULERS_PAGE = ROOT / "docs" / "schedulers.md"
SCHEMA = ROOT / "docs" / "conformance.schema.json"
REFERENCE_PAGE = ROOT / "docs" / "reference-scheduler.md"
TABLES_BEGIN = "<!-- generated from scheduler/runtime/field_table.py by `python docs/generate.py` -->"
KIND_PAGE = ROOT / "docs" / "kind.md"
NODES_BEGIN = "<!-- generated from muster/environment/node_outcomes.json by `python docs/generate.py` -->"
TABLES_END = "<!-- end of the generated tables -->"


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


def kind_page(text: str) -> str:
    """docs/kind.md with new tables of what runs on real nodes, and of the verdicts on both types of nodes."""
    return _with_tables(text, NODES_BEGIN, f"\n{_nodes_table()}\n\n{_comparison(read_outcomes())}\n")


def _comparison(outcomes: Sequence[Outcome]) -> str:
    """One line for each scheduler; and one for each verdict that differs, with the reason."""
    lines = ["| scheduler | behaviours on both | runs on simulated and real nodes | same verdict | median seconds |"]
    lines += ["|---|---|---|---|---|"]
    different = []
    found = pairs(outcomes)
    for scheduler in sorted({simulated.scheduler for simulated, _ in found}):
        own = [two for two in found if two[0].scheduler == scheduler]
        runs = [sum(one.runs for one in side) for side in zip(*own, strict=True)]
        seconds = [statistics.median(one.seconds / one.runs for one in side) for side in zip(*own, strict=True)]
        other = [two for two in own if not same_verdict(*two)]
        different += other
        cells = len(own), f"{runs[0]}, {runs[1]}", len(own) - len(other), f"{seconds[0]:.1f}, {seconds[1]:.1f}"
        lines.append(f"| {scheduler} | {' | '.join(map(str, cells))} |")
    lines += ["", "| differs | simulated | real | because |", "|---|---|---|---|"] if different else []
    for simulated, real in different:
        why = DIFFERENCES.get((real.id, real.scheduler), "not explained yet")
        lines.append(f"| {real.id}, {real.scheduler} | {_verdicts(simulated)} | {_verdicts(real)} | {why} |")
    return "\n".join(lines)


def _verdicts(outcome: Outcome) -> str:
    return ", ".join(f"{number} {verdict}" for verdict, number in outcome.verdicts.items())


def _nodes_table() -> str:
    """The ids by where they run; of an outline all rows, which declare the same nodes."""
    workers = Workers(tuple(f"worker-{number}" for number in range(WORKERS)), CPUS, f"{GIBIBYTES}Gi")
    found: dict[str, list[str]] = {}
    for one in sorted(read_features(ROOT / "features").behaviours, key=lambda one: id_order(one.id)):
        row = one.examples[0] if one.examples else {}
        steps = [StepText(step.text, step.table).with_values(row) for step in one.steps]
        found.setdefault(plan_nodes(one.id, steps, workers).label, []).append(one.id)
    lines = ["| nodes | behaviours | |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {label} | {len(ids)} | {', '.join(ids)} |" for label, ids in found.items())])


def schedulers_page(built_in: Iterable[type[Scheduler]]) -> str:
    """One table, then for each scheduler its configurations and settings, and what operators are not asked for."""
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
        details += [*_differences(scheduler), *_not_asked(scheduler), *_unclaimed(scheduler)]
    for operator in OPERATORS:
        if operator.excuses:
            details += ["", f"## Operator {operator.name}", "", inspect.cleandoc(operator.__doc__ or "")]
            details += ["", "Not asked of it:", ""]
            details += [f"- {excuse.text} ([source]({excuse.source}))" for excuse in operator.excuses]
    own = "| `mine=FILE` | those of [your description](your-scheduler.md) | as installed there |"
    return "\n".join([*lines, own, *details]) + "\n"


def _differences(scheduler: type[Scheduler]) -> list[str]:
    """One table of what Muster configures otherwise than the project, and of what depends on it."""
    if not scheduler.differences:
        return []
    lines = ["", "Configured differently from what the project ships:", ""]
    lines += ["| setting | shipped | here | because | findings that might depend on it |", "|---|---|---|---|---|"]
    for each in scheduler.differences:
        setting = f"{each.setting} ({', '.join(each.only)})" if each.only else each.setting
        findings = ". ".join(filter(None, (", ".join(each.findings), each.seen))) or "none"
        lines.append(f"| {' | '.join((setting, each.shipped, each.here, each.because, findings))} |")
    return lines


def _not_asked(scheduler: type[Scheduler]) -> list[str]:
    """What it is excused from, by behaviour, and by feature where a scenario finds out."""
    rows = [*scheduler.excuses, *scheduler.dialect_class.unsupported]
    if not rows:
        return []
    lines = ["", "Not asked of it, although it claims the capability:", ""]
    return [*lines, *(f"- {each.text} ([source]({_link(each.source)}))" for each in rows)]


def _unclaimed(scheduler: type[Scheduler]) -> list[str]:
    """Why it does not claim the rest."""
    found: dict[str, list[str]] = {}
    for configuration in scheduler.configurations:
        for capability in CAPABILITIES:
            why = absence(scheduler.name, configuration, capability)
            if capability not in scheduler.claims(configuration) and why:
                line = f"{capability}: {why.because} ([source]({_link(why.source)}))"
                found.setdefault(line, []).append(configuration)
    if not found:
        return []
    lines = ["", "Not claimed:", ""]
    for line, configurations in found.items():
        everywhere = len(configurations) == len(scheduler.configurations)
        lines.append(f"- {line}" if everywhere else f"- in {', '.join(f'`{each}`' for each in configurations)}, {line}")
    return lines


def _link(source: str) -> str:
    """From a page in docs/: a path is one of the repository."""
    return source if "://" in source else f"../{source}"


def _choice(scheduler: type[Scheduler], configuration: str) -> str:
    return scheduler.name if configuration == "default" else f"{scheduler.name}:{configuration}"


def _claims(scheduler: type[Scheduler], configuration: str) -> str:
    claims = scheduler.claims(configuration).items()
    return ", ".join(f"[{name}]({_link(source)})" for name, source in claims)


def _on_existing(scheduler: type[Scheduler]) -> str:
    if scheduler.existing_cluster_backoff is None:
        return "no"
    return "started beside it" if scheduler.name_beside_existing_cluster else "as installed there"


def reference_page(text: str) -> str:
    """The page with new tables of fields; the rest of it is written by hand."""
    tables = "\n\n".join(_fields_of(kind) for kind in KINDS)
    return _with_tables(text, TABLES_BEGIN, f"\n\n{tables}\n\n")


def _with_tables(text: str, begin: str, tables: str) -> str:
    """The page with these tables between the two comments."""
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(TABLES_END)
    return f"{before}{begin}{tables}{TABLES_END}{after}"


def _fields_of(kind: Kind) -> str:
    """One table for each kind: the honoured fields first, then the refused ones."""
    rows = [
        *_rows(kind.spec),
        *(("annotation", row) for row in kind.annotations),
        *(("label", row) for row in kind.labels),
    ]
    lines = [f"### {kind.title}", "", "| where | field | | |", "|---|---|---|---|"]
    for supports in ((Support.HONOURED, Support.NESTED), (Support.REFUSED,), (Support.IRRELEVANT,)):
        for place, row in rows:
            if row.support in supports and row.note:
                names = ", ".join(f"`{field}`" for field in row.fields)
                support = f"see {row.part}" if row.part else row.support.value
                lines.append(f"| {place} | {names} | {support} | {_note(row)} |")
    return "\n".join(lines)


def _rows(part: str) -> list[tuple[str, Row]]:
    """The rows of a part and of those nested in it: by their path, or by the type where several paths lead there."""
    paths: dict[str, list[str]] = {}
    _collect(part, "spec", paths)
    places = {found: f"`{where[0]}`" if len(where) == 1 else found for found, where in paths.items()}
    places |= {row.part: row.part for found in paths for row in PARTS[found] if row.part and row.note}
    return [(places[found], row) for found in paths for row in PARTS[found]]


def _collect(part: str, path: str, paths: dict[str, list[str]]) -> None:
    paths.setdefault(part, []).append(path)
    for row in PARTS[part]:
        for field in row.fields if row.support is Support.NESTED else ():
            _collect(row.part, f"{path}.{field}", paths)


def _note(row: Row) -> str:
    return row.note + (f"; not refused: {', '.join(f'`{value}`' for value in row.met)}" if row.met else "")


if __name__ == "__main__":
    REFERENCE_PAGE.write_text(reference_page(REFERENCE_PAGE.read_text()))
    PAGE.write_text(current())
    KIND_PAGE.write_text(kind_page(KIND_PAGE.read_text()))
    SCHEDULERS_PAGE.write_text(schedulers_page(SCHEDULERS))
    SCHEMA.write_text(json.dumps(schema(), indent=1) + "\n")
