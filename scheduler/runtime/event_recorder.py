"""Events tell people what happened. They are best effort, and never stand in the way of a binding.

They have connections of their own, and a queue that drops the newest when it is full: an event that is lost is a pity,
a scheduler that waits for one is a fault.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from datetime import UTC, datetime

import msgspec

from scheduler.client import ApiError, Client, Unreachable
from scheduler.core.model import Group, Pod

_WRITERS = 8
_LONGEST_NOTE = 1024  # characters, by the API's validation
_WAITING_AT_MOST = 20_000
_GROUP_VERSIONS = {"volcano": "scheduling.volcano.sh/v1beta1", "koordinator": "scheduling.sigs.k8s.io/v1alpha1"}

_log = logging.getLogger(__name__)


def shortened(text: str) -> str:
    """Whoever writes a name of a mebibyte does not get it back in every sentence about it."""
    return text if len(text) <= _LONGEST_NOTE else text[: _LONGEST_NOTE // 2] + "…" + text[1 - _LONGEST_NOTE // 2 :]


class Reference(msgspec.Struct, rename="camel"):
    """An object that an event is about."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


def _name(about: str) -> str:
    return f"{about[:230].rstrip('-.')}.{time.time_ns():x}"


def to_pod(pod: Pod) -> Reference:
    return Reference("v1", "Pod", *pod.key, pod.uid)


def to_group(group: Group) -> Reference:
    return Reference(_GROUP_VERSIONS[group.kind], "PodGroup", *group.key, group.uid)


class Events:
    """`tell` returns at once; `run` writes until cancelled; `drain` waits for what has been told so far."""

    def __init__(self, client: Client) -> None:
        self.client = client  # for all that is said to people: a thousand words do not hold up one binding
        self._queue: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue(_WAITING_AT_MOST)
        self._instance = f"{socket.gethostname()[:100]}-{os.getpid()}"

    def tell(
        self, regarding: Reference, *, by: str, reason: str, action: str, note: str, warning: bool = False,
        related: Reference | None = None,
    ) -> None:  # fmt: skip
        event = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": _name(regarding.name), "namespace": regarding.namespace},
            "eventTime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "reportingController": by,
            "reportingInstance": self._instance,
            "type": "Warning" if warning else "Normal",
            "reason": reason,
            "action": action,
            "regarding": regarding,
            "note": shortened(note),
        }
        if related is not None:
            event["related"] = related
        path = f"/apis/events.k8s.io/v1/namespaces/{regarding.namespace}/events"
        try:
            self._queue.put_nowait((path, msgspec.json.encode(event)))
        except asyncio.QueueFull:
            _log.warning("an event about %s was dropped: too many are waiting", regarding.name)

    def failed(self, regarding: Reference, *, by: str, reason: str, note: str) -> None:
        self.tell(regarding, by=by, reason=reason, action="Scheduling", note=note, warning=True)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as writers:
            for _ in range(_WRITERS):
                writers.create_task(self._write())

    async def drain(self) -> None:
        await self._queue.join()

    async def _write(self) -> None:
        while True:
            path, body = await self._queue.get()
            try:
                await self.client.request("POST", path, body)
            except ApiError as refusal:
                if not (refusal.is_missing or refusal.status == 403):  # its namespace is going
                    _log.warning("an event was refused: %s", refusal)
            except Unreachable as trouble:
                _log.warning("an event was lost: %s", trouble)
            finally:
                self._queue.task_done()
