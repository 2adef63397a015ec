"""What becomes of a job: running, losing members, ending, and what is left of it then."""

from __future__ import annotations

import pytest

from scheduler.operator.profiles import Profile
from tests.test_operator_play import DOCUMENTS, START, TRAINING, Play, arena_mpi, mpi, pytorch


def running(**options: object) -> Play:
    profile = options.pop("profile", TRAINING)
    assert isinstance(profile, Profile)
    return Play(pytorch(**options), profile=profile).settle().run()  # type: ignore[arg-type]


def test_the_story_of_a_good_job() -> None:
    """JOB-02"""
    play = Play(pytorch()).settle()
    assert play.state == "Created"
    assert play.condition("Created")["reason"] == "PyTorchJobCreated"
    assert play.status["startTime"] == "2027-01-15T08:00:00Z"
    play.run("job-worker-0")
    assert play.state == "Created", "the master decides"
    assert play.run("job-master-0").state == "Running"
    assert play.run().counts("Worker") == (2, 0, 0)
    play.now += 30
    play.end("job-worker-0")
    assert play.counts("Worker") == (1, 1, 0)
    assert play.end("job-master-0").state == "Succeeded"
    assert (play.counts("Master"), play.counts("Worker")) == ((0, 1, 0), (0, 2, 0))
    assert play.status["completionTime"] == "2027-01-15T08:00:30Z"
    assert [(one["type"], one["status"]) for one in play.status["conditions"]] == [
        ("Created", "True"), ("Running", "False"), ("Succeeded", "True"),
    ]  # fmt: skip
    assert [one.split(":")[0] for one in play.said] == ["PyTorchJobRunning", "PyTorchJobSucceeded"]


def test_without_a_master_all_workers_have_to_succeed() -> None:
    play = Play(pytorch(master=False)).settle().run()
    assert play.end("job-worker-0").state == "Running"
    assert play.end("job-worker-1").state == "Succeeded"


def test_a_preempted_member_that_never_comes_back_is_the_end_at_once() -> None:
    """JOB-03, DOC-1"""
    play = running().preempt("job-worker-1")
    assert play.state == "Failed"
    said = play.condition("Failed")
    assert said["reason"] == "PyTorchJobFailed"
    assert said["message"] == "PyTorchJob job is failed because 1 Worker replica(s) failed."
    assert play.counts("Worker") == (1, 0, 1)
    before = play.status
    play.lose("job-worker-1")
    assert play.end("job-master-0", 1).status == before
    assert set(play.pods) == {"job-master-0", "job-worker-0"}, "nobody is created or deleted after the end"


def test_a_member_that_vanished_unseen_is_lost_all_the_same() -> None:
    """JOB-03, JOB-10"""
    play = running().lose("job-worker-0")
    assert play.state == "Failed"
    assert "job-worker-0" not in play.pods


def test_a_member_that_never_ran_is_simply_created_again() -> None:
    play = Play(pytorch()).settle().lose("job-worker-0")
    assert (play.state, "job-worker-0" in play.pods) == ("Created", True)


@pytest.mark.parametrize("policy", ["OnFailure", "Always", "ExitCode"])
def test_a_preempted_member_comes_back_where_the_policy_says_so(policy: str) -> None:
    """JOB-03"""
    play = running(policy=policy, backoffLimit=0).preempt("job-worker-1")
    assert play.state == "Restarting"
    assert not any(one["type"] == "Running" for one in play.status["conditions"])
    play.lose("job-worker-1")
    assert play.pods["job-worker-1"]["status"]["phase"] == "Pending"
    assert play.state == "Running", "the master never stopped"
    assert "restarts" not in play.status, "being preempted is not the job's fault"


@pytest.mark.parametrize(
    ("policy", "code", "state"),
    [
        ("Never", 137, "Failed"), ("OnFailure", 1, "Running"), ("Always", 1, "Running"),
        ("ExitCode", 1, "Failed"), ("ExitCode", 137, "Running"),
    ],
)  # fmt: skip
def test_a_crash_is_treated_by_policy(policy: str, code: int, state: str) -> None:
    """JOB-03"""
    play = running(policy=policy).end("job-worker-1", code)
    assert play.state == state
    assert play.deleted == (["job-worker-1"] if state == "Running" else [])
    assert any("Restarting" in one for one in play.said) == (state == "Running")


def test_a_crash_of_the_master_is_told_until_it_runs_again() -> None:
    play = running(policy="OnFailure").end("job-master-0", 1)
    assert play.state == "Restarting"
    assert play.run().state == "Running"


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_so_many_crashes_and_no_more(limit: int) -> None:
    """JOB-03: backoffLimit"""
    play = running(policy="OnFailure", backoffLimit=limit)
    for _ in range(limit):
        assert play.end("job-worker-0", 1).run().state == "Running"
    play.end("job-worker-0", 1)
    assert play.state == "Failed"
    assert "backoff limit" in play.condition("Failed")["message"]


def test_restarts_in_place_count_too() -> None:
    play = running(policy="OnFailure", backoffLimit=2)
    play.pods["job-worker-0"]["status"]["containerStatuses"] = [{"name": "pytorch", "restartCount": 3}]
    assert play.settle().state == "Failed"


@pytest.mark.parametrize("policy", ["Never", "OnFailure", "Always"])
def test_in_the_documents_any_loss_is_the_end(policy: str) -> None:
    """DOC-1: also with the policies that today's clients write."""
    play = running(policy=policy, profile=DOCUMENTS).preempt("job-worker-1")
    assert play.state == "Failed"
    assert "job-worker-1" not in play.lose("job-worker-1").pods


@pytest.mark.parametrize(
    ("policy", "left"),
    [("None", {"job-master-0", "job-worker-0", "job-worker-1"}), ("Running", {"job-master-0"}), ("All", set())],
)
def test_what_is_left_of_a_finished_job(policy: str, left: set[str]) -> None:
    """JOB-04"""
    play = running(cleanPodPolicy=policy).end("job-master-0")
    assert set(play.pods) == set(play.services) == left
    assert play.state == "Succeeded"


def test_a_finished_job_is_kept_for_its_time() -> None:
    """JOB-05"""
    play = running(ttlSecondsAfterFinished=60).end("job-master-0")
    assert play.wake == START + 60
    play.now = START + 59
    assert not play.settle().gone
    play.now = START + 60
    assert play.settle().gone


def test_a_job_may_not_take_longer_than_its_deadline() -> None:
    """JOB-05"""
    play = running(activeDeadlineSeconds=10, cleanPodPolicy="Running")
    assert play.wake == START + 10
    play.now = START + 10
    assert play.settle().state == "Failed"
    assert "deadline" in play.condition("Failed")["message"]
    assert play.pods == {}


def test_suspended_and_resumed() -> None:
    """JOB-05"""
    play = running(activeDeadlineSeconds=10)
    play.spec["runPolicy"]["suspend"] = True
    play.settle()
    assert (play.state, play.pods, play.services) == ("Suspended", {}, {})
    assert play.condition("Suspended")["reason"] == "PyTorchJobSuspended"
    assert play.condition("Running")["status"] == "False"
    assert play.counts("Worker") == (0, 0, 0)
    play.now += 100
    play.spec["runPolicy"]["suspend"] = False
    play.settle()
    assert len(play.pods) == 3
    assert play.condition("Suspended")["reason"] == "PyTorchJobResumed"
    assert play.wake == play.now + 10, "the clock starts anew"
    assert play.run().state == "Running"


def test_created_suspended_has_nothing() -> None:
    """JOB-05"""
    play = Play(pytorch(suspend=True)).settle()
    assert (play.pods, play.state) == ({}, "Suspended")


def test_pods_that_still_go_after_a_suspension_are_no_loss() -> None:
    """JOB-05, JOB-10: resumed before the last of them is gone."""
    play = running()
    leaving = {name: dict(pod) for name, pod in play.pods.items()}
    play.spec["runPolicy"]["suspend"] = True
    play.settle()
    for pod in leaving.values():
        pod["metadata"] = {**pod["metadata"], "deletionTimestamp": "2027-01-15T08:00:01Z"}
    play.pods = leaving
    play.spec["runPolicy"]["suspend"] = False
    assert play.settle().state != "Failed"
    assert play.lose(*leaving).run().state == "Running"


def test_a_lost_worker_is_the_end_of_an_mpi_job() -> None:
    """JOB-07"""
    play = Play(mpi(), kind="MPIJob").settle().run().run()
    assert play.state == "Running"
    assert play.preempt("job-worker-0").state == "Failed"
    assert play.condition("Failed")["reason"] == "MPIJobFailed"


def test_only_the_launcher_is_left_of_arenas_job() -> None:
    """JOB-07, DOC-2"""
    play = Play(arena_mpi(cleanPodPolicy="All"), kind="MPIJob", profile=DOCUMENTS).settle().run().run()
    play.lose("job-worker-0")
    assert play.status["launcherStatus"] == "Failed"
    (left,) = play.pods
    assert left.startswith("job-launcher-")


def test_an_mpi_job_succeeds_with_its_launcher() -> None:
    """JOB-07"""
    play = Play(mpi(cleanPodPolicy="Running"), kind="MPIJob").settle().run().run()
    assert play.end("job-launcher").state == "Succeeded"
    assert set(play.pods) == {"job-launcher"}


def test_a_job_that_is_being_deleted_is_left_alone() -> None:
    """JOB-08"""
    play = running()
    play.metadata["deletionTimestamp"] = "2027-01-15T08:00:00Z"
    play.pods.clear()
    assert play.changes() == []


def test_pods_that_nobody_asked_for_any_more_go() -> None:
    play = running()
    play.spec["pytorchReplicaSpecs"]["Worker"]["replicas"] = 1
    play.settle()
    assert set(play.pods) == {"job-master-0", "job-worker-0"}
    assert play.state == "Running"
