"""`muster assets`: install every binary before it is needed, for instance before going offline."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from muster.command_line import add_command, print_progress

if TYPE_CHECKING:
    from muster.command_line import Subparsers

_IMAGE = "training-image"  # of containers on the real nodes of an existing cluster


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = add_command(
        subparsers,
        "assets",
        assets,
        help="find, download or build the binaries of the control plane",
        description="Find, download or build the binaries, with progress, and print where they are.",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"a scheduler, a binary (default: the control plane), or {_IMAGE}: an archive for `docker load`",
    )


def assets(args: argparse.Namespace) -> int:
    """Progress goes to standard error, the paths to standard output."""
    from muster import schedulers
    from muster.assets import CONTROL_PLANE, ensure

    wanted = [file for name in args.names if name != _IMAGE for file in _needed(name, schedulers.names())]
    default = () if args.names else CONTROL_PLANE
    paths = ensure(list(dict.fromkeys(wanted or default)), print_line=print_progress)
    if _IMAGE in args.names:
        from muster.cluster.kind.training_images import training_archive

        paths |= {_IMAGE: training_archive(print_progress)}
    width = max(map(len, paths))
    for name, path in paths.items():
        sys.stdout.write(f"{name:{width}}  {path}\n")
    return 0


def _needed(name: str, known: Sequence[str]) -> Sequence[str]:
    from muster import schedulers
    from muster.assets import CONTROL_PLANE

    return (*CONTROL_PLANE, *schedulers.choose(name)[0].assets) if name in known else (name,)
