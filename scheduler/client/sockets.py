"""Options of the client's sockets: what is not delivered does not outlive the process, and a dead peer is noticed.

A write deadline is checked when bytes are handed to the kernel, which goes on delivering them after the process has
ended. With SO_LINGER at zero it drops them instead and resets the connection. TCP_USER_TIMEOUT limits how long a living
process keeps retransmitting. Keepalive probes find a dead peer of a watch, on which nothing is ever sent.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from typing import Any

_KEEPALIVE_IDLE, _KEEPALIVE_INTERVAL, _KEEPALIVE_PROBES = 30, 10, 3  # seconds, seconds, number
_DISCARD = struct.pack("ii", 1, 0)  # struct linger: on, for 0 s

AddressInfo = tuple[Any, Any, int, str, Any]  # as of getaddrinfo


def socket_factory(seconds: float, *, discard: bool) -> Callable[[AddressInfo], socket.socket]:
    """For sockets that give up after so many seconds without an acknowledgement."""

    def create(address: AddressInfo) -> socket.socket:
        family, kind, protocol, _, _ = address
        created = socket.socket(family, kind, protocol)
        created.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(seconds * 1000))
        created.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        created.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _KEEPALIVE_IDLE)
        created.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _KEEPALIVE_INTERVAL)
        created.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _KEEPALIVE_PROBES)
        if discard:
            created.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _DISCARD)
        return created

    return create
