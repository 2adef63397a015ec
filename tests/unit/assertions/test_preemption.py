"""Preemption: victims, their preemptor, and whether each was necessary."""

import pytest

from muster.assertions.pods import disruption_target, gone
from muster.assertions.preemption import (
    all_preempted,
    every_victim_necessary,
    exactly_preempted,
    no_other_pod_evicted,
    no_other_pod_evicted_or_failed,
    no_pod_preempted,
    pending_while_victims_terminate,
    preempted_event_names,
    preempted_event_names_node,
    runs_on_node_of_victim,
)
from muster.recording.questions import Answer, Outcome, before, eventually
from tests.support.history_builder import FALSE, PENDING, TRUE, HistoryBuilder, ask, full_node


@pytest.mark.parametrize(("victims", "outcome"), [((), PENDING), (("left",), TRUE), (("left", "right"), FALSE)])
def test_exactly_one_preempted(victims: tuple[str, ...], outcome: Outcome) -> None:
    builder = full_node().pod("urgent", 1, 100)
    for victim in victims:
        builder.preempt(victim, by="urgent")
    assert ask(exactly_preempted(("left", "right"), 1, "urgent"), builder) is outcome


def test_a_preemption_counts_for_its_preemptor_unless_an_event_names_another() -> None:
    question = exactly_preempted(("left", "right"), 1, "urgent")
    builder = full_node().pod("urgent", 1, 100).pod("other", 1, 100).mark_disruption_target("left").delete("left")
    assert ask(question, builder) is TRUE
    assert ask(eventually(preempted_event_names("left", "urgent")), builder) is PENDING
    assert ask(question, builder.event("left", "Preempted", "Preempted by pod uid-other on node gpu-1")) is FALSE
    named = (
        full_node()
        .pod("urgent", 1, 100)
        .mark_disruption_target("left")
        .event("left", "Preempted", "Preempted", related="urgent")
    )
    assert ask(question, named) is TRUE
    assert ask(eventually(preempted_event_names("left", "urgent")), named) is TRUE
    assert ask(question, full_node().mark_disruption_target("left").delete("left").pod("urgent", 1, 100)) is FALSE


def test_pods_preempted_for_whichever_pod() -> None:
    question = all_preempted(("left",))
    builder = full_node().pod("urgent", 1, 100).pod("critical", 1, 200)
    assert ask(question, builder) is PENDING
    assert ask(question, builder.preempt("left", by="urgent")) is TRUE
    assert list(question.victims(builder.history)) == ["uid-left"]


def test_too_many_victims_reports_when_it_was_enough() -> None:
    builder = full_node().pod("urgent", 1, 100).preempt("left", by="urgent").preempt("right", by="urgent")
    answer = exactly_preempted(("left", "right"), 1, "urgent").ask(builder.history)
    assert answer.nearest == "1 victim(s) would have been enough: left freed 1 nvidia.com/gpu"


def test_no_pod_but_victims_is_evicted_or_fails() -> None:
    builder = full_node().pod("urgent", 1, 100).preempt("left", by="urgent")
    failed = full_node().finish("right", "Failed")
    question = no_other_pod_evicted_or_failed()
    assert ask(question, builder) is FALSE  # no step has counted the victim
    builder.history.expected_victims.add("uid-left")
    assert ask(question, builder) is TRUE
    assert question.ask(failed.history) == Answer(FALSE, "also evicted or failed: right (Failed)")
    assert ask(no_other_pod_evicted(), failed) is TRUE
    assert question.ask(builder.delete("right").history) == Answer(FALSE, "also evicted or failed: right (deleted)")
    assert no_other_pod_evicted().ask(builder.history) == Answer(FALSE, "also evicted: right")
    assert ask(no_pod_preempted(), full_node()) is TRUE
    assert ask(no_pod_preempted(), builder) is FALSE


def test_a_victim_that_could_have_been_reprieved() -> None:
    builder = (
        HistoryBuilder().node("n", 4).running_pod("three", "n", 3, 1).running_pod("one", "n", 1, 1).pod("urgent", 2, 9)
    )
    for victim in ("three", "one"):
        builder.preempt(victim, by="urgent", node="n").gone(victim)
    assert ask(every_victim_necessary("urgent"), builder) is PENDING
    answer = every_victim_necessary("urgent").ask(builder.bind("urgent", "n").history)
    assert (answer.outcome, answer.seen) == (FALSE, "one was preempted although urgent fits beside it on n")


def test_the_smaller_set_is_minimal() -> None:
    builder = (
        HistoryBuilder().node("n", 4).running_pod("three", "n", 3, 1).running_pod("one", "n", 1, 1).pod("urgent", 2, 9)
    )
    builder.preempt("three", by="urgent", node="n").gone("three").bind("urgent", "n")
    assert ask(every_victim_necessary("urgent"), builder) is TRUE


def test_runs_on_the_node_of_a_victim() -> None:
    builder = full_node().node("gpu-2", 1).pod("urgent", 1, 100).preempt("left", by="urgent").gone("left")
    question = runs_on_node_of_victim("urgent", ("left", "right"))
    assert ask(question, builder) is PENDING
    assert ask(question, builder.run("urgent", "gpu-1")) is TRUE
    elsewhere = full_node().node("gpu-2", 1).pod("urgent", 1, 100).preempt("left", by="urgent").run("urgent", "gpu-2")
    assert ask(question, elsewhere) is FALSE
    assert ask(question, builder.delete("urgent")) is FALSE, "it ran there, and does not run any more"


def test_pending_while_one_victim_terminates() -> None:
    question = pending_while_victims_terminate(("urgent",), ("left", "right"), 1, "urgent")
    builder = full_node().pod("urgent", 1, 100)
    assert ask(question, builder) is PENDING
    assert ask(question, builder.delete("left")) is TRUE
    assert ask(question, builder.delete("right")) is FALSE
    early = full_node().pod("urgent", 1, 100).delete("left").bind("urgent", "gpu-1")
    assert ask(question, early) is FALSE


def test_condition_and_event_of_a_victim() -> None:
    builder = full_node().pod("urgent", 1, 100).preempt("left", by="urgent", node="elsewhere")
    assert ask(preempted_event_names_node(("left",), "urgent"), builder) is FALSE
    right = full_node().pod("urgent", 1, 100).preempt("left", by="urgent")
    assert ask(preempted_event_names_node(("left",), "urgent"), right) is TRUE
    assert ask(eventually(disruption_target("left", "DeletionByTaintManager")), right) is PENDING
    assert ask(before(disruption_target("left", "PreemptionByScheduler"), gone("left")), right.gone("left")) is TRUE


def test_the_event_of_a_victim_counts_although_a_controller_created_it_again() -> None:
    builder = full_node().pod("urgent", 1, 100).preempt("left", by="urgent").gone("left")
    builder.pod("left", 1, 10, uid="uid-left-2")
    assert ask(preempted_event_names_node(("left", "right"), "urgent"), builder) is TRUE
    assert ask(preempted_event_names_node(("right",), "urgent"), builder) is PENDING


def test_of_several_candidates_only_marked_victims_count() -> None:
    builder = full_node().pod("urgent", 1, 100)
    builder.event("left", "Preempted", "Preempted by pod uid-urgent on node gpu-1", related="urgent")
    assert ask(preempted_event_names_node(("left", "right"), "urgent"), builder) is PENDING
    builder.mark_disruption_target("left")
    assert ask(preempted_event_names_node(("left", "right"), "urgent"), builder) is TRUE
