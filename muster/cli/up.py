"""`muster up`: a cluster with GPU nodes, a scheduler and a training operator to try things on, until ctrl-C."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from muster.arena import argument_types
from muster.command_line import add_command, ignore_signals, interrupt_on_signals, print_line, print_progress
from muster.errors import EXIT_PASSED

if TYPE_CHECKING:
    from muster.command_line import Subparsers
    from muster.demo.playground import Playground

NONE = "none"


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = add_command(
        subparsers,
        "up",
        up,
        help="start a cluster with GPU nodes and keep it until ctrl-C",
        description="Start a local cluster with GPU nodes, a scheduler and a training operator, print the KUBECONFIG "
        "line, and keep it until ctrl-C. Nothing of it is left afterwards.",
    )
    for name, default, help_text in (
        ("--nodes", 3, "number of GPU nodes"),
        ("--gpus", 4, "GPUs per node"),
        ("--masters", 0, "number of tainted nodes without GPUs"),
    ):
        parser.add_argument(
            name, type=argument_types.count, default=default, metavar="N", help=f"{help_text} (default: %(default)s)"
        )
    for name, help_text in (("--scheduler", "the scheduler"), ("--operator", "the training operator")):
        parser.add_argument(
            name, default="reference", metavar="NAME", help=f"{help_text}, or none (default: %(default)s)"
        )


def up(args: argparse.Namespace) -> int:
    """Run until a signal; a component that ends stops it as well, with the last lines of its log."""
    from muster.demo.playground import Playground

    playground = Playground(
        scheduler="" if args.scheduler == NONE else args.scheduler,
        operator="" if args.operator == NONE else args.operator,
        print_line=print_progress,
    )
    interrupt_on_signals()
    try:
        print_progress("starting a control plane")
        playground.start(nodes=args.nodes, gpus=args.gpus, masters=args.masters)
        _describe(args, playground)
        playground.wait()
    except KeyboardInterrupt:
        print_progress("stopping")
    finally:
        ignore_signals()
        playground.stop()
    print_progress("everything is gone: no process, no port, no file left")
    return EXIT_PASSED


def _describe(args: argparse.Namespace, playground: Playground) -> None:
    masters = f" and masters: {args.masters}" if args.masters else ""
    has_operator, has_scheduler = args.operator != NONE, args.scheduler != NONE
    print_progress(f"  {args.nodes} nodes with {args.gpus} GPUs each{masters}")
    print_progress(f"  priority classes {', '.join(playground.classes)}")
    print_progress(f"  scheduler  {args.scheduler}" + ("" if has_scheduler else ": pods stay pending"))
    print_progress(f"  operator   {args.operator}" + ("" if has_operator else ": there are no training jobs"))
    print_progress(f"  logs       {playground.cluster.directory}")
    print_progress("in another terminal (ctrl-C here stops everything):")
    print_line(f"export KUBECONFIG={playground.cluster.client_kubeconfig('admin')}")
    if has_operator:
        print_progress(
            'muster submit pytorch --name=first --gpus=1 --image=training --priority=medium "python train.py"'
        )
    print_progress("muster top node -d")
