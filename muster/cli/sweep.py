"""`muster sweep`: clear away what runs that are dead left on a cluster. A run that lives is not touched."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from muster.errors import EXIT_FAILED, EXIT_PASSED, UsageError
from muster.jobs import targets
from muster.jobs.durations import seconds_in

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = subparsers.add_parser(
        "sweep",
        help="clear away what dead runs left on a cluster",
        description="Clear away what runs that were killed left on a cluster: everything with the label of a run whose "
        "process has ended. Ends with 0 if nothing of them is left, otherwise with 1, and lists it.",
    )
    option = parser.add_argument
    option("--older-than", type=_duration, default=0, metavar="TIME", help="only runs begun so long ago: 90s, 1h, 2d")
    option("--run", dest="only", metavar="ID", help="this run only, with all its workers")
    targets.add_options(parser, namespace=False)
    parser.set_defaults(run=sweep)


def _duration(text: str) -> int:
    try:
        return seconds_in(text)
    except ValueError as mistake:
        raise argparse.ArgumentTypeError(str(mistake)) from None


def sweep(args: argparse.Namespace) -> int:
    """One line per run."""
    from muster import timeouts
    from muster.cli.preflight import check_kubeconfig
    from muster.cluster.fences import is_run, same_run
    from muster.cluster.foreign import rights, sweeping

    if args.only and not is_run(args.only):
        raise UsageError(f"--run {args.only}: no run is called so; `muster doctor` lists those that are there")

    api = targets.reach(args, check_kubeconfig).api
    everything = sweeping.find(api).items()
    found = {run: remains for run, remains in everything if not args.only or same_run(run, args.only)}
    spared = sweeping.spared(api, found.values(), older_than=args.older_than)
    for run, reason in spared.items():
        if args.only:
            raise UsageError(f"run {run} is left alone: {reason}")
        _say(f"run {run} is left alone: {reason}")
    everything_gone = True
    for run in sorted(found.keys() - spared):
        names = found[run].names()
        left = sweeping.clear(
            api, run, within=3 * timeouts.CLEARING_AWAY, grant=lambda name: rights.try_to_bind_scene(api, name)
        )
        everything_gone = everything_gone and not left
        _say(f"run {run}: {len(names)} things cleared away" if not left else f"run {run}: left: {', '.join(left)}")
    if not found:
        _say(f"nothing of {f'run {args.only}' if args.only else 'any run'} is there")
    return EXIT_PASSED if everything_gone else EXIT_FAILED


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
