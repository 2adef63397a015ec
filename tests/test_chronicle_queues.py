"""Questions about queues, asked of made-up histories in a made-up dialect."""

from collections.abc import Mapping
from typing import Any

import pytest

from muster.chronicle.objects import Pod, Thing
from muster.chronicle.questions import Question, Verdict
from muster.chronicle.queues import (
    counted_running,
    goes_forward,
    is_queued,
    queue_is,
    shares,
    started_whole,
    succeeded,
    whole_before_any,
    within_capability,
)
from muster.cluster.resources import Resource
from tests.tales import Tale

YES, NO, OPEN = Verdict.YES, Verdict.NO, Verdict.OPEN
GPUS = "nvidia.com/gpu"


class MadeUpWords:
    """A dialect in which a gang's pods are called after it, and everything else is said in plain fields."""

    group_kind: Resource | None = Resource("made.up/v1", "Band", "bands")
    queue_kind: Resource | None = Resource("made.up/v1", "Line", "lines", namespaced=False)

    def phase(self, group: Mapping[str, Any]) -> str:
        return str(group["status"]["phase"])

    def running_members(self, group: Thing) -> int:
        return int(group.status["running"])

    def gang_of(self, pod: Pod) -> str:
        return pod.metadata.name.rsplit("-", 1)[0]

    def queue_of(self, group: Thing) -> str:
        return str(group.spec["line"])

    def queue_of_pod(self, pod: Pod) -> str:
        return pod.metadata.labels.get("line", "")

    def limits_of(self, queue: str) -> dict[str, str]:
        return {GPUS: "2"}

    def capability(self, queue: Thing) -> dict[str, str]:
        return dict(queue.spec["most"])


WORDS = MadeUpWords()


def asked(question: Question, tale: Tale) -> Verdict:
    return question.ask(tale.history).verdict


def a_line(*gangs: str, most: int = 2) -> Tale:
    """A queue "line" with a capability, a large node, and gangs of two pods that wait in the queue."""
    tale = Tale().node("n", 16).thing("Line", "line", {}, {"most": {GPUS: str(most)}})
    for gang in gangs:
        tale.thing("Band", gang, {"phase": "queued"}, {"line": "line"}).pod(f"{gang}-0", 1).pod(f"{gang}-1", 1)
    return tale


def start(tale: Tale, *pods: str) -> Tale:
    for pod in pods:
        tale.run(pod, "n")
    return tale


def test_a_binding_above_the_capability_is_told_with_its_amounts() -> None:
    tale = start(a_line("a", "b"), "a-0", "a-1")
    answer = within_capability("line", WORDS).ask(tale.history)
    assert (answer.verdict, answer.seen) == (YES, "at most 2 nvidia.com/gpu in use in line")
    answer = within_capability("line", WORDS).ask(tale.bind("b-0", "n").history)
    assert answer.verdict is NO
    assert answer.seen == "b-0 was bound at 1.3 s, and line then used 3 of 2 nvidia.com/gpu"


def test_what_has_ended_does_not_count_and_what_terminates_does() -> None:
    ended = start(a_line("a", "b"), "a-0", "a-1").end("a-0").bind("b-0", "n")
    leaving = start(a_line("a", "b"), "a-0", "a-1").delete("a-0").bind("b-0", "n")
    assert asked(within_capability("line", WORDS), ended) is YES
    assert asked(within_capability("line", WORDS), leaving) is NO


def test_only_the_work_of_the_queue_counts_against_it() -> None:
    tale = start(a_line("a"), "a-0", "a-1")
    tale.thing("Band", "b", {"phase": "queued"}, {"line": "elsewhere"}).pod("b-0", 4).bind("b-0", "n")
    tale.settled("nobodys-0", "n", 4)
    assert asked(within_capability("line", WORDS), tale) is YES


def test_the_capability_of_the_moment_counts() -> None:
    shrunk_later = start(a_line("a"), "a-0", "a-1").thing("Line", "line", {}, {"most": {GPUS: "1"}})
    assert asked(within_capability("line", WORDS), shrunk_later) is YES
    raised_before = a_line("a", most=1).thing("Line", "line", {}, {"most": {GPUS: "2"}})
    assert asked(within_capability("line", WORDS), start(raised_before, "a-0", "a-1")) is YES
    raised_late = start(a_line("a", most=1), "a-0", "a-1").thing("Line", "line", {}, {"most": {GPUS: "2"}})
    assert asked(within_capability("line", WORDS), raised_late) is NO


def test_a_resource_that_is_not_named_is_not_limited() -> None:
    tale = Tale().node("n", 16).thing("Line", "line", {}, {"most": {"cpu": "1"}})
    tale.thing("Band", "a", {"phase": "queued"}, {"line": "line"}).settled("a-0", "n", 16)
    assert asked(within_capability("line", WORDS), tale) is YES


@pytest.mark.parametrize(("second", "verdict"), [(1, OPEN), (2, YES), (4, YES), (5, OPEN)])
def test_shares_are_near_enough_or_not(second: int, verdict: Verdict) -> None:
    tale = start(a_line("a"), "a-0")
    tale.thing("Band", "b", {"phase": "queued"}, {"line": "other"})
    for number in range(second):
        tale.settled(f"b-{number}", "n", 1)
    assert asked(shares({"line": 1, "other": 3}, WORDS, give_or_take=1), tale) is verdict
    assert asked(shares({"line": 1, "other": second}, WORDS), tale) is YES
    assert asked(shares({"line": 0, "other": second}, WORDS), tale) is OPEN


def test_queued_is_nobody_bound_and_a_group_that_says_so() -> None:
    question = is_queued("a", ("a-0", "a-1"), WORDS)
    assert asked(question, Tale().node("n", 1)) is OPEN
    assert asked(question, a_line("a")) is YES
    assert asked(question, a_line("a").thing("Band", "a", {"phase": "admitted"}, {"line": "line"})) is YES
    assert asked(question, a_line("a").thing("Band", "a", {"phase": "running"}, {"line": "line"})) is NO
    assert asked(question, a_line("a").bind("a-0", "n")) is NO


@pytest.mark.parametrize(
    ("phases", "verdict"),
    [
        (("queued",), OPEN),
        (("queued", "running"), YES),
        (("queued", "queued", "admitted", "running", "finished"), YES),
        (("admitted", "queued", "running"), NO),
        (("queued", "running", "admitted"), NO),
    ],
)
def test_a_group_goes_forward(phases: tuple[str, ...], verdict: Verdict) -> None:
    tale = Tale()
    for phase in phases:
        tale.thing("Band", "a", {"phase": phase}, {"line": "line"})
    assert asked(goes_forward("a", WORDS), tale) is verdict


@pytest.mark.parametrize(("counts", "verdict"), [((0, 1), OPEN), ((0, 2, 1), YES), ((1, 3), NO)])
def test_a_group_counts_its_running_members(counts: tuple[int, ...], verdict: Verdict) -> None:
    tale = Tale()
    for number in counts:
        tale.thing("Band", "a", {"running": number})
    assert asked(counted_running("a", 2, WORDS), tale) is verdict


def test_one_gang_whole_before_any_of_the_other() -> None:
    question = whole_before_any(("a-0", "a-1"), ("b-0", "b-1"), "a before b")
    assert asked(question, a_line("a", "b")) is OPEN
    assert asked(question, start(a_line("a", "b"), "a-0", "a-1")) is OPEN
    assert asked(question, start(a_line("a", "b"), "a-0", "a-1", "b-0")) is YES
    assert asked(question, start(a_line("a", "b"), "b-0")) is NO
    between = question.ask(start(a_line("a", "b"), "a-0", "b-0", "a-1").history)
    assert (between.verdict, between.seen) == (NO, "somebody was bound at 1.1 s; 1 of 2 were bound by then")


def test_so_many_gangs_started_whole() -> None:
    gangs = {"a": ("a-0", "a-1"), "b": ("b-0", "b-1")}
    one, two = started_whole(gangs, 1), started_whole(gangs, 2)
    assert asked(one, start(a_line("a", "b"), "a-0")) is OPEN
    assert asked(one, start(a_line("a", "b"), "a-0", "a-1")) is YES
    assert asked(one, start(a_line("a", "b"), "a-0", "a-1", "b-0")) is OPEN  # a partial gang is not settled
    assert asked(one, start(a_line("a", "b"), "a-0", "a-1", "b-0", "b-1")) is NO
    finished = start(a_line("a", "b"), "a-0", "a-1").end("a-0").end("a-1")
    assert asked(two, finished) is OPEN
    assert asked(two, start(finished, "b-0", "b-1")) is YES


def test_all_succeeded() -> None:
    tale = start(a_line("a"), "a-0", "a-1").end("a-0")
    assert asked(succeeded(("a-0", "a-1")), tale) is OPEN
    assert asked(succeeded(("a-0", "a-1")), tale.end("a-1")) is YES
    assert asked(succeeded(("a-0", "nobody")), tale) is OPEN
    failed = start(a_line("a"), "a-0", "a-1").end("a-0", "Failed")
    assert asked(succeeded(("a-0", "a-1")), failed) is NO


def test_a_queue_says_whether_it_is_open() -> None:
    def is_open(queue: Thing) -> bool:
        return bool(queue.status.get("open"))

    opened, closed = queue_is("Line", "line", is_open, opened=True), queue_is("Line", "line", is_open, opened=False)
    assert asked(opened, Tale()) is asked(closed, Tale()) is OPEN
    tale = Tale().thing("Line", "line", {"open": True})
    assert (asked(opened, tale), asked(closed, tale)) == (YES, OPEN)
    tale.thing("Line", "line", {"open": False})
    assert (asked(opened, tale), asked(closed, tale)) == (OPEN, YES)
