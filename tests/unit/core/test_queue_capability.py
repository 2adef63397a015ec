"""Queues: admission, capability, and strict FIFO order."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.core.actions import QUOTA_EXCEEDED, UNSCHEDULABLE, Bind, Report
from scheduler.core.policy import Policy
from scheduler.core.scheduling_types import CPU, GPU
from tests.support.cluster_builder import Decision, FakeCluster, key


def research(gpus: int | None = 8, offered: int = 16, policy: Policy | None = None, **more: Any) -> FakeCluster:
    cluster = FakeCluster(policy)
    cluster.node("n", offered)
    cluster.queue("research", gpus, **more)
    return cluster


def test_a_queue_never_exceeds_its_capability() -> None:
    cluster = research(8, 24)
    for name in ("first", "second", "third"):
        cluster.gang(name, 6, 1, queue="research")
    decision = cluster.step()
    assert {name[:-2] for name in decision.bound} == {"first"}
    wanted = "gang team/second: queue research uses 6 of 8 nvidia.com/gpu, 6 more requested"
    assert decision.reasons["second-0"].startswith(wanted)


def test_only_a_lack_of_nodes_is_reported_as_unschedulable() -> None:
    cluster = research(4, 8)
    cluster.pod("holder", 4, on="n", queue="research")
    cluster.gang("over-quota", 2, 1, queue="research")
    cluster.pod("too-large", 9)
    reasons = {action.pod.key[1]: action.reason for action in cluster.plan().actions if isinstance(action, Report)}
    assert reasons == {"over-quota-0": QUOTA_EXCEEDED, "over-quota-1": QUOTA_EXCEEDED, "too-large": UNSCHEDULABLE}


def test_a_terminating_pod_counts_towards_its_queue_until_it_is_gone() -> None:
    cluster = research(4)
    cluster.pod("old", 4, on="n", queue="research", terminating=True)
    cluster.pod("new", 4, queue="research")
    decision = cluster.step()
    assert decision.bound == {}
    assert decision.nominated == {"new": "n"}
    cluster.delete_terminating()
    assert cluster.step().bound == {"new": "n"}


def test_a_capability_does_not_limit_other_resources() -> None:
    cluster = FakeCluster()
    cluster.node("n", 8, cpu=64)
    cluster.queue("research", 4)
    cluster.pod("hungry", 1, cpu=60, queue="research")
    assert cluster.plan().bound == {"hungry": "n"}


def test_every_resource_of_a_capability_counts() -> None:
    cluster = FakeCluster()
    cluster.node("n", 8, cpu=64_000)
    cluster.queue("research", capability={GPU: 8, CPU: 4_000})
    cluster.pod("hungry", 1, cpu=5_000, queue="research")
    assert "queue research uses 0 of 4 cpu, 5 more requested" in cluster.plan().reasons["hungry"]


def test_an_unschedulable_gang_does_not_block_the_queue() -> None:
    cluster = research(16, 8)
    cluster.gang("giant", 1, 9, queue="research")
    cluster.gang("modest", 8, 1, queue="research")
    assert len(cluster.plan().bound) == 8


def test_gated_pods_and_pending_gangs_use_no_quota() -> None:
    cluster = research(4)
    for pod in cluster.gang("gated", 4, 1, queue="research"):
        cluster.change(pod.key[1], gated=True)
    cluster.gang("waiting", 5, 1, queue="research")
    cluster.gang("ready", 4, 1, queue="research")
    assert {name[:-2] for name in cluster.plan().bound} == {"ready"}


def test_the_podgroup_determines_the_queue_of_its_pods() -> None:
    cluster = research(1)
    cluster.gang("train", 2, 1, queue="research")
    cluster.change("train-0", queue="elsewhere")
    assert cluster.plan().bound == {}


def test_the_higher_priority_pending_gang_starts_first() -> None:
    cluster = research()
    cluster.gang("first", 6, 1, 100, "n", queue="research")
    cluster.gang("modest", 6, 1, 10, queue="research")
    cluster.gang("urgent", 6, 1, 100, queue="research")
    assert cluster.step().bound == {}
    cluster.finish(*(f"first-{number}" for number in range(6)))
    assert {name[:-2] for name in cluster.step().bound} == {"urgent"}


def test_a_small_gang_starts_ahead_of_a_blocked_one() -> None:
    cluster = research()
    cluster.gang("first", 6, 1, on="n", queue="research")
    cluster.gang("large", 6, 1, queue="research")
    cluster.gang("small", 1, 1, queue="research")
    assert cluster.plan().bound == {"small-0": "n"}


@pytest.mark.parametrize(("of_queue", "of_policy"), [(True, False), (None, True)])
def test_in_a_strict_fifo_queue_the_head_blocks_later_gangs(of_queue: bool | None, of_policy: bool) -> None:
    cluster = research(policy=Policy(strict_queues=of_policy), strict=of_queue)
    cluster.gang("first", 6, 1, on="n", queue="research")
    cluster.gang("large", 6, 1, queue="research")
    cluster.gang("small", 1, 1, queue="research")
    decision = cluster.step()
    assert decision.bound == {}
    assert decision.reasons["small-0"] == "queue research is strict FIFO: team/large is ahead and pending"
    cluster.finish(*(f"first-{number}" for number in range(6)))
    assert {name[:-2] for name in cluster.step().bound} == {"large", "small"}


def after(decision: Decision) -> dict[str, set[str]]:
    return {one.pod.uid: set(one.after) for one in decision.actions if isinstance(one, Bind)}


def test_in_a_strict_fifo_queue_all_units_ahead_of_the_first_that_does_not_fit_start() -> None:
    cluster = research(strict=True)
    cluster.gang("first", 2, 1, queue="research")
    cluster.gang("second", 1, 1, queue="research")
    cluster.gang("third", 2, 1, queue="research", min_member=1)
    cluster.gang("large", 7, 1, queue="research")
    cluster.pod("small", 1, queue="research")
    decision = cluster.plan()
    assert after(decision) == {
        "first-0": set(),
        "first-1": set(),
        "second-0": {"first-0", "first-1"},
        "third-0": {"second-0"},
        "third-1": {"second-0"},
    }
    assert decision.reasons["small"] == "queue research is strict FIFO: team/large is ahead and pending"


def test_in_a_strict_fifo_queue_the_next_gang_is_bound_after_bindings_in_flight() -> None:
    cluster = research(strict=True)
    cluster.gang("large", 3, 1, on="n", queue="research")
    cluster.gang("small", 1, 1, queue="research")
    cluster.change("large-1", binding=True)
    assert after(cluster.plan()) == {"small-0": {"large-1"}}
    cluster.change("large-1", binding=False)
    assert after(cluster.plan()) == {"small-0": set()}


def test_in_other_queues_no_binding_waits_for_another() -> None:
    cluster = research(strict=False)
    for name in ("first", "second"):
        cluster.pod(name, 1, queue="research")
    assert after(cluster.plan()) == {"first": set(), "second": set()}


def test_a_gang_is_not_blocked_by_its_own_bindings() -> None:
    cluster = research(strict=True)
    cluster.gang("large", 3, 1, on="n", queue="research")
    cluster.change("large-0", binding=True)
    cluster.change("large-1", node="")  # its binding was rejected
    decision = cluster.step()
    assert decision.bound == {"large-1": "n"}
    assert not decision.released


def test_a_queue_may_override_the_strict_fifo_policy() -> None:
    cluster = research(policy=Policy(strict_queues=True), strict=False)
    cluster.pod("large", 9, queue="research")
    cluster.pod("small", 1, queue="research")
    assert cluster.plan().bound == {"small": "n"}


def test_the_head_of_one_queue_does_not_block_another_queue() -> None:
    cluster = research(strict=True)
    cluster.queue("teaching", 4, strict=True)
    cluster.pod("large", 9, queue="research")
    cluster.pod("other", 1, queue="teaching")
    assert cluster.plan().bound == {"other": "n"}


def test_a_head_that_waits_for_its_victims_blocks_the_queue() -> None:
    cluster = research(strict=True, gpus=None)
    cluster.pod("low", 15, 10, "n", queue="research")
    cluster.pod("head", 16, 100, queue="research")
    cluster.pod("small", 1, 50, queue="research")
    decision = cluster.plan()
    assert decision.evicted == {"low"}
    assert "is strict FIFO" in decision.reasons["small"]


def test_an_invalid_object_does_not_block_a_strict_fifo_queue() -> None:
    cluster = research(strict=True)
    cluster.pod("broken", 1, 100, queue="research", problem="'many' is not a quantity of nvidia.com/gpu")
    cluster.pod("sound", 1, queue="research")
    assert cluster.plan().bound == {"sound": "n"}


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"is_open": False}, "queue research is closed"),
        ({"problem": "spec.capability: nonsense"}, "queue research: spec.capability: nonsense"),
    ],
)
def test_a_queue_that_accepts_no_work_has_a_reason(more: dict[str, Any], reason: str) -> None:
    cluster = research(**more)
    cluster.pod("early", 1, on="n", queue="research")
    cluster.pod("single", 1, queue="research")
    cluster.gang("late", 2, 1, queue="research")
    decision = cluster.step()
    assert decision.bound == {}
    assert decision.evicted == set()
    assert set(decision.reasons.values()) == {reason}
    cluster.queue("research", 8)
    assert len(cluster.step().bound) == 3


def test_nothing_starts_from_a_missing_queue_until_it_is_created() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.gang("lost", 2, 1, queue="teaching")
    assert cluster.step().reasons["lost-0"] == "queue teaching does not exist"
    cluster.queue("teaching", 4)
    assert len(cluster.step().bound) == 2


def test_the_default_queue_need_not_exist_but_its_capability_counts() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.pod("single", 1)
    assert cluster.step().bound == {"single": "n"}
    cluster.queue("default", 1)
    cluster.pod("next", 1)
    assert cluster.step().bound == {}


def test_a_recreated_member_of_a_running_gang_may_start_in_a_closed_queue() -> None:
    cluster = research(is_open=False)
    cluster.gang("train", 2, 1, on="n", queue="research")
    cluster.pod("train-2", 1, group=key("train"))
    assert cluster.plan().bound == {"train-2": "n"}


def test_preemption_stays_within_the_preemptors_queue() -> None:
    cluster = FakeCluster()
    cluster.node("n", 8)
    cluster.queue("ours", 4)
    cluster.queue("theirs", 4)
    cluster.gang("mild", 4, 1, 10, "n", queue="ours")
    cluster.gang("other-queue", 4, 1, 1, "n", queue="theirs")
    cluster.gang("urgent", 4, 1, 100, queue="ours")
    assert cluster.plan().evicted == {f"mild-{number}" for number in range(4)}


def test_quota_is_freed_by_preemption_although_nodes_have_capacity() -> None:
    cluster = research(4)
    for name, priority in (("dear", 50), ("cheap", 10)):
        cluster.pod(name, 2, priority, "n", queue="research")
    cluster.pod("urgent", 2, 100, queue="research")
    assert cluster.step().evicted == {"cheap"}
    cluster.settle()
    assert cluster.where() == {"dear": "n", "urgent": "n"}


def test_a_gang_above_the_capability_does_not_preempt() -> None:
    cluster = research(4)
    cluster.pod("low", 4, 10, "n", queue="research")
    cluster.pod("giant", 5, 100, queue="research")
    assert cluster.plan().evicted == set()


def test_no_preemption_if_the_queue_would_still_exceed_its_capability() -> None:
    cluster = research(4)
    cluster.pod("boss", 4, 1000, "n", queue="research")
    cluster.pod("low", 4, 10, "n", queue="research")
    cluster.pod("urgent", 4, 100, queue="research")
    assert cluster.plan().evicted == set()


def test_a_gang_without_min_member_does_not_start_in_a_closed_queue() -> None:
    cluster = research(is_open=False)
    cluster.gang("loose", 1, 1, min_member=0, queue="research")
    assert cluster.plan().bound == {}


def test_pods_of_other_schedulers_use_no_quota_of_the_default_queue() -> None:
    """A pod that names no queue is in the default queue only for the schedulers that have queues."""
    cluster = FakeCluster()
    cluster.node("n", 8)
    cluster.queue("default", 2)
    cluster.pod("daemon", 2, on="n", scheduler="default-scheduler")
    cluster.pod("ours", 2)
    assert cluster.step().bound == {"ours": "n"}
    cluster.pod("next", 1)
    assert cluster.plan().reasons["next"].startswith("queue default uses 2 of 2 nvidia.com/gpu, 1 more requested")


def test_a_pod_of_another_scheduler_counts_towards_the_queue_that_it_names() -> None:
    cluster = FakeCluster()
    cluster.node("n", 8)
    cluster.queue("research", 2)
    cluster.pod("other", 2, on="n", scheduler="default-scheduler", queue="research")
    cluster.pod("ours", 1, queue="research")
    assert cluster.plan().bound == {}


def test_evicting_a_pod_of_another_scheduler_frees_no_quota_of_the_default_queue() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.queue("default", 2)
    cluster.pod("ours", 2, 100, on="n")
    cluster.pod("daemon", 2, 0, on="n", scheduler="default-scheduler")
    cluster.pod("urgent", 2, 100)
    decision = cluster.plan()
    assert decision.evicted == set()
    assert decision.bound == {}
