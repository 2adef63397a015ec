"""`muster top node`: who has the GPUs."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from muster.errors import EXIT_PASSED
from muster.jobs import targets

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add(subparsers: Subparsers) -> None:
    """Register the sub-command and its one subject."""
    parser = subparsers.add_parser("top", help="show who has the GPUs", description="Show who has the GPUs.")
    subjects = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    node = subjects.add_parser(
        "node",
        help="the GPUs of every node",
        description="The GPUs of every node and how many are taken. A pod holds its GPUs until it is gone, also while "
        "it is being deleted.",
    )
    node.add_argument("-d", "--details", action="store_true", help="with the pods that hold them")
    node.add_argument("-o", "--output", choices=("json", "yaml"), help="another form")
    targets.add_options(node, namespace=False)
    node.set_defaults(run=top_node, parser=node)


def top_node(args: argparse.Namespace) -> int:
    """Everything in one look: two requests, whatever the size of the cluster."""
    from muster.cli.preflight import check_kubeconfig
    from muster.jobs import documents, lookups, node_pages

    rows = lookups.all_nodes(targets.reach(args, check_kubeconfig).api)
    if args.output:
        sys.stdout.write(documents.written(documents.nodes_document(rows), args.output))
    else:
        sys.stdout.write((node_pages.nodes_in_detail if args.details else node_pages.nodes_page)(rows))
    return EXIT_PASSED
