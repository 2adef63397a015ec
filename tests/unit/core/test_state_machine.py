"""Property test: random events in random order. Invariants hold after every plan, and in the stable state that follows.

The checks (plan_checks.py) share no code with the scheduler.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from scheduler.core.actions import Bind, Release, SetGroupPhase
from scheduler.core.scheduling_types import GPU, Counts, Group, Key, Taint, Toleration
from tests.support.cluster_builder import Decision, FakeCluster, key
from tests.unit.core.plan_checks import (
    check_binds,
    check_evictions,
    check_nominations,
    check_pending_gangs,
    check_pending_pods,
    state_of,
)

THOROUGH = os.environ.get("MUSTER_HYPOTHESIS") == "thorough"
PRIORITIES = st.sampled_from([0, 10, 10, 100, 1000])
QUEUES = st.sampled_from(["", "", "q", "strict"])
GPUS = st.integers(0, 4)
PAIR = st.lists(GPUS, min_size=1, max_size=2)
FLAWS = st.sampled_from(["", "", "taint", "cordon"])
MAX_PODS = 24
MAX_PLANS = 40

TAINT = Taint("gpu", "old", "NoSchedule")
CONSTRAINTS: list[dict[str, Any]] = [
    {},
    {},
    {"selector": (("zone", "a"),)},
    {"tolerations": (Toleration("gpu", "Exists"),)},
]


class ClusterMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.cluster = FakeCluster()
        self.reached: set[Key] = set()  # groups that have reached minMember
        self.number = 0

    @initialize(
        nodes=st.lists(
            st.tuples(st.integers(1, 4), st.sampled_from(["", "", "taint", "cordon"])), min_size=1, max_size=3
        ),
        pods=st.lists(st.tuples(GPUS, PRIORITIES, QUEUES), max_size=6),
    )
    def begin(self, nodes: list[tuple[int, str]], pods: list[tuple[int, int, str]]) -> None:
        self.cluster.queue("q", 4)
        self.cluster.queue("strict", strict=True)
        for gpus, flaw in nodes:
            taints = (TAINT,) if flaw == "taint" else ()
            self.cluster.node(self.fresh("node"), gpus, 4, pods=5, taints=taints, cordoned=flaw == "cordon")
        for gpus, priority, queue in pods:
            self.cluster.pod(self.fresh("pod"), gpus, priority, queue=queue)
        self.act()

    def fresh(self, kind: str) -> str:
        self.number += 1
        return f"{kind}{self.number}"

    def may_create(self, pods: int) -> bool:
        return len(self.cluster.state.pods) + pods <= MAX_PODS

    # events

    @rule(gpus=GPUS, cpu=st.integers(0, 2), priority=PRIORITIES, queue=QUEUES, kind=st.sampled_from(CONSTRAINTS),
          preempts=st.booleans(), non_preemptible=st.booleans(),
          gated=st.sampled_from([False, False, True]))  # fmt: skip
    def submit_pod(
        self, gpus: int, cpu: int, priority: int, queue: str, kind: dict[str, Any], preempts: bool,
        non_preemptible: bool, gated: bool,
    ) -> None:  # fmt: skip
        if self.may_create(1):
            self.cluster.pod(
                self.fresh("pod"), gpus, priority, cpu=cpu, queue=queue, preempts=preempts,
                non_preemptible=non_preemptible, gated=gated, labels={"app": "covered" if gpus % 2 else "bare"}, **kind,
            )  # fmt: skip
        self.act()

    @rule(sizes=st.lists(GPUS, min_size=1, max_size=4), spare=st.integers(-1, 2), priority=PRIORITIES, queue=QUEUES,
          whole=st.booleans(), kind=st.sampled_from(["volcano", "koordinator"]),
          match_policy=st.sampled_from(["once-satisfied", "once-satisfied", "waiting-and-running"]))  # fmt: skip
    def submit_gang(
        self, sizes: list[int], spare: int, priority: int, queue: str, whole: bool, kind: str, match_policy: str
    ) -> None:
        if self.may_create(len(sizes)):
            name, min_member = self.fresh("gang"), max(1, len(sizes) - spare)
            self.cluster.group(
                name, min_member, queue=queue, disruption_mode_all=whole, kind=kind, match_policy=match_policy
            )
            for gpus in sizes:
                self.cluster.pod(self.fresh(name + "-"), gpus, priority, group=key(name))
        self.act()

    @rule(
        left=st.lists(GPUS, min_size=1, max_size=2), right=st.lists(GPUS, min_size=1, max_size=2), priority=PRIORITIES
    )
    def submit_linked_gangs(self, left: list[int], right: list[int], priority: int) -> None:
        if self.may_create(len(left) + len(right)):
            names = self.fresh("twin"), self.fresh("twin")
            both = frozenset(map(key, names))
            for name, sizes in zip(names, (left, right), strict=True):
                self.cluster.group(name, len(sizes), kind="koordinator", linked_groups=both - {key(name)})
                for gpus in sizes:
                    self.cluster.pod(self.fresh(name + "-"), gpus, priority, group=key(name))
        self.act()

    @precondition(lambda self: self.cluster.state.groups)
    @rule(data=st.data(), gpus=GPUS, priority=PRIORITIES)
    def join_late(self, data: st.DataObject, gpus: int, priority: int) -> None:
        if self.may_create(1):
            group = data.draw(st.sampled_from(sorted(self.cluster.state.groups)))
            self.cluster.pod(self.fresh("late"), gpus, priority, group=group)
        self.act()

    @precondition(lambda self: self.cluster.state.pods)
    @rule(data=st.data(), how=st.sampled_from(["finish", "fail", "delete", "terminate", "remove-gates"]))
    def change_a_pod(self, data: st.DataObject, how: str) -> None:
        pod = self.cluster.state.pods[data.draw(st.sampled_from(sorted(self.cluster.state.pods)))]
        if how == "remove-gates":
            self.cluster.change(pod.key[1], gated=False)
        elif how == "terminate":
            self.cluster.change(pod.key[1], terminating=True)
        elif how == "delete" or not pod.node:
            self.cluster.delete(pod.key[1])
        else:
            self.cluster.finish(pod.key[1], failed=how == "fail")
        self.act()

    @precondition(lambda self: self.cluster.state.groups)
    @rule(data=st.data(), min_member=st.integers(1, 4))
    def change_a_minimum(self, data: st.DataObject, min_member: int) -> None:
        self.cluster.change_group(
            data.draw(st.sampled_from(sorted(self.cluster.state.groups)))[1], min_member=min_member
        )
        self.act()

    @rule(gpus=st.integers(1, 4), cpu=st.integers(0, 4), zone=st.sampled_from(["", "a"]))
    def add_node(self, gpus: int, cpu: int, zone: str) -> None:
        if len(self.cluster.state.nodes) < 4:
            self.cluster.node(self.fresh("node"), gpus, cpu, pods=5, labels={"zone": zone})
        self.act()

    @precondition(lambda self: self.cluster.state.nodes)
    @rule(data=st.data(), how=st.sampled_from(["remove", "taint", "clean", "cordon", "uncordon", "resize"]))
    def change_a_node(self, data: st.DataObject, how: str) -> None:
        state = self.cluster.state
        node = state.nodes[data.draw(st.sampled_from(sorted(state.nodes)))]
        match how:
            case "remove":
                state.remove_node(node.name)
                for pod in [one for one in state.bound() if one.node == node.name]:
                    state.remove_pod(pod.uid)
                self.cluster.count()
            case "taint" | "clean":
                state.set_node(replace(node, taints=(TAINT,) if how == "taint" else ()))
            case "cordon" | "uncordon":
                state.set_node(replace(node, cordoned=how == "cordon"))
            case "resize":
                state.set_node(replace(node, allocatable={**node.allocatable, GPU: data.draw(st.integers(0, 6))}))
        self.act()

    @rule(name=st.sampled_from(["q", "strict"]), how=st.sampled_from(["close", "open", "remove", "limit", "unlimit"]),
          gpus=st.integers(0, 8))  # fmt: skip
    def change_a_queue(self, name: str, how: str, gpus: int) -> None:
        if how == "remove":
            self.cluster.state.remove_queue(name)
        else:
            capability = {GPU: gpus} if how == "limit" else {}
            self.cluster.queue(name, is_open=how != "close", strict=name == "strict", capability=capability)
        self.act()

    @rule(allowed=st.integers(0, 2))
    def set_a_budget(self, allowed: int) -> None:
        self.cluster.budget("budget", allowed, {"app": "covered"})
        self.act()

    @precondition(lambda self: self.gang_bindings())
    @rule()
    def crash_in_the_middle_of_a_gang(self) -> None:
        """The scheduler crashes after it has bound one member."""
        first = self.gang_bindings()[0]
        self.cluster.carry_out([first])
        self.act()

    def gang_bindings(self) -> list[Bind]:
        binds = [one for one in self.cluster.plan().actions if isinstance(one, Bind)]
        return [one for one in binds if one.pod.group is not None]

    @rule(replaced=st.booleans())
    def delete_terminating(self, replaced: bool) -> None:
        self.cluster.delete_terminating(replaced=replaced)
        self.act()

    @rule(replaced=st.booleans())
    def reach_a_stable_state(self, replaced: bool) -> None:
        for _ in range(MAX_PLANS):
            changes = self.act().changes
            if not self.cluster.delete_terminating(replaced=replaced) and not changes:
                break
        else:
            raise AssertionError(f"not stable after {MAX_PLANS} plans; the last one: {changes}")
        assert not [pod.key for pod in self.cluster.state.pods.values() if pod.nominated and not pod.node]
        for group in self.cluster.state.groups.values():
            self.check_all_or_nothing(group, allow_nominated=False)

    @rule()
    def restart(self) -> None:
        """A restarted scheduler makes the same decisions, and has no phase to correct."""
        self.cluster.step()
        other, unchanged = self.cluster.copy(), self.cluster.state.changed_groups
        phase_changes = [one for one in other.plan().actions if isinstance(one, SetGroupPhase)]
        assert [one for one in phase_changes if one.group.key not in unchanged] == []
        unchanged |= set(self.cluster.state.groups)
        assert other.plan().actions == self.cluster.plan().actions
        self.act()

    # checks

    def act(self) -> Decision:
        before = state_of(self.cluster)
        decision = self.cluster.plan()
        assert self.cluster.plan() == decision
        assert state_of(self.cluster) == before
        check_binds(self.cluster, decision)
        check_evictions(self.cluster, decision)
        released = {one.pod.group for one in decision.actions if isinstance(one, Release)}
        assert not released & self.reached, "running members are released"
        self.cluster.state.clear_changes()
        self.cluster.carry_out(decision.actions)
        check_pending_pods(self.cluster, decision)
        check_pending_gangs(self.cluster, decision)
        check_nominations(self.cluster)
        for group in self.cluster.state.groups.values():
            self.check_all_or_nothing(group, allow_nominated=True)
        return decision

    def check_all_or_nothing(self, group: Group, *, allow_nominated: bool) -> None:
        members = self.cluster.state.members(group.key)
        bound = [pod for pod in members if pod.node and not pod.terminating]
        if len(bound) >= group.min_member:
            self.reached.add(group.key)
        elif not bound and not self.cluster.state.counts.get(group.key, Counts()).succeeded:
            self.reached.discard(group.key)
        if group.key not in self.reached and not (allow_nominated and any(pod.nominated for pod in members)):
            assert not bound, f"{group.key} has {len(bound)} of {group.min_member}"


TestClusterMachine = ClusterMachine.TestCase
TestClusterMachine.settings = settings(
    max_examples=400 if THOROUGH else 30,
    stateful_step_count=40 if THOROUGH else 20,
    deadline=None,
    derandomize=not THOROUGH,
    suppress_health_check=list(HealthCheck),
)
