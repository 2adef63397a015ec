"""`muster run`: test a scheduler. Every usage error is found before anything is started."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from muster.command_line import add_command
from muster.errors import EXIT_PASSED
from muster.run_options import WHAT, RunOptions, add_arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.command_line import Subparsers
    from muster.suite.behaviours import Behaviour


def add(subparsers: Subparsers) -> None:
    """Register the sub-command; its options are the fields of RunOptions."""
    parser = add_command(
        subparsers,
        "run",
        run,
        help="test a scheduler",
        description="Test a scheduler. Exit code: 0 if all MUSTs that it claims passed, 1 if one failed, 2 if the "
        "harness broke, was interrupted or tested nothing, 64 for a usage error. MUSTs that test the cluster (marked "
        "with a dagger) decide only if nothing else was tested; those on training jobs also if --operator names "
        "another operator than the default.",
    )
    groups = add_arguments(parser)
    groups[WHAT].add_argument("--list", action="store_true", help="list the selected behaviours and start nothing")


def run(args: argparse.Namespace) -> int:
    """Check the options, then run the suite."""
    from muster.runner.prepare import check_cluster, select_behaviours

    options = RunOptions.from_arguments(args)
    behaviours = select_behaviours(options)
    if args.list:
        sys.stdout.write(listing(behaviours))
        return EXIT_PASSED
    options = check_cluster(options, behaviours)
    if options.timeout_scale is not None:
        os.environ["MUSTER_TIMEOUT_SCALE"] = str(options.timeout_scale)
    from muster.runner.run_suite import run_suite  # only now: it reads the time limits

    return run_suite(options, behaviours)


def listing(behaviours: Sequence[Behaviour]) -> str:
    """Aligned lines of id, level, capability and title; no header, so that it can be piped into grep and cut."""
    from muster.suite.behaviours import id_order

    rows = [
        (b.id, b.level, ",".join(b.capabilities), b.title) for b in sorted(behaviours, key=lambda b: id_order(b.id))
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "".join(
        f"{id_:{widths[0]}}  {level:{widths[1]}}  {capabilities:{widths[2]}}  {title}\n"
        for id_, level, capabilities, title in rows
    )
