"""`muster get NAME`: one training job and its pods."""

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
        "get",
        help="show a training job",
        description="Show a training job: its status, its pods and where they run.",
    )
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("-T", "--type", type=words.trainer, metavar="TYPE", help="pytorchjob or mpijob")
    parser.add_argument("-o", "--output", choices=("wide", "json", "yaml"), help="another form")
    parser.add_argument("-e", "--events", action="store_true", help="and what happened to it")
    targets.add_options(parser)
    parser.set_defaults(run=get)


def get(args: argparse.Namespace) -> int:
    """A job that does not exist is a usage error: nothing is printed on standard output."""
    from muster.cli.preflight import check_kubeconfig
    from muster.jobs import documents, job_pages, lookups

    target = targets.reach(args, check_kubeconfig)
    job = lookups.find_job(target, args.name, args.type)
    tensorboard = lookups.tensorboard_of(target, job)
    events = lookups.job_events(target, job) if args.events else None
    now = datetime.now(UTC)
    if args.output in ("json", "yaml"):
        document = documents.job_document(job, now, tensorboard)
        if events is not None:
            document["events"] = documents.events_document(events)
        sys.stdout.write(documents.written(document, args.output))
        return EXIT_PASSED
    page = job_pages.wide_job_page if args.output == "wide" else job_pages.job_page
    sys.stdout.write(page(job, now, tensorboard))
    if events is not None:
        sys.stdout.write("\nEvents:\n" + job_pages.events_page(events, now))
    return EXIT_PASSED
