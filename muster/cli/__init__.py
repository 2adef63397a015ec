"""The command line: one module per sub-command, each with `add(subparsers)`.

Whatever goes wrong ends here as one sentence on standard error and an exit code: 0 passed, 1 not passed, 2 the harness
broke or was interrupted, 64 usage. Sub-command modules import what is heavy only when they run: `muster --help` is
instant.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import NoReturn

from muster import __version__
from muster.errors import EXIT_HARNESS_BROKE, EXIT_USAGE, MusterError, UsageError


class _Parser(argparse.ArgumentParser):
    """Complains in one sentence; abbreviations are refused because they change meaning when options are added."""

    def __init__(self, **settings: object) -> None:
        super().__init__(**{**settings, "allow_abbrev": False})  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; {self.prog} --help shows what there is")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one sub-command and return its exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # an orderly end, as after ctrl-C
    try:
        return perform(sys.argv[1:] if argv is None else argv)
    except MusterError as error:
        sys.stderr.write(f"muster: {error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("muster: interrupted\n")
        return EXIT_HARNESS_BROKE
    except BrokenPipeError:  # whoever read our output has seen enough; Python must not complain at its exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_HARNESS_BROKE
    except OSError as error:  # a full disk, a lost right: the system's own words name the file
        sys.stderr.write(f"muster: {error}\n")
        return EXIT_HARNESS_BROKE


def perform(argv: Sequence[str]) -> int:
    """Run one sub-command; what goes wrong is raised."""
    parser, commands = _parser()
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        raise UsageError(_unknown(unknown, getattr(args, "parser", commands.get(args.command, parser))))
    if args.command is None:
        parser.print_help(sys.stderr)
        return EXIT_USAGE
    code: int = args.run(args)
    return code


def _parser() -> tuple[_Parser, dict[str, argparse.ArgumentParser]]:
    from muster.cli import (
        assets,
        delete,
        demo,
        doctor,
        events,
        explain,
        get,
        list_jobs,
        matrix,
        rbac,
        report,
        run,
        submit,
        sweep,
        top,
        up,
    )

    parser = _Parser(prog="muster", description="Does your scheduler pass muster?")
    parser.add_argument("--version", action="version", version=f"muster {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    jobs = (submit, get, list_jobs, top, events, explain, delete)
    for module in (run, report, matrix, up, demo, *jobs, doctor, sweep, rbac, assets):
        module.add(subparsers)
    return parser, dict(subparsers.choices)


def _unknown(arguments: Sequence[str], parser: argparse.ArgumentParser) -> str:
    options = [option for action in parser._actions for option in action.option_strings]
    near = get_close_matches(arguments[0].partition("=")[0], options, n=1)
    hint = f"did you mean {near[0]}?" if near else f"{parser.prog} --help shows what there is"
    return f"{parser.prog} does not know {' '.join(arguments)}: {hint}"
