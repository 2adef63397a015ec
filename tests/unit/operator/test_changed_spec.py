"""A job whose spec changes: its PodGroup follows, and pods that it does not request any more are deleted."""

from __future__ import annotations

import pytest

from scheduler.operator.lost_replicas import Profile
from tests.support.reconcile_harness import JobSimulation, mpi, mpi_v2beta1, pytorch

_VOLCANO = Profile(gang="volcano")


def test_the_pod_group_of_a_job_that_is_scaled_down_follows() -> None:
    job = JobSimulation(pytorch(workers=4, schedulingPolicy={"priorityClass": "high"}), profile=_VOLCANO).settle()
    assert job.group is not None
    assert (job.group["spec"]["minMember"], job.group["spec"]["minResources"]["cpu"]) == (5, "5")
    job.spec = pytorch(workers=2, schedulingPolicy={"queue": "q"})
    for role in job.spec["pytorchReplicaSpecs"].values():
        role["template"]["spec"]["containers"][0]["resources"] = {"requests": {"memory": "1"}}
    job.settle()
    assert job.group["spec"] == {"minMember": 3, "minResources": {"memory": "3"}, "queue": "q"}


def test_pods_that_are_scaled_away_and_requested_again_are_not_lost() -> None:
    job = JobSimulation(mpi(workers=4), kind="MPIJob").settle().run().run()
    job.keep_terminating = True
    job.spec = mpi(workers=2)
    job.settle()
    assert job.deleted_pods == ["job-worker-2", "job-worker-3"]
    job.spec = mpi(workers=4)
    job.settle()
    assert job.state == "Running"
    job.lose("job-worker-2", "job-worker-3")
    assert (job.state, len(job.pods)) == ("Running", 5)


def test_the_pods_of_a_removed_role_are_deleted() -> None:
    job = JobSimulation(pytorch(workers=2)).settle().run()
    job.spec = pytorch(workers=0)
    job.settle()
    assert list(job.pods) == ["job-master-0"]


def test_a_launcher_that_runs_when_its_job_has_failed_validation_is_deleted() -> None:
    job = JobSimulation(mpi_v2beta1(workers=1), kind="MPIJob").settle().run()
    job.status = {"conditions": [{"type": "Failed", "status": "True", "reason": "MPIJobFailedValidation"}]}
    job.settle()
    assert job.pods == {}


@pytest.mark.parametrize(("launcher_ended", "left"), [(False, []), (True, ["job-launcher"])])
def test_a_launcher_is_kept_after_an_evicted_worker_only_if_it_has_ended(launcher_ended: bool, left: list[str]) -> None:
    job = JobSimulation(mpi_v2beta1(workers=1, cleanPodPolicy="All"), kind="MPIJob").settle().run()
    if launcher_ended:
        job.pods["job-launcher"]["status"] = {"phase": "Failed"}
        job.metadata["annotations"] = {}
    job.end("job-worker-0", 1, reason="Evicted")
    assert job.state == "Failed"
    assert list(job.pods) == left
