"""The parent is killed with SIGKILL: when its reaper has done its work, nothing of it is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from muster.processes import Reaper
from tests.support.processes_left import PATIENCE, carriers, gone, wait_for_end

PARENT = """
import pathlib, sys, tempfile, time
from muster.processes import Reaper, Process
directory = pathlib.Path(tempfile.mkdtemp(prefix="muster-", dir=sys.argv[1]))
Reaper.current().remember_directory(directory)
(directory / "deep").mkdir(); (directory / "deep" / "file").write_text("x")
code = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']).wait()"
children = [Process(n, [sys.executable, "-c", code], directory=directory, log=directory / n) for n in ("one", "two")]
for child in children:
    child.start()
children[1].pause()
print(Reaper.current().tag, Reaper.current().pid, *[child.pid for child in children], flush=True)
END
"""


def run_parent(tmp_path: Path, ending: str) -> tuple[subprocess.Popen[str], list[int], bytes]:
    """The parent, its reaper and its children, and the tag that these carry."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.replace("END", ending), str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    tag, *pids = parent.stdout.readline().split()
    return parent, [int(pid) for pid in pids], f"MUSTER_REAPER_TAG={tag}".encode()


def assert_nothing_is_left(tmp_path: Path, pids: list[int], tag: bytes) -> None:
    reaper, *children = pids
    wait_for_end(reaper)
    assert carriers(tag) == []
    assert list(tmp_path.iterdir()) == []
    for pid in children:  # killed by now; the kernel may still be at work on them
        wait_for_end(pid)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_parent_leaves_no_process_and_no_directory(tmp_path: Path, number: signal.Signals) -> None:
    parent, pids, tag = run_parent(tmp_path, "time.sleep(600)")
    deadline = time.monotonic() + PATIENCE
    while len(carriers(tag)) < 3:  # two children and the grandchild of the one that was not paused in time
        assert time.monotonic() < deadline
        time.sleep(0.01)
    parent.send_signal(number)
    parent.wait()
    assert_nothing_is_left(tmp_path, pids, tag)


def test_the_reaper_ignores_signals(tmp_path: Path) -> None:
    parent, pids, tag = run_parent(tmp_path, "time.sleep(600)")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(pids[0], number)
    parent.kill()
    parent.wait()
    assert_nothing_is_left(tmp_path, pids, tag)


def test_children_of_a_parent_that_exits_are_killed(tmp_path: Path) -> None:
    parent, pids, tag = run_parent(tmp_path, "")
    assert parent.wait(PATIENCE) == 0
    assert_nothing_is_left(tmp_path, pids, tag)


def test_what_was_removed_is_forgotten(tmp_path: Path) -> None:
    """Another process may have created a directory of that name by then."""
    kept = tmp_path / "kept with a space\nand a newline"
    kept.mkdir()
    code = (
        "import sys, pathlib; from muster.processes import Reaper\n"
        "j, p = Reaper.current(), pathlib.Path(sys.argv[1])\n"
        "j.remember_directory(p); j.remove_directory(p); p.mkdir(); print(j.pid)"
    )
    answer = subprocess.run([sys.executable, "-c", code, str(kept)], check=True, capture_output=True, text=True)
    wait_for_end(int(answer.stdout))
    assert kept.is_dir()


def test_what_could_not_be_removed_is_tried_again_at_the_end(tmp_path: Path) -> None:
    stubborn = tmp_path / "stubborn"
    stubborn.mkdir()
    code = (
        "import sys, pathlib, shutil; from muster.processes import Reaper\n"
        "shutil.rmtree = lambda *_, **__: None\n"
        "j, p = Reaper.current(), pathlib.Path(sys.argv[1])\n"
        "j.remember_directory(p); j.remove_directory(p); assert p.is_dir()"
    )
    subprocess.run([sys.executable, "-c", code, str(stubborn)], check=True)
    deadline = time.monotonic() + 30
    while stubborn.exists():
        assert time.monotonic() < deadline, "it is still there"
        time.sleep(0.01)


def test_a_process_killed_while_it_creates_a_directory_leaves_none(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, signal; from muster.processes import Reaper\n"
        "reaper, mkdir = Reaper.current(), pathlib.Path.mkdir\n"
        "def killed(*given, **how): mkdir(*given, **how); os.kill(os.getpid(), signal.SIGKILL)\n"
        "pathlib.Path.mkdir = killed\n"
        "print(reaper.pid, flush=True); reaper.make_directory('muster-')"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    ended = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, check=False)
    assert ended.returncode == -signal.SIGKILL
    wait_for_end(int(ended.stdout))
    assert list(tmp_path.iterdir()) == []


def test_a_forked_copy_does_not_keep_the_reaper_waiting(tmp_path: Path) -> None:
    code = (
        "import os, sys, time, pathlib; from muster.processes import Reaper\n"
        "j = Reaper.current(); j.remember_directory(pathlib.Path(sys.argv[1]))\n"
        "if copy := os.fork(): print(j.pid, copy, flush=True)\n"
        "else: time.sleep(600)"
    )
    directory = tmp_path / "registered"
    directory.mkdir()
    parent = subprocess.Popen([sys.executable, "-c", code, str(directory)], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    reaper, copy = map(int, parent.stdout.readline().split())
    try:
        parent.wait(PATIENCE)
        wait_for_end(reaper)
        assert not gone(copy), "the reaper waited for the forked copy"
    finally:
        os.kill(copy, signal.SIGKILL)
    assert not directory.exists()


def test_the_process_goes_on_when_the_reaper_was_killed(tmp_path: Path) -> None:
    reaper = Reaper()
    os.kill(reaper.pid, signal.SIGKILL)
    reaper._helper.wait()
    reaper.remember_directory(tmp_path)


def test_one_reaper_per_process() -> None:
    assert Reaper.current() is Reaper.current()
