"""`muster assets`: have every binary ready before it is needed, for instance before going offline."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = subparsers.add_parser(
        "assets",
        help="find, download or build the binaries of the control plane",
        description="Find, download or build the binaries, with progress, and print where they are.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a scheduler or a binary (default: the control plane)")
    parser.set_defaults(run=assets)


def assets(args: argparse.Namespace) -> int:
    """Progress goes to standard error, the paths to standard output."""
    from muster import subject
    from muster.assets import CONTROL_PLANE, ensure

    wanted = [file for name in args.names for file in _needed(name, subject.names())]
    paths = ensure(list(dict.fromkeys(wanted or CONTROL_PLANE)), say=_progress)
    width = max(map(len, paths))
    for name, path in paths.items():
        sys.stdout.write(f"{name:{width}}  {path}\n")
    return 0


def _needed(name: str, schedulers: Sequence[str]) -> Sequence[str]:
    from muster import subject
    from muster.assets import CONTROL_PLANE

    return (*CONTROL_PLANE, *subject.choose(name)[0].assets) if name in schedulers else (name,)


def _progress(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
