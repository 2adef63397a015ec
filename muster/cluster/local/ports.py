"""Free loopback ports that stay ours: another plane, or any client's outgoing connection, cannot take them meanwhile.

The socket is bound without SO_REUSEADDR, so that the kernel gives the port to nobody else, and gets SO_REUSEADDR
afterwards: on Linux a server that sets it as well (every Go server does) may then listen on the very same port, because
our socket never listens. So the port is held from the moment it is chosen until the plane is gone; no retry is needed.
"""

from __future__ import annotations

import socket


class Port:
    """One reserved port on 127.0.0.1."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.number: int = self._socket.getsockname()[1]

    def release(self) -> None:
        self._socket.close()
