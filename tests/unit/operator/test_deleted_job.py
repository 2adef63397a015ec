"""A job that is deleted while the operator writes: nothing is created for it afterwards."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import msgspec

from scheduler.client import ADDED, DELETED, ApiError, Client
from scheduler.operator.api_objects import ConfigMap, Job, Pod
from scheduler.operator.controller import Controller
from scheduler.operator.lost_replicas import PROFILES
from scheduler.runtime.event_recorder import EventRecorder
from tests.support.reconcile_harness import Object, mpi
from tests.support.virtual_time import run_in_virtual_time

_JOB = {"kind": "MPIJob", "metadata": {"name": "job", "namespace": "ns", "uid": "u", "resourceVersion": "1"}}


class Api:
    """Deletes the job between its answer to the first status write and the moment when the operator reads it."""

    def __init__(self) -> None:
        self.job = msgspec.convert({**_JOB, "spec": mpi(workers=1)}, Job)
        self.controller: Controller | None = None
        self.pods_after_deletion = 0
        self._pods: list[Pod] = []
        self._deleted = False

    async def request(self, method: str, path: str, body: Object | None = None, **_: Any) -> bytes:
        await asyncio.sleep(0.001)
        assert self.controller is not None
        cache = self.controller.cache
        if method == "GET" or (method == "PATCH" and self._deleted):
            raise ApiError(404, "NotFound", '"job" not found')
        if method == "PATCH" and body is not None:
            metadata = {**_JOB["metadata"], "resourceVersion": "2"}  # type: ignore[dict-item]
            written = {**msgspec.to_builtins(self.job), "metadata": metadata, "status": body.get("status", {})}
            self._deleted = True
            cache.job_changed(DELETED, self.job)
            for pod in self._pods:
                cache.pod_changed(DELETED, pod)
            return msgspec.json.encode(written)
        if method == "POST" and path.endswith("/configmaps"):
            cache.config_changed(ADDED, msgspec.convert(body, ConfigMap))
        if method == "POST" and path.endswith("/pods") and body is not None:
            self.pods_after_deletion += self._deleted
            pod = msgspec.convert({**body, "status": {"phase": "Pending"}}, Pod)
            self._pods.append(pod)
            cache.pod_changed(ADDED, pod)
            if self._deleted:  # the garbage collector
                asyncio.get_running_loop().call_later(0.02, cache.pod_changed, DELETED, pod)
        return b"{}"


def test_no_pod_is_created_for_it_any_more() -> None:
    async def go() -> None:
        api = Api()
        client = cast("Client", cast("Any", api))
        api.controller = controller = Controller(client, EventRecorder(client), PROFILES["training-operator"])
        controller.activate()
        workers = [asyncio.create_task(controller._work(new=new)) for new in (True, False)]
        controller.cache.job_changed(ADDED, api.job)
        await asyncio.sleep(60)
        assert (api.pods_after_deletion, list(controller.cache.jobs)) == (0, [])
        for worker in workers:
            worker.cancel()

    run_in_virtual_time(go())
