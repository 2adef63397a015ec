"""The live view of a run, on a terminal and when messages are lost."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from muster import progress
from tests.support.processes_left import PATIENCE
from tests.support.toy_suite import SCHEDULER, feature, make_toy_suite, scenario


def run_on_a_terminal(command: list[str], cwd: Path, environment: dict[str, str], look: Callable[[str], None]) -> str:
    """What it shows, without the codes; `look` is given what was shown so far."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(command, cwd=cwd, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = b""
    while True:
        try:
            seen += os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        look(without_codes(seen))
    process.wait()
    return without_codes(seen)


def without_codes(seen: bytes) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode(errors="ignore"))


def refreshes(text: str) -> int:
    return len(re.findall(r"\d/2  \d+ s", text))


def test_a_terminal_shows_what_each_scenario_waits_for(tmp_path: Path) -> None:
    suite, enough = make_toy_suite(tmp_path), tmp_path / "enough"
    long = scenario("PRE-02", f"When it takes until there is a file {enough}", "Then it holds")
    suite.write(feature(scenario("PRE-01", "Then it is violated"), long))
    awaited = re.compile(r'waits [1-9]\d* s for "urgent" to run  Title of PRE-02')

    def look(text: str) -> None:
        if awaited.search(text) and refreshes(text) >= 4:
            enough.touch()

    environment = suite.environment(TERM="xterm", NO_COLOR="1")
    del environment["COLUMNS"]
    started = time.monotonic()
    command = [sys.executable, "-m", "muster", "run", "--scheduler", SCHEDULER]
    text = run_on_a_terminal(command, suite.work, environment, look)
    seconds = time.monotonic() - started
    assert awaited.search(text)
    assert re.search(r"1/2  \d+ s  1 failed or broken", text)
    assert text.index("PRE-01   failed") < text.index("PRE-02  must")
    assert 4 <= refreshes(text) <= 5 * seconds + 2


def test_without_a_listener_sending_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(progress.ENVIRONMENT_VARIABLE, raising=False)
    progress.send("starts", id="PRE-01")
    monkeypatch.setenv(progress.ENVIRONMENT_VARIABLE, "@no-listener")
    with progress.waiting("something"):
        pass


def test_a_full_socket_never_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    receiver, address = progress.listener()
    monkeypatch.setenv(progress.ENVIRONMENT_VARIABLE, address)
    started = time.monotonic()
    for _ in range(5000):
        progress.send("waits", text="x" * 100)
    assert time.monotonic() - started < PATIENCE
    receiver.close()


def test_waits_nest(monkeypatch: pytest.MonkeyPatch) -> None:
    receiver, address = progress.listener()
    monkeypatch.setenv(progress.ENVIRONMENT_VARIABLE, address)
    with progress.waiting("outer"), progress.waiting("inner"):
        pass
    receiver.settimeout(1)
    texts = [re.search(rb'"text": "(\w*)"', receiver.recv(1000)) for _ in range(4)]
    assert [match[1] for match in texts if match] == [b"outer", b"inner", b"outer", b""]
    receiver.close()
