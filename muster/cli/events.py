"""`muster events NAME`: what happened to a training job and its pods, those that are gone included."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from muster.errors import EXIT_PASSED
from muster.jobs import targets, words

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = subparsers.add_parser(
        "events",
        help="show what happened to a training job",
        description="Show the events of a training job and its pods, oldest first, also of pods that are gone.",
    )
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("-T", "--type", type=words.trainer, metavar="TYPE", help="pytorchjob or mpijob")
    parser.add_argument("-o", "--output", choices=("json", "yaml"), help="another form")
    targets.add_options(parser)
    parser.set_defaults(run=events)


def events(args: argparse.Namespace) -> int:
    """A job to which nothing has happened yet is no error."""
    from muster.cli.preflight import check_kubeconfig
    from muster.jobs import documents, job_pages, lookups

    target = targets.reach(args, check_kubeconfig)
    found = lookups.events_of(target, args.name, args.type)
    if args.output:
        sys.stdout.write(documents.written(documents.events_document(found), args.output))
    elif found:
        sys.stdout.write(job_pages.events_page(found, datetime.now(UTC)))
    else:
        sys.stderr.write(f"nothing has happened to {args.name} yet\n")
    return EXIT_PASSED
