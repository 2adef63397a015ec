"""Event recorder: best effort, and never delays a binding.

Events have connections of their own, and a queue that drops the newest when it is full.
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
from scheduler.core.scheduling_types import Group, Pod

_WRITERS = 8
_MAX_NOTE = 1024  # characters, by the API's validation
_MAX_QUEUED = 20_000
_GROUP_VERSIONS = {"volcano": "scheduling.volcano.sh/v1beta1", "koordinator": "scheduling.sigs.k8s.io/v1alpha1"}

_log = logging.getLogger(__name__)


def truncate_message(text: str) -> str:
    """Shorten a message to what the API accepts: object names in it may be very long."""
    return text if len(text) <= _MAX_NOTE else text[: _MAX_NOTE // 2] + "…" + text[1 - _MAX_NOTE // 2 :]


class Reference(msgspec.Struct, rename="camel"):
    """The object that an event regards."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


def _name(about: str) -> str:
    return f"{about[:230].rstrip('-.')}.{time.time_ns():x}"


def pod_reference(pod: Pod) -> Reference:
    return Reference("v1", "Pod", *pod.key, pod.uid)


def group_reference(group: Group) -> Reference:
    return Reference(_GROUP_VERSIONS[group.kind], "PodGroup", *group.key, group.uid)


class EventRecorder:
    """`record` returns at once; `run` writes until cancelled; `drain` waits for all recorded events."""

    def __init__(self, client: Client) -> None:
        self.client = client  # also for status reports: its connections are not those of bindings
        self._queue: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue(_MAX_QUEUED)
        self._instance = f"{socket.gethostname()[:100]}-{os.getpid()}"

    def record(
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
            "note": truncate_message(note),
        }
        if related is not None:
            event["related"] = related
        path = f"/apis/events.k8s.io/v1/namespaces/{regarding.namespace}/events"
        try:
            self._queue.put_nowait((path, msgspec.json.encode(event)))
        except asyncio.QueueFull:
            _log.warning("event about %s dropped: the queue is full", regarding.name)

    def record_warning(self, regarding: Reference, *, by: str, reason: str, note: str) -> None:
        self.record(regarding, by=by, reason=reason, action="Scheduling", note=note, warning=True)

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
            except ApiError as error:
                if not (error.is_missing or error.status == 403):  # its namespace is terminating
                    _log.warning("event rejected: %s", error)
            except Unreachable as error:
                _log.warning("event lost: %s", error)
            finally:
                self._queue.task_done()
