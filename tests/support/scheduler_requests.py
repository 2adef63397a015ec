"""The scheduler's runtime on a scripted API: its objects are made by hand, and its requests are recorded."""

from __future__ import annotations

import asyncio
import json
import ssl
from dataclasses import dataclass, field
from typing import Any

import msgspec

from scheduler.client import ADDED, Access, ApiError, Client
from scheduler.runtime.api_types import ApiNode, ApiPod
from scheduler.runtime.cache import Cache

LATENCY = 0.003  # seconds, of each request


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    body: Any
    moment: float

    @property
    def is_event(self) -> bool:
        return "/events" in self.path


@dataclass
class RecordingClient(Client):
    """Answers every request; `errors` by the end of the path. A status write shows up in the cache, as by a watch."""

    cache: Cache | None = None
    errors: dict[str, ApiError] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(Access("http://nowhere", ssl.create_default_context()))
        self.version = 1000

    async def request(self, method: str, path: str, body: object = None, **_: Any) -> bytes:
        sent = body if isinstance(body, bytes) else msgspec.json.encode(body)
        document = json.loads(sent)
        self.requests.append(Request(method, path, document, asyncio.get_running_loop().time()))
        await asyncio.sleep(LATENCY)
        for ending, error in self.errors.items():
            if path.endswith(ending):
                raise error
        self.version += 1
        if path.endswith("/binding"):
            self._show(path.split("/")[-2], node=document["target"]["name"])
        if self.cache is not None and path.endswith("/status") and "/pods/" in path:
            self._show(path.split("/")[-2], status=document["status"])
        return msgspec.json.encode({"metadata": {"resourceVersion": str(self.version)}})

    def sent(self, ending: str) -> list[Request]:
        return [one for one in self.requests if one.path.endswith(ending)]

    def _show(self, name: str, **changes: Any) -> None:
        found = self.cache.api_pods.get(name) if self.cache else None
        if found is not None and self.cache is not None:
            self.cache.observe_pod("MODIFIED", _changed(found, self.version, **changes))


def _changed(found: ApiPod, version: int, node: str = "", status: dict[str, Any] | None = None) -> ApiPod:
    document = msgspec.to_builtins(found)
    document["metadata"]["resourceVersion"] = str(version)
    if node:
        document["spec"]["nodeName"] = node
    for field_name, value in (status or {}).items():
        document["status"][field_name] = "" if value is None else value
    return msgspec.convert(document, ApiPod)


def observe_pod(cache: Cache, name: str, *, version: int = 5, node: str = "", gang: str = "", **requests: str) -> None:
    """A pod whose uid is its name."""
    annotations = {"scheduling.k8s.io/group-name": gang} if gang else {}
    metadata = {"name": name, "namespace": "ns", "uid": name, "resourceVersion": str(version)}
    containers = [{"name": "main", "resources": {"requests": requests}}]
    spec = {"schedulerName": "muster-scheduler", "containers": containers, "nodeName": node}
    found = {"metadata": {**metadata, "annotations": annotations}, "spec": spec, "status": {}}
    cache.observe_pod(ADDED, msgspec.convert(found, ApiPod))


def observe_node(cache: Cache, name: str, **allocatable: str) -> None:
    found = {"metadata": {"name": name}, "status": {"allocatable": {"pods": "110", **allocatable}}}
    cache.observe_node(ADDED, msgspec.convert(found, ApiNode))
