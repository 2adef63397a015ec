"""Final output of a run: a line per behaviour, the failure report of every failed one, counts and conclusion.

On a terminal with rich, elsewhere as plain aligned text without a width, so that nothing is cut off in a log.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from muster.report import ci_output
from muster.report.conclusion import Run, conclusion, counts
from muster.report.results import TIMELINE_DIRECTORY, Result
from muster.report.sanitize import cut, plain
from muster.report.timeline import text
from muster.report.timeline.timeline import from_json
from muster.suite.behaviours import id_order
from muster.verdicts import Verdict

STYLES = {
    Verdict.PASSED: "green",
    Verdict.FAILED: "bold red",
    Verdict.ERROR: "bold magenta",
    Verdict.NOT_SUPPORTED: "dim",
    Verdict.NOT_STAGED: "dim",
    Verdict.SKIPPED: "dim",
}
_UNSTABLE = "yellow"
_INDENT = "  "
_CLUSTER = "†"  # after a level: the scenario tests the cluster, not the scheduler
_LONGEST_REPORT = 8_000  # characters
_LABELLED = re.compile(r"(?!nodes )(?P<label>[a-z]+ +)\S")  # `seen     two victims`, but no row of the table of nodes
_COMMAND = re.compile(r"\bmuster [a-z]")
_USUAL_WIDTH, _WIDEST_TIMELINE = 100, 160
_RIGHT, _WRAPS = (
    {"seconds"},
    {"title", "nodes"},
)  # columns that are aligned to the right; those that may take several lines


@dataclass(frozen=True)
class Row:
    """One behaviour, over all its rounds."""

    cells: dict[str, str]  # by column heading, in their order
    style: str


def result_line(result: Result) -> str:
    """One result on one line, while the run continues."""
    turn = f" (round {result.round}/{result.rounds})" if result.rounds > 1 else ""
    return f"{result.name:8} {result.verdict:13} {result.seconds:6.1f} s  {result.title}{turn}"


def rows(results: Iterable[Result]) -> list[Row]:
    """Sorted by id, rounds folded into one row."""
    by_name: dict[str, list[Result]] = {}
    for result in sorted(results, key=lambda result: (id_order(result.name), result.round)):
        by_name.setdefault(result.name, []).append(result)
    found = [_row(name, rounds) for name, rounds in by_name.items()]
    if not any(row.cells["nodes"] for row in found):
        for row in found:
            del row.cells["nodes"]
    return found


def _row(name: str, rounds: list[Result]) -> Row:
    first, counted = rounds[0], Counter(result.verdict for result in rounds)
    verdict, style = str(first.verdict), STYLES[first.verdict]
    if len(counted) > 1:
        detail = ", ".join(f"{number} {each}" for each, number in counted.most_common() if each is not Verdict.PASSED)
        verdict, style = f"unstable {counted[Verdict.PASSED]}/{len(rounds)} ({detail})", _UNSTABLE
    elif first.rounds > 1:
        verdict = f"{verdict} {len(rounds)}/{first.rounds}"
    level = f"{first.level} {_CLUSTER}" if first.tests_the_cluster else first.level
    mean = sum(result.seconds for result in rounds) / len(rounds)
    cells = {"id": name, "level": level, "verdict": verdict, "seconds": f"{mean:.1f}", "title": first.title}
    return Row(cells | {"nodes": first.nodes}, style)


def print_report(run: Run, out: TextIO, *, slowest: int) -> None:
    """Print everything; the conclusion comes last, where a reader looks when a command ends."""
    with ci_output.github_commands_disabled(out):
        console = Console(file=out, highlight=False, soft_wrap=True)  # a command to copy stays on one line
        _print_all(run, console, slowest)
    ci_output.write_github_output(run.results, f"{conclusion(run)} ({counts(run)})", run.environment, out)


def _print_all(run: Run, console: Console, slowest: int) -> None:
    if run.results:
        _print_table(console, rows(run.results))
        if any(result.tests_the_cluster for result in run.results):
            console.print(Text(f"{_CLUSTER} tests the cluster, not the scheduler", style="dim"))
        _print_durations(console, run.results, slowest)
    for result in _once_per_behaviour(run.results):
        _print_failure(console, run, result)
    console.print()
    for name, value in run.environment.items():
        console.print(Text(f"{name}: {value}", style="dim"))
    console.print(Text(counts(run)))
    console.print(Text(f"results: {run.directory}"))
    console.print(Text(conclusion(run), style="bold"))


def _print_table(console: Console, lines: Sequence[Row]) -> None:
    if console.is_terminal:
        shown = Table(box=None, pad_edge=False, header_style="bold")
        for heading in lines[0].cells:
            shown.add_column(heading, justify="right" if heading in _RIGHT else "left", no_wrap=heading not in _WRAPS)
        for row in lines:
            shown.add_row(*(Text(cell) for cell in row.cells.values()), style=row.style)
        console.print(shown, soft_wrap=False)
        return
    table = [{heading: heading for heading in lines[0].cells}, *(row.cells for row in lines)]
    widths = {heading: max(len(cells[heading]) for cells in table) for heading in table[0]}
    for cells in table:
        aligned = [
            cell.rjust(widths[heading]) if heading in _RIGHT else cell.ljust(widths[heading])
            for heading, cell in cells.items()
        ]
        console.print(Text("  ".join(aligned).rstrip()))


def _print_durations(console: Console, results: Sequence[Result], slowest: int) -> None:
    slowest_rounds = {result.name: result for result in sorted(results, key=_total_seconds)}
    ranked = sorted(slowest_rounds.values(), key=_total_seconds, reverse=True)[: max(slowest, 0)]
    if not ranked:
        return
    console.print(Text("\nslowest scenarios", style="bold"))
    for result in ranked:
        parts = f"set-up {result.setup_seconds:.1f}, steps {result.seconds:.1f}, clean-up {result.teardown_seconds:.1f}"
        longest = max(result.steps, key=lambda step: step.seconds, default=None)
        most = f"; longest {longest.seconds:.1f}: {longest.keyword} {longest.text}" if longest else ""
        line = Text(f"{_total_seconds(result):6.1f} s  {result.name}  {parts}{most}")
        if console.is_terminal:
            console.print(line, soft_wrap=False, overflow="ellipsis", no_wrap=True)
        else:
            console.print(line)


def _total_seconds(result: Result) -> float:
    return result.setup_seconds + result.seconds + result.teardown_seconds


def _once_per_behaviour(results: Sequence[Result]) -> list[Result]:
    """The first failed round stands for all of them."""
    bad = [result for result in results if result.verdict in (Verdict.FAILED, Verdict.ERROR)]
    by_name = {result.name: result for result in sorted(bad, key=lambda result: result.round, reverse=True)}
    return [by_name[name] for name in sorted(by_name, key=id_order)]


def _print_failure(console: Console, run: Run, result: Result) -> None:
    turn = f", round {result.round}/{result.rounds}" if result.rounds > 1 else ""
    console.print()
    console.print(Text(f"{result.name} {result.verdict}{turn}: {result.title}", style=STYLES[result.verdict]))
    width = console.width - len(_INDENT) if console.is_terminal else None
    for line in failure_lines(result, run.command, run.directory, width):
        console.print(Text(f"{_INDENT}{line}"))


def failure_lines(result: Result, run_command: str, directory: Path, width: int | None) -> list[str]:
    """The failure report, text wrapped below its label where there is a width; commands stay on one line."""
    message = cut(plain(result.message), _LONGEST_REPORT).splitlines()
    lines = [part for line in message for part in (_wrapped(line, width) if width else [line])]
    lines += _timeline(result, directory, min(width, _WIDEST_TIMELINE) if width else _USUAL_WIDTH)
    command = f"{run_command} --only {result.id} --keep"  # keeps the objects of a failure
    return lines if command in result.message else [*lines, f"repeat   {command}"]


def _wrapped(line: str, width: int) -> list[str]:
    labelled = _LABELLED.match(line)
    if len(line) <= width or not labelled or _COMMAND.search(line):
        return [line]
    return wrap(line, width, subsequent_indent=" " * len(labelled["label"]), break_on_hyphens=False)


def _timeline(result: Result, directory: Path, width: int) -> list[str]:
    """The timeline as text; nothing where none was recorded."""
    file = directory / TIMELINE_DIRECTORY / f"{result.file_name}.json"
    try:
        timeline = from_json(file.read_bytes())
    except (OSError, ValueError):
        return []
    return ["", *text.write(timeline, width).splitlines(), f"timeline: {file.with_suffix('.svg')}"]
