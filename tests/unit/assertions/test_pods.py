"""The milestones of a pod, from history alone."""

from muster.assertions.pods import bound, held_by_finalizer, released
from muster.recording.questions import before
from tests.support.history_builder import FALSE, PENDING, TRUE, HistoryBuilder, ask


def test_a_pod_is_held_once_it_was_deleted_and_has_ended() -> None:
    question = held_by_finalizer("held")
    builder = HistoryBuilder().node("gpu-1", 1)
    assert ask(question, builder) is PENDING
    assert ask(question, builder.running_pod("held", "gpu-1", 1)) is PENDING
    assert ask(question, builder.delete("held")) is PENDING
    assert ask(question, builder.finish("held", "Failed")) is TRUE


def test_a_pod_that_is_gone_is_not_held() -> None:
    builder = HistoryBuilder().node("gpu-1", 1).running_pod("held", "gpu-1", 1)
    builder.delete("held").finish("held", "Failed").gone("held")
    assert ask(held_by_finalizer("held"), builder) is FALSE


def test_a_pod_that_ended_by_itself_is_not_held() -> None:
    builder = HistoryBuilder().node("gpu-1", 1).running_pod("done", "gpu-1", 1).finish("done")
    assert ask(held_by_finalizer("done"), builder) is PENDING


def terminating_victim() -> HistoryBuilder:
    builder = HistoryBuilder().node("gpu-1", 1).running_pod("victim", "gpu-1", 1).pod("urgent", 1)
    return builder.delete("victim")


def test_resources_are_free_when_a_pod_is_gone_or_has_ended_before() -> None:
    question = before(released("victim"), bound("urgent"))
    assert ask(question, terminating_victim().gone("victim").bind("urgent", "gpu-1")) is TRUE
    assert ask(question, terminating_victim().finish("victim", "Failed").bind("urgent", "gpu-1")) is TRUE
    assert ask(question, terminating_victim().bind("urgent", "gpu-1").gone("victim")) is FALSE
