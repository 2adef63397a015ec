"""One scheduling cycle: cluster state and policy in, actions out. The same state always gives the same actions.

Each pending unit is tried once, in queue order. It is bound where resources are free now; or it is nominated to nodes
where terminating pods will free enough; or it preempts lower-priority pods; or it stays pending with a reason and
reserves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from scheduler.core import unschedulable
from scheduler.core.actions import QUOTA_EXCEEDED, UNSCHEDULABLE, Action, Bind, Evict, Nominate, Release, Report
from scheduler.core.admission import is_strict, unit_rejection
from scheduler.core.cluster_state import ClusterState
from scheduler.core.gang_placement import Placement, place
from scheduler.core.podgroup_phases import podgroup_phases
from scheduler.core.policy import Policy
from scheduler.core.preempt import preempt
from scheduler.core.scheduling_types import Key, Pod
from scheduler.core.scheduling_units import Unit, group_name, pending_units, select_min_members
from scheduler.core.snapshot import Snapshot
from scheduler.core.victims import Candidates

_PENDING, _BINDING = "pending", "being bound"  # states of the head of a strict-FIFO queue


def plan(cluster: ClusterState, policy: Policy) -> list[Action]:
    """The actions to take now. No state is kept between two plans: everything follows from the cluster state."""
    pending = pending_units(cluster, policy)
    if not pending:
        return list(podgroup_phases(cluster, policy))
    cycle = SchedulingCycle(cluster, policy)
    return [*cycle.run(pending), *podgroup_phases(cluster, policy, cycle.started)]


class SchedulingCycle:
    """One pass over all pending units; `snapshot` includes the decisions made so far."""

    def __init__(self, cluster: ClusterState, policy: Policy) -> None:
        self._cluster, self._policy = cluster, policy
        self.snapshot = Snapshot(cluster)
        self.actions: list[Action] = []
        self.started: set[Key] = set()  # the gangs that this plan starts
        self._heads = dict(self._binding_heads())  # strict-FIFO queues, each with its head and the head's state
        self._rejected: dict[tuple[object, ...], tuple[str, str]] = {}  # signatures of units that do not fit, and why
        self._candidates: dict[tuple[int, frozenset[str], frozenset[Key]], Candidates] = {}

    def run(self, pending: Sequence[Unit]) -> list[Action]:
        for unit in pending:
            self.decide(unit)
        return self.actions

    def decide(self, unit: Unit) -> None:
        if reason := (
            unit.blocked
            or unit_rejection(unit, self._cluster)
            or self._losing_members(unit)
            or self._blocked_by_queue_head(unit)
        ):
            self._mark_pending(unit, reason)  # and does not block its queue
            return
        min_members = select_min_members(unit, self._cluster) if unit.groups else list(unit.members)
        signature = (*(id(pod.requirements) for pod in min_members), unit.preempts, *self._victim_scope(unit))
        if signature in self._rejected:
            self._mark_unschedulable(unit, *self._rejected[signature])
        elif self._start(unit, unit.members):
            pass
        elif started := self._start_min_members(unit, min_members):
            for pod in unit.members:
                if pod.uid not in started:
                    self.decide(_late_member(unit, pod))
        elif not self._reserve(unit, min_members) and not self._preempt(unit, min_members):
            self._rejected[signature] = self._unschedulable_reason(unit, min_members)
            self._mark_unschedulable(unit, *self._rejected[signature])

    def _start(self, unit: Unit, members: Sequence[Pod]) -> bool:
        """Bind all of these members now, or none."""
        if self.snapshot.queue_usage.exceeded(members, later=False):
            return False
        placement = place(members, self.snapshot.free_now, self._nominated(members))
        if placement is None:
            return False
        self.snapshot.bind(members)
        self.started |= {group.key for group in unit.groups}
        self._block_queue(unit, _BINDING)
        self.actions += [Bind(pod, self.snapshot.table.nodes[placement[pod.uid]].name) for pod in members]
        return True

    def _start_min_members(self, unit: Unit, min_members: Sequence[Pod]) -> set[str]:
        """Bind minMember pods now: the smallest members, or else those that fit somewhere by themselves."""
        if len(min_members) == len(unit.members):
            return set()
        members = min_members
        if not self._start(unit, members):
            free_now = self.snapshot.free_now
            members = select_min_members(
                unit, self._cluster, lambda requirements: bool(free_now.fitting(requirements).any())
            )
            if not self._start(unit, members):
                return set()
        return {pod.uid for pod in members}

    def _reserve(self, unit: Unit, min_members: Sequence[Pod]) -> bool:
        """Reserve what terminating pods will free, if that is enough."""
        if self.snapshot.queue_usage.exceeded(min_members, later=True):
            return False
        placement = place(min_members, self.snapshot.free_later, self._nominated(min_members))
        if placement is None:
            return False
        self._nominate(unit, min_members, placement)
        return True

    def _preempt(self, unit: Unit, min_members: Sequence[Pod]) -> bool:
        """Preempt lower-priority pods, if that frees enough for all members."""
        if not self._policy.preemption or not unit.preempts:
            return False
        found = preempt(min_members, self.candidates(unit), self.snapshot)
        if found is None:
            return False
        self.snapshot.evict(found.victims)
        for pod in min_members:
            self.snapshot.free_later.allocate(found.placement[pod.uid], pod.requirements)
        for candidates in self._candidates.values():
            candidates.remove(found.victims)
        self.actions += [self._eviction(victim, unit, min_members, found.placement) for victim in found.victims]
        self._nominate(unit, min_members, found.placement)
        return True

    def _nominate(self, unit: Unit, min_members: Sequence[Pod], placement: Placement) -> None:
        self.snapshot.reserve(min_members)
        nodes = {pod.uid: self.snapshot.table.nodes[placement[pod.uid]].name for pod in min_members}
        self.actions += [Nominate(pod, nodes[pod.uid]) for pod in min_members if pod.nominated != nodes[pod.uid]]
        self.actions += [Nominate(pod, "") for pod in unit.members if pod.nominated and pod.uid not in nodes]
        names = ", ".join(sorted(set(nodes.values())))
        self._report(unit.members, f"{unit.name} is nominated to {names}: waiting for pods there to terminate")
        self._block_queue(unit, _PENDING)

    def _mark_unschedulable(self, unit: Unit, message: str, reason: str) -> None:
        """Nothing but a lack of resources or quota stops it: in a strict-FIFO queue it blocks all later units."""
        self._mark_pending(unit, f"gang {unit.name}: {message}" if unit.groups else message, reason)
        self._block_queue(unit, _PENDING)

    def _mark_pending(self, unit: Unit, message: str, reason: str = UNSCHEDULABLE) -> None:
        self.actions += [Nominate(pod, "") for pod in unit.members if pod.nominated]
        self._report(unit.members, message, reason)
        partial = [pod for pod in unit.partial if pod.uid not in self.snapshot.evicted]
        self.actions += [Release(pod, f"{unit.name} was partially started: {message}") for pod in partial]

    def _losing_members(self, unit: Unit) -> str:
        """A gang that has never started and loses bound members in this cycle is decided about in the next one."""
        losing = any(pod.uid in self.snapshot.evicted for pod in unit.partial)
        return f"gang {unit.name}: bound members are being preempted" if losing else ""

    def _report(self, members: Sequence[Pod], message: str, reason: str = UNSCHEDULABLE) -> None:
        self.actions += [Report(pod, message, reason) for pod in members]

    def _unschedulable_reason(self, unit: Unit, min_members: Sequence[Pod]) -> tuple[str, str]:
        """The message, and the reason of the condition."""
        lacking = unschedulable.quota_exceeded(min_members, self.snapshot)
        reason = QUOTA_EXCEEDED if lacking else UNSCHEDULABLE
        if not lacking and unit.groups:
            lacking = unschedulable.gang_fit_error(min_members, self.snapshot)
        lacking = lacking or unschedulable.fit_error(min_members[0].requirements, self.snapshot.free_now)
        return f"{lacking}; {self._why_no_preemption(unit)}", reason

    def _why_no_preemption(self, unit: Unit) -> str:
        if not self._policy.preemption:
            return "preemption is disabled"
        if not unit.preempts:
            return "preemptionPolicy is Never"
        if not self.candidates(unit).by_node:
            return "no lower-priority pods to preempt"
        return "preempting all lower-priority pods would not free enough resources"

    def _eviction(self, victim: Pod, unit: Unit, min_members: Sequence[Pod], placement: Placement) -> Evict:
        row = self.snapshot.table.row[victim.node]
        trigger = next((pod for pod in min_members if placement[pod.uid] == row), min_members[0])
        if unit.groups:
            preemptor = f"higher priority pods, preemptor: {unit.name}, triggerpod: {'/'.join(trigger.key)}"
        else:
            preemptor = "a higher priority pod"
        message = f"{trigger.scheduler}: preempting to accommodate {preemptor}"
        return Evict(victim, unit.name, trigger, message)

    def candidates(self, unit: Unit) -> Candidates:
        scope = self._victim_scope(unit)
        if scope not in self._candidates:
            self._candidates[scope] = Candidates(*scope, self.snapshot)
        return self._candidates[scope]

    def _victim_scope(self, unit: Unit) -> tuple[int, frozenset[str], frozenset[Key]]:
        """Which pods it may preempt: those below this priority, in these queues, and outside of these groups.

        The groups are its own and the linked ones, as far as they have bound members.
        """
        groups = {pod.group for pod in unit.members if pod.group} | {group.key for group in unit.groups}
        own_groups = frozenset(key for key in groups if any(pod.node for pod in self._cluster.members(key)))
        return unit.priority, unit.queues, own_groups

    def _nominated(self, members: Sequence[Pod]) -> dict[str, int]:
        row = self.snapshot.table.row
        return {pod.uid: row[pod.nominated] for pod in members if pod.nominated in row}

    def _blocked_by_queue_head(self, unit: Unit) -> str:
        for queue in sorted(unit.queues & self._heads.keys()):
            head, state = self._heads[queue]
            if head != _queue_entry(unit.members[0]):  # the rest of the head's own gang is not blocked
                return f"queue {queue} is strict FIFO: {head} is ahead and {state}"
        return ""

    def _block_queue(self, unit: Unit, state: str) -> None:
        for queue in unit.queues:
            if is_strict(queue, self._cluster, self._policy):
                self._heads.setdefault(queue, (_queue_entry(unit.members[0]), state))

    def _binding_heads(self) -> Iterator[tuple[str, tuple[str, str]]]:
        """Concurrent bindings may finish in any order: in a strict-FIFO queue the next unit waits for all of them."""
        for pod in self._cluster.binding.values():
            queue = self._cluster.queue_of(pod)
            if is_strict(queue, self._cluster, self._policy):
                yield queue, (_queue_entry(pod), _BINDING)


def _queue_entry(pod: Pod) -> str:
    """What counts as one entry of a queue: a gang, or a single pod."""
    return group_name(pod.group) if pod.group else "/".join(pod.key)


def _late_member(unit: Unit, pod: Pod) -> Unit:
    """A member above minMember, once the gang has started: scheduled like a single pod."""
    return replace(unit, name="/".join(pod.key), members=(pod,), groups=(), partial=())
