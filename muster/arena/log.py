"""The log of the commands on jobs, on standard error, as Arena writes it: `--loglevel` before the command filters it.

On a terminal a line is `INFO[0000] text`, with the seconds since the start; elsewhere it is
`time="…" level=info msg="text"`, for programs that read it. Standard output has the answer of a command only.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from datetime import datetime

LEVELS = ("debug", "info", "warn", "error")
_DEFAULT = "info"
_STARTED = "log_started"  # in the parsed options


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add --loglevel, which comes before the command."""
    parser.add_argument(
        "--loglevel",
        choices=LEVELS,
        default=_DEFAULT,
        metavar="LEVEL",
        help=f"log level of the commands on jobs: {', '.join(LEVELS)} (default: {_DEFAULT})",
    )
    parser.set_defaults(**{_STARTED: time.monotonic()})


def debug(args: argparse.Namespace, text: str) -> None:
    _write(args, "debug", text)


def info(args: argparse.Namespace, text: str) -> None:
    _write(args, "info", text)


def _write(args: argparse.Namespace, level: str, text: str) -> None:
    if LEVELS.index(level) < LEVELS.index(args.loglevel):
        return
    form: Callable[[float, str, str], str] = _for_terminals if sys.stderr.isatty() else _for_programs
    sys.stderr.write(f"{form(getattr(args, _STARTED), level, text)}\n")
    sys.stderr.flush()


def _for_terminals(started: float, level: str, text: str) -> str:
    return f"{level.upper()[:4]}[{int(time.monotonic() - started):04d}] {text}"


def _for_programs(_: float, level: str, text: str) -> str:
    now = datetime.now().astimezone().isoformat(timespec="seconds").replace("+00:00", "Z")  # as in RFC 3339
    return f'time="{now}" level={level} msg={json.dumps(text, ensure_ascii=False)}'
