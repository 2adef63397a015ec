"""Questions about gangs, on histories made for tests."""

from collections.abc import Mapping
from typing import Any

from muster.assertions.gangs import (
    at_least_running,
    completed_or_released,
    exactly_started,
    gang_unschedulable,
    group_keeps_phase,
    min_member_or_none_bound,
    one_still_runs,
    running_gangs,
)
from muster.assertions.pods import recreated
from tests.support.history_builder import FALSE, PENDING, TRUE, HistoryBuilder, ask

TRAIN = ("train-0", "train-1", "train-2")


def pending_pods(*pods: str) -> HistoryBuilder:
    builder = HistoryBuilder().node("n", 8)
    for pod in pods:
        builder.pod(pod, 1)
    return builder


def test_min_member_or_none_bound() -> None:
    builder, question = pending_pods(*TRAIN), min_member_or_none_bound("train", TRAIN, 2)
    assert ask(question, builder) is TRUE
    assert ask(question, builder.bind("train-0", "n")) is PENDING
    assert ask(question, builder.bind("train-2", "n")) is TRUE


def test_members_above_min_member_may_stay_pending() -> None:
    builder, question = pending_pods(*TRAIN), at_least_running("train", TRAIN, 2)
    assert ask(question, builder.run("train-0", "n")) is PENDING
    assert ask(question, builder.run("train-1", "n")) is TRUE
    assert ask(question, builder.delete("train-1")) is FALSE


def test_a_gang_is_completed_or_released_and_nothing_in_between() -> None:
    builder, question = pending_pods(*TRAIN), completed_or_released("train", TRAIN)
    assert ask(question, builder) is PENDING  # not even tried: it is neither
    assert ask(question, builder.run("train-0", "n").run("train-2", "n")) is PENDING
    assert ask(question, builder.delete("train-0")) is PENDING
    assert ask(question, builder.gone("train-0").delete("train-2")) is TRUE
    builder = pending_pods(*TRAIN).run("train-0", "n").run("train-1", "n").run("train-2", "n")
    assert ask(question, builder) is TRUE
    assert ask(question, builder.delete("train-2")) is PENDING


def test_exactly_one_of_two_gangs_starts() -> None:
    gangs = {"left": ("left-0", "left-1"), "right": ("right-0", "right-1")}
    question = exactly_started(gangs, 1, still_running=True)
    builder = pending_pods("left-0", "right-0", "left-1", "right-1")
    assert ask(question, builder) is PENDING
    assert ask(question, builder.run("left-0", "n").run("left-1", "n")) is TRUE
    assert running_gangs(builder.history, gangs) == ["left"]
    assert ask(question, builder.bind("right-0", "n")) is PENDING
    assert ask(question, builder.run("right-0", "n").run("right-1", "n")) is FALSE
    builder.finish("left-0").finish("left-1")
    assert running_gangs(builder.history, gangs) == ["right"]


def test_one_gang_still_runs_with_all_of_its_pods() -> None:
    question = one_still_runs({"left": ("left-0", "left-1"), "right": ("right-0",)})
    builder = pending_pods("left-0", "left-1", "right-0").run("left-0", "n")
    assert ask(question, builder) is FALSE
    assert ask(question, builder.run("left-1", "n")) is TRUE
    assert ask(question, builder.run("right-0", "n")) is FALSE
    assert ask(question, builder.delete("left-1")) is TRUE


def test_two_partial_gangs_are_no_started_gang() -> None:
    gangs = {"left": ("left-0", "left-1"), "right": ("right-0", "right-1")}
    builder = pending_pods("left-0", "right-0", "left-1", "right-1").run("left-0", "n").run("right-0", "n")
    assert ask(exactly_started(gangs, 1, still_running=True), builder) is PENDING


def test_an_unschedulable_report_must_name_the_gang_and_not_only_its_members() -> None:
    question = gang_unschedulable("train", TRAIN)
    assert ask(question, pending_pods(*TRAIN).unschedulable("train-0", "train-1 finds no place")) is PENDING
    named = 'GangGroup "test/train" gets rejected due to member Pod "test/train-1"'
    assert ask(question, pending_pods(*TRAIN).unschedulable("train-0", named)) is TRUE


def test_the_pod_group_may_report_the_gang_as_unschedulable() -> None:
    question = gang_unschedulable("train", TRAIN)
    unschedulable = {"type": "Unschedulable", "status": "True", "message": "3/3 tasks in gang unschedulable"}
    scheduled = {"type": "PodGroupInitiallyScheduled", "status": "False", "reason": "Unschedulable"}
    assert (
        ask(question, pending_pods(*TRAIN).custom_object("PodGroup", "train", {"conditions": [unschedulable]})) is TRUE
    )
    assert ask(question, pending_pods(*TRAIN).custom_object("PodGroup", "train", {"conditions": [scheduled]})) is TRUE
    content = {"type": "Scheduled", "status": "True"}
    assert ask(question, pending_pods(*TRAIN).custom_object("PodGroup", "train", {"conditions": [content]})) is PENDING
    reported = pending_pods(*TRAIN).custom_object_event("PodGroup", "train", "Unschedulable", "not ready")
    assert ask(question, reported) is TRUE
    assert ask(question, pending_pods(*TRAIN).event("train", "Unschedulable", "not ready")) is PENDING


def read(group: Mapping[str, Any]) -> str:
    return str(group["status"].get("phase", "queued"))


def test_a_pod_group_keeps_its_phase_or_not() -> None:
    question = group_keeps_phase("train", "finished", read)
    builder = (
        HistoryBuilder().custom_object("PodGroup", "train", {}).custom_object("PodGroup", "train", {"phase": "running"})
    )
    assert ask(question, builder) is PENDING
    assert ask(question, builder.custom_object("PodGroup", "train", {"phase": "finished"})) is TRUE
    answer = question.ask(builder.custom_object("PodGroup", "train", {"phase": "queued"}).history)
    assert (answer.outcome, answer.seen) == (FALSE, "queued → running → finished → queued")


def test_a_recreated_pod_has_a_new_uid() -> None:
    builder = pending_pods("train-0")
    assert ask(recreated("train-0", "uid-train-0"), builder) is PENDING
    assert ask(recreated("train-0", "uid-train-0"), builder.pod("train-0", 1, uid="uid-new")) is TRUE
