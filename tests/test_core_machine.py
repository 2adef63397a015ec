"""Anything may happen to a cluster, in any order: what must hold after every plan, and once nothing happens any more.

The judge here shares no code with the decisions: it counts what is on the nodes and in the queues by itself.
"""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from scheduler.core.actions import Bind, Evict, Release, SetGroupPhase
from scheduler.core.model import GPU, Counts, Group, Key, Node, Pod, Taint, Toleration
from tests.core_worlds import Decision, World, key

THOROUGH = os.environ.get("MUSTER_HYPOTHESIS") == "thorough"
PRIORITIES = st.sampled_from([0, 10, 10, 100, 1000])
QUEUES = st.sampled_from(["", "", "q", "strict"])
GPUS = st.integers(0, 4)
PAIR = st.lists(GPUS, min_size=1, max_size=2)
FLAWS = st.sampled_from(["", "", "taint", "cordon"])
MOST_PODS = 24
MOST_PLANS = 40

TAINT = Taint("gpu", "old", "NoSchedule")
SHAPES: list[dict[str, Any]] = [{}, {}, {"selector": (("zone", "a"),)}, {"tolerations": (Toleration("gpu", "Exists"),)}]


class ClusterLife(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.reached: set[Key] = set()  # groups that have had their minimum
        self.number = 0

    @initialize(
        nodes=st.lists(
            st.tuples(st.integers(1, 4), st.sampled_from(["", "", "taint", "cordon"])), min_size=1, max_size=3
        ),
        pods=st.lists(st.tuples(GPUS, PRIORITIES, QUEUES), max_size=6),
    )
    def begin(self, nodes: list[tuple[int, str]], pods: list[tuple[int, int, str]]) -> None:
        self.world.queue("q", 4)
        self.world.queue("strict", strict=True)
        for gpus, flaw in nodes:
            taints = (TAINT,) if flaw == "taint" else ()
            self.world.node(self.fresh("node"), gpus, 4, pods=5, taints=taints, cordoned=flaw == "cordon")
        for gpus, priority, queue in pods:
            self.world.pod(self.fresh("pod"), gpus, priority, queue=queue)
        self.act()

    def fresh(self, kind: str) -> str:
        self.number += 1
        return f"{kind}{self.number}"

    def room_for(self, pods: int) -> bool:
        return len(self.world.cluster.pods) + pods <= MOST_PODS

    # what may happen

    @rule(gpus=GPUS, cpu=st.integers(0, 2), priority=PRIORITIES, queue=QUEUES, kind=st.sampled_from(SHAPES),
          preempts=st.booleans(), protected=st.booleans(), gated=st.sampled_from([False, False, True]))  # fmt: skip
    def submit_pod(
        self, gpus: int, cpu: int, priority: int, queue: str, kind: dict[str, Any], preempts: bool, protected: bool,
        gated: bool,
    ) -> None:  # fmt: skip
        if self.room_for(1):
            self.world.pod(
                self.fresh("pod"), gpus, priority, cpu=cpu, queue=queue, preempts=preempts, protected=protected,
                gated=gated, labels={"app": "covered" if gpus % 2 else "bare"}, **kind,
            )  # fmt: skip
        self.act()

    @rule(sizes=st.lists(GPUS, min_size=1, max_size=4), spare=st.integers(-1, 2), priority=PRIORITIES, queue=QUEUES,
          whole=st.booleans(), kind=st.sampled_from(["volcano", "koordinator"]),
          match=st.sampled_from(["once-satisfied", "once-satisfied", "waiting-and-running"]))  # fmt: skip
    def submit_gang(
        self, sizes: list[int], spare: int, priority: int, queue: str, whole: bool, kind: str, match: str
    ) -> None:
        if self.room_for(len(sizes)):
            name, least = self.fresh("gang"), max(1, len(sizes) - spare)
            self.world.group(name, least, queue=queue, leaves_whole=whole, kind=kind, match=match)
            for gpus in sizes:
                self.world.pod(self.fresh(name + "-"), gpus, priority, group=key(name))
        self.act()

    @rule(
        left=st.lists(GPUS, min_size=1, max_size=2), right=st.lists(GPUS, min_size=1, max_size=2), priority=PRIORITIES
    )
    def submit_gangs_that_start_together(self, left: list[int], right: list[int], priority: int) -> None:
        if self.room_for(len(left) + len(right)):
            names = self.fresh("twin"), self.fresh("twin")
            both = frozenset(map(key, names))
            for name, sizes in zip(names, (left, right), strict=True):
                self.world.group(name, len(sizes), kind="koordinator", partners=both - {key(name)})
                for gpus in sizes:
                    self.world.pod(self.fresh(name + "-"), gpus, priority, group=key(name))
        self.act()

    @precondition(lambda self: self.world.cluster.groups)
    @rule(data=st.data(), gpus=GPUS, priority=PRIORITIES)
    def join_late(self, data: st.DataObject, gpus: int, priority: int) -> None:
        if self.room_for(1):
            group = data.draw(st.sampled_from(sorted(self.world.cluster.groups)))
            self.world.pod(self.fresh("late"), gpus, priority, group=group)
        self.act()

    @precondition(lambda self: self.world.cluster.pods)
    @rule(data=st.data(), how=st.sampled_from(["finish", "fail", "delete", "leave", "open"]))
    def happen_to_a_pod(self, data: st.DataObject, how: str) -> None:
        pod = self.world.cluster.pods[data.draw(st.sampled_from(sorted(self.world.cluster.pods)))]
        if how == "open":
            self.world.change(pod.key[1], gated=False)
        elif how == "leave":
            self.world.change(pod.key[1], leaving=True)
        elif how == "delete" or not pod.node:
            self.world.delete(pod.key[1])
        else:
            self.world.finish(pod.key[1], failed=how == "fail")
        self.act()

    @precondition(lambda self: self.world.cluster.groups)
    @rule(data=st.data(), minimum=st.integers(1, 4))
    def change_a_minimum(self, data: st.DataObject, minimum: int) -> None:
        self.world.change_group(data.draw(st.sampled_from(sorted(self.world.cluster.groups)))[1], minimum=minimum)
        self.act()

    @rule(gpus=st.integers(1, 4), cpu=st.integers(0, 4), zone=st.sampled_from(["", "a"]))
    def add_node(self, gpus: int, cpu: int, zone: str) -> None:
        if len(self.world.cluster.nodes) < 4:
            self.world.node(self.fresh("node"), gpus, cpu, pods=5, labels={"zone": zone})
        self.act()

    @precondition(lambda self: self.world.cluster.nodes)
    @rule(data=st.data(), how=st.sampled_from(["remove", "taint", "clean", "cordon", "uncordon", "resize"]))
    def happen_to_a_node(self, data: st.DataObject, how: str) -> None:
        cluster = self.world.cluster
        node = cluster.nodes[data.draw(st.sampled_from(sorted(cluster.nodes)))]
        match how:
            case "remove":
                cluster.remove_node(node.name)
                for pod in [one for one in cluster.bound() if one.node == node.name]:
                    cluster.remove_pod(pod.uid)
                self.world.count()
            case "taint" | "clean":
                cluster.set_node(replace(node, taints=(TAINT,) if how == "taint" else ()))
            case "cordon" | "uncordon":
                cluster.set_node(replace(node, cordoned=how == "cordon"))
            case "resize":
                cluster.set_node(replace(node, allocatable={**node.allocatable, GPU: data.draw(st.integers(0, 6))}))
        self.act()

    @rule(name=st.sampled_from(["q", "strict"]), how=st.sampled_from(["close", "open", "remove", "limit", "unlimit"]),
          gpus=st.integers(0, 8))  # fmt: skip
    def happen_to_a_queue(self, name: str, how: str, gpus: int) -> None:
        if how == "remove":
            self.world.cluster.remove_queue(name)
        else:
            capability = {GPU: gpus} if how == "limit" else {}
            self.world.queue(name, opened=how != "close", strict=name == "strict", capability=capability)
        self.act()

    @rule(allowed=st.integers(0, 2))
    def set_a_budget(self, allowed: int) -> None:
        self.world.budget("budget", allowed, {"app": "covered"})
        self.act()

    @precondition(lambda self: self.half_started())
    @rule()
    def crash_in_the_middle_of_a_gang(self) -> None:
        """One member was bound, and then the scheduler died."""
        first = self.half_started()[0]
        self.world.carry_out([first])
        self.act()

    def half_started(self) -> list[Bind]:
        binds = [one for one in self.world.plan().actions if isinstance(one, Bind)]
        return [one for one in binds if one.pod.group is not None]

    @rule(replaced=st.booleans())
    def let_go(self, replaced: bool) -> None:
        self.world.let_go(replaced=replaced)
        self.act()

    @rule(replaced=st.booleans())
    def come_to_rest(self, replaced: bool) -> None:
        for _ in range(MOST_PLANS):
            changes = self.act().changes
            if not self.world.let_go(replaced=replaced) and not changes:
                break
        else:
            raise AssertionError(f"not at rest after {MOST_PLANS} plans; the last one: {changes}")
        assert not [pod.key for pod in self.world.cluster.pods.values() if pod.nominated and not pod.node]
        for group in self.world.cluster.groups.values():
            self.must_be_whole_or_nothing(group, though_promised=False)

    @rule()
    def restart(self) -> None:
        """Whoever begins anew decides the same, and has nothing to catch up with."""
        self.world.step()
        other, asleep = self.world.copy(), self.world.cluster.touched
        caught_up = [one for one in other.plan().actions if isinstance(one, SetGroupPhase)]
        assert [one for one in caught_up if one.group.key not in asleep] == []
        asleep |= set(self.world.cluster.groups)
        assert other.plan().actions == self.world.plan().actions
        self.act()

    # what must hold

    def act(self) -> Decision:
        before = facts(self.world)
        decision = self.world.plan()
        assert self.world.plan() == decision
        assert facts(self.world) == before
        judge_binds(self.world, decision)
        judge_evictions(self.world, decision)
        released = {one.pod.group for one in decision.actions if isinstance(one, Release)}
        assert not released & self.reached, "those who run are sent back"
        self.world.cluster.settle()
        self.world.carry_out(decision.actions)
        judge_those_who_wait(self.world, decision)
        judge_gangs_that_wait(self.world, decision)
        judge_promises(self.world)
        for group in self.world.cluster.groups.values():
            self.must_be_whole_or_nothing(group, though_promised=True)
        return decision

    def must_be_whole_or_nothing(self, group: Group, *, though_promised: bool) -> None:
        members = self.world.cluster.members(group.key)
        bound = [pod for pod in members if pod.node and not pod.leaving]
        if len(bound) >= group.minimum:
            self.reached.add(group.key)
        elif not bound and not self.world.cluster.counts.get(group.key, Counts()).succeeded:
            self.reached.discard(group.key)
        if group.key not in self.reached and not (though_promised and any(pod.nominated for pod in members)):
            assert not bound, f"{group.key} has {len(bound)} of {group.minimum}"


def facts(world: World) -> tuple[object, ...]:
    """All that a plan could have changed, as it is now."""
    mine = world.cluster
    nouns = dict(mine.pods), dict(mine.nodes), dict(mine.groups), dict(mine.queues), dict(mine.counts)
    views = list(mine.waiting), set(mine.touched), mine.table.used.tolist(), mine.table.leaving.tolist()
    return *nouns, *views


def queue_of(pod: Pod, world: World) -> str:
    group = world.cluster.groups.get(pod.group) if pod.group else None
    return (group.queue if group else pod.queue) or "default"


def welcomes(node: Node, pod: Pod) -> bool:
    if node.cordoned or (node.taints and not pod.shape.tolerations):
        return False
    return all(node.labels.get(name) == value for name, value in pod.shape.selector)


def judge_binds(world: World, decision: Decision) -> None:
    """No node and no queue is lifted above what it may hold, and nobody goes where it may not be."""
    on_node, in_queue = usage(world, leaving=True)
    for one in decision.actions:
        if isinstance(one, Bind):
            node, queue = world.cluster.nodes[one.node], world.cluster.queues.get(queue_of(one.pod, world))
            assert welcomes(node, one.pod)
            for resource, amount in one.pod.requests:
                on_node[one.node][resource] += amount
                in_queue[queue_of(one.pod, world)][resource] += amount
                assert on_node[one.node][resource] <= node.allocatable.get(resource, 0)
                if queue is not None and resource in queue.capability:
                    assert in_queue[queue.name][resource] <= queue.capability[resource]


Use = dict[str, dict[str, int]]


def usage(world: World, *, leaving: bool) -> tuple[Use, Use]:
    """What is in use, by node and by queue; with or without those who are leaving."""
    on_node: Use = defaultdict(lambda: defaultdict(int))
    in_queue: Use = defaultdict(lambda: defaultdict(int))
    for pod in world.cluster.pods.values():
        for resource, amount in pod.requests if pod.node and (leaving or not pod.leaving) else ():
            on_node[pod.node][resource] += amount
            in_queue[queue_of(pod, world)][resource] += amount
    return on_node, in_queue


def judge_evictions(world: World, decision: Decision) -> None:
    """Every victim is strictly less important than those it goes for, unprotected, and of their queue."""
    waiting = [pod for pod in world.cluster.pods.values() if not pod.node and not pod.leaving and not pod.gated]
    for eviction in decision.evictions:
        victim, trigger = eviction.pod, eviction.trigger
        family = {trigger.group} | (world.cluster.groups[trigger.group].partners if trigger.group else set())
        gang = [pod for pod in waiting if pod.group in family and pod.group] or [trigger]
        named = eviction.beneficiary == "/".join(trigger.key)
        beneficiaries = [trigger] if named else gang
        assert victim.node
        assert not victim.leaving
        assert not victim.protected
        assert victim.priority < min(pod.priority for pod in beneficiaries)
        assert all(pod.preempts for pod in beneficiaries)
        assert queue_of(victim, world) in {queue_of(pod, world) for pod in beneficiaries}


def judge_those_who_wait(world: World, decision: Decision) -> None:
    """Everybody who waits is told why, and no pod waits that could have started."""
    evicts = any(isinstance(one, Evict) for one in decision.actions)
    now, used_now = usage(world, leaving=True)
    later, used_later = usage(world, leaving=False)
    for pod in world.cluster.pods.values():
        if pod.nominated and not pod.node:
            for resource, amount in pod.requests:
                later[pod.nominated][resource] += amount
                used_later[queue_of(pod, world)][resource] += amount
    for pod in world.cluster.waiting.values():
        assert decision.why[pod.key[1]]
        queue = world.cluster.queues.get(queue_of(pod, world))
        known = queue is not None or not pod.queue
        if evicts or pod.group or not known or (queue is not None and (not queue.opened or queue.strict)):
            continue
        limits = queue.capability if queue else {}
        for resource, amount in pod.requests:
            held = max(use[queue_of(pod, world)][resource] for use in (used_now, used_later))
            if resource in limits and held + amount > limits[resource]:
                break
        else:
            for node in world.cluster.nodes.values():
                if welcomes(node, pod):
                    assert any(
                        use[node.name][resource] + amount > node.allocatable.get(resource, 0)
                        for resource, amount in pod.requests
                        for use in (now, later)
                    ), f"{pod.key} has room on {node.name}"


def judge_gangs_that_wait(world: World, decision: Decision) -> None:
    """No gang waits as a whole that could have started with as many as it needs."""
    if decision.evictions:
        return
    layers = [usage(world, leaving=leaving) for leaving in (True, False)]
    for pod in world.cluster.waiting.values():
        if pod.nominated:
            for resource, amount in pod.requests:
                layers[1][0][pod.nominated][resource] += amount
                layers[1][1][queue_of(pod, world)][resource] += amount
    for group in world.cluster.groups.values():
        members = world.cluster.members(group.key)
        queue = world.cluster.queues.get(group.queue or "default")
        welcome = not group.queue if queue is None else queue.opened and not queue.strict
        settled = any(pod.node or pod.gated or pod.leaving or pod.nominated for pod in members) or group.partners
        if (
            settled
            or not welcome
            or len(members) < group.minimum
            or world.cluster.counts.get(group.key, _NONE) != _NONE
        ):
            continue
        name = group.queue or "default"
        limits = queue.capability if queue else {}
        shares = {what: most - max(one[1][name][what] for one in layers) for what, most in limits.items()}
        free = {
            node.name: {
                what: amount - max(one[0][node.name][what] for one in layers)
                for what, amount in node.allocatable.items()
            }
            for node in world.cluster.nodes.values()
        }
        for some in combinations(members, group.minimum):
            assert not fits(list(some), free, shares, world), f"{group.key} has room for {[one.key for one in some]}"


_NONE = Counts()


def fits(pods: list[Pod], free: Use, shares: dict[str, int], world: World) -> bool:
    """Whether there is any arrangement: all of them are tried."""
    if not pods:
        return True
    pod, *rest = pods
    if any(what in shares and shares[what] < amount for what, amount in pod.requests):
        return False
    less = {what: left - dict(pod.requests).get(what, 0) for what, left in shares.items()}
    for name, room in free.items():
        if welcomes(world.cluster.nodes[name], pod) and all(room.get(what, 0) >= n for what, n in pod.requests):
            taken = {**free, name: {what: left - dict(pod.requests).get(what, 0) for what, left in room.items()}}
            if fits(rest, taken, less, world):
                return True
    return False


def judge_promises(world: World) -> None:
    """Room that is promised is there once those who leave are gone: nobody else was given it."""
    later, _ = usage(world, leaving=False)
    promised = [pod for pod in world.cluster.waiting.values() if pod.nominated]
    for pod in promised:
        for resource, amount in pod.requests:
            later[pod.nominated][resource] += amount
    for pod in promised:
        for resource, _ in pod.requests:
            assert later[pod.nominated][resource] <= world.cluster.nodes[pod.nominated].allocatable.get(resource, 0)


TestClusterLife = ClusterLife.TestCase
TestClusterLife.settings = settings(
    max_examples=400 if THOROUGH else 30,
    stateful_step_count=40 if THOROUGH else 20,
    deadline=None,
    derandomize=not THOROUGH,
    suppress_health_check=list(HealthCheck),
)
