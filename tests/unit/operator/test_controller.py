"""What the operator's shell remembers: which jobs to look at, and what it knows before the watches tell it."""

from __future__ import annotations

import asyncio

import msgspec

from scheduler.client import ADDED, DELETED, MODIFIED, Metadata, OwnerReference
from scheduler.operator.objects import Job, Pod
from scheduler.operator.workqueue import WorkQueue
from scheduler.operator.world import JobKey, World

KEY = JobKey("PyTorchJob", "ns", "job")
OTHER = JobKey("MPIJob", "ns", "job")


def job(version: str, uid: str = "u") -> Job:
    return Job("PyTorchJob", Metadata(name="job", namespace="ns", uid=uid, resource_version=version))


def pod(name: str, owner: str = "u") -> Pod:
    owners = [OwnerReference(owner, "PyTorchJob", "job", controller=True)]
    return Pod(Metadata(name=name, namespace="ns", owner_references=owners))


def test_a_job_is_never_looked_at_twice_at_a_time() -> None:
    async def scene() -> None:
        queue = WorkQueue(lambda _: False)
        for _ in range(3):
            queue.add(KEY)
        assert await queue.get(new=False) == KEY
        queue.add(KEY)
        queue.add(OTHER)
        assert await queue.get(new=False) == OTHER
        queue.done(KEY)
        assert await queue.get(new=False) == KEY

    asyncio.run(scene())


def test_new_jobs_do_not_queue_behind_the_others() -> None:
    async def scene() -> None:
        news = {KEY}
        queue = WorkQueue(news.__contains__)
        queue.add(OTHER)
        queue.add(KEY)
        assert await queue.get(new=True) == KEY
        queue.add(KEY)
        news.clear()
        queue.done(KEY)
        assert [await queue.get(new=False) for _ in range(2)] == [OTHER, KEY]

    asyncio.run(scene())


def test_the_latest_timer_counts() -> None:
    async def scene() -> None:
        queue = WorkQueue(lambda _: False)
        queue.add_after(KEY, 3600)
        queue.add_after(KEY, 0)
        async with asyncio.timeout(5):
            assert await queue.get(new=False) == KEY
        queue.add_after(OTHER, 0)
        queue.cancel(OTHER)
        queue.add_after(KEY, 0.01)
        queue.done(KEY)
        assert await queue.get(new=False) == KEY

    asyncio.run(scene())


def test_an_older_job_from_the_watch_does_not_undo_what_was_written() -> None:
    world = World(lambda _: None)
    world.job_changed(ADDED, job("5"))
    world.learned(job("10"))
    world.job_changed(MODIFIED, job("9"))
    assert world.jobs[KEY].metadata.resource_version == "10"
    world.job_changed(DELETED, job("11", uid="another"))
    assert KEY in world.jobs
    world.job_changed(DELETED, job("11"))
    assert KEY not in world.jobs


def test_pods_wake_their_job_and_those_of_a_namesake_are_told_apart() -> None:
    woken: list[JobKey] = []
    world = World(woken.append)
    world.pod_changed(ADDED, pod("job-worker-0"))
    world.pod_changed(ADDED, pod("job-worker-1", owner="before"))
    world.pod_changed(ADDED, Pod(Metadata(name="stranger", namespace="ns")))
    assert woken == [KEY, KEY]
    assert [one.metadata.name for one in world.pods(KEY, "u")] == ["job-worker-0"]
    world.pod_changed(DELETED, pod("job-worker-0"))
    assert world.pods(KEY, "u") == []


def test_what_has_just_been_created_is_not_created_again_for_a_while() -> None:
    world = World(lambda _: None)
    world.expect(KEY, "job-worker-0", 100.0)
    assert world.expected_until(KEY, "job-worker-0", 101.0) is not None
    assert world.expected_until(KEY, "job-worker-0", 1000.0) is None
    world.pod_changed(ADDED, pod("job-worker-0"))
    assert world.expected_until(KEY, "job-worker-0", 101.0) is None


def test_pods_that_were_created_together_wake_their_job_once() -> None:
    woken: list[JobKey] = []
    world = World(woken.append)
    world.job_changed(ADDED, job("5"))
    assert world.is_new(KEY)
    for name in ("job-master-0", "job-worker-0"):
        world.expect(KEY, name, 100.0)
    assert not world.is_new(KEY)
    world.pod_changed(ADDED, pod("job-worker-0"))
    assert woken == [KEY]
    world.pod_changed(MODIFIED, pod("job-worker-0"))
    assert woken == [KEY, KEY]
    world.pod_changed(ADDED, pod("job-master-0"))
    assert woken == [KEY, KEY, KEY]


def test_a_pod_is_read_as_the_api_writes_it() -> None:
    raw = b"""{"metadata": {"name": "p", "labels": {"training.kubeflow.org/replica-type": "worker",
      "training.kubeflow.org/replica-index": "x"}}, "spec": {"containers": []},
      "status": {"phase": "Failed", "containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": 3}}}]}}"""
    read = msgspec.json.decode(raw, type=Pod)
    assert (read.role, read.index, read.leaving) == ("worker", -1, False)
