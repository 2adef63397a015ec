"""Questions about what an operator makes of jobs, on histories made up for them."""

from __future__ import annotations

from typing import Any

import pytest

from muster.chronicle.job_statuses import counts, failed_after, gone_after, never_was, tells_its_times
from muster.chronicle.operators import (
    comes_back,
    consists_of,
    created,
    group_says,
    labelled,
    launched_when_ready,
    made_for,
    made_once,
    nothing_left,
    nothing_made,
    refused_for,
    rest_ended,
    told_by_environment,
    warned_of,
    without_group,
)
from muster.chronicle.questions import Question, Verdict
from tests.tales import NAMESPACE, Tale

YES, NO, OPEN = Verdict.YES, Verdict.NO, Verdict.OPEN
DONE = {"startTime": "2026-01-01T00:00:01Z", "completionTime": "2026-01-01T00:00:03Z"}


class JobTale(Tale):
    """Jobs and what is made for them; each status of a job is a list of conditions and whatever else."""

    def job(
        self, name: str, *conditions: str, kind: str = "PyTorchJob", change: str = "MODIFIED", **rest: Any
    ) -> JobTale:
        told = [_condition(text, number) for number, text in enumerate(conditions)]
        metadata = {"name": name, "namespace": NAMESPACE, "uid": f"uid-of-{name}"}
        self._record(kind, {"metadata": metadata, "spec": {}, "status": {"conditions": told, **rest}}, change)
        return self

    def made(self, kind: str, name: str, job: str, change: str = "ADDED", **body: Any) -> JobTale:
        metadata = {"name": name, "namespace": NAMESPACE, "uid": f"uid-{name}", **body.pop("metadata", {})}
        metadata["ownerReferences"] = [{"uid": f"uid-of-{job}"}]
        self._record(kind, {"metadata": metadata, "spec": {}, **body}, change)
        return self

    def replica(self, name: str, job: str, uid: str = "", **labels: str) -> JobTale:
        self.pod(name, gpus=0 if "launcher" in name else 1, uid=uid)
        self._pods[name]["metadata"] |= {"ownerReferences": [{"uid": f"uid-of-{job}"}], "labels": labels}
        self._change(name, "status", phase="Pending")
        return self


def _condition(text: str, number: int) -> dict[str, str]:
    kind, _, message = text.partition(":")
    status = "False" if kind.startswith("no ") else "True"
    moment = f"2026-01-01T00:00:0{number}Z"
    return {"type": kind.removeprefix("no "), "status": status, "message": message, "lastTransitionTime": moment}


def verdict(question: Question, tale: Tale) -> Verdict:
    return question.ask(tale.history).verdict


def test_a_job_consists_of_what_it_owns() -> None:
    tale = JobTale().job("train", "Created").job("other", "Created")
    wanted = consists_of("train", ["train-master-0"])
    assert verdict(wanted, tale) is OPEN
    tale.replica("train-master-0", "train").replica("train-worker-0", "other")
    assert verdict(wanted, tale) is OPEN, "there is no service yet"
    tale.made("Service", "train-master-0", "train")
    assert verdict(wanted, tale) is YES
    tale.replica("train-worker-7", "train")
    assert verdict(wanted, tale) is OPEN, "one too many"
    tale.gone("train-worker-7")
    assert verdict(wanted, tale) is YES
    assert set(made_for(tale.history, "train", "Pod", gone_too=True)) == {"train-master-0", "train-worker-7"}


def test_labels_and_environment() -> None:
    tale = JobTale().job("train").replica("train-master-0", "train", role="master")
    assert verdict(labelled([{"pod": "train-master-0", "role": "master"}]), tale) is YES
    assert verdict(labelled([{"pod": "train-master-0", "role": "worker"}]), tale) is OPEN
    assert verdict(labelled([{"pod": "train-master-1", "role": "master"}]), tale) is OPEN
    environment = [{"env": [{"name": "RANK", "value": "0"}]}, {"env": [{"name": "RANK", "value": "1"}]}]
    tale._change("train-master-0", "spec", containers=environment[:1])
    assert verdict(told_by_environment("train", [{"pod": "train-master-0", "RANK": "0"}]), tale) is YES
    tale._change("train-master-0", "spec", containers=environment)
    assert verdict(told_by_environment("train", [{"pod": "train-master-0", "RANK": "0"}]), tale) is OPEN
    assert verdict(told_by_environment("train", [{"pod": "never", "RANK": "0"}]), tale) is OPEN


def test_a_member_comes_back_once() -> None:
    tale = JobTale().job("train", "Created").replica("w", "train").job("train", "Created", "Running")
    back = comes_back("train", "w")
    assert verdict(made_once(["w"]), tale) is YES
    assert verdict(back, tale) is OPEN
    tale.job("train", "Created", "Restarting").delete("w").gone("w")
    tale.replica("w", "train", uid="second")
    assert verdict(back, tale) is OPEN, "still restarting"
    assert verdict(made_once(["w"]), tale) is NO
    tale.job("train", "Created", "Running")
    assert verdict(back, tale) is YES
    assert verdict(never_was("train", "Restarting"), tale) is NO
    tale.replica("w", "train", uid="third")
    assert verdict(back, tale) is NO
    assert verdict(comes_back("train", "w"), JobTale().job("train", "Failed")) is NO
    assert verdict(made_once(["never"]), tale) is NO


def test_a_member_that_comes_back_without_a_word() -> None:
    tale = JobTale().job("train", "Created", "Running").replica("w", "train").replica("w", "train", uid="second")
    assert verdict(comes_back("train", "w"), tale) is OPEN
    assert verdict(never_was("train", "Restarting"), tale) is YES
    tale.event("of-train", "PyTorchJobRestarting", "a worker failed", "Warning")
    assert verdict(comes_back("train", "w"), tale) is YES, "an event says it as well"


def test_what_is_left_and_what_never_was() -> None:
    tale = JobTale().job("train", "Created")
    assert verdict(nothing_made("train"), tale) is YES
    tale.replica("w", "train").made("Service", "w", "train").made("PodGroup", "train", "train")
    assert verdict(nothing_made("train"), tale) is NO
    assert verdict(without_group("train", ever=True), tale) is OPEN
    tale.job("train", change="DELETED").gone("w")
    tale.made("Service", "w", "train", "DELETED")
    assert verdict(nothing_left("train"), tale) is OPEN, "its group is still there"
    assert verdict(without_group("train", ever=False), tale) is OPEN
    tale.made("PodGroup", "train", "train", "DELETED")
    assert verdict(nothing_left("train"), tale) is YES
    assert verdict(nothing_made("train"), tale) is NO, "there was something"
    assert verdict(without_group("train", ever=False), tale) is YES
    assert verdict(without_group("train", ever=True), tale) is OPEN


def test_what_is_left_has_ended() -> None:
    tale = JobTale().job("train").replica("m", "train").replica("v", "train").replica("other-0", "other")
    tale.run("m", "n").run("v", "n").delete("v")
    assert verdict(rest_ended("train"), tale) is OPEN
    tale.end("m", "Failed")
    assert verdict(rest_ended("train"), tale) is OPEN, "the victim still terminates"
    tale.gone("v")
    assert verdict(rest_ended("train"), tale) is YES


def test_what_a_group_says() -> None:
    tale = JobTale().job("train").made("PodGroup", "train", "train", spec={"minMember": 3, "queue": "q"})
    assert verdict(group_says("train", {"minMember": 3}), tale) is YES
    assert verdict(group_says("train", {"minMember": 2}), tale) is OPEN
    assert verdict(group_says("other", {"minMember": 3}), tale) is OPEN


@pytest.mark.parametrize(
    ("condition", "event", "kind", "wanted"),
    [
        ("Failed:spec.a is wrong", "spec.a is wrong", "Warning", YES),
        ("Failed:something is wrong", "spec.a is wrong", "Warning", OPEN),
        ("Failed:spec.a is wrong", "something is wrong", "Warning", OPEN),
        ("Failed:spec.a is wrong", "spec.a is wrong", "Normal", OPEN),
        ("Created:spec.a is wrong", "spec.a is wrong", "Warning", OPEN),
        ("Running:spec.a is wrong", "spec.a is wrong", "Warning", NO),
    ],
)
def test_a_refusal_names_the_field_twice(condition: str, event: str, kind: str, wanted: Verdict) -> None:
    tale = JobTale().job("wrong", condition).event("of-wrong", "FailedValidation", event, kind)
    assert verdict(refused_for("wrong", "spec.a"), tale) is wanted


def test_a_warning_is_about_the_job_and_says_the_word() -> None:
    tale = JobTale().job("wrong", "Created:").event("of-wrong", "FailedValidation", "Image is undefined", "Warning")
    assert verdict(warned_of("wrong", "image"), tale) is YES
    assert verdict(warned_of("wrong", "containers"), tale) is OPEN
    assert verdict(warned_of("other", "image"), tale) is OPEN


def test_the_launcher_comes_after_the_workers() -> None:
    tale = JobTale().job("mpi", kind="MPIJob").replica("mpi-worker-0", "mpi").replica("mpi-worker-1", "mpi")
    assert verdict(launched_when_ready("mpi"), tale) is OPEN
    tale.run("mpi-worker-0", "n").run("mpi-worker-1", "n")
    tale.replica("mpi-launcher-x", "mpi")
    assert verdict(launched_when_ready("mpi"), tale) is YES
    early = JobTale().job("mpi", kind="MPIJob").replica("mpi-worker-0", "mpi").replica("mpi-launcher", "mpi")
    early.run("mpi-worker-0", "n")
    assert verdict(launched_when_ready("mpi"), early) is NO
    greedy = JobTale().job("mpi", kind="MPIJob").replica("mpi-worker-0", "mpi")
    greedy.run("mpi-worker-0", "n")
    limits = {"resources": {"limits": {"nvidia.com/gpu": "1"}}}
    greedy.made("Pod", "mpi-launcher", "mpi", spec={"containers": [limits]})
    assert verdict(launched_when_ready("mpi"), greedy) is NO


def test_counts() -> None:
    tale = JobTale().job("train", replicaStatuses={"Master": {"active": 1}, "Worker": {"active": 2, "failed": 1}})
    assert verdict(counts("train", {"Master": {"active": 1, "failed": 0}}), tale) is YES
    assert verdict(counts("train", {"Worker": {"active": 2, "failed": 0}}), tale) is OPEN
    assert verdict(counts("never", {"Worker": {"active": 2}}), tale) is OPEN


@pytest.mark.parametrize(
    ("conditions", "rest", "wanted"),
    [
        (("Created", "Running"), DONE, OPEN),
        (("Created", "no Running", "Succeeded"), DONE, YES),
        (("Created", "Failed"), DONE, YES),
        (("Created", "Running", "Succeeded"), DONE, NO),
        (("no Running", "Succeeded"), DONE, NO),
        (("Created", "Failed"), {"startTime": DONE["startTime"]}, NO),
        (("Created", "Failed"), {"completionTime": DONE["completionTime"]}, NO),
        (("Created", "Failed"), {**DONE, "completionTime": "2026-01-01T00:00:00Z"}, NO),
    ],
)
def test_times(conditions: tuple[str, ...], rest: dict[str, str], wanted: Verdict) -> None:
    assert verdict(tells_its_times("train"), JobTale().job("train", *conditions, **rest)) is wanted


@pytest.mark.parametrize(
    ("ticks", "message", "wanted"),
    [(3, "deadline", NO), (14, "deadline", YES), (19, "deadline", YES), (90, "deadline", NO), (19, "a crash", NO)],
)
def test_failed_after_a_time(ticks: int, message: str, wanted: Verdict) -> None:
    """Every record takes a tenth of a second."""
    tale = JobTale().job("train", "Created", startTime=DONE["startTime"])
    for _ in range(ticks):
        tale.node("clock")
    assert verdict(failed_after("train", 2), tale) is OPEN
    tale.job("train", "Created", f"Failed:because of {message}", **DONE)
    assert verdict(failed_after("train", 2), tale) is wanted


def test_gone_after_its_end() -> None:
    for ticks, wanted in ((3, NO), (19, YES), (90, NO)):
        tale = JobTale().job("train", "Succeeded", **DONE)
        for _ in range(ticks):
            tale.node("clock")
        assert verdict(gone_after("train", 2), tale) is OPEN
        tale.job("train", "Succeeded", change="DELETED", **DONE)
        assert verdict(gone_after("train", 2), tale) is wanted


def test_created() -> None:
    tale = JobTale().job("train")
    assert created("w").moment(tale.history) is None
    tale.replica("w", "train")
    assert created("w").moment(tale.history) is not None
