"""Test one scheduler after the other, each with its own `muster run`. Completed runs are not repeated.

A column is a directory with a run in `first/`, failed and unstable cells once more in `again/`, and the
ConformanceReport of both. An interrupted run has no report; it is deleted when the matrix is continued.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from muster import schedulers
from muster.errors import EXIT_FAILED, HarnessError
from muster.report import conformance
from muster.report.conformance import FILE, UNSTABLE, Claim, LocatedResult
from muster.report.results import read_environment, read_results
from muster.run_options import RunOptions
from muster.verdicts import Verdict

FIRST, AGAIN = "first", "again"
_RETESTED = (Verdict.FAILED.value, Verdict.ERROR.value, UNSTABLE)


@dataclass(frozen=True)
class Plan:
    """Repetitions, workers and selection of the runs."""

    repeat: int  # of every cell
    again: int  # of failed and unstable cells, additionally
    workers: int
    selection: Sequence[str] = ()  # further options of `muster run`


def slug(scheduler: str) -> str:
    """The name of a scheduler's directory."""
    return scheduler.replace(":", "-").replace("/", "-").replace("=", "-")


def complete_column(scheduler: str, directory: Path, plan: Plan, print_line: Callable[[str], None]) -> None:
    """Complete the column of one scheduler; existing results are kept."""
    column = directory / slug(scheduler)
    if (column / FILE).exists():
        print_line(f"{scheduler}: already tested")
        return
    column.mkdir(parents=True, exist_ok=True)
    _run(scheduler, column / FIRST, plan, plan.repeat, (), print_line)
    behaviours = conformance.behaviour_results(_results(column, FIRST), "")
    retested = [one.id for one in behaviours if one.verdict in _RETESTED]
    if retested:
        _run(scheduler, column / AGAIN, plan, plan.again, ("--only", ",".join(retested)), print_line)
    _write_report(scheduler, column)


def _run(
    scheduler: str, results: Path, plan: Plan, repeat: int, only: Sequence[str], print_line: Callable[[str], None]
) -> None:
    done = results / FILE
    if done.exists():
        return
    if results.exists():
        shutil.rmtree(results)  # of a run that was interrupted
    options = ["--workers", str(plan.workers), "--repeat", str(repeat), *plan.selection, *only]
    print_line(f"{scheduler}: muster run {' '.join(options)}")
    command = [sys.executable, "-m", "muster", "run", "--scheduler", scheduler, "--results", str(results), *options]
    log = results.with_suffix(".log")
    with log.open("wb") as out:
        code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False).returncode
    if code > EXIT_FAILED and not done.exists():
        raise HarnessError(f"the run of {scheduler} ended with {code}; see the end of {log}")
    print_line(f"{scheduler}: {_last_line(log)}")


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line for line in reversed(lines) if "scenarios in" in line), "ended")


def _results(column: Path, *runs: str) -> list[LocatedResult]:
    return [(result, f"{run}/") for run in runs for result in read_results(column / run)]


def _write_report(scheduler: str, column: Path) -> None:
    runs = [run for run in (FIRST, AGAIN) if (column / run).is_dir()]
    chosen, configuration = schedulers.choose(scheduler)
    claim = Claim(scheduler, configuration, chosen.claims(configuration), RunOptions(scheduler=scheduler).command)
    conformance.write(column, _results(column, *runs), claim, read_environment(column / FIRST))
