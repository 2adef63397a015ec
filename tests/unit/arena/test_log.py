"""The log of the commands on jobs: its two forms, and --loglevel."""

from __future__ import annotations

import io
import re
import sys

import pytest

from muster.arena import log
from muster.command_line import Parser


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def logged(*options: str, terminal: bool, monkeypatch: pytest.MonkeyPatch) -> str:
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    parser = Parser(prog="muster")
    log.add_option(parser)
    args = parser.parse_args(options)
    log.debug(args, "submitting")
    log.info(args, "You can run `muster get a`")
    return stream.getvalue()


def test_a_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert logged(terminal=True, monkeypatch=monkeypatch) == "INFO[0000] You can run `muster get a`\n"


def test_a_line_for_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    line = logged(terminal=False, monkeypatch=monkeypatch)
    time = r'time="\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)"'
    assert re.fullmatch(time + r' level=info msg="You can run `muster get a`"\n', line)


@pytest.mark.parametrize(("level", "lines"), [("debug", 2), ("info", 1), ("warn", 0), ("error", 0)])
def test_the_level_filters(level: str, lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert logged("--loglevel", level, terminal=True, monkeypatch=monkeypatch).count("\n") == lines
