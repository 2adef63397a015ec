"""The container's first process and its control channel, without a container: over a socket, in Docker's frames."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from muster import assets
from muster.cluster.container_process import ContainerProcess, ControlChannel
from muster.errors import HarnessError
from muster.processes import wait_for_first_exit
from muster.processes.readiness import component_died, wait_until

INIT = assets.find("plane-init")
pytestmark = pytest.mark.skipif(INIT is None, reason="plane-init is not built yet: `muster assets plane-init`")
SOON = 60.0  # seconds, on a machine that is busy with other things


class Engine:
    """What Docker does between Muster and the container: passes on standard input, frames standard output."""

    def __init__(self) -> None:
        assert INIT is not None
        ours, self._theirs = socket.socketpair()
        self.init = subprocess.Popen([INIT.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self.threads = [threading.Thread(target=each, daemon=True) for each in (self._pass_on, self._frame)]
        for thread in self.threads:
            thread.start()
        self.channel = ControlChannel(ours)

    def _pass_on(self) -> None:
        assert self.init.stdin is not None
        while piece := self._theirs.recv(4096):
            self.init.stdin.write(piece)
            self.init.stdin.flush()
        self.init.stdin.close()

    def _frame(self) -> None:
        assert self.init.stdout is not None
        while piece := os.read(self.init.stdout.fileno(), 4096):
            self._theirs.sendall(struct.pack(">BxxxL", 1, len(piece)) + piece)
        self._theirs.shutdown(socket.SHUT_RDWR)

    def wait_for_last_output(self) -> None:
        """Closing the channel earlier would lose it."""
        self.threads[1].join(SOON)
        assert not self.threads[1].is_alive()

    def end(self) -> None:
        self.channel.close()
        with contextlib.suppress(ProcessLookupError):  # in a container the kernel would do it
            os.killpg(self.init.pid, signal.SIGKILL)
        self.init.wait()
        for thread in self.threads:
            thread.join()


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    engine.end()


def start_process(engine: Engine, directory: Path, name: str, script: str) -> ContainerProcess:
    made = ContainerProcess(name, ["/bin/sh", "-c", script], directory=directory, channel=engine.channel)
    made.start()
    return made


def test_every_program_has_a_log_of_its_own_and_its_end_is_noticed(engine: Engine, tmp_path: Path) -> None:
    one = start_process(engine, tmp_path, "etcd", "echo ready; sleep 600")
    two = start_process(engine, tmp_path, "kwok", "echo here; echo trouble >&2; printf unfinished; exit 3")
    assert wait_for_first_exit([one, two], SOON) is two
    assert (two.exit_code, two.how_it_ended()) == (3, "exited with code 3")
    assert two.log_tail(9) == "here\ntrouble\nunfinished"
    assert one.log_tail(9) in ("", "ready")
    assert str(component_died(two)).startswith("kwok exited with code 3. Its last lines:\nhere")


def test_only_the_process_that_died_is_reported(engine: Engine, tmp_path: Path) -> None:
    one = start_process(engine, tmp_path, "etcd", "sleep 600")
    two = start_process(engine, tmp_path, "kwok", "kill -9 $$")
    assert engine.init.wait(SOON) == 1
    engine.wait_for_last_output()
    engine.channel.close()
    assert [each.name for each in (one, two) if not each.alive] == ["kwok"]


def test_all_processes_have_ended_when_the_container_was_killed(engine: Engine, tmp_path: Path) -> None:
    """The container was killed from outside."""
    started = [start_process(engine, tmp_path, name, "sleep 600") for name in ("etcd", "kwok")]
    engine.init.kill()
    assert all(each.wait(SOON) for each in started)


def test_a_killed_program_is_reported_with_its_signal(engine: Engine, tmp_path: Path) -> None:
    one = start_process(engine, tmp_path, "etcd", "kill -9 $$")
    assert one.wait(SOON)
    assert one.how_it_ended() == "was ended by SIGKILL"


def test_a_missing_program_is_reported(engine: Engine, tmp_path: Path) -> None:
    one = ContainerProcess("etcd", ["/no/such/etcd"], directory=tmp_path, channel=engine.channel)
    one.start()
    with pytest.raises(HarnessError, match=r"etcd exited with code 127.*\n.*no such file"):
        wait_until(lambda: False, one, [one])


def test_closing_the_channel_ends_the_container(engine: Engine, tmp_path: Path) -> None:
    one = start_process(engine, tmp_path, "etcd", "sleep 600")
    engine.channel.close()
    assert engine.init.wait(SOON) == 0
    assert not one.alive
    one.kill()
    one.kill()


def test_docker_stop_ends_the_processes(engine: Engine, tmp_path: Path) -> None:
    one = start_process(engine, tmp_path, "etcd", "echo here; sleep 600")
    engine.init.send_signal(signal.SIGTERM)
    assert engine.init.wait(SOON) in (0, -signal.SIGTERM)  # it may come before the handler is there
    assert one.wait(SOON)


def test_a_process_started_after_the_end_has_ended(engine: Engine, tmp_path: Path) -> None:
    engine.init.kill()
    engine.init.wait()
    engine.wait_for_last_output()
    engine.channel.close()
    late = ContainerProcess("kwok", ["/bin/true"], directory=tmp_path, channel=engine.channel)
    late.start()
    assert late.wait(SOON)
    assert not late.alive


def test_a_single_process_cannot_be_signalled(engine: Engine, tmp_path: Path) -> None:
    one = start_process(engine, tmp_path, "etcd", "sleep 600")
    with pytest.raises(HarnessError, match="etcd runs in a container"):
        one.pause()
