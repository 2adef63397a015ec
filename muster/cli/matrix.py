"""`muster matrix`: several schedulers, one table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from muster.errors import EXIT_HARNESS_BROKE, EXIT_PASSED, UsageError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

DEFAULT = Path("results/matrix")


def add(subparsers: Subparsers) -> None:
    """Register the sub-command."""
    parser = subparsers.add_parser(
        "matrix",
        help="judge several schedulers and make one table of it",
        description="Judge several schedulers, one after the other, and write matrix.md, matrix.json and matrix.html. "
        "What is judged already stays: an interrupted matrix is taken up where it was.",
    )
    option = parser.add_argument
    option("schedulers", nargs="+", metavar="SCHEDULER", help="as for `muster run --scheduler`")
    option("--directory", type=Path, default=DEFAULT, metavar="DIR", help="where columns are kept (%(default)s)")
    option("--workers", type=int, default=1, metavar="N", help="run N scenarios at a time, on N clusters")
    option("--repeat", type=int, default=2, metavar="N", help="judge every cell N times (%(default)s)")
    option("--again", type=int, default=3, metavar="N", help="red and flipping cells N times more (%(default)s)")
    option("--only", nargs="+", default=[], metavar="ID", help="these behaviours")
    option("-m", dest="tags", action="append", default=[], metavar="TAG", help="a level or a capability; repeatable")
    parser.set_defaults(run=matrix)


def matrix(args: argparse.Namespace) -> int:
    """Progress goes to standard error, the place of the page to standard output."""
    from muster import subject
    from muster.matrix import columns, markdown, page, running

    for name in ("workers", "repeat", "again"):
        if getattr(args, name) < 1:
            raise UsageError(f"--{name} {getattr(args, name)}: give a number from 1 upwards")
    schedulers = list(dict.fromkeys(subject.full_name(one) for one in args.schedulers))
    selection = [*(("--only", *args.only) if args.only else ()), *(word for tag in args.tags for word in ("-m", tag))]
    plan = running.Plan(args.repeat, args.again, args.workers, selection)
    directory = args.directory.absolute()
    command = " ".join(["muster matrix", *schedulers, "--workers", str(args.workers), *selection])
    for scheduler in schedulers:
        running.judge(scheduler, directory, plan, _progress)
        made = columns.read(directory, [running.slug(one) for one in schedulers], command)
        for name, content in (
            ("matrix.json", columns.as_json(made)),
            ("matrix.md", markdown.write(made).encode()),
            ("matrix.html", page.write(made).encode()),
        ):
            (directory / name).write_bytes(content)
    sys.stdout.write(f"{directory / 'matrix.html'}\n")
    return EXIT_HARNESS_BROKE if columns.has_errors(made) else EXIT_PASSED


def _progress(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
