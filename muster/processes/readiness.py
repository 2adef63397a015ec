"""Waiting for processes that tell nobody when they are ready: ask again every few milliseconds, unless one has died.

The pause between two questions is spent waiting for the *death* of any process involved, so that a component that ends
at start is reported the moment it does, with its own last words.
"""

from __future__ import annotations

import http.client
import ssl
import time
from collections.abc import Callable, Collection
from pathlib import Path

from muster import timeouts
from muster.errors import HarnessError
from muster.processes import Process, first_to_end

_PAUSE_SECONDS = 0.025
_LAST_LINES = 12


def wait_until(ready: Callable[[], bool], process: Process, involved: Collection[Process]) -> None:
    """Return when `process` is ready; HarnessError when any of those involved dies or the time is over."""
    deadline = time.monotonic() + timeouts.COMPONENT_READY
    while not ready():
        if dead := first_to_end(involved, _PAUSE_SECONDS):
            raise component_died(dead)
        if time.monotonic() > deadline:
            raise HarnessError(
                f"{process.name} was not ready after {timeouts.COMPONENT_READY:.0f} s. On a slow machine set "
                f"MUSTER_TIMEOUT_SCALE=3. Its last lines:\n{process.log_tail(_LAST_LINES)}"
            )


def component_died(process: Process) -> HarnessError:
    """The error that names the component, how it ended and what it said last."""
    last_words = process.log_tail(_LAST_LINES)
    hint = ""
    if "no space left on device" in last_words:
        hint = f" The disk that holds {process.directory} is full: free some room or set TMPDIR to another disk."
    return HarnessError(
        f"{process.name} {process.how_it_ended()}.{hint} Its last lines:\n{last_words or '(it wrote nothing)'}"
    )


class Probe:
    """Asks one address for its health; a refused or broken connection is a no."""

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
