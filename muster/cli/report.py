"""`muster report`: the HTML report of a run, in one command."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from muster.errors import EXIT_PASSED, UsageError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = subparsers.add_parser(
        "report",
        help="make the HTML report of a run",
        description="Make the HTML report of a run with Allure 3 and print where it is. Allure, and where it is "
        "missing Node.js, are fetched into Muster's cache when a report is made for the first time.",
    )
    option = parser.add_argument
    option("results", nargs="?", type=Path, metavar="RESULTS", help="what `muster run` has written (results/latest)")
    option("--open", action="store_true", help="show it in the browser, until ctrl-C")
    option("--single-file", action="store_true", help="one file with everything in it, to be sent around")
    parser.set_defaults(run=report)


def report(args: argparse.Namespace) -> int:
    """Progress goes to standard error, the place of the report to standard output."""
    from muster.cli.places import DEFAULT, LATEST
    from muster.report import html

    results = (args.results or DEFAULT / LATEST).absolute()
    if not results.is_dir():
        raise UsageError(f"there are no results in {results}: judge a scheduler first with `muster run`, or name them")
    page = html.make(results.resolve(), single_file=args.single_file, say=_progress)
    sys.stdout.write(f"{page}\n")
    sys.stdout.flush()
    if args.open:
        from muster.report.browsing import show

        show(page, alone=args.single_file, say=_progress)
    elif not args.single_file:
        _progress("browsers do not load it from the disk: see it with --open, or make it with --single-file")
    return EXIT_PASSED


def _progress(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
