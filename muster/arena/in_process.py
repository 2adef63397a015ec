"""Runs a command on jobs in this process, because starting another takes a second: for steps and demos."""

from __future__ import annotations

import contextlib
import io
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from muster.arena import commands, log
from muster.command_line import Parser, parse_and_run
from muster.errors import HarnessError, MusterError

if TYPE_CHECKING:
    from muster.command_line import Subparsers


@dataclass(frozen=True)
class CommandResult:
    """What a command printed, its log included, and its exit code."""

    output: str
    exit_code: int

    def require_success(self, command: str) -> str:
        """The output; HarnessError if the command failed: that says nothing about the scheduler under test."""
        if self.exit_code:
            printed = self.output.strip() or "it printed nothing"
            raise HarnessError(f"the command failed with exit code {self.exit_code}: {command.strip()}\n{printed}")
        return self.output


class _Terminal(io.StringIO):
    """Captures what a terminal would show."""

    def isatty(self) -> bool:
        return True


def command_and_arguments(command_line: str) -> list[str]:
    """The arguments from the command on, without the program and the options before the command."""
    _, *arguments = split(command_line)
    while arguments and arguments[0].startswith("-"):
        del arguments[: 1 if "=" in arguments[0] else 2]
    return arguments


def run(command_line: str, kubeconfig: Path) -> CommandResult:
    """Run a command line such as `muster top node` against the cluster of this kubeconfig."""
    program, *arguments = split(command_line)
    if program != "muster":
        raise ValueError(f"not a muster command: {program}")
    parser = Parser(prog="muster")
    log.add_option(parser)
    subparsers: Subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    commands.add(subparsers)
    output = _Terminal()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            exit_code = parse_and_run(parser, subparsers, [*arguments, "--kubeconfig", str(kubeconfig)])
        except MusterError as error:
            output.write(f"muster: {error}\n")
            exit_code = error.exit_code
    return CommandResult(output.getvalue(), exit_code)


def split(command_line: str) -> list[str]:
    return shlex.split(command_line.replace("\\\n", " "))
