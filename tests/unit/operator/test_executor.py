"""The executor: services before pods, pods in growing batches, and nothing more after the first error."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any, cast

import msgspec
import pytest

from scheduler.client import ApiError, Client
from scheduler.operator.actions import CreateConfigMap, CreatePod, CreateService, EnsureObject
from scheduler.operator.api_objects import Job
from scheduler.operator.executor import Executor, Requeue
from scheduler.operator.reconcile import reconcile
from scheduler.runtime.event_recorder import EventRecorder
from tests.support.reconcile_harness import START, TRAINING, Object, mpi, mpi_v2beta1, pytorch

_FORBIDDEN = 403


class SlowApi:
    """Every request takes one turn of the loop; a batch is what is in flight together."""

    def __init__(self, *, rejected: str = "") -> None:
        self.batches: list[list[str]] = []
        self._in_flight: list[str] = []
        self._rejected = rejected

    async def request(self, _method: str, path: str, body: Object) -> bytes:
        if not self._in_flight:
            self.batches.append(self._in_flight)
        kind, name = path.rsplit("/", 1)[1], body["metadata"]["name"]
        self._in_flight.append(f"{kind}/{name}")
        await asyncio.sleep(0)
        self._in_flight = []
        if kind == self._rejected:
            raise ApiError(_FORBIDDEN, "Forbidden", "exceeded quota")
        return b"{}"


class Events:
    """Remembers notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def record(self, _about: object, *, note: str, **_: object) -> None:
        self.notes.append(note)

    def record_series(self, _about: object, *, note: str, **_: object) -> None:
        self.notes.append(f"series: {note}")


def new_job(kind: str, spec: Object) -> Job:
    metadata = {"name": "job", "namespace": "ns", "uid": "u"}
    return msgspec.convert({"kind": kind, "metadata": metadata, "spec": spec}, Job)


def execute(api: SlowApi, job: Job, *, pods: bool = True) -> list[str]:
    """Create a new job's objects; returns the notes of its events."""
    actions = reconcile(job, [], [], None, [], START, TRAINING)
    kinds = CreateService | CreateConfigMap | EnsureObject | (CreatePod if pods else CreateService)
    creations = [one for one in actions if isinstance(one, kinds)]
    events = Events()
    executor = Executor(cast("Client", cast("Any", api)), cast("EventRecorder", cast("Any", events)), "")
    asyncio.run(executor.execute(job, creations))
    return events.notes


def test_services_are_created_before_pods() -> None:
    api = SlowApi()
    execute(api, new_job("PyTorchJob", pytorch(workers=2)))
    first, second, *pods = api.batches
    assert (first, second) == (["services/job-master-0"], ["services/job-worker-0", "services/job-worker-1"])
    assert all(one.startswith("pods/") for batch in pods for one in batch)


@pytest.mark.parametrize("kind", ["service", "pod"])
def test_they_are_created_in_growing_batches_and_reported_by_one_event(kind: str) -> None:
    api = SlowApi()
    notes = execute(api, new_job("PyTorchJob", pytorch(workers=9)))
    batches = [batch for batch in api.batches if batch[0].startswith(kind)]
    assert [len(batch) for batch in batches] == [1, 2, 4, 3]
    assert batches[0] == [f"{kind}s/job-master-0"]
    assert sum(note.startswith(f"Created {kind}s:") for note in notes) == 1


@pytest.mark.parametrize("rejected", ["pods", "services"])
def test_after_the_first_error_nothing_more_is_created(rejected: str) -> None:
    api = SlowApi(rejected=rejected)
    with pytest.raises(Requeue):
        execute(api, new_job("PyTorchJob", pytorch(workers=9)))
    assert api.batches[-1] == [f"{rejected}/job-master-0"]


def test_failed_creations_are_one_event_with_a_series() -> None:
    events = Events()
    executor = Executor(cast("Client", SlowApi(rejected="pods")), cast("EventRecorder", events), "")
    job = new_job("PyTorchJob", pytorch(workers=9))
    creations = [one for one in reconcile(job, [], [], None, [], START, TRAINING) if isinstance(one, CreatePod)]
    with pytest.raises(Requeue):
        asyncio.run(executor.execute(job, creations))
    assert [note.partition(" pod ")[0] for note in events.notes] == ["series: Error creating"]


def test_the_secret_of_an_mpi_job_is_created_before_its_pods_and_only_with_them() -> None:
    job, api = new_job("MPIJob", mpi_v2beta1()), SlowApi()
    notes = execute(api, job)
    first, second, *pods = api.batches
    assert (first, second) == (["configmaps/job-config", "secrets/job-ssh"], ["services/job"])
    assert all(one.startswith("pods/") for batch in pods for one in batch)
    assert [note.partition(":")[0] for note in notes] == ["Created service", "Created pods"]
    without_pods = SlowApi()
    execute(without_pods, job, pods=False)
    assert without_pods.batches == [["configmaps/job-config"], ["services/job"]]


def test_a_role_binding_is_created_after_its_role() -> None:
    api, profile = SlowApi(), dataclasses.replace(TRAINING, kubectl_image="kubectl")
    job = new_job("MPIJob", mpi())
    actions = reconcile(job, [], [], None, [], START, profile)
    executor = Executor(cast("Client", cast("Any", api)), cast("EventRecorder", cast("Any", Events())), "")
    asyncio.run(executor.execute(job, [one for one in actions if isinstance(one, EnsureObject | CreatePod)]))
    first, second, third, *_ = api.batches
    assert (first, second, third) == (
        ["serviceaccounts/job-launcher"],
        ["roles/job-launcher"],
        ["rolebindings/job-launcher"],
    )
