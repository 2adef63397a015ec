"""The lifecycle of a job: running, losing replicas, finishing, and cleanup."""

from __future__ import annotations

import pytest

from scheduler.operator.lost_replicas import Profile
from tests.support.reconcile_harness import START, TRAINING, WALKTHROUGHS, JobSimulation, arena_mpi, mpi, pytorch


def running(**options: object) -> JobSimulation:
    profile = options.pop("profile", TRAINING)
    assert isinstance(profile, Profile)
    return JobSimulation(pytorch(**options), profile=profile).settle().run()  # type: ignore[arg-type]


def test_conditions_and_counts_of_a_job_that_succeeds() -> None:
    """JOB-02"""
    job = JobSimulation(pytorch()).settle()
    assert job.state == "Created"
    assert job.condition("Created")["reason"] == "PyTorchJobCreated"
    assert job.status["startTime"] == "2027-01-15T08:00:00Z"
    job.run("job-worker-0")
    assert job.state == "Created", "the master decides"
    assert job.run("job-master-0").state == "Running"
    assert job.run().counts("Worker") == (2, 0, 0)
    job.now += 30
    job.end("job-worker-0")
    assert job.counts("Worker") == (1, 1, 0)
    assert job.end("job-master-0").state == "Succeeded"
    assert (job.counts("Master"), job.counts("Worker")) == ((0, 1, 0), (0, 2, 0))
    assert job.status["completionTime"] == "2027-01-15T08:00:30Z"
    assert [(one["type"], one["status"]) for one in job.status["conditions"]] == [
        ("Created", "True"), ("Running", "False"), ("Succeeded", "True"),
    ]  # fmt: skip
    assert [one.split(":")[0] for one in job.events] == ["PyTorchJobRunning", "PyTorchJobSucceeded"]


def test_without_a_master_all_workers_have_to_succeed() -> None:
    job = JobSimulation(pytorch(master=False)).settle().run()
    assert job.end("job-worker-0").state == "Running"
    assert job.end("job-worker-1").state == "Succeeded"


def test_a_preempted_replica_that_is_not_replaced_fails_the_job_at_once() -> None:
    """JOB-03, DOC-1"""
    job = running().preempt("job-worker-1")
    assert job.state == "Failed"
    condition = job.condition("Failed")
    assert condition["reason"] == "PyTorchJobFailed"
    assert condition["message"] == "PyTorchJob job is failed because 1 Worker replica(s) failed."
    assert job.counts("Worker") == (1, 0, 1)
    before = job.status
    job.lose("job-worker-1")
    assert job.end("job-master-0", 1).status == before
    assert set(job.pods) == {"job-master-0", "job-worker-0"}, "no pod is created or deleted after the job has failed"


def test_a_replica_that_vanished_between_reconciliations_is_lost() -> None:
    """JOB-03, JOB-10"""
    job = running().lose("job-worker-0")
    assert job.state == "Failed"
    assert "job-worker-0" not in job.pods


def test_a_replica_that_never_ran_is_created_again() -> None:
    job = JobSimulation(pytorch()).settle().lose("job-worker-0")
    assert (job.state, "job-worker-0" in job.pods) == ("Created", True)


@pytest.mark.parametrize("policy", ["OnFailure", "Always", "ExitCode"])
def test_a_preempted_replica_is_replaced_if_the_restart_policy_says_so(policy: str) -> None:
    """JOB-03"""
    job = running(policy=policy, backoffLimit=0).preempt("job-worker-1")
    assert job.state == "Restarting"
    assert not any(one["type"] == "Running" for one in job.status["conditions"])
    job.lose("job-worker-1")
    assert job.pods["job-worker-1"]["status"]["phase"] == "Pending"
    assert job.state == "Running", "the master never stopped"
    assert job.memory.restarts == 0, "a preemption does not count towards backoffLimit"


@pytest.mark.parametrize(
    ("policy", "code", "state"),
    [
        ("Never", 137, "Failed"), ("OnFailure", 1, "Running"), ("Always", 1, "Running"),
        ("ExitCode", 1, "Failed"), ("ExitCode", 137, "Running"),
    ],
)  # fmt: skip
def test_a_crash_is_handled_by_restart_policy(policy: str, code: int, state: str) -> None:
    """JOB-03"""
    job = running(policy=policy).end("job-worker-1", code)
    assert job.state == state
    assert job.deleted_pods == (["job-worker-1"] if state == "Running" else [])
    assert any("Restarting" in one for one in job.events) == (state == "Running")


def test_restarting_is_reported_until_the_master_runs_again() -> None:
    job = running(policy="OnFailure").end("job-master-0", 1)
    assert job.state == "Restarting"
    assert job.run().state == "Running"


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_more_crashes_than_the_backoff_limit_fail_the_job(limit: int) -> None:
    """JOB-03: backoffLimit"""
    job = running(policy="OnFailure", backoffLimit=limit)
    for _ in range(limit):
        assert job.end("job-worker-0", 1).run().state == "Running"
    job.end("job-worker-0", 1)
    assert job.state == "Failed"
    assert "backoff limit" in job.condition("Failed")["message"]


def test_restarts_by_the_kubelet_count_towards_the_backoff_limit() -> None:
    job = running(policy="OnFailure", backoffLimit=2)
    job.pods["job-worker-0"]["status"]["containerStatuses"] = [{"name": "pytorch", "restartCount": 3}]
    assert job.settle().state == "Failed"


@pytest.mark.parametrize("policy", ["Never", "OnFailure", "Always"])
def test_with_the_walkthroughs_profile_any_lost_replica_fails_the_job(policy: str) -> None:
    """DOC-1: also with the restart policies that current clients set."""
    job = running(policy=policy, profile=WALKTHROUGHS).preempt("job-worker-1")
    assert job.state == "Failed"
    assert "job-worker-1" not in job.lose("job-worker-1").pods


@pytest.mark.parametrize(
    ("policy", "left"),
    [("None", {"job-master-0", "job-worker-0", "job-worker-1"}), ("Running", {"job-master-0"}), ("All", set())],
)
def test_clean_pod_policy_of_a_finished_job(policy: str, left: set[str]) -> None:
    """JOB-04"""
    job = running(cleanPodPolicy=policy).end("job-master-0")
    assert set(job.pods) == set(job.services) == left
    assert job.state == "Succeeded"


def test_a_finished_job_is_deleted_after_its_ttl() -> None:
    """JOB-05"""
    job = running(ttlSecondsAfterFinished=60).end("job-master-0")
    assert job.requeue_at == START + 60
    job.now = START + 59
    assert not job.settle().deleted_job
    job.now = START + 60
    assert job.settle().deleted_job


def test_a_job_past_its_active_deadline_fails() -> None:
    """JOB-05"""
    job = running(activeDeadlineSeconds=10, cleanPodPolicy="Running")
    assert job.requeue_at == START + 10
    job.now = START + 10
    assert job.settle().state == "Failed"
    assert "deadline" in job.condition("Failed")["message"]
    assert job.pods == {}


def test_a_job_is_suspended_and_resumed() -> None:
    """JOB-05"""
    job = running(activeDeadlineSeconds=10)
    job.spec["runPolicy"]["suspend"] = True
    job.settle()
    assert (job.state, job.pods, job.services) == ("Suspended", {}, {})
    assert job.condition("Suspended")["reason"] == "PyTorchJobSuspended"
    assert job.condition("Running")["status"] == "False"
    assert job.counts("Worker") == (0, 0, 0)
    job.now += 100
    job.spec["runPolicy"]["suspend"] = False
    job.settle()
    assert len(job.pods) == 3
    assert job.condition("Suspended")["reason"] == "PyTorchJobResumed"
    assert job.requeue_at == job.now + 10, "the deadline counts from the resumption"
    assert job.run().state == "Running"


def test_a_job_that_is_created_suspended_has_no_pods() -> None:
    """JOB-05"""
    job = JobSimulation(pytorch(suspend=True)).settle()
    assert (job.pods, job.state) == ({}, "Suspended")


def test_pods_terminating_after_a_suspension_are_not_lost() -> None:
    """JOB-05, JOB-10: resumed before the last of them is gone."""
    job = running()
    terminating = {name: dict(pod) for name, pod in job.pods.items()}
    job.spec["runPolicy"]["suspend"] = True
    job.settle()
    for pod in terminating.values():
        pod["metadata"] = {**pod["metadata"], "deletionTimestamp": "2027-01-15T08:00:01Z"}
    job.pods = terminating
    job.spec["runPolicy"]["suspend"] = False
    assert job.settle().state != "Failed"
    assert job.lose(*terminating).run().state == "Running"


def test_a_lost_worker_fails_an_mpi_job() -> None:
    """JOB-07"""
    job = JobSimulation(mpi(), kind="MPIJob").settle().run().run()
    assert job.state == "Running"
    assert job.preempt("job-worker-0").state == "Failed"
    assert job.condition("Failed")["reason"] == "MPIJobFailed"


def test_only_the_launcher_of_a_v1alpha1_job_is_kept() -> None:
    """JOB-07, DOC-2"""
    job = JobSimulation(arena_mpi(cleanPodPolicy="All"), kind="MPIJob", profile=WALKTHROUGHS).settle().run().run()
    job.lose("job-worker-0")
    assert job.status["launcherStatus"] == "Failed"
    (left,) = job.pods
    assert left.startswith("job-launcher-")


def test_an_mpi_job_succeeds_with_its_launcher() -> None:
    """JOB-07"""
    job = JobSimulation(mpi(cleanPodPolicy="Running"), kind="MPIJob").settle().run().run()
    assert job.end("job-launcher").state == "Succeeded"
    assert set(job.pods) == {"job-launcher"}


def test_a_job_that_is_being_deleted_is_not_reconciled() -> None:
    """JOB-08"""
    job = running()
    job.metadata["deletionTimestamp"] = "2027-01-15T08:00:00Z"
    job.pods.clear()
    assert job.actions() == []


def test_surplus_pods_and_services_are_deleted() -> None:
    """JOB-14"""
    job = running()
    job.services["job-tensorboard"] = {"metadata": {"name": "job-tensorboard", "namespace": "team", "uid": "other"}}
    job.spec["pytorchReplicaSpecs"]["Worker"]["replicas"] = 1
    job.settle()
    assert set(job.pods) == {"job-master-0", "job-worker-0"}
    assert set(job.services) == {"job-master-0", "job-worker-0", "job-tensorboard"}
    assert job.state == "Running"


def test_a_second_reconciliation_changes_nothing() -> None:
    job = JobSimulation(pytorch()).settle()
    for step in (job.settle, job.run, lambda: job.end("job-master-0")):
        step()
        assert job.actions() == []


def test_a_restart_after_any_action_reaches_the_same_state() -> None:
    """JOB-10: the operator may crash after each action and restart from the objects that exist."""
    uninterrupted = JobSimulation(pytorch(policy="OnFailure", backoffLimit=3)).settle().run()
    uninterrupted.end("job-worker-0", 1)
    interrupted = JobSimulation(pytorch(policy="OnFailure", backoffLimit=3)).settle().run()
    ended = [{"name": "main", "state": {"terminated": {"exitCode": 1}}}]
    interrupted.pods["job-worker-0"]["status"] = {"phase": "Failed", "containerStatuses": ended}
    for _ in range(30):
        if not (actions := interrupted.actions()):
            break
        interrupted.apply(actions[0])
    assert interrupted.actions() == []
    assert (interrupted.memory.restarts, set(interrupted.pods)) == (1, set(uninterrupted.pods))
    assert interrupted.state == uninterrupted.state == "Running"
