"""An answer is not the end of it: what was counted and what runs is checked again when the scenario goes on or ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from muster.assertions.evaluation import Recording
from muster.assertions.gang_preemption import victim_event
from muster.assertions.pods import not_evicted, runs, still_runs
from muster.assertions.preemption import (
    every_victim_necessary,
    exactly_preempted,
    no_other_pod_evicted_or_failed,
    preempted_event_names_node,
)
from muster.errors import ConformanceFailure, HarnessError, SchedulerNotServing
from muster.recording.questions import Question, eventually
from muster.recording.records import Moment
from steps.pod_assertions import pods_run_on_different_nodes
from tests.support.history_builder import FALSE, PENDING, TRUE, HistoryBuilder, ask, full_node


def recording(builder: HistoryBuilder, probe: Callable[[], Moment] | None = None) -> Recording:
    return Recording(
        builder.history,
        check_health=lambda: None,
        probe=probe or (lambda: builder.history.now),
        longest_backoff=0.0,
    )


def preempted_once() -> HistoryBuilder:
    builder = full_node().pod("urgent", 1, 100).preempt("left", by="urgent").gone("left")
    return builder.run("urgent", "gpu-1")


def test_a_second_victim_after_the_last_step_fails_the_scenario() -> None:
    builder = preempted_once()
    watched = recording(builder)
    watched.must(still_runs("urgent"), lasting=True)
    watched.must(exactly_preempted(("left", "right"), 1, "urgent"), lasting=True)
    watched.must(no_other_pod_evicted_or_failed(), lasting=True)
    builder.preempt("right", by="urgent")
    with pytest.raises(ConformanceFailure, match="this was so, and is no longer: 2 preempted"):
        watched.close()


@pytest.mark.parametrize(
    "reported",
    [
        preempted_event_names_node(("left",), "urgent"),
        victim_event("left", "Preempted", ("urgent",), names_member=True),
    ],
    ids=["of a pod", "of a gang"],
)
def test_a_victim_is_counted_whose_event_was_seen_before_its_mark(reported: Question) -> None:
    builder = full_node().pod("urgent", 1, 100)
    builder.event("left", "Preempted", "Preempted by pod uid-urgent on node gpu-1")
    watched = recording(builder)
    watched.must(reported)
    builder.mark_disruption_target("left").delete("left").gone("left").run("urgent", "gpu-1")
    watched.close()


def test_a_victim_that_came_after_the_count_is_another_pod() -> None:
    builder = preempted_once()
    watched = recording(builder)
    watched.must(exactly_preempted(("left",), 1, "urgent"))
    assert ask(no_other_pod_evicted_or_failed(), builder) is TRUE
    builder.mark_disruption_target("right").delete("right")
    assert ask(no_other_pod_evicted_or_failed(), builder) is FALSE


def test_victims_after_every_victim_was_necessary_are_not_expected() -> None:
    builder = preempted_once()
    watched = recording(builder)
    watched.must(every_victim_necessary("urgent"))
    builder.pod("next", 1, 100).preempt("right", by="next")
    with pytest.raises(ConformanceFailure, match=r"right was preempted at .* which no step of the scenario expects"):
        watched.close()


def test_a_pod_that_ran_once_does_not_run() -> None:
    builder = HistoryBuilder().node("n", 2).pod("a", 1).run("a", "n")
    watched = recording(builder)
    watched.must(still_runs("a"), lasting=True)
    builder.delete("a").gone("a")
    with pytest.raises(ConformanceFailure, match=r"no longer: a ran from 0.4 s and is gone since 0.6 s"):
        watched.confirm()
    watched.confirm()  # asked once


def test_pods_that_ran_on_different_nodes_must_still_do_so() -> None:
    builder = HistoryBuilder().node("east", 1).node("west", 1).running_pod("a", "east", 1).running_pod("b", "west", 1)
    watched = recording(builder)
    pods_run_on_different_nodes(watched, ("a", "b"), 2)
    builder.delete("a").gone("a")
    with pytest.raises(ConformanceFailure, match="wanted   a, b running on 2 different nodes"):
        watched.confirm()


def test_a_pod_that_runs() -> None:
    builder = HistoryBuilder().node("n", 2).pod("a", 1)
    assert ask(still_runs("a"), builder) is PENDING
    assert ask(still_runs("a"), builder.run("a", "n")) is TRUE
    assert ask(still_runs("a", ("m",)), builder) is FALSE
    assert ask(still_runs("a"), builder.finish("a", "Failed")) is FALSE


def test_a_pod_that_was_created_again_was_evicted_all_the_same() -> None:
    builder = HistoryBuilder().node("n", 2).running_pod("a", "n", 1).delete("a").gone("a").pod("a", 1, uid="uid-2")
    assert ask(not_evicted("a"), builder) is FALSE
    builder.history.removed_on_purpose.add("uid-a")
    assert ask(not_evicted("a"), builder) is TRUE
    assert ask(not_evicted("a"), builder.finish("a", "Failed")) is FALSE


def not_serving() -> Moment:
    raise SchedulerNotServing("the scheduler did not bind the probe pod within 15 s; last log lines:\npanic")


def test_a_scheduler_that_stops_serving_has_failed() -> None:
    builder = full_node()
    watched = recording(builder)
    watched.prove_live()
    watched.probe = not_serving
    with pytest.raises(ConformanceFailure, match=r"the scheduler going on to bind pods that fit(.|\n)*panic"):
        watched.must(still_runs("other"), within=0)


def test_a_scheduler_that_never_served_is_an_error() -> None:
    watched = recording(full_node(), not_serving)
    with pytest.raises(HarnessError, match="did not bind the probe pod"):
        watched.must(still_runs("other"), within=0)


def test_a_silent_kubelet_is_an_error_and_asked_for_only_where_something_is_missing() -> None:
    builder = HistoryBuilder().node("w", 1).pod("p", 1)
    watched = recording(builder)

    def silent() -> None:
        raise HarnessError("the kubelet of w has not renewed its lease")

    watched.prove_nodes = silent
    with pytest.raises(HarnessError, match="has not renewed its lease"):
        watched.must(eventually(runs("p")), within=0)
    builder.run("p", "w")
    watched.must(eventually(runs("p")), within=0)
