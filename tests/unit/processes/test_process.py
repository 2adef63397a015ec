"""A child process: its log, its signals, its end, and the group that ctrl-C does not reach."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from muster.errors import HarnessError
from muster.processes import Process, wait_for_first_exit
from tests.support.processes_left import PATIENCE, gone, until, wait_for_state


def python(tmp_path: Path, code: str, name: str = "child") -> Process:
    return Process(name, [sys.executable, "-I", "-S", "-c", code], directory=tmp_path, log=tmp_path / f"{name}.log")


def pidfds() -> int:
    """Those of this process; of its other descriptors some may go meanwhile, with what earlier tests left."""
    found = 0
    for descriptor in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found += "pidfd" in os.readlink(f"/proc/self/fd/{descriptor}")
    return found


def test_the_log_keeps_both_streams_and_the_tail_its_last_lines(tmp_path: Path) -> None:
    child = python(tmp_path, "import sys; print('\\n'.join('line %d' % n for n in range(50))); sys.exit('last line')")
    child.start()
    assert child.wait(PATIENCE)
    assert child.exit_code == 1
    assert len(child.log_tail(2).splitlines()) == 2
    assert "last line" in child.log.read_text()
    assert child.how_it_ended() == "exited with code 1"


def test_waiting_ends_with_the_process_not_with_a_poll(tmp_path: Path) -> None:
    child = python(tmp_path, "import time; time.sleep(600)")
    child.start()
    assert not child.wait(0.05)
    assert child.alive
    assert child.pid is not None
    threading.Timer(0.2, os.kill, (child.pid, signal.SIGTERM)).start()
    assert child.wait(PATIENCE)
    assert not child.alive


def test_stop_wakes_a_paused_process_so_that_it_can_end_in_order(tmp_path: Path) -> None:
    code = (  # not signal.pause(): a signal that comes just before it would not end it
        "import signal, sys, pathlib\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})\n"
        "pathlib.Path('up').touch()\n"
        "signal.sigwait({signal.SIGTERM}); sys.exit(7)"
    )
    child = python(tmp_path, code)
    child.start()
    until((tmp_path / "up").exists)
    child.pause()
    assert child.pid is not None
    wait_for_state(child.pid, "T")
    child.stop(grace=PATIENCE)
    assert child.exit_code == 7


def test_stop_kills_a_process_that_ignores_it_and_its_children(tmp_path: Path) -> None:
    code = (
        "import signal, subprocess, sys, pathlib\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "grandchild = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "pathlib.Path('half').write_text(str(grandchild.pid)); pathlib.Path('half').rename('up')\n"
        "while True: signal.pause()"
    )
    child = python(tmp_path, code)
    child.start()
    until((tmp_path / "up").exists)
    grandchild = int((tmp_path / "up").read_text())
    began = time.monotonic()
    child.stop(grace=0.1)
    assert time.monotonic() - began < PATIENCE  # it is not waited for
    assert child.how_it_ended() == "was ended by SIGKILL"
    until(lambda: gone(grandchild))


def test_every_method_is_safe_before_the_start_and_after_the_end(tmp_path: Path) -> None:
    child = python(tmp_path, "pass")
    child.stop(grace=0.1)
    child.pause()
    assert child.exit_code is None
    assert child.how_it_ended() == "was not started"
    child.start()
    assert child.wait(PATIENCE)
    before = pidfds()
    for _ in range(2):
        child.kill()
        child.stop(grace=0.1)
        child.resume()
    assert child.exit_code == 0
    assert pidfds() == before - 1, "the pidfd is still open"


def test_the_child_has_a_session_of_its_own(tmp_path: Path) -> None:
    child = python(tmp_path, "import time; time.sleep(60)")
    child.start()
    assert child.pid is not None
    assert os.getsid(child.pid) == os.getpgid(child.pid) == child.pid != os.getsid(0)
    child.kill()


def test_first_to_end_names_the_one_that_ended(tmp_path: Path) -> None:
    long, short = python(tmp_path, "import time; time.sleep(60)", "long"), python(tmp_path, "pass", "short")
    long.start()
    short.start()
    assert wait_for_first_exit([long, short], PATIENCE) is short
    assert wait_for_first_exit([long], 0.01) is None
    long.kill()


def test_a_missing_binary_is_one_message(tmp_path: Path) -> None:
    child = Process("etcd", ["/nowhere/etcd"], directory=tmp_path, log=tmp_path / "log")
    with pytest.raises(HarnessError, match=r"cannot start etcd \(/nowhere/etcd\): No such file or directory"):
        child.start()
