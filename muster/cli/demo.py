"""`muster demo DOC-n`: run a published walk-through live on a cluster of its own, which is gone afterwards."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from muster.command_line import add_command, ignore_signals, interrupt_on_signals, print_progress
from muster.errors import EXIT_HARNESS_BROKE, EXIT_PASSED, HarnessError, UsageError
from muster.run_options import DEFAULT_SCHEDULER, RunOptions
from muster.suite.paths import suite_root

if TYPE_CHECKING:
    from muster.command_line import Subparsers
    from muster.demo.console import DemoConsole
    from muster.suite.behaviours import Behaviour


_FAMILY = "DOC-"


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = add_command(
        subparsers,
        "demo",
        demo,
        help="run one of the published walk-throughs live",
        description="Run one of the published walk-throughs live, on a cluster of its own: each command, its output, "
        "a map of the GPUs, and what holds by then. On a terminal it waits for Enter after each section.",
    )
    parser.add_argument("walkthrough", metavar="DOC-n", help="DOC-1 to DOC-5")
    parser.add_argument("--fast", action="store_true", help="do not wait for Enter")
    parser.add_argument(
        "--scheduler", default=DEFAULT_SCHEDULER, metavar="NAME", help="the scheduler (default: %(default)s)"
    )


def demo(args: argparse.Namespace) -> int:
    """0 when every step of the walk-through passed, 1 when one failed, 2 when the harness broke or was interrupted."""
    from rich.console import Console

    from muster.demo.console import DemoConsole

    behaviour = _walkthrough(args.walkthrough)
    _check_scheduler(args, behaviour)
    console = DemoConsole(Console())
    console.title(behaviour.id, behaviour.title, behaviour.feature_title)
    pauses = not args.fast and sys.stdin.isatty() and sys.stdout.isatty()
    with tempfile.TemporaryDirectory(prefix="muster-demo-") as directory:
        return _run(args.scheduler, behaviour, console, Path(directory), pauses=pauses)


def _walkthrough(asked: str) -> Behaviour:
    from muster.suite.behaviours import read_features

    known = read_features(suite_root() / "features").by_id()
    walkthroughs = {id_: known[id_] for id_ in sorted(known) if id_.startswith(_FAMILY)}
    if asked.upper() not in walkthroughs:
        titles = "".join(f"\n  {id_}  {one.feature_title}" for id_, one in walkthroughs.items())
        raise UsageError(f"there is no walk-through {asked!r}: choose from{titles}")
    return walkthroughs[asked.upper()]


def _check_scheduler(args: argparse.Namespace, behaviour: Behaviour) -> None:
    """The scheduler claims what the walk-through is about, and its binaries are there."""
    from muster import assets, schedulers

    chosen, configuration = schedulers.choose(args.scheduler)
    args.scheduler = schedulers.full_name(args.scheduler)  # pytest will run in another directory
    unclaimed = [each for each in behaviour.capabilities if each not in chosen.claims(configuration)]
    if unclaimed:
        raise UsageError(f"{args.scheduler} does not claim {', '.join(unclaimed)}, which {behaviour.id} is about")
    if any((suite_root() / "fixtures").glob("*.py")):  # a suite without fixtures starts no cluster
        assets.ensure([*assets.CONTROL_PLANE, *chosen.assets], print_line=print_progress)


def _run(scheduler: str, behaviour: Behaviour, console: DemoConsole, directory: Path, *, pauses: bool) -> int:
    from muster.demo.controller import DemoController, sections_of
    from muster.demo.server import DemoServer
    from muster.runner.pytest_process import PytestProcess

    interrupt_on_signals()
    explains = scheduler.partition(":")[0] == "reference"
    interrupted = False
    print_progress(f"starting a cluster with the scheduler {scheduler}")
    with DemoServer() as server:
        options = RunOptions(scheduler=scheduler, only=(behaviour.id,), results=directory)
        plugin = ["-p", "muster.demo.pytest_plugin", f"--muster-demo={server.name}"]
        arguments = [*plugin, f"--muster-options={options.to_json()}"]
        with PytestProcess(arguments, directory, progress_address="") as pytest:
            try:
                controller = DemoController(console, server, sections_of(behaviour), pauses=pauses, explains=explains)
                controller.run(pytest.wait)
            except KeyboardInterrupt:
                ignore_signals()
                interrupted = True
                server.disconnect()
                print_progress("\nstopping")
    return EXIT_HARNESS_BROKE if interrupted else _conclude(behaviour, console, directory, pytest.complaint())


def _conclude(behaviour: Behaviour, console: DemoConsole, directory: Path, complaint: str) -> int:
    from muster.report.results import read_results
    from muster.verdicts import exit_code

    results = read_results(directory)
    if not results:
        raise HarnessError(f"{behaviour.id} was not run; {complaint}")
    code = exit_code(results)
    if code == EXIT_PASSED:
        console.finish(f"{behaviour.id}: every step passed. Everything is gone: no process, no file.")
    else:
        console.failure_report(f"{results[0].verdict}: {results[0].message}")
    return code
