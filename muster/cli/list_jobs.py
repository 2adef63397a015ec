"""`muster list`: the training jobs of a namespace, or of all."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from muster.errors import EXIT_PASSED
from muster.jobs import targets

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = subparsers.add_parser(
        "list", help="list the training jobs", description="List the training jobs, the newest first."
    )
    parser.add_argument("-A", "--all-namespaces", action="store_true", help="of all namespaces")
    parser.add_argument("-o", "--output", choices=("json", "yaml"), help="another form")
    targets.add_options(parser)
    parser.set_defaults(run=list_jobs)


def list_jobs(args: argparse.Namespace) -> int:
    """No jobs are no error; the sentence about it stays out of a pipe."""
    from muster.cli.preflight import check_kubeconfig
    from muster.jobs import documents, job_pages, lookups

    target = targets.reach(args, check_kubeconfig)
    jobs = lookups.all_jobs(target.api, None if args.all_namespaces else target.namespace)
    now = datetime.now(UTC)
    if args.output:
        sys.stdout.write(documents.written(documents.jobs_document(jobs, now), args.output))
    elif jobs:
        sys.stdout.write(job_pages.jobs_page(jobs, now, all_namespaces=args.all_namespaces))
    else:
        where = "" if args.all_namespaces else f" in namespace {target.namespace}"
        sys.stderr.write(f"there are no training jobs{where}\n")
    return EXIT_PASSED
