"""The work queue and the job cache of the operator's controller."""

from __future__ import annotations

import asyncio

import msgspec

from scheduler.client import ADDED, DELETED, MODIFIED, Metadata, OwnerReference
from scheduler.operator.api_objects import Job, Pod
from scheduler.operator.job_cache import JobCache, JobKey
from scheduler.operator.workqueue import WorkQueue

KEY = JobKey("PyTorchJob", "ns", "job")
OTHER = JobKey("MPIJob", "ns", "job")


def job(version: str, uid: str = "u") -> Job:
    return Job("PyTorchJob", Metadata(name="job", namespace="ns", uid=uid, resource_version=version))


def pod(name: str, owner: str = "u") -> Pod:
    owners = [OwnerReference(owner, "PyTorchJob", "job", controller=True)]
    return Pod(Metadata(name=name, namespace="ns", owner_references=owners))


def test_a_job_is_never_reconciled_twice_at_a_time() -> None:
    async def scenario() -> None:
        queue = WorkQueue(lambda _: False)
        for _ in range(3):
            queue.add(KEY)
        assert await queue.get(new=False) == KEY
        queue.add(KEY)
        queue.add(OTHER)
        assert await queue.get(new=False) == OTHER
        queue.done(KEY)
        assert await queue.get(new=False) == KEY

    asyncio.run(scenario())


def test_new_jobs_have_a_queue_of_their_own() -> None:
    async def scenario() -> None:
        new = {KEY}
        queue = WorkQueue(new.__contains__)
        queue.add(OTHER)
        queue.add(KEY)
        assert await queue.get(new=True) == KEY
        queue.add(KEY)
        new.clear()
        queue.done(KEY)
        assert [await queue.get(new=False) for _ in range(2)] == [OTHER, KEY]

    asyncio.run(scenario())


def test_a_new_timer_replaces_the_old_one() -> None:
    async def scenario() -> None:
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

    asyncio.run(scenario())


def test_a_stale_watch_event_does_not_overwrite_a_newer_job() -> None:
    cache = JobCache(lambda _: None)
    cache.job_changed(ADDED, job("5"))
    assert cache.confirm_job(job("10"))
    cache.job_changed(MODIFIED, job("9"))
    assert cache.jobs[KEY].metadata.resource_version == "10"
    cache.job_changed(DELETED, job("11", uid="another"))
    assert KEY in cache.jobs
    cache.job_changed(DELETED, job("11"))
    assert KEY not in cache.jobs


def test_the_answer_to_a_write_does_not_bring_back_a_job_that_was_deleted_meanwhile() -> None:
    cache = JobCache(lambda _: None)
    cache.job_changed(ADDED, job("5"))
    cache.job_changed(DELETED, job("11"))
    assert not cache.confirm_job(job("10"))
    assert KEY not in cache.jobs
    cache.job_changed(ADDED, job("12", uid="another"))
    assert not cache.confirm_job(job("10"))
    assert cache.jobs[KEY].metadata.uid == "another"


def test_pods_enqueue_their_job_and_are_told_apart_by_the_uid_of_their_owner() -> None:
    enqueued: list[JobKey] = []
    cache = JobCache(enqueued.append)
    cache.pod_changed(ADDED, pod("job-worker-0"))
    cache.pod_changed(ADDED, pod("job-worker-1", owner="before"))
    cache.pod_changed(ADDED, Pod(Metadata(name="unowned", namespace="ns")))
    assert enqueued == [KEY, KEY]
    assert [one.metadata.name for one in cache.pods(KEY, "u")] == ["job-worker-0"]
    cache.pod_changed(DELETED, pod("job-worker-0"))
    assert cache.pods(KEY, "u") == []


def test_a_created_pod_is_expected_until_it_is_seen_or_expires() -> None:
    cache = JobCache(lambda _: None)
    cache.expect(KEY, "Pod", "job-worker-0", 100.0)
    assert cache.expected_until(KEY, "Pod", "job-worker-0", 101.0) is not None
    assert cache.expected_until(KEY, "Service", "job-worker-0", 101.0) is None
    assert cache.expected_until(KEY, "Pod", "job-worker-0", 1000.0) is None
    cache.pod_changed(ADDED, pod("job-worker-0"))
    assert cache.expected_until(KEY, "Pod", "job-worker-0", 101.0) is None


def test_pods_that_were_created_together_enqueue_their_job_once() -> None:
    enqueued: list[JobKey] = []
    cache = JobCache(enqueued.append)
    cache.job_changed(ADDED, job("5"))
    assert cache.is_new(KEY)
    for name in ("job-master-0", "job-worker-0"):
        cache.expect(KEY, "Pod", name, 100.0)
    assert not cache.is_new(KEY)
    cache.pod_changed(ADDED, pod("job-worker-0"))
    assert enqueued == [KEY]
    cache.pod_changed(MODIFIED, pod("job-worker-0"))
    assert enqueued == [KEY, KEY]
    cache.pod_changed(ADDED, pod("job-master-0"))
    assert enqueued == [KEY, KEY, KEY]


def test_a_pod_is_decoded_from_the_api() -> None:
    raw = b"""{"metadata": {"name": "p", "labels": {"training.kubeflow.org/replica-type": "worker",
      "training.kubeflow.org/replica-index": "x"}}, "spec": {"containers": []},
      "status": {"phase": "Failed", "containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": 3}}}]}}"""
    read = msgspec.json.decode(raw, type=Pod)
    assert (read.role, read.index, read.terminating) == ("worker", -1, False)
