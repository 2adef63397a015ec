"""A scheduling cycle in slices: what takes effect is the plan, part by part, except where an object has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from scheduler.core.actions import Action, Bind, Evict, Release, Report, SetGroupPhase
from scheduler.core.plan import plan
from scheduler.core.scheduling_types import Counts
from scheduler.runtime import scheduler
from scheduler.runtime.scheduler import run_cycle, still_valid
from tests.support.cluster_builder import Decision, FakeCluster, key

Between = Callable[[FakeCluster, int], None]  # what happens at the end of a slice, by its number


@pytest.fixture(autouse=True)
def each_decision_is_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "_SLICE", 0.0)
    monkeypatch.setattr(scheduler, "_PAUSE", 0.0)


class Run:
    """One cycle on the cluster: the actions that were started, and in which slice."""

    def __init__(self, cluster: FakeCluster, between: Between = lambda _cluster, _slice: None) -> None:
        self.cluster, self.started = cluster, list[tuple[int, Action]]()
        self._slice, self._between, self._done = 0, between, False
        asyncio.run(self._go())

    @property
    def decision(self) -> Decision:
        return Decision(tuple(action for _, action in self.started))

    async def _go(self) -> None:
        other = asyncio.create_task(self._others())
        await run_cycle(self.cluster.state, self.cluster.policy, self._start)
        other.cancel()

    async def _others(self) -> None:
        """Has its turn at each pause."""
        while True:
            self._between(self.cluster, self._slice)
            self._slice += 1
            await asyncio.sleep(0)

    def _start(self, action: Action) -> None:
        self.started.append((self._slice, action))
        self.cluster.carry_out([action])


def busy_cluster() -> FakeCluster:
    """Gangs that start, preempt and wait; single pods that are bound, preempt, and do not fit; a strict queue."""
    cluster = FakeCluster()
    for number in range(4):
        cluster.node(f"n{number}", 4)
        cluster.pod(f"low-{number}", 2, on=f"n{number}")
    cluster.queue("strict", 3, strict=True)
    cluster.gang("starts", 2, 2, priority=30, min_member=2)
    cluster.gang("preempts", 3, 3, priority=20)
    cluster.gang("hopeless", 9, 4, priority=10)
    for number in range(4):
        cluster.pod(f"strict-{number}", 1, queue="strict")
    cluster.pod("plain", 1)
    cluster.pod("urgent", 4, priority=100)
    return cluster


def test_the_slices_together_are_the_plan() -> None:
    cluster = busy_cluster()
    planned = plan(cluster.state, cluster.policy)
    run = Run(cluster)
    assert list(run.decision.actions) == planned
    assert run.decision.bound
    assert run.decision.evicted
    assert len({number for number, _ in run.started}) > 5


def test_actions_start_before_the_last_decision_is_made() -> None:
    cluster = FakeCluster()
    cluster.node("n", 8)
    for number in range(3):
        cluster.pod(f"pod-{number}", 1)
    assert [(number, action.pod.uid) for number, action in Run(cluster).started if isinstance(action, Bind)] == [
        (0, "pod-0"),
        (1, "pod-1"),
        (2, "pod-2"),
    ]


def test_a_gang_is_bound_and_gets_its_phase_in_one_slice() -> None:
    slices: dict[str, set[int]] = {}
    for number, action in Run(busy_cluster()).started:
        match action:
            case Bind(pod) if pod.group:
                slices.setdefault(pod.group[1], set()).add(number)
            case SetGroupPhase(group, phase="Running"):
                slices.setdefault(group.key[1], set()).add(number)
    assert slices
    assert {name for name, found in slices.items() if len(found) > 1} == set()


@pytest.mark.parametrize("change", ["deleted", "terminating", "bound", "cordoned", "gone", "closed"])
def test_no_part_of_a_gang_is_bound_when_a_member_a_node_or_the_queue_has_changed(change: str) -> None:
    cluster = FakeCluster()
    for name in "ab":
        cluster.node(name, 4)
    queue = cluster.queue("q")
    cluster.pod("first", 1, priority=100)
    cluster.gang("train", 2, 3, queue="q")

    def between(cluster: FakeCluster, number: int) -> None:
        if number:
            return
        match change:
            case "deleted":
                cluster.delete("train-1")
            case "terminating":
                cluster.change("train-1", terminating=True)
            case "bound":
                cluster.change("train-1", node="b")
            case "cordoned":
                cluster.state.set_node(replace(cluster.state.nodes["b"], cordoned=True))
            case "closed":
                cluster.state.set_queue(replace(queue, is_open=False))
            case "gone":
                cluster.state.remove_node("b")

    run = Run(cluster, between)
    assert set(run.decision.bound) == {"first"}
    assert "Running" not in run.decision.phases.values()
    assert key("train") in cluster.state.changed_groups  # the next cycle decides about its phase


def test_a_victim_that_has_gone_is_not_evicted() -> None:
    cluster = FakeCluster()
    for name in "ab":
        cluster.node(name, 4)
        cluster.pod(f"low-{name}", 4, on=name)
    cluster.pod("first", priority=200)
    cluster.gang("urgent", 2, 4, priority=100)
    run = Run(cluster, lambda cluster, number: cluster.delete("low-a") if not number else None)
    assert run.decision.evicted == {"low-b"}


def test_what_cannot_be_undone_about_a_group_is_not_done_when_it_has_changed() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    members = cluster.gang("train", 2, 1, on="n")
    then, now = cluster.state.view(), cluster.state
    now.detach()
    now.clear_changes()
    group = now.groups[key("train")]
    ended, running = SetGroupPhase(group, "Completed", Counts()), SetGroupPhase(group, "Running", Counts(1))
    release = Release(members[0], "because")
    decided: list[Action] = [ended, running, release]
    assert still_valid(decided, then, now) == decided
    now.set_pod(replace(members[1], terminating=True))
    assert still_valid(decided, then, now) == [running]
    now.remove_group(group.key)
    assert still_valid(decided, then, now) == []


def test_actions_about_pods_that_are_gone_are_dropped() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    pod, victim = cluster.pod("pod", 1), cluster.pod("victim", 1, on="n")
    then, now = cluster.state.view(), cluster.state
    now.detach()
    decided: list[Action] = [Report(pod, "no"), Evict(victim, "team/pod", pod, "for it")]
    assert still_valid(decided, then, now) == decided
    cluster.delete("pod", "victim")
    assert still_valid(decided, then, now) == []


def test_after_an_error_the_changed_groups_are_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.gang("train", 2, 1)

    def fails(_: Action) -> None:
        raise KeyError

    with pytest.raises(KeyError):
        asyncio.run(run_cycle(cluster.state, cluster.policy, fails))
    assert cluster.state.changed_groups == {key("train")}
