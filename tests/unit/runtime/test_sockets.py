"""The client's sockets: what was not delivered is dropped when the process ends."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import pytest
from aiohttp import web

from scheduler.client.sockets import socket_factory
from tests.unit.runtime.test_client import response, served


def _sent_and_delivered(*, discard: bool) -> tuple[int, int]:
    """To a server that reads only after the client's socket was closed, as by the end of its process."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        address = (socket.AF_INET, socket.SOCK_STREAM, 0, "", server.getsockname())
        client = socket_factory(5.0, discard=discard)(address)
        client.connect(server.getsockname())
        accepted, _ = server.accept()
        client.setblocking(False)
        sent = delivered = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                sent += client.send(b"x" * 65536)
        client.close()
        with accepted, contextlib.suppress(ConnectionResetError):
            accepted.settimeout(20)
            while received := accepted.recv(65536):
                delivered += len(received)
        return sent, delivered


def test_what_the_kernel_has_not_delivered_is_dropped() -> None:
    sent, delivered = _sent_and_delivered(discard=True)
    assert delivered < sent
    sent, delivered = _sent_and_delivered(discard=False)
    assert delivered == sent


def test_a_dead_peer_is_noticed() -> None:
    with socket_factory(5.0, discard=True)((socket.AF_INET, socket.SOCK_STREAM, 0, "", None)) as created:
        assert created.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 5000
        assert created.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1


@pytest.mark.parametrize(("method", "limit"), [("POST", "24s"), ("GET", None)])
def test_the_api_server_gives_up_on_a_write_before_the_client_does(method: str, limit: str | None) -> None:
    limits: list[str | None] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        limits.append(request.query.get("timeout"))
        return await response(200)(request)

    async def go() -> None:
        async with served(answer) as client:
            await client.request(method, "/things", {"a": 1})

    asyncio.run(go())
    assert limits == [limit]
