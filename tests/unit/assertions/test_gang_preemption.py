"""Questions about preemption for gangs, on histories made for tests."""

from muster.assertions.gang_preemption import (
    every_gang_victim_necessary,
    preempted_for_gang,
    victim_event,
    victim_message_contains,
)
from muster.assertions.preemption import pending_while_victims_terminate
from tests.support.history_builder import FALSE, PENDING, TRUE, HistoryBuilder, ask

TRAIN = ("train-0", "train-1")
LOW = ("low-east", "low-west")


def two_full_nodes() -> HistoryBuilder:
    builder = HistoryBuilder().node("east", 4).node("west", 4)
    return builder.running_pod("low-east", "east", 4, 10).running_pod("low-west", "west", 4, 10)


def pending_gang() -> HistoryBuilder:
    return two_full_nodes().pod("train-0", 3, 100).pod("train-1", 3, 100)


def test_a_gang_preempts_whichever_member_triggers_it() -> None:
    question, builder = preempted_for_gang(LOW, 2, "train", TRAIN), pending_gang()
    assert ask(question, builder.preempt("low-east", by="train-1", node="east")) is PENDING
    assert ask(question, builder.preempt("low-west", by="train-0", node="west")) is TRUE
    assert ask(preempted_for_gang(LOW, 1, "train", TRAIN), builder) is FALSE


def test_victims_of_other_preemptors_do_not_count() -> None:
    question = preempted_for_gang(LOW, 1, "train", TRAIN)
    assert ask(question, pending_gang().pod("other", 3, 100).preempt("low-east", by="other", node="east")) is FALSE
    early = (
        two_full_nodes()
        .mark_disruption_target("low-east")
        .delete("low-east")
        .pod("train-0", 3, 100)
        .pod("train-1", 3, 100)
    )
    assert ask(question, early) is FALSE
    assert ask(question, pending_gang().mark_disruption_target("low-east").delete("low-east")) is TRUE


def test_the_message_on_a_victim_names_scheduler_and_gang() -> None:
    question = victim_message_contains("low-east", ("some-scheduler", "preemptor: test/train,"))
    message = "some-scheduler: preempting, preemptor: test/train, triggerPod: test/train-1"
    assert ask(question, pending_gang()) is PENDING
    assert ask(question, pending_gang().mark_disruption_target("low-east", message=message)) is TRUE
    assert (
        ask(question, pending_gang().mark_disruption_target("low-east", message="some-scheduler: preempting")) is FALSE
    )
    assert (
        ask(question, pending_gang().mark_disruption_target("low-east", "DeletionByTaintManager", message=message))
        is FALSE
    )
    assert ask(question, pending_gang().delete("low-east").gone("low-east")) is FALSE


def test_an_event_reports_the_eviction() -> None:
    named = victim_event("low-east", "Preempted", TRAIN, names_member=True)
    plain = victim_event("low-east", "Evict", TRAIN, names_member=False)
    builder = pending_gang().event("low-east", "Evict", "Pod is evicted, because of preempt", "Warning")
    assert (ask(plain, builder), ask(named, builder)) == (TRUE, PENDING)
    assert ask(named, pending_gang().preempt("low-east", by="train-1", node="east")) is TRUE
    assert ask(named, pending_gang().preempt("low-east", by="train-1", node="nowhere")) is PENDING
    assert ask(named, pending_gang().preempt("low-east", by="low-west", node="east")) is PENDING


def test_a_gang_victim_that_could_have_been_reprieved() -> None:
    builder = HistoryBuilder().node("n", 4).running_pod("one", "n", 1, 10).running_pod("three", "n", 3, 10)
    builder.pod("train-0", 1, 100).pod("train-1", 2, 100)
    question = every_gang_victim_necessary("train", TRAIN)
    builder.preempt("three", by="train-0", node="n").gone("three").bind("train-0", "n")
    assert ask(question, builder) is PENDING
    assert ask(question, builder.bind("train-1", "n")) is TRUE
    both = HistoryBuilder().node("n", 4).running_pod("one", "n", 1, 10).running_pod("three", "n", 3, 10)
    both.pod("train-0", 1, 100).pod("train-1", 2, 100).preempt("one", by="train-0", node="n").gone("one")
    both.preempt("three", by="train-0", node="n").gone("three").bind("train-0", "n").bind("train-1", "n")
    assert ask(question, both) is FALSE


def test_a_gang_stays_pending_while_victims_terminate() -> None:
    question, builder = pending_while_victims_terminate(TRAIN, LOW, 1, "gang train"), pending_gang()
    assert ask(question, builder) is PENDING
    assert ask(question, builder.delete("low-east")) is TRUE
    assert ask(question, pending_gang().delete("low-east").delete("low-west")) is FALSE
    assert ask(question, builder.bind("train-0", "east")) is FALSE
