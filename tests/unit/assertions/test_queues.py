"""Questions about queues, on histories made for tests, in a toy dialect."""

from collections.abc import Mapping
from typing import Any

import pytest

from muster.assertions.gangs import bound_before, exactly_started
from muster.assertions.pods import succeeded
from muster.assertions.queues import gang_queued, gpus_in_use_by_queue, queue_state, within_capability
from muster.cluster.resources import Resource
from muster.recording.conventions import Conventions
from muster.recording.objects import CustomObject, Pod
from muster.recording.questions import Outcome
from tests.support.history_builder import FALSE, PENDING, TRUE, HistoryBuilder, ask

GPUS = "nvidia.com/gpu"


class ToyDialect:
    """A dialect in which pods have the name of their gang and a number, and everything else is in plain fields."""

    group_kind: Resource | None = Resource("made.up/v1", "Band", "bands")
    queue_kind: Resource | None = Resource("made.up/v1", "Line", "lines", namespaced=False)

    def phase(self, group: Mapping[str, Any]) -> str:
        return str(group["status"]["phase"])

    def gang_of(self, pod: Pod) -> str:
        return pod.metadata.name.rsplit("-", 1)[0]

    def queue_of(self, group: CustomObject) -> str:
        return str(group.spec["line"])

    def queue_of_pod(self, pod: Pod) -> str:
        return pod.metadata.labels.get("line", "")

    def limits_of(self, queue: str) -> dict[str, str]:
        return {GPUS: "2"}

    def capability(self, queue: CustomObject) -> dict[str, str]:
        return dict(queue.spec["most"])


DIALECT = ToyDialect()


def toy_history() -> HistoryBuilder:
    return HistoryBuilder(Conventions(group_kinds=("Band",)))


def a_line(*gangs: str, most: int = 2) -> HistoryBuilder:
    """A queue "line" with a capability, a large node, and gangs of two pending pods in the queue."""
    builder = toy_history().node("n", 16).custom_object("Line", "line", {}, {"most": {GPUS: str(most)}})
    for gang in gangs:
        builder.custom_object("Band", gang, {"phase": "queued"}, {"line": "line"}).pod(f"{gang}-0", 1).pod(
            f"{gang}-1", 1
        )
    return builder


def start(builder: HistoryBuilder, *pods: str) -> HistoryBuilder:
    for pod in pods:
        builder.run(pod, "n")
    return builder


def test_a_binding_above_the_capability_is_reported_with_its_amounts() -> None:
    builder = start(a_line("a", "b"), "a-0", "a-1")
    answer = within_capability("line", DIALECT).ask(builder.history)
    assert (answer.outcome, answer.seen) == (TRUE, "at most 2 nvidia.com/gpu in use in line")
    answer = within_capability("line", DIALECT).ask(builder.bind("b-0", "n").history)
    assert answer.outcome is FALSE
    assert answer.seen == "b-0 was bound at 1.3 s, and line then used 3 of 2 nvidia.com/gpu"


def test_what_has_ended_does_not_count_and_what_terminates_does() -> None:
    ended = start(a_line("a", "b"), "a-0", "a-1").finish("a-0").bind("b-0", "n")
    leaving = start(a_line("a", "b"), "a-0", "a-1").delete("a-0").bind("b-0", "n")
    assert ask(within_capability("line", DIALECT), ended) is TRUE
    assert ask(within_capability("line", DIALECT), leaving) is FALSE


def test_only_pods_of_the_queue_count_against_it() -> None:
    builder = start(a_line("a"), "a-0", "a-1")
    builder.custom_object("Band", "b", {"phase": "queued"}, {"line": "elsewhere"}).pod("b-0", 4).bind("b-0", "n")
    builder.running_pod("nobodys-0", "n", 4)
    assert ask(within_capability("line", DIALECT), builder) is TRUE


def test_the_capability_of_the_moment_counts() -> None:
    shrunk_later = start(a_line("a"), "a-0", "a-1").custom_object("Line", "line", {}, {"most": {GPUS: "1"}})
    assert ask(within_capability("line", DIALECT), shrunk_later) is TRUE
    raised_before = a_line("a", most=1).custom_object("Line", "line", {}, {"most": {GPUS: "2"}})
    assert ask(within_capability("line", DIALECT), start(raised_before, "a-0", "a-1")) is TRUE
    raised_late = start(a_line("a", most=1), "a-0", "a-1").custom_object("Line", "line", {}, {"most": {GPUS: "2"}})
    assert ask(within_capability("line", DIALECT), raised_late) is FALSE


def test_a_queue_of_which_no_pod_was_bound_proves_nothing() -> None:
    builder, question = a_line("a"), within_capability("line", DIALECT)
    assert ask(question, builder) is PENDING
    builder.custom_object("Band", "b", {"phase": "queued"}, {"line": "other"}).running_pod("b-0", "n", 16)
    assert ask(question, builder) is PENDING, "a pod of another queue"
    assert ask(question, start(builder, "a-0")) is TRUE


def test_a_resource_that_is_not_named_is_not_limited() -> None:
    builder = toy_history().node("n", 16).custom_object("Line", "line", {}, {"most": {"cpu": "1"}})
    builder.custom_object("Band", "a", {"phase": "queued"}, {"line": "line"}).running_pod("a-0", "n", 16)
    assert ask(within_capability("line", DIALECT), builder) is TRUE


@pytest.mark.parametrize(("second", "outcome"), [(1, PENDING), (2, TRUE), (4, TRUE), (5, PENDING)])
def test_shares_are_near_enough_or_not(second: int, outcome: Outcome) -> None:
    builder = start(a_line("a"), "a-0")
    builder.custom_object("Band", "b", {"phase": "queued"}, {"line": "other"})
    for number in range(second):
        builder.running_pod(f"b-{number}", "n", 1)
    assert ask(gpus_in_use_by_queue({"line": 1, "other": 3}, DIALECT, give_or_take=1), builder) is outcome
    assert ask(gpus_in_use_by_queue({"line": 1, "other": second}, DIALECT), builder) is TRUE
    assert ask(gpus_in_use_by_queue({"line": 0, "other": second}, DIALECT), builder) is PENDING


def test_a_gang_is_queued_when_no_pod_is_bound_and_its_group_says_so() -> None:
    question = gang_queued("a", ("a-0", "a-1"), DIALECT)
    assert ask(question, toy_history().node("n", 1)) is PENDING
    assert ask(question, a_line("a")) is TRUE
    assert ask(question, a_line("a").custom_object("Band", "a", {"phase": "admitted"}, {"line": "line"})) is TRUE
    assert ask(question, a_line("a").custom_object("Band", "a", {"phase": "running"}, {"line": "line"})) is FALSE
    assert ask(question, a_line("a").bind("a-0", "n")) is FALSE


def test_one_gang_bound_before_the_other() -> None:
    question = bound_before(("a-0", "a-1"), ("b-0", "b-1"), "a before b")
    assert ask(question, a_line("a", "b")) is PENDING
    assert ask(question, start(a_line("a", "b"), "a-0", "a-1")) is PENDING
    assert ask(question, start(a_line("a", "b"), "a-0", "a-1", "b-0")) is TRUE
    assert ask(question, start(a_line("a", "b"), "b-0")) is FALSE
    between = question.ask(start(a_line("a", "b"), "a-0", "b-0", "a-1").history)
    assert (between.outcome, between.seen) == (FALSE, "a pod was bound at 1.1 s; 1 of 2 were bound by then")


def test_exactly_so_many_gangs_started() -> None:
    gangs = {"a": ("a-0", "a-1"), "b": ("b-0", "b-1")}
    one, two = exactly_started(gangs, 1), exactly_started(gangs, 2)
    assert ask(one, start(a_line("a", "b"), "a-0")) is PENDING
    assert ask(one, start(a_line("a", "b"), "a-0", "a-1")) is TRUE
    assert ask(one, start(a_line("a", "b"), "a-0", "a-1", "b-0")) is PENDING  # a partial gang is not settled
    assert ask(one, start(a_line("a", "b"), "a-0", "a-1", "b-0", "b-1")) is FALSE
    finished = start(a_line("a", "b"), "a-0", "a-1").finish("a-0").finish("a-1")
    assert ask(two, finished) is PENDING
    assert ask(two, start(finished, "b-0", "b-1")) is TRUE


def test_all_succeeded() -> None:
    builder = start(a_line("a"), "a-0", "a-1").finish("a-0")
    assert ask(succeeded(("a-0", "a-1")), builder) is PENDING
    assert ask(succeeded(("a-0", "a-1")), builder.finish("a-1")) is TRUE
    assert ask(succeeded(("a-0", "missing")), builder) is PENDING
    failed = start(a_line("a"), "a-0", "a-1").finish("a-0", "Failed")
    assert ask(succeeded(("a-0", "a-1")), failed) is FALSE


def test_the_state_of_a_queue() -> None:
    def is_open(queue: CustomObject) -> bool:
        return bool(queue.status.get("open"))

    opened, closed = (
        queue_state("Line", "line", is_open, opened=True),
        queue_state("Line", "line", is_open, opened=False),
    )
    assert ask(opened, toy_history()) is ask(closed, toy_history()) is PENDING
    builder = toy_history().custom_object("Line", "line", {"open": True})
    assert (ask(opened, builder), ask(closed, builder)) == (TRUE, PENDING)
    builder.custom_object("Line", "line", {"open": False})
    assert (ask(opened, builder), ask(closed, builder)) == (PENDING, TRUE)
