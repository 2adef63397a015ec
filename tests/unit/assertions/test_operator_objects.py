"""Questions about what an operator makes for jobs, on histories made for tests."""

from __future__ import annotations

from typing import Any

import pytest

from muster.assertions.job_queries import owned_objects
from muster.assertions.jobs import (
    job_deleted_after,
    job_failed_after,
    job_never_was,
    job_times_consistent,
    job_went_through,
    never_reconciled,
    replica_statuses,
)
from muster.assertions.operator_objects import (
    created,
    created_once,
    created_times,
    has_launcher,
    job_owns_exactly,
    job_rejected_for,
    launcher_created_after_workers,
    never_owned_anything,
    never_owned_other_pods,
    no_pod_group,
    nothing_left,
    pod_environment,
    pod_group_spec,
    pod_labels,
    remaining_pods_ended,
    replica_restarted,
    runs_again,
    services_created_first,
    variable_or_rejection,
    warning_event_contains,
)
from muster.recording.questions import Outcome
from tests.support.history_builder import FALSE, NAMESPACE, PENDING, TRUE, HistoryBuilder, ask

DONE = {"startTime": "2026-01-01T00:00:01Z", "completionTime": "2026-01-01T00:00:03Z"}


class JobHistoryBuilder(HistoryBuilder):
    """Jobs and what is made for them; each status of a job is a list of conditions and whatever else."""

    def job(
        self, name: str, *conditions: str, kind: str = "PyTorchJob", change: str = "MODIFIED", **rest: Any
    ) -> JobHistoryBuilder:
        decoded = [_condition(text, number) for number, text in enumerate(conditions)]
        metadata = {"name": name, "namespace": NAMESPACE, "uid": f"uid-of-{name}"}
        self._record(kind, {"metadata": metadata, "spec": {}, "status": {"conditions": decoded, **rest}}, change)
        return self

    def made(self, kind: str, name: str, job: str, change: str = "ADDED", **body: Any) -> JobHistoryBuilder:
        metadata = {"name": name, "namespace": NAMESPACE, "uid": f"uid-{name}", **body.pop("metadata", {})}
        metadata["ownerReferences"] = [{"uid": f"uid-of-{job}"}]
        self._record(kind, {"metadata": metadata, "spec": {}, **body}, change)
        return self

    def replica(self, name: str, job: str, uid: str = "", **labels: str) -> JobHistoryBuilder:
        self.pod(name, gpus=0 if "launcher" in name else 1, uid=uid)
        self._pods[name]["metadata"] |= {"ownerReferences": [{"uid": f"uid-of-{job}"}], "labels": labels}
        self._change(name, "status", phase="Pending")
        return self


def _condition(text: str, number: int) -> dict[str, str]:
    kind, _, message = text.partition(":")
    status = "False" if kind.startswith("no ") else "True"
    moment = f"2026-01-01T00:00:0{number}Z"
    return {"type": kind.removeprefix("no "), "status": status, "message": message, "lastTransitionTime": moment}


def test_created_and_running_may_be_one_write() -> None:
    at_once = JobHistoryBuilder().job("train").job("train", "Created", "Running")
    assert ask(job_went_through("train", "Created", "Running"), at_once) is TRUE
    assert ask(job_went_through("train", "Created", "Running"), JobHistoryBuilder().job("train", "Running")) is FALSE
    ended = JobHistoryBuilder().job("train", "Created", "no Running", "Succeeded")
    assert ask(job_went_through("train", "Created", "Running", "Succeeded"), ended) is FALSE


def test_a_job_owns_exactly() -> None:
    builder = JobHistoryBuilder().job("train", "Created").job("other", "Created")
    wanted = job_owns_exactly("train", ["train-master-0"])
    assert ask(wanted, builder) is PENDING
    builder.replica("train-master-0", "train").replica("train-worker-0", "other")
    assert ask(wanted, builder) is PENDING, "there is no service yet"
    builder.made("Service", "train-master-0", "train")
    assert ask(wanted, builder) is TRUE
    builder.replica("train-worker-7", "train")
    assert ask(wanted, builder) is PENDING, "one too many"
    builder.gone("train-worker-7")
    assert ask(wanted, builder) is TRUE
    assert set(owned_objects(builder.history, "train", "Pod", deleted_too=True)) == {"train-master-0", "train-worker-7"}


def test_services_are_created_before_pods() -> None:
    first = services_created_first("train")
    builder = JobHistoryBuilder().job("train", "Created")
    assert ask(first, builder) is PENDING
    builder.made("Service", "w", "train").replica("w", "train").replica("v", "other")
    assert ask(first, builder) is TRUE
    builder.replica("x", "train")
    assert ask(first, builder) is FALSE, "there is no service"
    builder.made("Service", "x", "train")
    assert ask(first, builder) is FALSE, "it came too late"


def test_pods_that_were_not_to_be_created() -> None:
    only = never_owned_other_pods("train", ["train-master-0", "train-worker-1"])
    builder = JobHistoryBuilder().job("train", "Created").job("other", "Created")
    assert ask(only, builder) is TRUE, "none of them has to exist"
    builder.replica("train-worker-1", "train").replica("other-worker-2", "other")
    assert ask(only, builder) is TRUE
    builder.replica("train-worker-2", "train").gone("train-worker-2")
    assert ask(only, builder) is FALSE, "it was there"


def test_a_job_that_no_controller_has_touched() -> None:
    untouched = never_reconciled("train")
    assert ask(untouched, JobHistoryBuilder()) is FALSE
    builder = JobHistoryBuilder().job("train")
    assert ask(untouched, builder) is TRUE
    assert ask(untouched, builder.job("train", "Created")) is FALSE


def test_labels_and_environment() -> None:
    builder = JobHistoryBuilder().job("train").replica("train-master-0", "train", role="master")
    assert ask(pod_labels([{"pod": "train-master-0", "role": "master"}]), builder) is TRUE
    assert ask(pod_labels([{"pod": "train-master-0", "role": "worker"}]), builder) is PENDING
    assert ask(pod_labels([{"pod": "train-master-1", "role": "master"}]), builder) is PENDING
    environment = [{"env": [{"name": "RANK", "value": "0"}]}, {"env": [{"name": "RANK", "value": "1"}]}]
    builder._change("train-master-0", "spec", containers=environment[:1])
    assert ask(pod_environment("train", [{"pod": "train-master-0", "RANK": "0"}]), builder) is TRUE
    builder._change("train-master-0", "spec", containers=environment)
    assert ask(pod_environment("train", [{"pod": "train-master-0", "RANK": "0"}]), builder) is PENDING
    assert ask(pod_environment("train", [{"pod": "never", "RANK": "0"}]), builder) is PENDING


def test_a_lost_replica_is_restarted_once() -> None:
    builder = JobHistoryBuilder().job("train", "Created").replica("w", "train").job("train", "Created", "Running")
    back = replica_restarted("train", "w")
    assert ask(created_once(["w"]), builder) is TRUE
    assert ask(back, builder) is PENDING
    builder.job("train", "Created", "Restarting").delete("w").gone("w")
    builder.replica("w", "train", uid="second")
    assert ask(back, builder) is PENDING, "still restarting"
    assert ask(created_once(["w"]), builder) is FALSE
    builder.job("train", "Created", "Running")
    assert ask(back, builder) is TRUE
    assert ask(job_never_was("train", "Restarting"), builder) is FALSE
    builder.replica("w", "train", uid="third")
    assert ask(back, builder) is FALSE
    assert ask(replica_restarted("train", "w"), JobHistoryBuilder().job("train", "Failed")) is FALSE
    assert ask(created_once(["never"]), builder) is FALSE


def test_the_number_of_restarts_is_exact() -> None:
    builder = JobHistoryBuilder().node("n", 2).job("train", "Created", "Running").replica("w", "train").run("w", "n")
    builder.finish("w", "Failed").job("train", "Created", "Restarting").replica("w", "train", uid="second")
    twice, again = replica_restarted("train", "w", 2), runs_again("w", 1)
    assert ask(again, builder) is PENDING, "created, and not running yet"
    assert ask(again, builder.run("w", "n")) is TRUE
    assert ask(again, builder.finish("w", "Failed")) is PENDING
    assert ask(created_times("w", 2), builder) is TRUE
    builder.job("train", "Created", "Running")
    assert ask(twice, builder) is PENDING, "one restart less"
    assert ask(created_times("w", 3), builder) is PENDING
    builder.replica("w", "train", uid="third")
    assert ask(twice, builder) is TRUE
    assert ask(created_times("w", 2), builder) is FALSE
    assert ask(twice, builder.replica("w", "train", uid="fourth")) is FALSE


def test_a_restart_must_be_reported() -> None:
    builder = (
        JobHistoryBuilder().job("train", "Created", "Running").replica("w", "train").replica("w", "train", uid="second")
    )
    assert ask(replica_restarted("train", "w"), builder) is PENDING
    assert ask(job_never_was("train", "Restarting"), builder) is TRUE
    builder.event("of-train", "PyTorchJobRestarting", "a worker failed", "Warning")
    assert ask(replica_restarted("train", "w"), builder) is TRUE, "an event says it as well"


def test_nothing_left_and_nothing_ever_created() -> None:
    builder = JobHistoryBuilder().job("train", "Created")
    assert ask(never_owned_anything("train"), builder) is TRUE
    builder.replica("w", "train").made("Service", "w", "train").made("PodGroup", "train", "train")
    assert ask(never_owned_anything("train"), builder) is FALSE
    assert ask(no_pod_group("train", ever=True), builder) is PENDING
    builder.job("train", change="DELETED").gone("w")
    builder.made("Service", "w", "train", "DELETED")
    assert ask(nothing_left("train"), builder) is PENDING, "its group is still there"
    assert ask(no_pod_group("train", ever=False), builder) is PENDING
    builder.made("PodGroup", "train", "train", "DELETED")
    assert ask(nothing_left("train"), builder) is TRUE
    assert ask(never_owned_anything("train"), builder) is FALSE, "there was something"
    assert ask(no_pod_group("train", ever=False), builder) is TRUE
    assert ask(no_pod_group("train", ever=True), builder) is PENDING


def test_remaining_pods_ended() -> None:
    builder = JobHistoryBuilder().job("train").replica("m", "train").replica("v", "train").replica("other-0", "other")
    builder.run("m", "n").run("v", "n").delete("v")
    assert ask(remaining_pods_ended("train"), builder) is PENDING
    builder.finish("m", "Failed")
    assert ask(remaining_pods_ended("train"), builder) is PENDING, "the victim still terminates"
    builder.gone("v")
    assert ask(remaining_pods_ended("train"), builder) is TRUE


def test_pod_group_spec() -> None:
    builder = JobHistoryBuilder().job("train").made("PodGroup", "train", "train", spec={"minMember": 3, "queue": "q"})
    assert ask(pod_group_spec("train", {"minMember": 3}), builder) is TRUE
    assert ask(pod_group_spec("train", {"minMember": 2}), builder) is PENDING
    assert ask(pod_group_spec("other", {"minMember": 3}), builder) is PENDING


@pytest.mark.parametrize(
    ("condition", "event", "kind", "wanted"),
    [
        ("Failed:spec.a is wrong", "spec.a is wrong", "Warning", TRUE),
        ("Failed:something is wrong", "spec.a is wrong", "Warning", PENDING),
        ("Failed:spec.a is wrong", "something is wrong", "Warning", PENDING),
        ("Failed:spec.a is wrong", "spec.a is wrong", "Normal", PENDING),
        ("Created:spec.a is wrong", "spec.a is wrong", "Warning", PENDING),
        ("Running:spec.a is wrong", "spec.a is wrong", "Warning", FALSE),
    ],
)
def test_a_rejected_job_names_the_field(condition: str, event: str, kind: str, wanted: Outcome) -> None:
    builder = JobHistoryBuilder().job("wrong", condition).event("of-wrong", "FailedValidation", event, kind)
    assert ask(job_rejected_for("wrong", "spec.a"), builder) is wanted


def test_a_warning_is_about_the_job_and_contains_the_term() -> None:
    builder = (
        JobHistoryBuilder()
        .job("wrong", "Created:")
        .event("of-wrong", "FailedValidation", "Image is undefined", "Warning")
    )
    assert ask(warning_event_contains("wrong", "image"), builder) is TRUE
    assert ask(warning_event_contains("wrong", "containers"), builder) is PENDING
    assert ask(warning_event_contains("other", "image"), builder) is PENDING


def test_a_job_is_recorded_before_its_launcher() -> None:
    builder = JobHistoryBuilder().job("mpi", kind="MPIJob").replica("mpi-worker-0", "mpi")
    assert ask(has_launcher("mpi"), builder) is PENDING
    assert ask(has_launcher("mpi"), builder.replica("mpi-launcher-x", "mpi")) is TRUE


def test_the_launcher_is_created_after_the_workers() -> None:
    builder = (
        JobHistoryBuilder().job("mpi", kind="MPIJob").replica("mpi-worker-0", "mpi").replica("mpi-worker-1", "mpi")
    )
    assert ask(launcher_created_after_workers("mpi"), builder) is PENDING
    builder.run("mpi-worker-0", "n").run("mpi-worker-1", "n")
    builder.replica("mpi-launcher-x", "mpi")
    assert ask(launcher_created_after_workers("mpi"), builder) is TRUE
    early = JobHistoryBuilder().job("mpi", kind="MPIJob").replica("mpi-worker-0", "mpi").replica("mpi-launcher", "mpi")
    early.run("mpi-worker-0", "n")
    assert ask(launcher_created_after_workers("mpi"), early) is FALSE
    greedy = JobHistoryBuilder().job("mpi", kind="MPIJob").replica("mpi-worker-0", "mpi")
    greedy.run("mpi-worker-0", "n")
    limits = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
    greedy.made("Pod", "mpi-launcher", "mpi", spec={"containers": [limits]})
    assert ask(launcher_created_after_workers("mpi"), greedy) is FALSE


def test_replica_statuses() -> None:
    builder = JobHistoryBuilder().job(
        "train", replicaStatuses={"Master": {"active": 1}, "Worker": {"active": 2, "failed": 1}}
    )
    assert ask(replica_statuses("train", {"Master": {"active": 1, "failed": 0}}), builder) is TRUE
    assert ask(replica_statuses("train", {"Worker": {"active": 2, "failed": 0}}), builder) is PENDING
    assert ask(replica_statuses("never", {"Worker": {"active": 2}}), builder) is PENDING


@pytest.mark.parametrize(
    ("conditions", "rest", "wanted"),
    [
        (("Created", "Running"), DONE, PENDING),
        (("Created", "no Running", "Succeeded"), DONE, TRUE),
        (("Created", "Failed"), DONE, TRUE),
        (("Created", "Running", "Succeeded"), DONE, FALSE),
        (("no Running", "Succeeded"), DONE, FALSE),
        (("Created", "Failed"), {"startTime": DONE["startTime"]}, FALSE),
        (("Created", "Failed"), {"completionTime": DONE["completionTime"]}, FALSE),
        (("Created", "Failed"), {**DONE, "completionTime": "2026-01-01T00:00:00Z"}, FALSE),
    ],
)
def test_times(conditions: tuple[str, ...], rest: dict[str, str], wanted: Outcome) -> None:
    assert ask(job_times_consistent("train"), JobHistoryBuilder().job("train", *conditions, **rest)) is wanted


@pytest.mark.parametrize(
    ("ticks", "message", "wanted"),
    [
        (3, "deadline", FALSE),
        (14, "deadline", TRUE),
        (19, "deadline", TRUE),
        (90, "deadline", FALSE),
        (19, "a crash", FALSE),
    ],
)
def test_failed_after_a_time(ticks: int, message: str, wanted: Outcome) -> None:
    """Every record takes a tenth of a second."""
    builder = JobHistoryBuilder().job("train", "Created", startTime=DONE["startTime"])
    for _ in range(ticks):
        builder.node("clock")
    assert ask(job_failed_after("train", 2), builder) is PENDING
    builder.job("train", "Created", f"Failed:because of {message}", **DONE)
    assert ask(job_failed_after("train", 2), builder) is wanted


def test_the_name_of_a_job_is_not_the_reason_of_its_failure() -> None:
    builder = JobHistoryBuilder().job("deadline", "Created", startTime=DONE["startTime"])
    for _ in range(19):
        builder.node("clock")
    builder.job("deadline", "Created", "Failed:job deadline failed because of a crash", **DONE)
    assert ask(job_failed_after("deadline", 2), builder) is FALSE


def test_deleted_after_its_end() -> None:
    for ticks, wanted in ((3, FALSE), (19, TRUE), (90, FALSE)):
        builder = JobHistoryBuilder().job("train", "Succeeded", **DONE)
        for _ in range(ticks):
            builder.node("clock")
        assert ask(job_deleted_after("train", 2), builder) is PENDING
        builder.job("train", "Succeeded", change="DELETED", **DONE)
        assert ask(job_deleted_after("train", 2), builder) is wanted


def test_created() -> None:
    builder = JobHistoryBuilder().job("train")
    assert created("w").moment(builder.history) is None
    builder.replica("w", "train")
    assert created("w").moment(builder.history) is not None


def test_a_field_is_honoured_or_refused() -> None:
    wanted = variable_or_rejection("train", "PET_NNODES", "1:2", "elasticPolicy")

    def pods(*values: str) -> JobHistoryBuilder:
        builder = JobHistoryBuilder().job("train", "Created")
        for number, value in enumerate(values):
            containers = [{"env": [{"name": "PET_NNODES", "value": value}]}]
            builder.made("Pod", f"train-worker-{number}", "train", spec={"containers": containers})
        return builder

    assert ask(wanted, pods()) is PENDING
    assert ask(wanted, pods("1:2", "1:2")) is TRUE
    assert ask(wanted, pods("1:2", "2")) is FALSE
    assert ask(wanted, JobHistoryBuilder().job("train", "Failed: of another reason")) is PENDING
