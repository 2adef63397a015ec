"""The judge of chaos sees what is wrong: a judge that cannot say no would prove nothing."""

from __future__ import annotations

from muster.chronicle.questions import Verdict
from tests.chaos.judge import at_rest, no_share_is_exceeded, nobody_was_sent_back_in_vain
from tests.chaos.load import NODES, Job
from tests.tales import Tale

LIMITS = {"narrow": 2}
GANG = Job("gang", 3, 1, 10, is_gang=True, minimum=3)
BIG = Job("big", 1, 4, 10)


def seen(tale: Tale, *jobs: Job, shut: tuple[int, ...] = ()) -> str:
    """Nothing when all is well."""
    answer = at_rest(jobs, LIMITS, shut).ask(tale.history)
    assert (answer.verdict is Verdict.YES) == (not answer.seen)
    return answer.seen


def members(tale: Tale, job: Job) -> Tale:
    for name in job.pods:
        tale.pod(name, job.gpus, job.priority)
    return tale


def full(*, but: int = 0, priority: int = 1000) -> tuple[Tale, list[Job]]:
    """Every node is taken by one important pod, except for the last few."""
    tale, jobs = Tale(), []
    for node in range(NODES - but):
        job = Job(f"full-{node}", 1, 4, priority)
        jobs.append(job)
        tale.settled(f"full-{node}-0", f"chaos-{node}", 4, priority)
    return tale, jobs


def test_a_gang_in_part_is_seen_and_a_whole_one_is_not() -> None:
    tale = members(Tale(), GANG).bind("gang-0", "chaos-0").bind("gang-1", "chaos-0")
    assert "gang has 2 pods on nodes and never had its minimum of 3" in seen(tale, GANG)
    tale.bind("gang-2", "chaos-1")
    assert not seen(tale, GANG)
    tale.delete("gang-0").gone("gang-0")
    assert not seen(tale, GANG)


def test_who_waits_beside_free_room_is_lost() -> None:
    tale = members(Tale(), BIG)
    assert "1 pods of big wait although there is room" in seen(tale, BIG)
    assert not seen(tale, BIG, shut=(0, 1, 2, 3))
    assert not seen(members(full()[0], BIG), *full()[1], BIG)
    assert "gang wait although there is room" in seen(members(full(but=1)[0], GANG), *full(but=1)[1], GANG)


def test_who_waits_for_the_less_important_is_lost_unless_they_are_of_another_queue() -> None:
    tale, jobs = full(priority=1)
    assert "less important could go" in seen(members(tale, BIG), *jobs, BIG)
    other = Job("other", 1, 1, 10, queue="narrow")
    tale, jobs = full(priority=1)
    assert not seen(members(tale, other), *jobs, other)


def test_a_gang_that_is_not_complete_may_wait() -> None:
    tale = Tale().pod("gang-0", 1, 10).pod("gang-1", 1, 10)
    assert not seen(tale, GANG)
    tale.pod("gang-2", 1, 10)
    assert "3 pods of gang wait" in seen(tale, GANG)


def test_a_promise_without_anybody_who_leaves_is_stale() -> None:
    tale, jobs = full()
    members(tale, BIG).nominate("big-0", "chaos-1")
    assert "big-0 waits with a nomination to chaos-1" in seen(tale, *jobs, BIG)
    tale.delete("full-1-0")
    assert "still leaving: full-1-0" in seen(tale, *jobs, BIG)


def test_a_share_that_was_exceeded_for_a_moment_is_seen() -> None:
    job = Job("many", 3, 1, 10, queue="narrow")
    tale = members(Tale(), job).bind("many-0", "chaos-0").bind("many-1", "chaos-0")
    assert not no_share_is_exceeded(tale.history, [job], LIMITS)
    tale.bind("many-2", "chaos-1").end("many-0")
    assert no_share_is_exceeded(tale.history, [job], LIMITS) == ["many-2 was bound, and narrow then held 3 of 2 GPUs"]


def test_only_a_gang_that_had_not_started_is_sent_back() -> None:
    tale = members(Tale(), GANG).bind("gang-0", "chaos-0").mark("gang-0", "ReleasedByScheduler")
    assert not nobody_was_sent_back_in_vain(tale.history, [GANG])
    tale.thing("PodGroup", "gang", status={"phase": "Running"})
    tale.mark("gang-1", "ReleasedByScheduler")
    assert "gang-1 was released" in nobody_was_sent_back_in_vain(tale.history, [GANG])[0]
