"""Questions about gangs, asked of made-up histories."""

from collections.abc import Mapping
from typing import Any

from muster.chronicle.gangs import (
    another_life,
    at_least_run,
    exactly_one_starts,
    refused_as_a_gang,
    running_gangs,
    stands,
    whole_or_nothing,
)
from muster.chronicle.questions import Question, Verdict
from tests.tales import Tale

YES, NO, OPEN = Verdict.YES, Verdict.NO, Verdict.OPEN
TRAIN = ("train-0", "train-1", "train-2")


def asked(question: Question, tale: Tale) -> Verdict:
    return question.ask(tale.history).verdict


def waiting(*pods: str) -> Tale:
    tale = Tale().node("n", 8)
    for pod in pods:
        tale.pod(pod, 1)
    return tale


def test_a_gang_is_whole_or_nothing() -> None:
    tale, question = waiting(*TRAIN), whole_or_nothing("train", TRAIN, 2)
    assert asked(question, tale) is YES
    assert asked(question, tale.bind("train-0", "n")) is OPEN
    assert asked(question, tale.bind("train-2", "n")) is YES


def test_members_above_the_minimum_may_wait() -> None:
    tale, question = waiting(*TRAIN), at_least_run("train", TRAIN, 2)
    assert asked(question, tale.run("train-0", "n")) is OPEN
    assert asked(question, tale.run("train-1", "n")) is YES
    assert asked(question, tale.delete("train-1")) is NO


def test_exactly_one_of_two_gangs_starts() -> None:
    gangs = {"left": ("left-0", "left-1"), "right": ("right-0", "right-1")}
    question = exactly_one_starts(gangs)
    tale = waiting("left-0", "right-0", "left-1", "right-1")
    assert asked(question, tale) is OPEN
    assert asked(question, tale.run("left-0", "n").run("left-1", "n")) is YES
    assert running_gangs(tale.history, gangs) == ["left"]
    assert asked(question, tale.bind("right-0", "n")) is OPEN
    assert asked(question, tale.run("right-0", "n").run("right-1", "n")) is NO
    tale.end("left-0").end("left-1")
    assert running_gangs(tale.history, gangs) == ["right"]


def test_two_halves_are_not_one_gang() -> None:
    gangs = {"left": ("left-0", "left-1"), "right": ("right-0", "right-1")}
    tale = waiting("left-0", "right-0", "left-1", "right-1").run("left-0", "n").run("right-0", "n")
    assert asked(exactly_one_starts(gangs), tale) is OPEN


def test_a_refusal_must_name_the_gang_and_not_only_its_members() -> None:
    question = refused_as_a_gang("train", TRAIN)
    assert asked(question, waiting(*TRAIN).refuse("train-0", "train-1 finds no place")) is OPEN
    named = 'GangGroup "tale/train" gets rejected due to member Pod "tale/train-1"'
    assert asked(question, waiting(*TRAIN).refuse("train-0", named)) is YES


def test_the_group_object_may_speak_for_the_gang() -> None:
    question = refused_as_a_gang("train", TRAIN)
    unschedulable = {"type": "Unschedulable", "status": "True", "message": "3/3 tasks in gang unschedulable"}
    scheduled = {"type": "PodGroupInitiallyScheduled", "status": "False", "reason": "Unschedulable"}
    assert asked(question, waiting(*TRAIN).thing("PodGroup", "train", {"conditions": [unschedulable]})) is YES
    assert asked(question, waiting(*TRAIN).thing("PodGroup", "train", {"conditions": [scheduled]})) is YES
    content = {"type": "Scheduled", "status": "True"}
    assert asked(question, waiting(*TRAIN).thing("PodGroup", "train", {"conditions": [content]})) is OPEN
    told = waiting(*TRAIN).thing_event("PodGroup", "train", "Unschedulable", "not ready")
    assert asked(question, told) is YES
    assert asked(question, waiting(*TRAIN).event("train", "Unschedulable", "not ready")) is OPEN


def read(group: Mapping[str, Any]) -> str:
    return str(group["status"].get("phase", "queued"))


def test_a_phase_is_for_good_or_not() -> None:
    question = stands("train", "finished", read)
    tale = Tale().thing("PodGroup", "train", {}).thing("PodGroup", "train", {"phase": "running"})
    assert asked(question, tale) is OPEN
    assert asked(question, tale.thing("PodGroup", "train", {"phase": "finished"})) is YES
    answer = question.ask(tale.thing("PodGroup", "train", {"phase": "queued"}).history)
    assert (answer.verdict, answer.seen) == (NO, "queued → running → finished → queued")


def test_a_pod_under_an_old_name() -> None:
    tale = waiting("train-0")
    assert asked(another_life("train-0", "uid-train-0"), tale) is OPEN
    assert asked(another_life("train-0", "uid-train-0"), tale.pod("train-0", 1, uid="uid-new")) is YES
