"""The final-state check detects every problem: a check that cannot fail proves nothing."""

from __future__ import annotations

from muster.recording.questions import Outcome
from tests.chaos.final_state import capability_violations, is_stable, unjustified_releases
from tests.chaos.load import NODES, Job
from tests.support.history_builder import HistoryBuilder

LIMITS = {"narrow": 2}
GANG = Job("gang", 3, 1, 10, is_gang=True, min_member=3)
BIG = Job("big", 1, 4, 10)


def problems_in(builder: HistoryBuilder, *jobs: Job, cordoned: tuple[int, ...] = ()) -> str:
    """Empty when there is no problem."""
    answer = is_stable(jobs, LIMITS, cordoned).ask(builder.history)
    assert (answer.outcome is Outcome.TRUE) == (not answer.seen)
    return answer.seen


def members(builder: HistoryBuilder, job: Job) -> HistoryBuilder:
    for name in job.pods:
        builder.pod(name, job.gpus, job.priority)
    return builder


def full(*, free_nodes: int = 0, priority: int = 1000) -> tuple[HistoryBuilder, list[Job]]:
    """One pod of this priority on every node, except for the last few."""
    builder, jobs = HistoryBuilder(), []
    for node in range(NODES - free_nodes):
        job = Job(f"full-{node}", 1, 4, priority)
        jobs.append(job)
        builder.running_pod(f"full-{node}-0", f"chaos-{node}", 4, priority)
    return builder, jobs


def test_a_partially_bound_gang_is_detected() -> None:
    builder = members(HistoryBuilder(), GANG).bind("gang-0", "chaos-0").bind("gang-1", "chaos-0")
    assert "gang has 2 bound pods and never reached its minMember of 3" in problems_in(builder, GANG)
    builder.bind("gang-2", "chaos-1")
    assert not problems_in(builder, GANG)
    builder.delete("gang-0").gone("gang-0")
    assert not problems_in(builder, GANG)


def test_a_pending_pod_that_fits_is_detected() -> None:
    builder = members(HistoryBuilder(), BIG)
    assert "1 pods of big are pending although they fit" in problems_in(builder, BIG)
    assert not problems_in(builder, BIG, cordoned=(0, 1, 2, 3))
    assert not problems_in(members(full()[0], BIG), *full()[1], BIG)
    assert "gang are pending although they fit" in problems_in(
        members(full(free_nodes=1)[0], GANG), *full(free_nodes=1)[1], GANG
    )


def test_a_pending_pod_that_could_preempt_in_its_queue_is_detected() -> None:
    builder, jobs = full(priority=1)
    assert "could preempt lower-priority pods" in problems_in(members(builder, BIG), *jobs, BIG)
    other = Job("other", 1, 1, 10, queue="narrow")
    builder, jobs = full(priority=1)
    assert not problems_in(members(builder, other), *jobs, other)


def test_a_gang_below_min_member_may_stay_pending() -> None:
    builder = HistoryBuilder().pod("gang-0", 1, 10).pod("gang-1", 1, 10)
    assert not problems_in(builder, GANG)
    builder.pod("gang-2", 1, 10)
    assert "3 pods of gang are pending" in problems_in(builder, GANG)


def test_a_nomination_without_terminating_pods_is_stale() -> None:
    builder, jobs = full()
    members(builder, BIG).nominate("big-0", "chaos-1")
    assert "big-0 is pending with a nomination to chaos-1" in problems_in(builder, *jobs, BIG)
    builder.delete("full-1-0")
    assert "still terminating: full-1-0" in problems_in(builder, *jobs, BIG)


def test_a_capability_exceeded_for_a_moment_is_detected() -> None:
    job = Job("many", 3, 1, 10, queue="narrow")
    builder = members(HistoryBuilder(), job).bind("many-0", "chaos-0").bind("many-1", "chaos-0")
    assert not capability_violations(builder.history, [job], LIMITS)
    builder.bind("many-2", "chaos-1").finish("many-0")
    assert capability_violations(builder.history, [job], LIMITS) == [
        "many-2 was bound, and narrow then used 3 of 2 GPUs"
    ]


def test_a_release_of_a_started_gang_is_detected() -> None:
    builder = (
        members(HistoryBuilder(), GANG)
        .bind("gang-0", "chaos-0")
        .mark_disruption_target("gang-0", "ReleasedByScheduler")
    )
    assert not unjustified_releases(builder.history, [GANG])
    builder.custom_object("PodGroup", "gang", status={"phase": "Running"})
    builder.mark_disruption_target("gang-1", "ReleasedByScheduler")
    assert "gang-1 was released" in unjustified_releases(builder.history, [GANG])[0]
