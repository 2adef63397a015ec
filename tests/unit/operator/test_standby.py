"""A replica of the operator without the lease creates nothing, and one that stops finishes what it has begun."""

from __future__ import annotations

import asyncio
from typing import cast

import msgspec
from aiohttp import web

from scheduler.client import ADDED, DELETED, Client
from scheduler.operator.api_objects import Job
from scheduler.operator.controller import Controller
from scheduler.operator.job_cache import JobKey
from scheduler.operator.lost_replicas import PROFILES
from scheduler.runtime.event_recorder import EventRecorder
from tests.unit.runtime.test_client import listed, response, served, streamed

_JOB = {
    "apiVersion": "kubeflow.org/v1",
    "kind": "PyTorchJob",
    "metadata": {"name": "job", "namespace": "ns", "uid": "u", "resourceVersion": "1"},
    "spec": {
        "pytorchReplicaSpecs": {
            "Master": {"replicas": 1, "template": {"spec": {"containers": [{"name": "pytorch", "image": "x"}]}}}
        }
    },
}


def test_a_standby_queues_no_jobs() -> None:
    job = msgspec.convert(_JOB, Job)
    client = cast("Client", None)
    controller = Controller(client, EventRecorder(client), PROFILES["training-operator"])
    controller.cache.job_changed(ADDED, job)
    controller.cache.job_changed(DELETED, job)
    controller.activate()
    assert not controller.queue._dirty
    controller.cache.job_changed(ADDED, job)
    assert controller.queue._dirty == {JobKey("PyTorchJob", "ns", "job")}


def test_a_standby_creates_nothing_until_it_is_elected() -> None:
    created: list[str] = []
    elected = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.method != "GET":
            created.append(f"{request.method} {request.path}")
            return await response(201, _JOB)(request)
        if "watch" in request.query:
            return await streamed(forever=True)(request)
        return await listed(5, *([_JOB] if request.path.endswith("/pytorchjobs") else []))(request)

    async def go() -> None:
        async with served(answer) as client, Client(client._access) as events, asyncio.timeout(20):
            controller = Controller(client, EventRecorder(events), PROFILES["training-operator"])
            running = asyncio.create_task(controller.run(elected))
            while not controller.ready:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            assert not created
            elected.set()
            while "POST /api/v1/namespaces/ns/pods" not in created:
                await asyncio.sleep(0.01)
            running.cancel()

    asyncio.run(go())


def test_a_stop_waits_for_the_job_that_is_being_reconciled_and_begins_no_other() -> None:
    created: list[str] = []
    asked, may_answer = asyncio.Event(), asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.method != "GET":
            asked.set()
            await may_answer.wait()
            created.append(f"{request.method} {request.path}")
            return await response(201, _JOB)(request)
        if "watch" in request.query:
            return await streamed(forever=True)(request)
        return await listed(5, *([_JOB] if request.path.endswith("/pytorchjobs") else []))(request)

    async def go() -> None:
        async with served(answer) as client, Client(client._access) as events, asyncio.timeout(20):
            controller = Controller(client, EventRecorder(events), PROFILES["training-operator"])
            running = asyncio.create_task(controller.run())
            await asked.wait()
            closing = asyncio.create_task(controller.queue.close())
            controller.queue.add(JobKey("PyTorchJob", "ns", "other"))
            await asyncio.sleep(0)
            assert not closing.done()
            may_answer.set()
            await closing
            assert "POST /api/v1/namespaces/ns/pods" in created
            assert not controller.queue._processing
            running.cancel()

    asyncio.run(go())
