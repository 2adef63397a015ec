"""The command line: one module per sub-command, each with `add(subparsers)`; those on jobs are in muster.arena.

Every error ends here as one message on standard error and an exit code: 0 passed, 1 not passed, 2 the harness broke or
was interrupted, 64 usage error. Sub-command modules import what is heavy only when they run: `muster --help` is
instant.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from muster import __version__
from muster.command_line import Parser, parse_and_run
from muster.errors import EXIT_HARNESS_BROKE, MusterError

if TYPE_CHECKING:
    from muster.command_line import Subparsers


def main(argv: Sequence[str] | None = None) -> int:
    """Run one sub-command and return its exit code."""
    from muster.cli.old_names import refuse_old_names

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # an orderly end, as after ctrl-C
    arguments = sys.argv[1:] if argv is None else argv
    try:
        refuse_old_names(arguments)
        return run_command(arguments)
    except MusterError as error:
        sys.stderr.write(f"muster: {error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("muster: interrupted\n")
        return EXIT_HARNESS_BROKE
    except BrokenPipeError:  # the reader of our output has closed it; Python must not complain at its exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_HARNESS_BROKE
    except OSError as error:  # such as a full disk: the operating system's message names the file
        sys.stderr.write(f"muster: {error}\n")
        return EXIT_HARNESS_BROKE


def run_command(argv: Sequence[str]) -> int:
    """Run one sub-command; errors are raised."""
    return parse_and_run(*parser(), argv)


def parser() -> tuple[Parser, Subparsers]:
    """The parser of `muster`, and the commands that are registered with it."""
    from muster.arena import commands, log
    from muster.cli import assets, cleanup, demo, doctor, matrix, rbac, report, run, up

    root = Parser(prog="muster", description="Conformance tests for GPU and batch scheduling on Kubernetes.")
    root.add_argument("--version", action="version", version=f"muster {__version__}")
    log.add_option(root)
    subparsers: Subparsers = root.add_subparsers(dest="command", metavar="COMMAND")
    for module in (run, report, matrix, up, demo, commands, doctor, cleanup, rbac, assets):
        module.add(subparsers)
    return root, subparsers
