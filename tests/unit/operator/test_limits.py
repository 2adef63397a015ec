"""A job that exceeds activeDeadlineSeconds or backoffLimit is stopped, and its PodGroup goes after its pods."""

from __future__ import annotations

import pytest

from scheduler.operator.lost_replicas import Profile
from tests.support.reconcile_harness import JobSimulation, Object, arena_mpi, mpi, pytorch

PODS = {"job-master-0", "job-worker-0", "job-worker-1"}
VOLCANO = Profile(gang="volcano")


def past_deadline(spec: Object, *, kind: str = "PyTorchJob") -> JobSimulation:
    job = JobSimulation(spec, kind=kind).settle().run().run()
    job.now += 10
    return job.settle()


def restarted_in_place(count: int, *, limit: int, field: str = "containerStatuses") -> JobSimulation:
    job = JobSimulation(pytorch(policy="OnFailure", backoffLimit=limit)).settle().run()
    job.pods["job-worker-0"]["status"][field] = [{"name": "pytorch", "restartCount": count}]
    return job.settle()


def test_the_deadline_deletes_running_pods_with_their_services() -> None:
    job = past_deadline(pytorch(activeDeadlineSeconds=10))
    assert job.state == "Failed"
    assert set(job.deleted_pods) == PODS
    assert (job.pods, job.services) == ({}, {})


def test_the_deadline_keeps_pods_that_have_ended() -> None:
    job = JobSimulation(pytorch(activeDeadlineSeconds=10)).settle().run().end("job-worker-0")
    job.now += 10
    assert set(job.settle().pods) == {"job-worker-0"}


def test_the_deadline_stops_pods_that_are_still_pending() -> None:
    job = JobSimulation(pytorch(activeDeadlineSeconds=10)).settle()
    job.now += 10
    assert job.settle().pods == {}


@pytest.mark.parametrize(("policy", "left"), [("None", PODS), ("Running", set()), ("All", set())])
def test_a_clean_pod_policy_that_is_set_decides_at_the_deadline(policy: str, left: set[str]) -> None:
    """As from training-operator 1.9.4 on (kubeflow/trainer#3419)."""
    job = past_deadline(pytorch(activeDeadlineSeconds=10, cleanPodPolicy=policy))
    assert (job.state, set(job.pods)) == ("Failed", left)


def test_the_deadline_stops_the_launcher_of_either_layout() -> None:
    assert past_deadline(mpi(activeDeadlineSeconds=10), kind="MPIJob").pods == {}
    assert past_deadline(arena_mpi(activeDeadlineSeconds=10), kind="MPIJob").pods == {}


def test_the_backoff_limit_deletes_running_pods() -> None:
    job = JobSimulation(pytorch(policy="OnFailure", backoffLimit=1)).settle().run()
    job.end("job-worker-0", 1).run()
    assert (job.state, set(job.pods)) == ("Running", PODS)
    job.end("job-worker-0", 1)
    assert job.state == "Failed"
    assert set(job.pods) == {"job-worker-0"}, "the pod that ended is kept with its log"


def test_a_lost_replica_stops_nothing() -> None:
    """cleanPodPolicy alone decides, and its default is None."""
    job = JobSimulation(pytorch(activeDeadlineSeconds=10, backoffLimit=1)).settle().run().end("job-worker-0", 1)
    assert (job.state, set(job.pods)) == ("Failed", PODS)


@pytest.mark.parametrize(("limit", "count", "state"), [
    (0, 0, "Running"), (0, 1, "Failed"), (1, 1, "Failed"), (3, 2, "Running"), (3, 3, "Failed"),
])  # fmt: skip
def test_restarts_in_place_fail_the_job_when_they_reach_the_limit(limit: int, count: int, state: str) -> None:
    assert restarted_in_place(count, limit=limit).state == state


def test_restarts_of_init_containers_count() -> None:
    assert restarted_in_place(2, limit=2, field="initContainerStatuses").state == "Failed"


def test_a_pod_group_outlives_the_pods_that_a_limit_stops() -> None:
    job = JobSimulation(pytorch(activeDeadlineSeconds=10), profile=VOLCANO).settle().set_group_phase("Inqueue").run()
    job.now += 10
    job.keep_terminating = True
    assert job.settle().state == "Failed"
    assert all("deletionTimestamp" in pod["metadata"] for pod in job.pods.values())
    assert job.group is not None, "its pods still use the queue's quota"
    job.lose(*job.pods)
    assert job.group is None


def test_the_stop_survives_a_crash_of_the_operator_after_any_write() -> None:
    job = JobSimulation(pytorch(activeDeadlineSeconds=10)).settle().run()
    job.now += 10
    for _ in range(30):
        if actions := job.actions():
            job.apply(actions[0])
    assert (job.state, job.pods, job.services) == ("Failed", {}, {})
