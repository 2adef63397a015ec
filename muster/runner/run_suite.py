"""The run itself: a directory for the results, pytest as a process, and the report of what came of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from muster.cluster.existing.cleanup import clean_up_after_run
from muster.errors import EXIT_HARNESS_BROKE, HarnessError
from muster.report import ci_output, table
from muster.report.conclusion import Run
from muster.report.results import read_environment, read_results
from muster.run_options import RunOptions
from muster.runner import results_dir
from muster.runner.live_view import LiveView
from muster.runner.prepare import ensure_binaries
from muster.runner.pytest_process import PytestProcess, SignalForwarder
from muster.schedulers import existing_cluster_objects
from muster.suite.behaviours import Behaviour
from muster.verdicts import exit_code


def run_suite(options: RunOptions, behaviours: Sequence[Behaviour]) -> int:
    """Run the behaviours, report, and return the exit code; results so far are kept, also after ctrl-C."""
    junit_file = results_dir.junit_file(options.junit) if options.junit else None
    results_dir.check_results(options.results)
    ensure_binaries(options)
    signals = SignalForwarder()
    results = results_dir.results_directory(options.results, options.scheduler)
    planned = sum(behaviour.rows for behaviour in behaviours) * options.repeat
    live = LiveView(planned=planned, results=results)
    with live, PytestProcess(_pytest_arguments(options, behaviours, results), results, live.address) as pytest:
        signals.forward_to(pytest)
        live.watch(pytest)
    signals.ignore()
    clean = not options.on_existing_cluster or clean_up_after_run(options, existing_cluster_objects())
    code = _report(options, planned, results, pytest, junit_file, interrupted=signals.received)
    return code if clean else EXIT_HARNESS_BROKE


def _pytest_arguments(options: RunOptions, behaviours: Sequence[Behaviour], results: Path) -> list[str]:
    on_a_terminal = sys.stderr.isatty() and options.workers == 1
    handed = options.replace(
        only=tuple(behaviour.id for behaviour in behaviours),
        results=results,
        hold=options.keep and options.cluster == "local" and on_a_terminal,
    )
    arguments = [f"--muster-options={handed.to_json()}"]
    if options.keep and options.on_existing_cluster:
        arguments.append("--exitfirst")  # what is kept would be in the way of the next scenario
    if options.workers > 1:
        arguments += ["-n", str(options.workers), "--dist", "load", "--maxschedchunk", "1"]
    return arguments


def _report(
    options: RunOptions,
    planned: int,
    directory: Path,
    pytest: PytestProcess,
    junit_file: Path | None,
    *,
    interrupted: bool,
) -> int:
    results = read_results(directory)
    if not results and not interrupted:
        raise HarnessError(f"no scenario was run; {pytest.complaint()}")
    missing = planned - len(results)
    interrupted = interrupted and missing > 0  # ctrl-C at the last one, which was kept, cuts nothing short
    run = Run(
        scheduler=options.scheduler,
        command=options.command,
        results=results,
        environment=read_environment(directory),
        directory=directory,
        seconds=pytest.seconds,
        missing=missing,
        interrupted=interrupted,
        operator=options.operator,
    )
    if not missing and not interrupted:
        _write_conformance(options, run)
    if junit_file:
        ci_output.write_junit(junit_file, run.scheduler, results, run.environment)
    table.print_report(run, sys.stdout, slowest=options.durations)
    if missing and not interrupted:
        sys.stderr.write(f"muster: {missing} scenarios were not run; {pytest.complaint()}\n")
    broke = bool(missing) or interrupted
    return exit_code(results, operator_under_test=run.operator_under_test, harness_broke=broke)


def _write_conformance(options: RunOptions, run: Run) -> None:
    """Only of a run that completed: `muster matrix` takes the file as the sign of that."""
    from muster import schedulers
    from muster.report import conformance

    scheduler, configuration = schedulers.choose(options.scheduler)
    claim = conformance.Claim(
        options.scheduler, configuration, scheduler.claims(configuration), run.command, options.operator, options.client
    )
    conformance.write(run.directory, [(result, "") for result in run.results], claim, run.environment)
