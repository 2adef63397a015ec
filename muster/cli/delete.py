"""`muster delete NAME…`: training jobs and all that was created with them."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from muster.errors import EXIT_PASSED
from muster.jobs import targets, words

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = subparsers.add_parser(
        "delete",
        help="delete training jobs",
        description="Delete training jobs and all that was created with them; nothing, if one name is wrong.",
    )
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("-T", "--type", type=words.trainer, metavar="TYPE", help="pytorchjob or mpijob")
    targets.add_options(parser)
    parser.set_defaults(run=delete)


def delete(args: argparse.Namespace) -> int:
    """One line per job that is gone."""
    from muster.cli.preflight import check_kubeconfig
    from muster.jobs.deletions import delete_jobs

    delete_jobs(targets.reach(args, check_kubeconfig), args.names, args.type, _say)
    return EXIT_PASSED


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
