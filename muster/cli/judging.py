"""The run itself: binaries, a directory for the results, pytest as a process, and what came of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from muster.catalogue import Behaviour
from muster.cli import clearing, places
from muster.cli.interruptions import Interruptions
from muster.cli.live import Live
from muster.cli.pytest_process import PytestProcess
from muster.commands import on_our_own, on_somebodys, run_command
from muster.errors import EXIT_HARNESS_BROKE, HarnessError
from muster.report import junit, table
from muster.report.results import read_environment, read_results
from muster.suite import suite_root
from muster.verdicts import exit_code

if TYPE_CHECKING:
    from muster.subject import Subject

# What is needed there in place of a control plane.
PLANES: dict[str, tuple[str, ...]] = {
    "kubeconfig": ("kwok",),
    "kind": ("kind", "kwok"),
    "k3s": ("kwok",),
    "container": (),
}


def judge(args: argparse.Namespace, behaviours: Sequence[Behaviour]) -> int:
    """Run the behaviours and report; whatever has been proven is kept, also after ctrl-C."""
    junit_file = places.junit_file(args.junit) if args.junit else None
    places.check_results(args.results)
    _ensure_binaries(args)
    interruptions = Interruptions()
    results = places.results_directory(args.results, args.scheduler)
    planned = sum(behaviour.rows for behaviour in behaviours) * args.repeat
    live = Live(planned=planned, results=results)
    with live, PytestProcess(_pytest_arguments(args, behaviours, results), results, live.address) as pytest:
        interruptions.forward_to(pytest)
        live.watch(pytest)
    interruptions.ignore()
    clean = args.cluster != "kubeconfig" or clearing.after_run(args)
    code = _report(args, planned, results, pytest, junit_file, interrupted=interruptions.happened)
    return code if clean else EXIT_HARNESS_BROKE


def binaries(cluster: str, scheduler: type[Subject]) -> tuple[str, ...]:
    """Of the plane and of what is judged on it; on somebody's cluster the scheduler is there already."""
    from muster.assets import CONTROL_PLANE

    plane = PLANES.get(cluster, CONTROL_PLANE)
    return plane if cluster == "kubeconfig" else (*plane, *scheduler.assets)


def _ensure_binaries(args: argparse.Namespace) -> None:
    """Here and not in the workers, so that nobody builds twice and the progress is seen. No fixtures, no cluster."""
    if not any((suite_root() / "fixtures").glob("*.py")):
        return
    from muster import subject
    from muster.assets import ensure
    from muster.subject.clients import choose_client
    from muster.subject.operators import choose_operator

    scheduler, _ = subject.choose(args.scheduler)
    operator, client = choose_operator(args.operator), choose_client(args.client)
    beside = (*operator.assets, *(client.assets if client else ()))
    needed = list(dict.fromkeys((*binaries(args.cluster or "local", scheduler), *beside)))
    ensure(needed, say=lambda line: print(line, file=sys.stderr, flush=True))  # noqa: T201


def _pytest_arguments(args: argparse.Namespace, behaviours: Sequence[Behaviour], results: Path) -> list[str]:
    arguments = [
        f"--muster-scheduler={args.scheduler}",
        f"--muster-operator={args.operator}",
        f"--muster-client={args.client}",
        f"--muster-cluster={args.cluster or 'local'}",
        f"--muster-results={results}",
        f"--muster-only={','.join(behaviour.id for behaviour in behaviours)}",
        f"--muster-repeat={args.repeat}",
    ]
    if args.keep:
        arguments.append("--muster-keep")
        somebody_watches = sys.stderr.isatty() and args.workers == 1
        arguments += ["--muster-hold"] if args.cluster in (None, "local") and somebody_watches else []
    if args.cluster == "kind":
        arguments += [f"--muster-kind-image={args.kind_image}"] if args.kind_image else []
        arguments += ["--muster-reuse"] if args.reuse else []
    if args.cluster == "kubeconfig":
        arguments += [f"--muster-kubeconfig={args.kubeconfig}", f"--muster-run={args.run_id}"]
        arguments += [f"--muster-context={args.context}"] if args.context else []
        arguments += ["--exitfirst"] if args.keep else []  # what is kept would be in the way of the next scenario
    if args.workers > 1:
        arguments += ["-n", str(args.workers), "--dist", "load", "--maxschedchunk", "1"]
    return arguments


def _report(
    args: argparse.Namespace,
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
    run = table.Run(
        scheduler=args.scheduler,
        command=_command(args),
        results=results,
        environment=read_environment(directory),
        directory=directory,
        seconds=pytest.seconds,
        missing=missing,
        interrupted=interrupted,
    )
    if not missing and not interrupted:
        _write_conformance(args, run)
    if junit_file:
        junit.write(junit_file, run.scheduler, results, run.environment)
    table.print_report(run, sys.stdout, slowest=args.durations)
    if missing and not interrupted:
        sys.stderr.write(f"muster: {missing} scenarios were not run; {pytest.complaint()}\n")
    return exit_code(results, harness_broke=bool(missing) or interrupted)


def _command(args: argparse.Namespace) -> str:
    if args.cluster == "kubeconfig":
        where = on_somebodys(args.kubeconfig, args.context)
    else:
        where = on_our_own(args.cluster or "local", args.kind_image or "", reuse=args.reuse)
    return run_command(args.scheduler, args.operator, args.client, where)


def _write_conformance(args: argparse.Namespace, run: table.Run) -> None:
    """Only of a run that came to its end: the file is also the mark of that."""
    from muster import subject
    from muster.report import conformance

    scheduler, configuration = subject.choose(args.scheduler)
    claim = conformance.Claim(
        args.scheduler, configuration, scheduler.claims(configuration), run.command, args.operator, args.client
    )
    conformance.write(run.directory, [(result, "") for result in run.results], claim, run.environment)
