"""The commands on jobs: submit, get, logs, list, top, events, explain and delete, as Arena's users know them.

The command line registers them with `add`. What is heavy is imported only when a command runs.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from muster.arena import explain_command, logs_command, submit_command, target
from muster.command_line import add_command, print_line
from muster.errors import EXIT_PASSED

if TYPE_CHECKING:
    from muster.command_line import Subparsers


def add(subparsers: Subparsers) -> None:
    """Register all commands."""
    submit_command.add(subparsers)
    _add_get(subparsers)
    logs_command.add(subparsers)
    _add_list(subparsers)
    _add_top(subparsers)
    _add_events(subparsers)
    explain_command.add(subparsers)
    _add_delete(subparsers)


def _add_get(subparsers: Subparsers) -> None:
    parser = add_command(
        subparsers,
        "get",
        _get,
        help="show a training job",
        description="Show a training job: its status, its pods and their nodes.",
    )
    parser.add_argument("name", metavar="NAME")
    target.add_type(parser)
    parser.add_argument("-o", "--output", choices=("wide", "json", "yaml"), help="output format")
    parser.add_argument("-e", "--events", action="store_true", help="show its events as well")
    target.add_options(parser)


def _get(args: argparse.Namespace) -> int:
    """A job that does not exist is a usage error, without standard output."""
    from muster.arena import output, queries

    cluster = target.connect(args)
    job = queries.find_job(cluster, args.name, args.type)
    tensorboard = queries.tensorboard_of(cluster, job)
    events = queries.job_events(cluster, job) if args.events else None
    now = datetime.now(UTC)
    if args.output in ("json", "yaml"):
        document = output.job_document(job, now, tensorboard)
        if events is not None:
            document["events"] = output.events_document(events)
        sys.stdout.write(output.dump(document, args.output))
        return EXIT_PASSED
    table = output.wide_job_table if args.output == "wide" else output.job_table
    sys.stdout.write(table(job, now, tensorboard))
    if events is not None:
        sys.stdout.write("\nEvents:\n" + output.events_table(events, now))
    return EXIT_PASSED


def _add_list(subparsers: Subparsers) -> None:
    parser = add_command(
        subparsers,
        "list",
        _list,
        help="list the training jobs",
        description="List the training jobs, newest first.",
    )
    parser.add_argument("-A", "--all-namespaces", action="store_true", help="of all namespaces")
    parser.add_argument("-o", "--output", choices=("json", "yaml"), help="output format")
    target.add_options(parser)


def _list(args: argparse.Namespace) -> int:
    """An empty list is no error; the message about it goes to standard error."""
    from muster.arena import output, queries

    cluster = target.connect(args)
    jobs = queries.all_jobs(cluster.api, None if args.all_namespaces else cluster.namespace)
    now = datetime.now(UTC)
    if args.output:
        sys.stdout.write(output.dump(output.jobs_document(jobs, now), args.output))
    elif jobs:
        sys.stdout.write(output.jobs_table(jobs, now, all_namespaces=args.all_namespaces))
    else:
        where = "" if args.all_namespaces else f" in namespace {cluster.namespace}"
        sys.stderr.write(f"there are no training jobs{where}\n")
    return EXIT_PASSED


def _add_top(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("top", help="show GPU usage", description="Show GPU usage.")
    kinds = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    node = add_command(
        kinds,
        "node",
        _top_node,
        help="the GPUs of every node",
        description="The total and allocated GPUs of every node. A pod holds its GPUs until it is gone, also while it "
        "is terminating.",
    )
    node.add_argument("-d", "--details", action="store_true", help="with the pods that hold them")
    node.add_argument("-o", "--output", choices=("json", "yaml"), help="output format")
    target.add_options(node, namespace=False)


def _top_node(args: argparse.Namespace) -> int:
    """Two requests, whatever the size of the cluster."""
    from muster.arena import output, queries

    rows = queries.all_nodes(target.connect(args).api)
    if args.output:
        sys.stdout.write(output.dump(output.nodes_document(rows), args.output))
    else:
        sys.stdout.write((output.nodes_details if args.details else output.nodes_table)(rows))
    return EXIT_PASSED


def _add_events(subparsers: Subparsers) -> None:
    parser = add_command(
        subparsers,
        "events",
        _events,
        help="show the events of a training job",
        description="Show the events of a training job and its pods, oldest first, also of deleted pods.",
    )
    parser.add_argument("name", metavar="NAME")
    target.add_type(parser)
    parser.add_argument("-o", "--output", choices=("json", "yaml"), help="output format")
    target.add_options(parser)


def _events(args: argparse.Namespace) -> int:
    """A job without events is no error."""
    from muster.arena import output, queries

    events = queries.find_events(target.connect(args), args.name, args.type)
    if args.output:
        sys.stdout.write(output.dump(output.events_document(events), args.output))
    elif events:
        sys.stdout.write(output.events_table(events, datetime.now(UTC)))
    else:
        sys.stderr.write(f"there are no events of {args.name} yet\n")
    return EXIT_PASSED


def _add_delete(subparsers: Subparsers) -> None:
    parser = add_command(
        subparsers,
        "delete",
        _delete,
        help="delete training jobs",
        description="Delete training jobs and all objects that were created with them; none if one name is wrong.",
    )
    parser.add_argument("names", nargs="+", metavar="NAME")
    target.add_type(parser)
    target.add_options(parser)


def _delete(args: argparse.Namespace) -> int:
    """One line per deleted job."""
    from muster.arena.submission import delete_jobs

    delete_jobs(target.connect(args), args.names, args.type, print_line)
    return EXIT_PASSED
