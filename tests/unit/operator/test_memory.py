"""What the operator remembers survives the CRDs of Kubeflow's training-operator, and a crash after every write."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from scheduler.client import Metadata
from scheduler.operator.actions import SetMemory, SetStatus
from scheduler.operator.api_objects import Pod
from scheduler.operator.job_memory import ANNOTATION, Memory, give_up
from scheduler.operator.lost_replicas import Profile
from tests.support.reconcile_harness import JobSimulation, pytorch

# JobStatus and ReplicaStatus of training-operator 1.7 to 1.9; the API server prunes all other fields.
UPSTREAM_STATUS = {"conditions", "replicaStatuses", "startTime", "completionTime", "lastReconcileTime"}
UPSTREAM_COUNTS = {"active", "succeeded", "failed", "labelSelector", "selector"}


class PrunedSimulation(JobSimulation):
    """The status has only the fields of upstream's CRD."""

    def apply(self, action: Any) -> None:
        super().apply(action)
        self.status = {field: value for field, value in self.status.items() if field in UPSTREAM_STATUS}
        for counts in self.status.get("replicaStatuses", {}).values():
            assert set(counts) <= UPSTREAM_COUNTS


def test_crashes_are_counted_although_unknown_fields_of_the_status_are_pruned() -> None:
    job = PrunedSimulation(pytorch(policy="ExitCode", backoffLimit=3)).settle().run()
    for _ in range(3):
        assert job.end("job-worker-0", 137).run().state == "Running"
    assert job.end("job-worker-0", 137).state == "Failed"
    assert "backoff limit" in job.condition("Failed")["message"]


def test_a_suspended_job_is_resumed_although_unknown_fields_of_the_status_are_pruned() -> None:
    job = PrunedSimulation(pytorch()).settle().run()
    job.keep_terminating = True
    job.spec["runPolicy"]["suspend"] = True
    job.settle()
    job.spec["runPolicy"]["suspend"] = False
    assert job.settle().state != "Failed", "its pods terminate because the operator deleted them"


def test_what_is_remembered_is_written_before_the_status() -> None:
    job = JobSimulation(pytorch(policy="OnFailure")).settle().run()
    job.pods["job-worker-0"]["status"] = {"phase": "Failed"}
    memory, status, *_ = job.actions()
    assert (type(memory), type(status)) == (SetMemory, SetStatus)


@pytest.mark.parametrize("writes", [1, 2, 3])
def test_a_crashed_pod_is_replaced_once_although_the_operator_crashes(writes: int) -> None:
    """The operator ends after so many writes: the memory, the status, the event."""
    job = JobSimulation(pytorch(policy="OnFailure", backoffLimit=1)).settle().run()
    job.pods["job-worker-0"]["status"] = {"phase": "Failed"}
    for action in job.actions()[:writes]:
        job.apply(action)
    job.settle()
    assert job.deleted_pods == ["job-worker-0"]
    assert job.pods["job-worker-0"]["status"]["phase"] == "Pending"
    assert (job.memory.restarts, job.state) == (1, "Running")


@pytest.mark.parametrize("text", ["", "no", "[]", '{"restarts": "many"}', '{"givenUp": 7}'])
def test_an_edited_annotation_is_an_empty_memory(text: str) -> None:
    job = JobSimulation(pytorch(policy="OnFailure", backoffLimit=1))
    job.metadata["annotations"] = {ANNOTATION: text}
    assert job.settle().run().end("job-worker-0", 1).run().state == "Running"
    assert job.memory.restarts == 1


def test_the_annotation_is_not_copied_to_the_pod_group() -> None:
    job = JobSimulation(pytorch(), profile=Profile(gang="koordinator"))
    job.metadata["annotations"] = {ANNOTATION: "{}", "team": "vision"}
    job.settle()
    assert job.group is not None
    own = {"scheduling.muster.dev/scheduler-name": "koord-scheduler"}
    assert job.group["metadata"]["annotations"] == {"team": "vision"} | own


def test_all_pods_of_the_largest_job_fit_into_the_annotation() -> None:
    pods = [Pod(Metadata(uid=str(uuid.uuid4()))) for _ in range(10_000)]
    memory = give_up(Memory(), pods)
    assert len(memory.given_up) == len(pods)
    assert len(memory.annotation) < 200_000  # of 262,144 bytes for all annotations of an object
