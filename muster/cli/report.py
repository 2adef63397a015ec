"""`muster report`: the HTML report of a run, in one command."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from muster.command_line import add_command, print_line, print_progress
from muster.errors import EXIT_PASSED, UsageError

if TYPE_CHECKING:
    from muster.command_line import Subparsers


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = add_command(
        subparsers,
        "report",
        report,
        help="make the HTML report of a run",
        description="Make the HTML report of a run with Allure 3 and print its path. Allure, and Node.js where it is "
        "missing, are downloaded into Muster's cache when the first report is made.",
    )
    option = parser.add_argument
    option("results", nargs="?", type=Path, metavar="RESULTS", help="the results directory of a run (results/latest)")
    option("--open", action="store_true", help="serve it and open the browser, until ctrl-C")
    option("--single-file", action="store_true", help="one self-contained file")


def report(args: argparse.Namespace) -> int:
    """Progress goes to standard error, the path of the report to standard output."""
    from muster.report import html
    from muster.runner.results_dir import DEFAULT, LATEST

    results = (args.results or DEFAULT / LATEST).absolute()
    if not results.is_dir():
        raise UsageError(f"there are no results in {results}: run `muster run` first, or name a results directory")
    page = html.generate(results.resolve(), single_file=args.single_file, print_line=print_progress)
    print_line(str(page))
    if args.open:
        html.open_in_browser(page, single_file=args.single_file, print_line=print_progress)
    elif not args.single_file:
        print_progress("browsers do not load it from disk: view it with --open, or make it with --single-file")
    return EXIT_PASSED
