"""A scripted API server that has only Leases, for candidates of a leader election in virtual time."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from scheduler.client import Access, ApiError, Client, Unreachable
from scheduler.runtime.leader_election import Elector, LeaderElection

Fault = Callable[[], "tuple[float, str]"]  # latency in seconds, and what goes wrong; empty: nothing

_NOWHERE = Access("http://nowhere", ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))

# What may go wrong: the request is not carried out, or it is and its answer is lost.
NOT_SENT, ANSWER_LOST, UNAVAILABLE, CONFLICT = "not sent", "answer lost", "503", "409"


@dataclass
class LeaseApi:
    """At most one Lease, with optimistic locking; `written` is called with each new spec."""

    lease: dict[str, Any] | None = None
    written: Callable[[dict[str, Any]], None] = lambda _: None
    version: int = 0

    def carry_out(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        if method == "GET":
            if self.lease is None:
                raise ApiError(404, "NotFound", "")
            return self.lease
        known = self.lease["metadata"]["resourceVersion"] if self.lease else None
        if (method == "POST" and known) or (method == "PUT" and body["metadata"].get("resourceVersion") != known):
            raise ApiError(409, "AlreadyExists" if method == "POST" else "Conflict", "")
        self.version += 1
        self.written(body["spec"])
        self.lease = {**body, "metadata": {**body["metadata"], "resourceVersion": str(self.version)}}
        return self.lease


class LeaseClient(Client):
    """Requests to it, each with the latency and the fault that `fault` draws.

    While it is paused, requests are neither sent nor answered: as in a process that is stopped at that moment.
    """

    def __init__(self, api: LeaseApi, fault: Fault = lambda: (0.01, "")) -> None:
        super().__init__(_NOWHERE)
        self._api, self._fault = api, fault
        self._running = asyncio.Event()
        self._running.set()

    async def pause(self, seconds: float) -> None:
        self._running.clear()
        await asyncio.sleep(seconds)
        self._running.set()

    async def request(self, method: str, path: str, body: object = None, **_: Any) -> bytes:
        latency, fault = self._fault()
        sent = json.loads(msgspec.json.encode(body))
        await asyncio.sleep(latency / 2)
        await self._running.wait()
        if fault == UNAVAILABLE:
            raise ApiError(503, "ServiceUnavailable", "")
        if fault == CONFLICT and method != "GET":
            raise ApiError(409, "Conflict", "")
        if fault == NOT_SENT:
            raise Unreachable("injected")
        answer = self._api.carry_out(method, sent)
        await asyncio.sleep(latency / 2)
        await self._running.wait()
        if fault == ANSWER_LOST:
            raise Unreachable("injected")
        return msgspec.json.encode(answer)


@dataclass
class Candidate:
    """One process: it acquires, holds, and is done when the lease is lost. Its clock has an offset of its own."""

    name: str
    settings: LeaderElection
    client: LeaseClient
    offset: float = 0.0
    draw: Callable[[], float] = lambda: 1.0
    lost: str = ""

    def __post_init__(self) -> None:
        self.write_deadline = self.settings.new_write_deadline(self.clock)
        self.elector = Elector(
            self.client, self.settings, self.name, self.write_deadline, clock=self.clock, draw=self.draw
        )

    def clock(self) -> float:
        return asyncio.get_running_loop().time() + self.offset

    async def run(self) -> None:
        await self.elector.acquire()
        self.lost = await self.elector.hold()
        self.write_deadline.expire()  # the process ends
