"""The end of a run on a screen: a line per behaviour, the story of every red one, and what it adds up to.

On a terminal with rich, elsewhere as plain aligned text without a width, so that nothing is cut off in a log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from muster.catalogue import in_order
from muster.report import github
from muster.report.results import Result
from muster.report.story_lines import story
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
_CLUSTER = "†"  # after a level: says something about the cluster, not about the scheduler
_HEADER = ("id", "level", "verdict", "seconds", "title")


@dataclass(frozen=True)
class Run:
    """All there is to tell about a run."""

    scheduler: str
    command: str  # that asks for the same again
    results: Sequence[Result]
    environment: Mapping[str, str]
    directory: Path
    seconds: float
    missing: int = 0
    interrupted: bool = False


@dataclass(frozen=True)
class Row:
    """One behaviour, over all its rounds."""

    cells: tuple[str, str, str, str, str]
    style: str


def result_line(result: Result) -> str:
    """One result on one line, while the run goes on."""
    turn = f" (round {result.round}/{result.rounds})" if result.rounds > 1 else ""
    return f"{result.name:8} {result.verdict:13} {result.seconds:6.1f} s  {result.title}{turn}"


def rows(results: Iterable[Result]) -> list[Row]:
    """Sorted by id, rounds folded into one row."""
    by_name: dict[str, list[Result]] = {}
    for result in sorted(results, key=lambda result: (in_order(result.name), result.round)):
        by_name.setdefault(result.name, []).append(result)
    return [_row(name, rounds) for name, rounds in by_name.items()]


def _row(name: str, rounds: list[Result]) -> Row:
    first, counted = rounds[0], Counter(result.verdict for result in rounds)
    verdict, style = str(first.verdict), STYLES[first.verdict]
    if len(counted) > 1:
        detail = ", ".join(f"{number} {each}" for each, number in counted.most_common() if each is not Verdict.PASSED)
        verdict, style = f"unstable {counted[Verdict.PASSED]}/{len(rounds)} ({detail})", _UNSTABLE
    elif first.rounds > 1:
        verdict = f"{verdict} {len(rounds)}/{first.rounds}"
    level = f"{first.level} {_CLUSTER}" if first.judges_the_cluster else first.level
    mean = sum(result.seconds for result in rounds) / len(rounds)
    return Row((name, level, verdict, f"{mean:.1f}", first.title), style)


def print_report(run: Run, out: TextIO, *, slowest: int) -> None:
    """Everything, most important last: that is where the eye is when a command ends."""
    with github.words_only(out):
        _print_all(run, Console(file=out, highlight=False, soft_wrap=True), slowest)  # commands are copied in one piece
    github.announce(run.results, f"{conclusion(run)} ({counts(run)})", run.environment, out)


def _print_all(run: Run, console: Console, slowest: int) -> None:
    if run.results:
        _print_table(console, rows(run.results))
        if any(result.judges_the_cluster for result in run.results):
            console.print(Text(f"{_CLUSTER} judges the cluster, not the scheduler", style="dim"))
        _print_durations(console, run.results, slowest)
    for result in _once_per_behaviour(run.results):
        _print_story(console, run, result)
    console.print()
    for name, value in run.environment.items():
        console.print(Text(f"{name}: {value}", style="dim"))
    console.print(Text(counts(run)))
    console.print(Text(f"results: {run.directory}"))
    console.print(Text(conclusion(run), style="bold"))


def _print_table(console: Console, lines: Sequence[Row]) -> None:
    if console.is_terminal:
        shown = Table(box=None, pad_edge=False, header_style="bold")
        for heading in _HEADER:
            shown.add_column(heading, justify="right" if heading == "seconds" else "left", no_wrap=heading != "title")
        for row in lines:
            shown.add_row(*(Text(cell) for cell in row.cells), style=row.style)
        console.print(shown, soft_wrap=False)
        return
    table = [_HEADER, *(row.cells for row in lines)]
    widths = [max(len(cells[column]) for cells in table) for column in range(4)]
    for id_, level, verdict, seconds, title in table:
        line = f"{id_:{widths[0]}}  {level:{widths[1]}}  {verdict:{widths[2]}}  {seconds:>{widths[3]}}  {title}"
        console.print(Text(line.rstrip()))


def _print_durations(console: Console, results: Sequence[Result], slowest: int) -> None:
    slowest_rounds = {result.name: result for result in sorted(results, key=_total_seconds)}
    ranked = sorted(slowest_rounds.values(), key=_total_seconds, reverse=True)[: max(slowest, 0)]
    if not ranked:
        return
    console.print(Text("\nwhere the time goes", style="bold"))
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
    """The first round that went wrong tells the story of all of them."""
    bad = [result for result in results if result.verdict in (Verdict.FAILED, Verdict.ERROR)]
    by_name = {result.name: result for result in sorted(bad, key=lambda result: result.round, reverse=True)}
    return [by_name[name] for name in sorted(by_name, key=in_order)]


def _print_story(console: Console, run: Run, result: Result) -> None:
    turn = f", round {result.round}/{result.rounds}" if result.rounds > 1 else ""
    console.print()
    console.print(Text(f"{result.name} {result.verdict}{turn}: {result.title}", style=STYLES[result.verdict]))
    width = console.width - len(_INDENT) if console.is_terminal else None
    for line in story(result, run.command, run.directory, width):
        console.print(Text(f"{_INDENT}{line}"))


def counts(run: Run) -> str:
    """How many of what, in how long."""
    counted = Counter(result.verdict for result in run.results)
    parts = [f"{counted[verdict]} {verdict}" for verdict in Verdict if counted[verdict]]
    if run.missing:
        parts.append(f"{run.missing} not run")
    return f"{len(run.results) + run.missing} scenarios in {run.seconds:.1f} s: {', '.join(parts) or 'none'}"


def conclusion(run: Run) -> str:
    """The sentence that the exit code says in one digit."""
    errors = sum(result.verdict is Verdict.ERROR for result in run.results)
    musts = [result for result in run.results if result.level == "must" and not result.judges_the_cluster]
    failed = {result.name for result in musts if result.verdict is Verdict.FAILED}
    passed = {result.name for result in musts if result.verdict is Verdict.PASSED} - failed
    if run.interrupted:
        return "no verdict: the run was interrupted"
    if errors or run.missing:
        return f"no verdict on {run.scheduler}: the harness broke in {errors + run.missing} scenarios"
    if failed:
        return f"{run.scheduler} does not pass muster: {len(failed)} of {len(failed | passed)} MUSTs failed"
    if not passed:
        return f"nothing was judged that {run.scheduler} must do"
    return f"{run.scheduler} passes muster: all {len(passed)} MUSTs that were judged passed"
