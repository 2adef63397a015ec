"""`muster cleanup`: delete the objects of dead runs from an existing cluster. A run that is alive is not touched."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from muster.arena import argument_types, target
from muster.command_line import add_command, print_line
from muster.errors import EXIT_FAILED, EXIT_PASSED, UsageError

if TYPE_CHECKING:
    from muster.command_line import Subparsers


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = add_command(
        subparsers,
        "cleanup",
        cleanup,
        help="delete what dead runs left on a cluster",
        description="Delete what killed runs left on a cluster: all objects with the label of a run whose process has "
        "ended. Exits with 0 if nothing of them is left, otherwise with 1, and lists it.",
    )
    option = parser.add_argument
    option(
        "--older-than",
        type=argument_types.timeout,
        default=0,
        metavar="TIME",
        help="only runs older than this: 90s, 1h, 2d",
    )
    option("--run", dest="only", metavar="ID", help="only this run, with all its workers")
    target.add_options(parser, namespace=False)


def cleanup(args: argparse.Namespace) -> int:
    """One line per run."""
    from muster import timeouts
    from muster.cluster.existing import cleanup, rbac
    from muster.cluster.run_scope import belongs_to_run, is_run_id
    from muster.schedulers import existing_cluster_objects

    if args.only and not is_run_id(args.only):
        raise UsageError(f"--run {args.only}: not the id of a run; `muster doctor --context NAME` lists the runs")

    api = target.connect(args).api
    objects = existing_cluster_objects()
    everything = cleanup.find_runs(api, objects).items()
    found = {run: leftovers for run, leftovers in everything if not args.only or belongs_to_run(run, args.only)}
    skipped = cleanup.skipped_runs(api, found.values(), older_than=args.older_than)
    for run, reason in skipped.items():
        if args.only:
            raise UsageError(f"run {run} is not deleted: {reason}")
        print_line(f"run {run} is not deleted: {reason}")
    all_deleted = True
    for run in sorted(found.keys() - skipped):
        names = found[run].names()
        grant = partial(rbac.try_to_bind_scenario_role, api)
        left = cleanup.delete_run(api, run, objects, within=3 * timeouts.CLEARING_AWAY, grant=grant)
        all_deleted = all_deleted and not left
        print_line(f"run {run}: {len(names)} objects deleted" if not left else f"run {run}: left: {', '.join(left)}")
    if not found:
        print_line(f"no objects of {f'run {args.only}' if args.only else 'any run'} found")
    return EXIT_PASSED if all_deleted else EXIT_FAILED
