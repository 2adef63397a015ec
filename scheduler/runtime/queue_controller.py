"""The keeper of queues: what Volcano leaves to a controller. Without it, a queue has no state and opens for nobody.

A queue that is new is opened; a Command opens or closes one; a queue that is closing is closed when its last group has
gone. The numbers of groups per phase are kept beside it, for people.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from typing import Any

from scheduler.client import DELETED, ApiError, Client, Reflector, Unreachable
from scheduler.client.client import MERGE_PATCH
from scheduler.core.model import DEFAULT_QUEUE
from scheduler.runtime.objects import Command, Custom
from scheduler.runtime.world import QUEUES, World

_COMMANDS = "/apis/bus.volcano.sh/v1alpha1"
_PHASES = {"": "pending", "Pending": "pending", "Inqueue": "inqueue", "Running": "running", "Completed": "completed"}
_BREATH = 0.2  # seconds: numbers for people need not follow every change
_AFTER_TROUBLE = 2.0

_log = logging.getLogger(__name__)


class QueueKeeper:
    """`look` is called when something has changed; `run` acts on it until cancelled."""

    def __init__(self, client: Client, world: World) -> None:
        self._client, self._world = client, world
        self._commands: deque[Command] = deque()
        self._news = asyncio.Event()

    def reflector(self) -> Reflector[Command]:
        return Reflector(self._client, f"{_COMMANDS}/commands", Command, self._saw)

    def look(self) -> None:
        self._news.set()

    async def run(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            try:
                await self._obey_all()
                await self._keep()
            except (ApiError, Unreachable) as trouble:
                _log.warning("queues: %s", trouble)
                await asyncio.sleep(_AFTER_TROUBLE)
                self._news.set()
            await asyncio.sleep(_BREATH)

    def _saw(self, change: str, command: Command) -> None:
        if change != DELETED:
            self._commands.append(command)
            self._news.set()

    async def _obey_all(self) -> None:
        while self._commands:
            try:
                await self._obey(self._commands[0])
            except ApiError as refusal:  # for good: it must not stand in the way of the others
                if refusal.is_conflict:  # not for good, and nobody tells of the command again
                    raise
                _log.warning("command %s: %s", "/".join(self._commands[0].metadata.key), refusal)
            self._commands.popleft()

    async def _obey(self, command: Command) -> None:
        target = command.target if isinstance(command.target, dict) else {}
        if target.get("kind") != "Queue" or command.action not in ("OpenQueue", "CloseQueue"):
            return  # somebody else's
        name = str(target.get("name"))
        if name in self._world.queues:
            opened = command.action == "OpenQueue"
            await self._write(name, {"state": "Open" if opened else "Closing" if self._used(name) else "Closed"})
        namespace, called = command.metadata.key
        try:
            await self._client.delete(f"{_COMMANDS}/namespaces/{namespace}/commands/{called}", uid=command.metadata.uid)
        except ApiError as refusal:
            if not (refusal.is_missing or refusal.is_conflict):  # a conflict: there is a namesake by now
                raise

    async def _keep(self) -> None:
        numbers: dict[str, Counter[str]] = {name: Counter() for name in self._world.queues}
        for group in self._world.cluster.groups.values():
            if (queue := group.queue or DEFAULT_QUEUE) in numbers:
                numbers[queue][_PHASES.get(group.phase, "unknown")] += 1
        for name, found in list(self._world.queues.items()):
            status = found.status if isinstance(found.status, dict) else {}
            wanted = {phase: numbers[name][phase] for phase in _PHASES.values()} | {"state": self._state(found, name)}
            change = {field: value for field, value in wanted.items() if (status.get(field) or 0) != value}
            if change:
                await self._write(name, change)

    def _state(self, found: Custom, name: str) -> str:
        state = found.status.get("state") if isinstance(found.status, dict) else None
        if state == "Closing" and not self._used(name):
            return "Closed"
        return state if isinstance(state, str) and state else "Open"

    def _used(self, name: str) -> bool:
        return any((group.queue or DEFAULT_QUEUE) == name for group in self._world.cluster.groups.values())

    async def _write(self, name: str, status: dict[str, Any]) -> None:
        try:
            path = f"{QUEUES}/{name}/status"
            await self._client.request("PATCH", path, {"status": status}, content_type=MERGE_PATCH)
        except ApiError as refusal:
            if not refusal.is_missing:
                raise
