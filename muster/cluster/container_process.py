"""Processes inside the container, with the interface of a child process.

One connection carries everything: it writes commands to the container's first process (ci/toolchain/plane-init), and
reads the output of its programs, line by line with their names. When it is closed, by Muster or by the kernel because
Muster was killed, the container ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from muster.errors import HarnessError
from muster.processes import Process

_KILLED = -int(signal.SIGKILL)
_HEADER = 8  # bytes before each piece of output: one for the stream, three of nothing, four for the length


class ContainerProcess(Process):
    """One program in the container. An eventfd takes the place of its pidfd, so that it is awaited like any child."""

    def __init__(self, name: str, argv: Sequence[str | Path], *, directory: Path, channel: ControlChannel) -> None:
        super().__init__(name, argv, directory=directory, log=directory / f"{name}.log")
        self._channel = channel
        self._lock = threading.Lock()
        self._started = False
        self._code: int | None = None

    def start(self) -> None:
        self._started, self._pidfd = True, os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._channel.start(self)

    @property
    def alive(self) -> bool:
        return self._started and self._code is None

    @property
    def exit_code(self) -> int | None:
        return self._code

    def ended(self, code: int) -> None:
        """Called by the reader of the control channel."""
        with self._lock:
            if self._code is None:
                self._code = code
                if self._pidfd >= 0:
                    os.eventfd_write(self._pidfd, 1)

    def kill(self) -> None:
        """The container can only end as a whole: this process is no longer waited for."""
        with self._lock:
            self._code = _KILLED if self._code is None else self._code
            if self._pidfd >= 0:
                os.close(self._pidfd)
                self._pidfd = -1

    def _signal(self, number: signal.Signals) -> None:
        raise HarnessError(f"{self.name} runs in a container: it cannot be sent {number.name} alone")


class ControlChannel:
    """The container's standard input and output. A thread reads until the other end is closed."""

    def __init__(self, attached: Any) -> None:
        self._attached = attached  # the client closes the connection when this is no longer referenced
        self._connection = _socket_of(attached)
        self._processes: dict[str, ContainerProcess] = {}
        self._reader = threading.Thread(target=self._read, name="container", daemon=True)
        self._reader.start()

    def start(self, process: ContainerProcess) -> None:
        """Have the program started in the container."""
        process.log.touch()
        self._processes[process.name] = process
        line = json.dumps({"name": process.name, "argv": process.argv}) + "\n"
        try:
            self._connection.sendall(line.encode())
        except OSError:
            process.ended(_KILLED)  # the container is gone

    def close(self) -> None:
        """End the container. May be called again."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._reader.join()
        self._connection.close()

    def _read(self) -> None:
        rest = b""
        with contextlib.suppress(OSError):  # a broken connection ends the container as well
            for piece in _pieces(self._connection):
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    self._handle_line(line)
        # Otherwise the others ended because one did, which is known already.
        if all(process.alive for process in self._processes.values()):
            for process in list(self._processes.values()):
                process.ended(_KILLED)

    def _handle_line(self, line: bytes) -> None:
        name, _, text = line.partition(b" ")
        process = self._processes.get(name.decode(errors="replace"))
        if process is not None:
            with process.log.open("ab") as log:
                log.write(text + b"\n")
            return
        about, _, code = text.decode(errors="replace").partition(" ended ")
        if name == b"init" and about in self._processes:
            self._processes[about].ended(int(code))


def _socket_of(attached: Any) -> socket.socket:
    """The client returns a file around the socket where the engine is local, and the socket itself over TLS."""
    found: socket.socket = getattr(attached, "_sock", attached)
    found.settimeout(None)
    return found


def _pieces(connection: socket.socket) -> Iterator[bytes]:
    """Docker's framing: a header with the length, then that many bytes."""
    while header := _exactly(connection, _HEADER):
        yield _exactly(connection, int.from_bytes(header[4:], "big"))


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            return b""
        data += piece
    return data
