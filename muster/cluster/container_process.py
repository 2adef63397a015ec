"""The processes inside the container, as if they were children of ours: started by a line, awaited by a descriptor.

One connection carries it all: what we write are orders to the container's first process (ci/toolchain/plane-init), what
we read is what its programs print, line by line with their names. It is also the lifeline: closed, by us or by the
kernel when we are killed, it ends the container.
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


class Part(Process):
    """One program in the container. An event stands in for its pidfd, so that it is waited for like any child."""

    def __init__(self, name: str, argv: Sequence[str | Path], *, directory: Path, lifeline: Lifeline) -> None:
        super().__init__(name, argv, directory=directory, log=directory / f"{name}.log")
        self._lifeline = lifeline
        self._lock = threading.Lock()
        self._started = False
        self._code: int | None = None

    def start(self) -> None:
        self._started, self._pidfd = True, os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._lifeline.order(self)

    @property
    def alive(self) -> bool:
        return self._started and self._code is None

    @property
    def exit_code(self) -> int | None:
        return self._code

    def ended(self, code: int) -> None:
        """Said by the reader of the lifeline."""
        with self._lock:
            if self._code is None:
                self._code = code
                if self._pidfd >= 0:
                    os.eventfd_write(self._pidfd, 1)

    def kill(self) -> None:
        """Only the container ends as a whole: this one is no longer waited for."""
        with self._lock:
            self._code = _KILLED if self._code is None else self._code
            if self._pidfd >= 0:
                os.close(self._pidfd)
                self._pidfd = -1

    def _signal(self, number: signal.Signals) -> None:
        raise HarnessError(f"{self.name} runs in a container: it cannot be sent {number.name} alone")


class Lifeline:
    """Our end of the container's standard input and output. Reading goes on in a thread until the other end is gone."""

    def __init__(self, attached: Any) -> None:
        self._attached = attached  # the client closes the connection when nobody holds what it gave us
        self._connection = _socket_of(attached)
        self._parts: dict[str, Part] = {}
        self._reader = threading.Thread(target=self._read, name="container", daemon=True)
        self._reader.start()

    def order(self, part: Part) -> None:
        """Have the program started."""
        part.log.touch()
        self._parts[part.name] = part
        line = json.dumps({"name": part.name, "argv": part.argv}) + "\n"
        try:
            self._connection.sendall(line.encode())
        except OSError:
            part.ended(_KILLED)  # the container is gone; whoever waits for the part is told so

    def cut(self) -> None:
        """The container ends. Safe to call again."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._reader.join()
        self._connection.close()

    def _read(self) -> None:
        rest = b""
        with contextlib.suppress(OSError):  # a broken connection is the end of it as well
            for piece in _pieces(self._connection):
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    self._heard(line)
        if all(part.alive for part in self._parts.values()):  # otherwise the others went with the one that is known
            for part in list(self._parts.values()):
                part.ended(_KILLED)

    def _heard(self, line: bytes) -> None:
        name, _, text = line.partition(b" ")
        part = self._parts.get(name.decode(errors="replace"))
        if part is not None:
            with part.log.open("ab") as log:
                log.write(text + b"\n")
            return
        about, _, code = text.decode(errors="replace").partition(" ended ")
        if name == b"init" and about in self._parts:
            self._parts[about].ended(int(code))


def _socket_of(attached: Any) -> socket.socket:
    """The client gives a file around it where the engine is on this machine, and the socket itself over TLS."""
    found: socket.socket = getattr(attached, "_sock", attached)
    found.settimeout(None)
    return found


def _pieces(connection: socket.socket) -> Iterator[bytes]:
    """Docker's framing: a header with the length, then so many bytes."""
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
