"""One subject after the other, each as a `muster run` of its own. What is finished is not done again.

A column is a directory with a run in `first/`, the doubtful cells once more in `again/`, and the ConformanceReport of
both. A run that was interrupted has no report and is thrown away when it is taken up again.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from muster import subject
from muster.commands import run_command
from muster.errors import EXIT_FAILED, HarnessError
from muster.report import conformance
from muster.report.conformance import FILE, UNSTABLE, Claim, Sighting
from muster.report.results import read_environment, read_results
from muster.verdicts import Verdict

FIRST, AGAIN = "first", "again"
_DOUBTFUL = (Verdict.FAILED.value, Verdict.ERROR.value, UNSTABLE)


@dataclass(frozen=True)
class Plan:
    """How often, how many at a time, and of what."""

    repeat: int  # of every cell
    again: int  # of red and flipping cells, on top
    workers: int
    selection: Sequence[str] = ()  # further options of `muster run`


def slug(scheduler: str) -> str:
    """The name of a scheduler's directory."""
    return scheduler.replace(":", "-").replace("/", "-").replace("=", "-")


def judge(scheduler: str, directory: Path, plan: Plan, say: Callable[[str], None]) -> None:
    """Complete the column of one scheduler; what is there already stays."""
    column = directory / slug(scheduler)
    if (column / FILE).exists():
        say(f"{scheduler}: judged already")
        return
    column.mkdir(parents=True, exist_ok=True)
    _run(scheduler, column / FIRST, plan, plan.repeat, (), say)
    judged = conformance.judgements(_sightings(column, FIRST), "")
    doubtful = [one.id for one in judged if one.verdict in _DOUBTFUL]
    if doubtful:
        _run(scheduler, column / AGAIN, plan, plan.again, ("--only", ",".join(doubtful)), say)
    _conclude(scheduler, column)


def _run(
    scheduler: str, results: Path, plan: Plan, repeat: int, only: Sequence[str], say: Callable[[str], None]
) -> None:
    done = results / FILE
    if done.exists():
        return
    if results.exists():
        shutil.rmtree(results)  # of a run that was interrupted
    options = ["--workers", str(plan.workers), "--repeat", str(repeat), *plan.selection, *only]
    say(f"{scheduler}: muster run {' '.join(options)}")
    command = [sys.executable, "-m", "muster", "run", "--scheduler", scheduler, "--results", str(results), *options]
    log = results.with_suffix(".log")
    with log.open("wb") as out:
        code = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False).returncode
    if code > EXIT_FAILED and not done.exists():
        raise HarnessError(f"the run of {scheduler} ended with {code}; its last words are in {log}")
    say(f"{scheduler}: {_last_line(log)}")


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line for line in reversed(lines) if "scenarios in" in line), "ended")


def _sightings(column: Path, *runs: str) -> list[Sighting]:
    return [(result, f"{run}/") for run in runs for result in read_results(column / run)]


def _conclude(scheduler: str, column: Path) -> None:
    runs = [run for run in (FIRST, AGAIN) if (column / run).is_dir()]
    chosen, configuration = subject.choose(scheduler)
    claim = Claim(scheduler, configuration, chosen.claims(configuration), run_command(scheduler))
    conformance.write(column, _sightings(column, *runs), claim, read_environment(column / FIRST))
