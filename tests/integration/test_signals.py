"""SIGINT, SIGTERM and SIGKILL in the middle of a run: an orderly end, results so far are kept, no process is left."""

import contextlib
import os
import signal
import time
from pathlib import Path

import pytest

from muster.timeouts import WORKERS_STOP
from tests.support.processes_left import PATIENCE, until
from tests.support.toy_suite import ToySuite, feature, make_toy_suite, scenario


@pytest.fixture
def suite(tmp_path: Path) -> ToySuite:
    toys = make_toy_suite(tmp_path)
    long = [scenario(f"PRE-0{n}", f"Then it leaves the file {tmp_path / 'cleaned'} when cleaned up") for n in (2, 3)]
    toys.write(feature(scenario("PRE-01", "Then it holds"), *long))
    return toys


def lines(file: Path) -> int:
    return file.read_text().count("\n") if file.exists() else 0


def in_the_middle(suite: ToySuite, workers: int = 1) -> bool:
    """The first scenario has been recorded, and every worker is inside a long one."""
    started = lines(suite.work.parent / "cleaned.started")
    return lines(suite.latest / "results.jsonl") >= 1 and started >= workers


def processes_of(suite: ToySuite) -> list[int]:
    """Processes that were started for this suite and still run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                mentions = str(suite.root).encode() in (entry / "environ").read_bytes()
                zombie = ") Z " in (entry / "stat").read_text()
            except OSError:
                continue
            if mentions and not zombie:
                found.append(int(entry.name))
    return found


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_cleans_up_and_keeps_what_it_has(
    suite: ToySuite, tmp_path: Path, number: signal.Signals, workers: str
) -> None:
    began = time.monotonic()
    run = suite.start("run", "--workers", workers, "--junit", "junit.xml")
    until(lambda: in_the_middle(suite, int(workers)))
    started = time.monotonic()
    run.send_signal(number)
    out, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 2, err
    assert time.monotonic() - started < max(20, 2 * (started - began))  # s; a busy machine shows at the start
    assert "PRE-01" in out
    assert "interrupted" in out
    assert "2 not run" in out
    assert suite.verdicts() == {"PRE-01": "passed"}
    assert (suite.work / "junit.xml").exists()
    assert lines(tmp_path / "cleaned") == int(workers)
    assert processes_of(suite) == []


def test_the_end_of_the_parent_ends_the_run(suite: ToySuite, tmp_path: Path) -> None:
    run = suite.start("run", "--workers", "2")
    until(lambda: in_the_middle(suite, 2))
    run.kill()
    run.wait()
    until(lambda: not processes_of(suite))
    assert lines(tmp_path / "cleaned") == 2


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    suite = make_toy_suite(tmp_path)
    stubborn = "import signal, threading\nfrom pytest_bdd import then\n@then('it ignores ctrl-C')\ndef _():\n"
    stubborn += f"    signal.signal(signal.SIGINT, lambda *_: open({str(tmp_path / 'heard')!r}, 'w').close())\n"
    stubborn += f"    open({str(tmp_path / 'ignoring')!r}, 'w').close()\n    threading.Event().wait(60)\n"
    (suite.root / "steps" / "stubborn.py").write_text(stubborn)
    suite.write(feature(scenario("PRE-01", "Then it holds"), scenario("PRE-02", "Then it ignores ctrl-C")))
    run = suite.start("run")
    until(lambda: (tmp_path / "ignoring").exists())
    run.send_signal(signal.SIGINT)
    until((tmp_path / "heard").exists)  # a second one that comes before it would be the same signal
    heard = time.monotonic()
    assert run.poll() is None
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=PATIENCE)
    assert run.returncode == 2
    assert time.monotonic() - heard < WORKERS_STOP - 5  # s; after that time the first one kills as well
    assert "interrupted" in out
    assert processes_of(suite) == []


def test_a_signal_before_pytest_is_one_message(suite: ToySuite) -> None:
    pipe = suite.work / "kubeconfig"
    os.mkfifo(pipe)  # reading it blocks: the run is in its first phase
    run = suite.start("run", "--kubeconfig", str(pipe))
    ends: list[int] = []

    def is_read() -> bool:
        with contextlib.suppress(OSError):  # it cannot be written to before
            ends.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        return bool(ends)

    until(is_read)
    run.send_signal(signal.SIGTERM)
    _, err = run.communicate(timeout=PATIENCE)
    os.close(ends[0])
    assert (run.returncode, err) == (2, "muster: interrupted\n")
    assert not (suite.work / "results").exists()
