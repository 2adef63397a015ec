"""Progress messages of a scenario, such as what it waits for; muster/runner/live_view.py receives them.

Messages are datagrams on a Unix socket named by MUSTER_PROGRESS (a leading @ means Linux's abstract names: no file that
could be left behind). Sending never blocks and never fails: a lost message costs a line on a screen, a blocked scenario
costs a verdict.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

ENVIRONMENT_VARIABLE = "MUSTER_PROGRESS"

_socket: socket.socket | None = None
_waits: list[str] = []


def send(event: str, **facts: object) -> None:
    """Send an event of this worker to the live view, if there is one."""
    address = os.environ.get(ENVIRONMENT_VARIABLE)
    if not address:
        return
    message = {"event": event, "worker": os.environ.get("PYTEST_XDIST_WORKER", "main"), "at": time.time(), **facts}
    with suppress(OSError):
        _sender().sendto(json.dumps(message).encode(), _resolved(address))


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show what is being waited for while the block runs: `with waiting('"urgent" to run'):`."""
    _waits.append(text)
    send("waits", text=text)
    try:
        yield
    finally:
        _waits.pop()
        send("waits", text=_waits[-1] if _waits else "")


def listener() -> tuple[socket.socket, str]:
    """A bound socket for the live view, and the address to put into MUSTER_PROGRESS."""
    address = f"@muster-{os.getpid()}-{os.urandom(4).hex()}"
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver.bind(_resolved(address))
    return receiver, address


def _resolved(address: str) -> str:
    return "\0" + address[1:] if address.startswith("@") else address


def _sender() -> socket.socket:
    global _socket
    if _socket is None:
        _socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        _socket.setblocking(False)
    return _socket
