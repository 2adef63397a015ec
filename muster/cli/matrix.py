"""`muster matrix`: test several schedulers and write one table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from muster.command_line import add_command, print_line, print_progress
from muster.errors import EXIT_HARNESS_BROKE, EXIT_PASSED, UsageError

if TYPE_CHECKING:
    from muster.command_line import Subparsers

DEFAULT = Path("results/matrix")


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = add_command(
        subparsers,
        "matrix",
        matrix,
        help="test several schedulers and write one table",
        description="Test several schedulers, one after the other, and write matrix.md, matrix.json and matrix.html. "
        "Completed schedulers are not tested again: an interrupted matrix continues where it was.",
    )
    option = parser.add_argument
    option("schedulers", nargs="*", metavar="SCHEDULER", help="as for `muster run --scheduler`")
    option("--all", action="store_true", help="every built-in scheduler, in each of its configurations")
    option(
        "--directory",
        type=Path,
        default=DEFAULT,
        metavar="DIR",
        help="where to keep the results (%(default)s)",
    )
    option("--since", type=Path, metavar="FILE", help="show what changed since this matrix.json of an earlier matrix")
    option("--workers", type=int, default=1, metavar="N", help="run N scenarios at a time, on N clusters")
    option("--repeat", type=int, default=2, metavar="N", help="run every scenario N times (%(default)s)")
    option("--again", type=int, default=3, metavar="N", help="run failed and unstable ones N times more (%(default)s)")
    option("--only", nargs="+", default=[], metavar="ID", help="these behaviours")
    option("-m", dest="tags", action="append", default=[], metavar="TAG", help="a level or a capability; repeatable")


def matrix(args: argparse.Namespace) -> int:
    """Progress goes to standard error; changes and, last, the path of the page to standard output."""
    from muster import schedulers
    from muster.report.matrix import change_pages, columns, pages, run
    from muster.report.matrix.changes import compare, read_saved

    for name in ("workers", "repeat", "again"):
        if getattr(args, name) < 1:
            raise UsageError(f"--{name} {getattr(args, name)}: give a number from 1 upwards")
    if bool(args.schedulers) == args.all:
        raise UsageError("name the schedulers to test, or use --all")
    named = schedulers.matrix_choices() if args.all else args.schedulers
    chosen = list(dict.fromkeys(map(schedulers.full_name, named)))
    earlier = read_saved(args.since) if args.since else None
    selection = [
        *(("--only", *args.only) if args.only else ()),
        *(each for tag in args.tags for each in ("-m", tag)),
    ]
    plan = run.Plan(args.repeat, args.again, args.workers, selection)
    directory = args.directory.absolute()
    command = " ".join(["muster matrix", *chosen, "--workers", str(args.workers), *selection])
    for scheduler in chosen:
        run.complete_column(scheduler, directory, plan, print_progress)
        made = columns.read(directory, [run.slug(one) for one in chosen], command)
        complete = scheduler == chosen[-1]  # before that, a scheduler that is still to be tested would count as removed
        changes = compare(earlier, made, str(args.since)) if earlier and complete else None
        for name, content in (
            ("matrix.json", columns.as_json(made)),
            ("matrix.md", pages.to_markdown(made, changes).encode()),
            ("matrix.html", pages.to_html(made, changes).encode()),
        ):
            (directory / name).write_bytes(content)
    if changes:
        print_line(change_pages.to_text(changes))
    print_line(f"{directory / 'matrix.html'}")
    if columns.tested_nothing(made):
        print_progress("nothing was tested: no scheduler supports what --only and -m select: select other behaviours")
        return EXIT_HARNESS_BROKE
    return EXIT_HARNESS_BROKE if columns.has_errors(made) else EXIT_PASSED
