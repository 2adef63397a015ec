"""Queue controller: sets status.state of Queues, as Volcano's controller does.

A new queue is opened; a Command opens or closes a queue; a closing queue is closed when its last PodGroup is gone. The
status also counts PodGroups by phase.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import Counter
from typing import Any

import msgspec

from scheduler.client import DELETED, ApiError, Client, Reflector, Unreachable
from scheduler.client.client import MERGE_PATCH
from scheduler.core.scheduling_types import DEFAULT_QUEUE
from scheduler.runtime.api_types import Command, CustomResource
from scheduler.runtime.cache import QUEUES, Cache

_COMMANDS = "/apis/bus.volcano.sh/v1alpha1"
_UNKNOWN = "unknown"  # the count of groups in all other phases
_PHASES = {"": "pending", "Pending": "pending", "Inqueue": "inqueue", "Running": "running", "Completed": "completed"}
_QUEUE_NAME = re.compile(r"[a-z0-9]([-.a-z0-9]*[a-z0-9])?")  # as the API server allows it: it becomes part of a path
_SYNC_INTERVAL = 0.2  # seconds: counts need not follow every change
_RETRY_DELAY = 2.0
_SERVER_ERROR = 500

_log = logging.getLogger(__name__)


class QueueController:
    """`notify` tells it that something has changed; `run` reconciles until cancelled."""

    def __init__(self, client: Client, cache: Cache) -> None:
        self._client, self._cache = client, cache
        self._commands: dict[str, Command] = {}  # by uid, in order; without those that another replica has processed
        self._wake = asyncio.Event()

    def reflector(self) -> Reflector[Command]:
        return Reflector(self._client, f"{_COMMANDS}/commands", Command, self._observe)

    def notify(self) -> None:
        self._wake.set()

    async def run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._process_commands()
                await self._sync_statuses()
            except (ApiError, Unreachable) as error:
                _log.warning("queue status: %s", error)
                await asyncio.sleep(_RETRY_DELAY)
                self._wake.set()
            await asyncio.sleep(_SYNC_INTERVAL)

    def _observe(self, change: str, command: Command) -> None:
        if change == DELETED:
            self._commands.pop(command.metadata.uid, None)
        else:
            self._commands[command.metadata.uid] = command
            self._wake.set()

    async def _process_commands(self) -> None:
        while self._commands:
            uid, command = next(iter(self._commands.items()))
            try:
                await self._process_command(command)
            except ApiError as error:
                if not _is_permanent(error):  # retry: the watch does not show the command again
                    raise
                _log.warning("command %s: %s", "/".join(command.metadata.key), error)
            self._commands.pop(uid, None)

    async def _process_command(self, command: Command) -> None:
        target = command.target if isinstance(command.target, dict) else {}
        if target.get("kind") != "Queue" or command.action not in ("OpenQueue", "CloseQueue"):
            return  # for another controller
        name = str(target.get("name"))
        if _QUEUE_NAME.fullmatch(name):  # also one that the watch has not shown yet
            await (self._open(name) if command.action == "OpenQueue" else self._close(name))
        namespace, command_name = command.metadata.key
        try:
            await self._client.delete(
                f"{_COMMANDS}/namespaces/{namespace}/commands/{command_name}", uid=command.metadata.uid
            )
        except ApiError as error:
            if not (error.is_missing or error.is_conflict):  # a conflict: replaced by a command of the same name
                raise

    async def _open(self, name: str) -> None:
        await self._write(name, {"state": "Open"})

    async def _close(self, name: str) -> None:
        self._cache.assume_queue_closed(name)
        try:
            await self._write(name, {"state": "Closing" if self._in_use(name) else "Closed"})
        finally:
            self._cache.forget_queue_closed(name)

    async def _sync_statuses(self) -> None:
        counts: dict[str, Counter[str]] = {name: Counter() for name in self._cache.queues}
        for group in self._cache.cluster.groups.values():
            if (queue := group.queue or DEFAULT_QUEUE) in counts:
                counts[queue][_PHASES.get(group.phase, _UNKNOWN)] += 1
        failed: Exception | None = None
        for name, found in list(self._cache.queues.items()):
            status = found.status if isinstance(found.status, dict) else {}
            wanted: dict[str, Any] = {phase: counts[name][phase] for phase in (*_PHASES.values(), _UNKNOWN)}
            wanted |= {"state": self._state(found, name)}
            change = {field: value for field, value in wanted.items() if (status.get(field) or 0) != value}
            try:
                if change:
                    await self._write(name, change)
            except (ApiError, Unreachable) as error:  # one queue must not block the others
                failed = failed or error
        if failed is not None:
            raise failed

    def _state(self, found: CustomResource, name: str) -> str:
        state = found.status.get("state") if isinstance(found.status, dict) else None
        if state == "Closing" and not self._in_use(name):
            return "Closed"
        return state if isinstance(state, str) and state else "Open"

    def _in_use(self, name: str) -> bool:
        return any((group.queue or DEFAULT_QUEUE) == name for group in self._cache.cluster.groups.values())

    async def _write(self, name: str, status: dict[str, Any]) -> None:
        try:
            path = f"{QUEUES}/{name}/status"
            written = await self._client.request("PATCH", path, {"status": status}, content_type=MERGE_PATCH)
        except ApiError as error:
            if not error.is_missing:
                raise
        else:
            self._cache.confirm_queue(msgspec.json.decode(written, type=CustomResource))


def _is_permanent(error: ApiError) -> bool:
    """Such a command is dropped: it must not block later ones."""
    return not (error.is_conflict or error.is_busy or error.status >= _SERVER_ERROR)
