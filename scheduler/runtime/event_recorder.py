"""Event recorder: best effort, and never delays a binding.

Events have connections of their own, and a queue that drops the newest when it is full. What repeats about one object
is one Event with a series, as client-go writes it: its note is the first, which the API does not allow to change. The
series is written when its count reaches a power of two, so repetitions are written ever more rarely.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from scheduler.client import ApiError, Client, Unreachable
from scheduler.client.client import JSON, MERGE_PATCH
from scheduler.core.scheduling_types import Group, Pod

_WRITERS = 8
_MAX_NOTE = 1024  # bytes, by the API's validation
_ELLIPSIS = "…"
_MAX_QUEUED = 20_000
_MAX_SERIES = 20_000  # then the one that was used longest ago is forgotten, and begins again as a new Event
_GROUP_VERSIONS = {"volcano": "scheduling.volcano.sh/v1beta1", "koordinator": "scheduling.sigs.k8s.io/v1alpha1"}

_log = logging.getLogger(__name__)


def truncate_message(text: str) -> str:
    """Shorten a message to what the API accepts: object names in it may be very long."""
    encoded = text.encode()
    if len(encoded) <= _MAX_NOTE:
        return text
    kept = (_MAX_NOTE - len(_ELLIPSIS.encode())) // 2
    return encoded[:kept].decode(errors="ignore") + _ELLIPSIS + encoded[-kept:].decode(errors="ignore")


class Reference(msgspec.Struct, rename="camel"):
    """The object that an event regards."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


def _name(about: str) -> str:
    return f"{about[:230].rstrip('-.')}.{time.time_ns():x}"


def _path(regarding: Reference) -> str:
    return f"/apis/events.k8s.io/v1/namespaces/{regarding.namespace}/events"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def pod_reference(pod: Pod) -> Reference:
    return Reference("v1", "Pod", *pod.key, pod.uid)


def group_reference(group: Group) -> Reference:
    return Reference(_GROUP_VERSIONS[group.kind], "PodGroup", *group.key, group.uid)


@dataclass(slots=True)
class _Series:
    """One Event and how often it was observed."""

    path: str
    count: int = 1


class EventRecorder:
    """`record` returns at once; `run` writes until cancelled; `drain` waits for all recorded events."""

    def __init__(self, client: Client) -> None:
        self.client = client  # also for status reports: its connections are not those of bindings
        self._queue: asyncio.Queue[tuple[str, str, bytes]] = asyncio.Queue(_MAX_QUEUED)  # method, path, body
        self._series: OrderedDict[tuple[str, str], _Series] = OrderedDict()  # by uid and reason
        self._instance = f"{socket.gethostname()[:100]}-{os.getpid()}"

    def record(
        self, regarding: Reference, *, by: str, reason: str, action: str, note: str, warning: bool = False,
        related: Reference | None = None, name: str = "",
    ) -> None:  # fmt: skip
        event = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": name or _name(regarding.name), "namespace": regarding.namespace},
            "eventTime": _now(),
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
        self._enqueue("POST", _path(regarding), event)

    def record_series(
        self, regarding: Reference, *, by: str, reason: str, note: str, action: str = "Scheduling"
    ) -> bool:
        """A warning that may repeat: one Event for each object and reason. Whether something is written now."""
        key = regarding.uid, reason
        series = self._series.get(key)
        if series is None:
            name = _name(regarding.name)
            self.record(regarding, by=by, reason=reason, action=action, note=note, warning=True, name=name)
            self._series[key] = _Series(f"{_path(regarding)}/{name}")
            if len(self._series) > _MAX_SERIES:
                self._series.popitem(last=False)
            return True
        self._series.move_to_end(key)
        series.count += 1
        if series.count & (series.count - 1):
            return False
        self._enqueue("PATCH", series.path, {"series": {"count": series.count, "lastObservedTime": _now()}})
        return True

    def forget(self, uid: str) -> None:
        """The pod is gone."""
        self._series.pop((uid, "FailedScheduling"), None)

    def _enqueue(self, method: str, path: str, body: object) -> None:
        try:
            self._queue.put_nowait((method, path, msgspec.json.encode(body)))
        except asyncio.QueueFull:
            _log.warning("event dropped, the queue is full: %s", path)

    def _forget_path(self, path: str) -> None:
        for key, series in list(self._series.items()):
            if series.path == path:
                del self._series[key]

    async def run(self) -> None:
        async with asyncio.TaskGroup() as writers:
            for _ in range(_WRITERS):
                writers.create_task(self._write())

    async def drain(self) -> None:
        await self._queue.join()

    async def _write(self) -> None:
        while True:
            method, path, body = await self._queue.get()
            try:
                content_type = JSON if method == "POST" else MERGE_PATCH
                await self.client.request(method, path, body, content_type=content_type)
            except ApiError as error:
                if error.is_missing and method == "PATCH":  # the API server keeps events for an hour
                    self._forget_path(path)
                elif not (error.is_missing or error.status == 403):  # its namespace is terminating
                    _log.warning("event rejected: %s", error)
            except Unreachable as error:
                _log.warning("event lost: %s", error)
            finally:
                self._queue.task_done()
