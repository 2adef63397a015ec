"""Nominated nodes, from history alone."""

from muster.assertions.nomination import (
    nominated_to_distinct_nodes,
    nominated_while_terminating,
    nomination_withdrawn,
    run_on_nominated_nodes,
)
from tests.support.history_builder import FALSE, PENDING, TRUE, HistoryBuilder, ask

TRAIN, LOW = ("train-0", "train-1"), ("low-east", "low-west")


def pending_gang() -> HistoryBuilder:
    """Two full nodes, and a gang that has to preempt the pods of both."""
    builder = HistoryBuilder().node("east", 4).node("west", 4)
    builder.running_pod("low-east", "east", 4, 10).running_pod("low-west", "west", 4, 10)
    return builder.pod("train-0", 3, 100).pod("train-1", 3, 100)


def preempting() -> HistoryBuilder:
    return HistoryBuilder().node("gpu-1", 1).running_pod("victim", "gpu-1", 1, 10).pod("urgent", 1, 100)


def test_a_nomination_counts_while_the_victim_terminates() -> None:
    question = nominated_while_terminating("urgent", "victim")
    builder = preempting()
    assert ask(question, builder) is PENDING
    assert ask(question, builder.nominate("urgent", "gpu-1")) is PENDING
    assert ask(question, builder.delete("victim")) is TRUE
    assert ask(question, builder.gone("victim")) is FALSE


def test_a_nomination_to_another_node_does_not_count() -> None:
    builder = preempting().delete("victim").nominate("urgent", "gpu-2")
    assert ask(nominated_while_terminating("urgent", "victim"), builder) is PENDING


def test_a_nomination_is_withdrawn_when_it_is_cleared_or_moved() -> None:
    question = nomination_withdrawn("urgent", "critical")
    builder = preempting().nominate("urgent", "gpu-1").pod("critical", 1, 200)
    assert ask(question, builder) is PENDING
    assert ask(question, builder.bind("critical", "gpu-1")) is PENDING
    assert ask(question, builder.nominate("urgent", "")) is TRUE
    moved = preempting().nominate("urgent", "gpu-1").pod("critical", 1, 200).bind("critical", "gpu-1")
    assert ask(question, moved.nominate("urgent", "gpu-2")) is TRUE


def test_a_pod_that_was_never_nominated_loses_no_nomination() -> None:
    builder = preempting().pod("critical", 1, 200).bind("critical", "gpu-1")
    assert ask(nomination_withdrawn("urgent", "critical"), builder) is FALSE


def test_a_pod_may_be_in_another_namespace_than_the_scenario() -> None:
    builder = preempting()
    builder.history.other_namespaces["urgent"] = "kube-system"
    assert builder.history.pod("urgent") is None
    assert builder.history.pod("victim") is not None


def test_distinct_nominated_nodes_while_both_victims_terminate() -> None:
    question = nominated_to_distinct_nodes(TRAIN, LOW)
    builder = pending_gang().delete("low-east").delete("low-west").nominate("train-0", "east")
    assert ask(question, builder) is PENDING
    assert ask(question, builder.nominate("train-1", "west")) is TRUE
    assert ask(question, builder.gone("low-east").gone("low-west").nominate("train-1", "")) is TRUE


def test_nominations_before_the_victims_are_deleted_count_once_they_are() -> None:
    builder = pending_gang().nominate("train-0", "east").nominate("train-1", "west").delete("low-east")
    assert ask(nominated_to_distinct_nodes(TRAIN, LOW), builder) is PENDING
    assert ask(nominated_to_distinct_nodes(TRAIN, LOW), builder.delete("low-west")) is TRUE


def test_nominations_to_one_node_are_not_distinct() -> None:
    builder = (
        pending_gang().delete("low-east").delete("low-west").nominate("train-0", "east").nominate("train-1", "east")
    )
    assert ask(nominated_to_distinct_nodes(TRAIN, LOW), builder) is PENDING
    assert ask(nominated_to_distinct_nodes(TRAIN, LOW), builder.gone("low-east").gone("low-west")) is FALSE


def test_victims_that_terminate_one_after_the_other_do_not_count() -> None:
    builder = pending_gang().delete("low-east").nominate("train-0", "east").gone("low-east")
    builder.nominate("train-1", "west").delete("low-west").gone("low-west")
    assert ask(nominated_to_distinct_nodes(TRAIN, LOW), builder) is FALSE


def test_running_on_nominated_nodes() -> None:
    question = run_on_nominated_nodes(TRAIN)
    builder = pending_gang().nominate("train-0", "east").nominate("train-1", "west").run("train-0", "east")
    assert ask(question, builder.nominate("train-0", "")) is PENDING
    assert ask(question, builder.run("train-1", "west")) is PENDING
    assert ask(question, builder.nominate("train-1", "")) is TRUE
    elsewhere = pending_gang().nominate("train-0", "east").nominate("train-1", "west")
    assert ask(question, elsewhere.run("train-0", "east").run("train-1", "east")) is FALSE
