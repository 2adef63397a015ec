"""Reserved ports and readiness of local server processes.

Readiness is polled every few milliseconds. The pause between two polls waits for the *end* of any process involved, so
that a component that dies at start is reported at once, with its last log lines.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import time
from collections.abc import Callable, Collection
from pathlib import Path

from muster import timeouts
from muster.errors import HarnessError
from muster.processes import Process, wait_for_first_exit

_PAUSE_SECONDS = 0.025
_LAST_LINES = 12


def wait_until(ready: Callable[[], bool], process: Process, involved: Collection[Process]) -> None:
    """Return when `process` is ready; HarnessError when any process involved dies or the time is over."""
    deadline = time.monotonic() + timeouts.COMPONENT_READY
    while not ready():
        if dead := wait_for_first_exit(involved, _PAUSE_SECONDS):
            raise component_died(dead)
        if time.monotonic() > deadline:
            raise HarnessError(
                f"{process.name} was not ready after {timeouts.COMPONENT_READY:.0f} s. On a slow machine set "
                f"MUSTER_TIMEOUT_SCALE=3. Its last lines:\n{process.log_tail(_LAST_LINES)}"
            )


def component_died(process: Process) -> HarnessError:
    """The error that names the component, how it ended and its last log lines."""
    last_lines = process.log_tail(_LAST_LINES)
    hint = ""
    if "no space left on device" in last_lines:
        hint = f" The disk that holds {process.directory} is full: free some space or set TMPDIR to another disk."
    return HarnessError(
        f"{process.name} {process.how_it_ended()}.{hint} Its last lines:\n{last_lines or '(it wrote nothing)'}"
    )


class HealthCheck:
    """GET requests to one local server; a refused or broken connection counts as not healthy."""

    def __init__(self, port: int, *, trust: Path | None = None, certificate: Path | None = None) -> None:
        self._port = port
        self._context: ssl.SSLContext | None = None
        if trust is not None and certificate is not None:
            self._context = ssl.create_default_context(cafile=str(trust))
            self._context.load_cert_chain(certificate, certificate.with_suffix(".key"))

    def answers(self, path: str) -> bool:
        connection = self._connect()
        try:
            connection.request("GET", path)
            return connection.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        if self._context is None:
            return http.client.HTTPConnection("127.0.0.1", self._port, timeout=timeouts.API_REQUEST)
        return http.client.HTTPSConnection("127.0.0.1", self._port, timeout=timeouts.API_REQUEST, context=self._context)


class Port:
    """A free port on 127.0.0.1 that stays reserved: no other process can take it meanwhile.

    The socket is bound without SO_REUSEADDR, so that the kernel gives the port to no other process, and gets
    SO_REUSEADDR afterwards: on Linux a server that sets it as well (every Go server does) may then listen on the same
    port, because this socket never listens. No retry is needed.
    """

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.number: int = self._socket.getsockname()[1]

    def release(self) -> None:
        """Give up the reservation; a server that listens on the port keeps it."""
        self._socket.close()
