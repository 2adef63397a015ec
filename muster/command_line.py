"""What all commands share: the parser and its errors, registration, output, and signals."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn

from muster.errors import EXIT_USAGE, UsageError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[Any]


class Parser(argparse.ArgumentParser):
    """Raises UsageError; abbreviations are refused because they change meaning when options are added."""

    def __init__(self, **settings: object) -> None:
        super().__init__(**{**settings, "allow_abbrev": False})  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


def parse_and_run(parser: Parser, subparsers: Subparsers, argv: Sequence[str]) -> int:
    """Parse the arguments and run the command; errors are raised."""
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        command = getattr(args, "parser", subparsers.choices.get(args.command, parser))
        raise UsageError(_unknown(unknown, command))
    if args.command is None:
        parser.print_help(sys.stderr)
        return EXIT_USAGE
    code: int = args.run(args)
    return code


def add_command(
    subparsers: Subparsers,
    name: str,
    run: Callable[[argparse.Namespace], int],
    *,
    help: str,  # noqa: A002 - as argparse calls it
    description: str,
) -> argparse.ArgumentParser:
    """Register a sub-command that `run` carries out; its options are the caller's to add."""
    parser: argparse.ArgumentParser = subparsers.add_parser(name, help=help, description=description)
    parser.set_defaults(run=run, parser=parser)
    return parser


def print_line(line: str) -> None:
    """To standard output: the answer of a command."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def print_progress(line: str) -> None:
    """To standard error: what is being done meanwhile."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def interrupt_on_signals() -> None:
    """SIGINT and SIGTERM raise KeyboardInterrupt; SIGINT, too, because a shell's background job has it ignored."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)


def ignore_signals() -> None:
    """A second ctrl-C must not end the cleanup half-way."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _unknown(arguments: Sequence[str], parser: Any) -> str:
    options = [option for action in parser._actions for option in action.option_strings]
    near = get_close_matches(arguments[0].partition("=")[0], options, n=1)
    hint = f"did you mean {near[0]}?" if near else f"see {parser.prog} --help"
    return f"{parser.prog} does not know {' '.join(arguments)}: {hint}"
