"""Large clusters: many nodes, pods and gangs, and the rate at which a scheduler binds them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from muster.cluster.local import LocalCluster
from muster.cluster.resources import POD, Resource
from muster.environment.cluster_objects import node_manifest
from muster.schedulers.dialect import Dialect
from muster.schedulers.requests import GangRequest, NodeRequest, PodRequest
from scheduler.client import Access, Client

NAMESPACE = "bench"
BACKLOG_TIMEOUT = 300.0  # seconds for a whole backlog
_PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"


class _Spec(msgspec.Struct):
    nodeName: str = ""  # noqa: N815


class _Metadata(msgspec.Struct):
    uid: str = ""


class _Pod(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec


class _Change(msgspec.Struct):
    type: str
    object: _Pod


class LargeCluster:
    """Everything in one namespace, created and deleted as fast as the API server allows; no kubelet is simulated."""

    def __init__(self, cluster: LocalCluster) -> None:
        for part in ("simulator", "kwok"):
            cluster.processes.pop(part).kill()
        self._access = Access.from_kubeconfig(cluster.client_kubeconfig("admin"))
        self._api = cluster.connection.api
        self._nodes: list[str] = []
        self._api.ensure({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        metadata = {"name": "default", "namespace": NAMESPACE}
        self._api.ensure({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})

    def nodes(self, count: int, gpus: int) -> None:
        requests = [NodeRequest(f"node-{number:05}", gpus=gpus) for number in range(count)]
        self._nodes = [request.name for request in requests]
        self._create("/api/v1/nodes", [node_manifest(request) for request in requests])

    def pods(self, dialect: Dialect, count: int) -> None:
        self._create(_PODS, [dialect.pod_manifest(PodRequest(f"pod-{n:05}", gpus=1), NAMESPACE) for n in range(count)])

    def gangs(self, dialect: Dialect, count: int, size: int) -> None:
        assert dialect.group_kind is not None
        wanted = [GangRequest(f"gang-{n:03}", size, min_gpus=size) for n in range(count)]
        path = dialect.group_kind.path(NAMESPACE)
        self._create(path, [group for request in wanted if (group := dialect.gang_manifest(request, NAMESPACE))])
        members = [PodRequest(f"{gang.name}-{n}", gpus=1, gang=gang.name) for gang in wanted for n in range(size)]
        self._create(_PODS, [dialect.pod_manifest(request, NAMESPACE) for request in members])

    def bind_all(self, count: int) -> float:
        """Bindings without a scheduler: the maximum rate of the API server."""
        self.pods(Dialect("no-scheduler"), count)

        async def bind(client: Client, number: int) -> None:
            name = f"pod-{number:05}"
            target = {"apiVersion": "v1", "kind": "Node", "name": self._nodes[number % len(self._nodes)]}
            body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
            await client.create(f"{_PODS}/{name}/binding", body)

        began = time.monotonic()
        self._all([partial(bind, number=number) for number in range(count)])
        taken = time.monotonic() - began
        self.clear()
        return count / taken

    def watch_bindings(self, count: int, start: Callable[[], None], stop: Callable[[], None]) -> float:
        """Pods bound per second, from the first binding to the last, by a scheduler that is started now."""
        moments: list[float] = []
        done = threading.Event()
        version = self._api.list(POD, NAMESPACE, limit="1")["metadata"]["resourceVersion"]
        reader = threading.Thread(target=self._read_bindings, args=(version, count, moments, done), daemon=True)
        reader.start()
        start()
        try:
            assert done.wait(BACKLOG_TIMEOUT), f"{len(moments)} of {count} bound after {BACKLOG_TIMEOUT:.0f} s"
        finally:
            stop()
        self.clear()
        return (count - 1) / (moments[-1] - moments[0])

    def clear(self, *more: Resource) -> None:
        async def delete(client: Client, kind: Resource) -> None:
            await client.request("DELETE", kind.path(NAMESPACE), query={"gracePeriodSeconds": "0"})

        self._all([partial(delete, kind=kind) for kind in (POD, *more)])

    def _read_bindings(self, version: str, count: int, moments: list[float], done: threading.Event) -> None:
        seen: set[str] = set()
        query = {"watch": "1", "resourceVersion": version}
        decoder, rest = msgspec.json.Decoder(_Change), b""
        for chunk in self._api.stream(_PODS, query, idle=BACKLOG_TIMEOUT).stream(1 << 16):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                pod = decoder.decode(line).object
                if pod.spec.nodeName and pod.metadata.uid not in seen:
                    seen.add(pod.metadata.uid)
                    moments.append(time.monotonic())
            if len(seen) >= count:
                done.set()
                return

    def _create(self, path: str, manifests: Sequence[dict[str, Any]]) -> None:
        async def create(client: Client, manifest: dict[str, Any]) -> None:
            await client.create(path, manifest)

        self._all([partial(create, manifest=one) for one in manifests])

    def _all(self, requests: Sequence[Callable[[Client], Awaitable[object]]]) -> None:
        async def together() -> None:
            async with Client(self._access) as client:
                await asyncio.gather(*(request(client) for request in requests))

        asyncio.run(together())
