"""The parent is killed with SIGKILL: within two seconds nothing of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from muster.processes import Janitor
from tests.leftovers import carriers, gone, tag_of

PARENT = """
import pathlib, sys, tempfile, time
from muster.processes import Janitor, Process
directory = pathlib.Path(tempfile.mkdtemp(prefix="muster-", dir=sys.argv[1]))
Janitor.current().remember_directory(directory)
(directory / "deep").mkdir(); (directory / "deep" / "file").write_text("x")
code = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).wait()"
children = [Process(n, [sys.executable, "-c", code], directory=directory, log=directory / n) for n in ("one", "two")]
for child in children:
    child.start()
children[1].pause()
print(Janitor.current().pid, *[child.pid for child in children], flush=True)
END
"""


def run_parent(tmp_path: Path, ending: str) -> tuple[subprocess.Popen[str], list[int]]:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.replace("END", ending), str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    return parent, [int(word) for word in parent.stdout.readline().split()]


def assert_nothing_is_left(tmp_path: Path, pids: list[int], tag: bytes) -> None:
    deadline = time.monotonic() + 2
    while not all(gone(pid) for pid in pids) or list(tmp_path.iterdir()) or carriers(tag):
        assert time.monotonic() < deadline, f"left: {[p for p in pids if not gone(p)]}, {list(tmp_path.iterdir())}"
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_parent_leaves_no_process_and_no_directory(tmp_path: Path, number: signal.Signals) -> None:
    parent, pids = run_parent(tmp_path, "time.sleep(60)")
    tag = tag_of(pids[1])
    deadline = time.monotonic() + 5
    while len(carriers(tag)) < 3:  # two children and the grandchild of the one that was not paused in time
        assert time.monotonic() < deadline
    parent.send_signal(number)
    parent.wait()
    assert_nothing_is_left(tmp_path, pids, tag)


def test_the_janitor_itself_cannot_be_talked_out_of_its_work(tmp_path: Path) -> None:
    parent, pids = run_parent(tmp_path, "time.sleep(60)")
    tag = tag_of(pids[1])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(pids[0], number)
    parent.kill()
    parent.wait()
    assert_nothing_is_left(tmp_path, pids, tag)


def test_a_parent_that_ends_without_stopping_its_children_is_cleaned_up_after(tmp_path: Path) -> None:
    parent, pids = run_parent(tmp_path, "")
    assert parent.wait(10) == 0
    deadline = time.monotonic() + 2
    while not all(gone(pid) for pid in pids) or list(tmp_path.iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_what_was_forgotten_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "kept with a space\nand a newline"
    kept.mkdir()
    code = (
        "import sys, pathlib; from muster.processes import Janitor\n"
        "j, p = Janitor.current(), pathlib.Path(sys.argv[1])\n"
        "j.remember_directory(p); j.forget_directory(p); print(j.pid)"
    )
    answer = subprocess.run([sys.executable, "-c", code, str(kept)], check=True, capture_output=True, text=True)
    deadline = time.monotonic() + 2
    while not gone(int(answer.stdout)):
        assert time.monotonic() < deadline, "the janitor is still there"
        time.sleep(0.01)
    assert kept.is_dir()


def test_a_forked_copy_does_not_keep_the_janitor_waiting(tmp_path: Path) -> None:
    code = (
        "import os, sys, time, pathlib; from muster.processes import Janitor\n"
        "j = Janitor.current(); j.remember_directory(pathlib.Path(sys.argv[1])); print(j.pid, flush=True)\n"
        "pid = os.fork()\n"
        "time.sleep(5 if pid == 0 else 0)"
    )
    directory = tmp_path / "registered"
    directory.mkdir()
    parent = subprocess.Popen([sys.executable, "-c", code, str(directory)], stdout=subprocess.PIPE)
    parent.wait(10)
    deadline = time.monotonic() + 2
    while directory.exists():
        assert time.monotonic() < deadline, "the janitor waits for the forked copy"
        time.sleep(0.01)


def test_we_go_on_when_somebody_killed_the_janitor(tmp_path: Path) -> None:
    janitor = Janitor()
    os.kill(janitor.pid, signal.SIGKILL)
    janitor._helper.wait()
    janitor.remember_directory(tmp_path)


def test_one_janitor_per_process() -> None:
    assert Janitor.current() is Janitor.current()
