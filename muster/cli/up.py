"""`muster up`: a cluster with GPU nodes, a scheduler and an operator to try things on, until ctrl-C."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import TYPE_CHECKING

from muster.errors import EXIT_PASSED
from muster.jobs import words

if TYPE_CHECKING:
    from muster.demo.households import Household

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

NOBODY = "none"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = subparsers.add_parser(
        "up",
        help="start a cluster with GPU nodes and keep it until ctrl-C",
        description="Start a local cluster with GPU nodes, a scheduler and an operator for training jobs, print the "
        "KUBECONFIG line, and keep it until ctrl-C. Nothing of it is left afterwards.",
    )
    add = parser.add_argument
    add("--nodes", type=words.count, default=3, metavar="N", help="how many nodes (default: %(default)s)")
    add("--gpus", type=words.count, default=4, metavar="N", help="GPUs on each node (default: %(default)s)")
    add("--masters", type=words.count, default=0, metavar="N", help="tainted nodes without GPUs (default: %(default)s)")
    add("--scheduler", default="reference", metavar="NAME", help="who places pods, or none (default: %(default)s)")
    add("--operator", default="reference", metavar="NAME", help="who carries out jobs, or none (default: %(default)s)")
    parser.set_defaults(run=up)


def up(args: argparse.Namespace) -> int:
    """Run until a signal asks for the end; a component that dies ends it as well, with its last words."""
    from muster.demo.households import Household

    household = Household(
        scheduler="" if args.scheduler == NOBODY else args.scheduler,
        operator="" if args.operator == NOBODY else args.operator,
        say=_say,
    )
    for number in _SIGNALS:  # SIGINT, too: a shell's background job starts with it ignored
        signal.signal(number, signal.default_int_handler)
    try:
        _say("starting a control plane")
        household.start(nodes=args.nodes, gpus=args.gpus, masters=args.masters)
        _introduce(args, household)
        household.wait()
    except KeyboardInterrupt:
        _say("stopping")
    finally:
        for number in _SIGNALS:  # an impatient second ctrl-C must not leave half of it behind
            signal.signal(number, signal.SIG_IGN)
        household.stop()
    _say("everything is gone: no process, no port, no file left")
    return EXIT_PASSED


def _introduce(args: argparse.Namespace, household: Household) -> None:
    nodes = f"{args.nodes} nodes with {args.gpus} GPUs each" + (f" and masters: {args.masters}" if args.masters else "")
    jobs, pods = args.operator != NOBODY, args.scheduler != NOBODY
    _say(f"  {nodes}; priority classes {', '.join(household.classes)}")
    _say(f"  scheduler  {args.scheduler}" + ("" if pods else ": pods wait until somebody binds them"))
    _say(f"  operator   {args.operator}" + ("" if jobs else ": training jobs are not known"))
    _say(f"  logs       {household.cluster.directory}")
    _say("in another terminal (ctrl-C here ends it all):")
    sys.stdout.write(f"export KUBECONFIG={household.cluster.client_kubeconfig('admin')}\n")
    sys.stdout.flush()
    if jobs:
        _say('muster submit pytorch --name=first --gpus=1 --image=training --priority=medium "python train.py"')
    _say("muster top node -d")


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
