"""One scheduling cycle: cluster state and policy in, actions out. The same state always gives the same actions.

Each pending unit is tried once, in queue order. It is bound where resources are free now; or it is nominated to nodes
where terminating pods will free enough; or it preempts lower-priority pods; or it stays pending with a reason and
reserves nothing.

A unit with unbound claims that fits now is nominated, and its volumes are bound there: no member is bound before all
claims are. Until then each cycle finds the same place again, because nominated units come first among equals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from scheduler.core import unschedulable
from scheduler.core.actions import (
    QUOTA_EXCEEDED,
    UNSCHEDULABLE,
    WAITING_FOR_MEMBERS,
    WAITING_FOR_VOLUMES,
    Action,
    Bind,
    BindVolumes,
    Evict,
    Nominate,
    Release,
    Report,
)
from scheduler.core.admission import is_strict, unit_rejection
from scheduler.core.binding_order import BindingOrder
from scheduler.core.capacity import Capacity
from scheduler.core.cluster_state import ClusterState
from scheduler.core.default_spread import DefaultSpread
from scheduler.core.effort import Effort
from scheduler.core.gang_placement import Placement, place
from scheduler.core.podgroup_phases import changed_phases, starting_phases
from scheduler.core.policy import Policy
from scheduler.core.preempt import preempt
from scheduler.core.reprieve import PreemptionPlan
from scheduler.core.scheduling_types import Key, Pod
from scheduler.core.scheduling_units import Unit, group_name, minimum_signature, pending_units, select_min_members
from scheduler.core.search_turns import SearchTurns
from scheduler.core.snapshot import Snapshot
from scheduler.core.victims import Candidates

_TIMED_OUT = "its victims did not terminate within scheduleTimeoutSeconds; for as long again it reserves no capacity"


def plan(cluster: ClusterState, policy: Policy, turns: SearchTurns | None = None) -> list[Action]:
    """The actions to take now. Everything follows from the cluster state, and from whose turn it is.

    Without `turns` each unit is tried, whatever that costs.
    """
    return list(chain.from_iterable(decisions(cluster, policy, turns)))


def decisions(cluster: ClusterState, policy: Policy, turns: SearchTurns | None = None) -> Iterator[Sequence[Action]]:
    """The plan in parts that may take effect one after the other: the actions about one unit are not separated.

    The cluster state must not change meanwhile.
    """
    turns = turns or SearchTurns(math.inf)
    pending = pending_units(cluster, policy)
    turns.begin_cycle()
    if not pending:
        turns.end_cycle()
        yield list(changed_phases(cluster, policy))
        return
    cycle = SchedulingCycle(cluster, policy, turns)
    yield from cycle.run(pending)
    turns.end_cycle()
    yield list(changed_phases(cluster, policy, cycle.started))
    cluster.table.age_caches()


class SchedulingCycle:
    """One pass over all pending units; `snapshot` includes the decisions made so far."""

    def __init__(self, cluster: ClusterState, policy: Policy, turns: SearchTurns | None = None) -> None:
        self._cluster, self._policy, self._turns = cluster, policy, turns or SearchTurns(math.inf)
        self.snapshot = Snapshot(cluster, policy.schedulers, policy.scoring_strategy)
        self._default_spread = DefaultSpread(cluster)
        self.actions: list[Action] = []
        self.started: set[Key] = set()  # the gangs that this plan starts
        self._heads: dict[str, str] = {}  # strict-FIFO queues whose head is pending, and that head
        self._binding_order = BindingOrder(cluster, policy)
        self._rejected: dict[tuple[object, ...], tuple[str, str]] = {}  # signatures of units that do not fit, and why
        self._candidates: dict[tuple[int, frozenset[str], frozenset[Key]], Candidates] = {}

    def run(self, pending: Sequence[Unit]) -> Iterator[Sequence[Action]]:
        """The actions about each unit."""
        for unit in pending:
            decided = len(self.actions)
            self.decide(unit)
            if starting := self.started.intersection(group.key for group in unit.groups):
                self.actions += starting_phases(self._cluster, self._policy, starting)
            yield self.actions[decided:]

    def decide(self, unit: Unit) -> None:
        if reason := (
            unit.blocked
            or unit_rejection(unit, self._cluster)
            or self._losing_members(unit)
            or self._blocked_by_queue_head(unit)
        ):
            condition = WAITING_FOR_MEMBERS if unit.incomplete else UNSCHEDULABLE
            self._mark_pending(unit, reason, condition)  # and does not block its queue
            return
        signature = self._signature(unit)
        if signature in self._rejected:  # an equal unit was ahead: this one must not start before that
            self._mark_unschedulable(unit, *self._rejected[signature])
            return
        if not _may_need_search(unit):
            self._try(unit, signature)
        elif self._turns.takes(unit.name):
            before = self.snapshot.effort_spent
            self._try(unit, signature)
            self._turns.spend(unit.name, self.snapshot.effort_spent - before)
        else:
            self._block_queue(unit)  # what was reported about it before still holds, as far as it was asked

    def _try(self, unit: Unit, signature: tuple[object, ...]) -> None:
        min_members = select_min_members(unit, self._cluster) if unit.groups else list(unit.members)
        if self._start(unit, unit.members):
            pass
        elif started := self._start_min_members(unit, min_members):
            if any(pod.unbound_claims for pod in unit.members if pod.uid in started):
                return  # nothing of the gang is bound before its volumes are
            for pod in unit.members:
                if pod.uid not in started:
                    self.decide(_late_member(unit, pod))
        elif any(group.timed_out for group in unit.groups):
            self._mark_unschedulable(unit, _TIMED_OUT, UNSCHEDULABLE)
        elif not self._reserve(unit, min_members) and not self._preempt(unit, min_members):
            self._rejected[signature] = self._unschedulable_reason(unit, min_members)
            self._mark_unschedulable(unit, *self._rejected[signature])

    def _start(self, unit: Unit, members: Sequence[Pod]) -> bool:
        """Bind all of these members now, or none; with unbound claims, their volumes first."""
        if self.snapshot.queue_usage.exceeded(members, later=False):
            return False
        placement = self._place(members, self.snapshot.free_now)
        if placement is None:
            return False
        self.snapshot.bind(members)
        for pod in members:
            self._default_spread.bind(pod, placement[pod.uid])
        if any(pod.unbound_claims for pod in members):
            self._bind_volumes(unit, members, placement)
            return True
        self.started |= {group.key for group in unit.groups}
        after = self._binding_order.add(_queue_entry(unit.members[0]), unit.queues, members)
        self.actions += [Bind(pod, self.snapshot.table.nodes[placement[pod.uid]].name, after) for pod in members]
        return True

    def _bind_volumes(self, unit: Unit, members: Sequence[Pod], placement: Placement) -> None:
        """Keep the places of all members until all claims are bound."""
        nodes = self._nominate_members(unit, members, placement)
        self.actions += [BindVolumes(pod, nodes[pod.uid]) for pod in members if pod.unbound_claims]
        names = ", ".join(sorted(set(nodes.values())))
        self._report(unit.members, f"{unit.name} is nominated to {names}: waiting for its volumes", WAITING_FOR_VOLUMES)
        self._block_queue(unit)

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
        usage = self.snapshot.queue_usage
        if usage.exceeded(min_members, later=True):
            return False
        was_tried = _may_need_search(unit) and not usage.exceeded(min_members, later=False)
        if was_tried and self.snapshot.nothing_is_freed_later():
            return False
        placement = self._place(min_members, self.snapshot.free_later)
        if placement is None:
            return False
        self._nominate(unit, min_members, placement)
        return True

    def _place(self, members: Sequence[Pod], capacity: Capacity) -> Placement | None:
        effort = Effort.for_gang(len(members), len(capacity.table))
        crowding = self._default_spread.crowding(members)
        found = place(members, capacity, self._nominated(members), crowding, effort=effort)
        self.snapshot.effort_spent += effort.spent
        return found

    def _preempt(self, unit: Unit, min_members: Sequence[Pod]) -> bool:
        """Preempt lower-priority pods, if that frees enough for all members."""
        if not self._policy.preemption or not unit.preempts:
            return False
        found: PreemptionPlan | None = preempt(min_members, self.candidates(unit), self.snapshot)
        if found is None:
            return False
        self.snapshot.evict(found.victims)
        for pod in min_members:
            self.snapshot.free_later.allocate(found.placement[pod.uid], pod.requirements)
        positions = self.snapshot.bound_pods.positions(found.victims)
        for candidates in self._candidates.values():
            candidates.remove(positions)
        row, first_on = self.snapshot.table.row, {found.placement[pod.uid]: pod for pod in reversed(min_members)}
        triggers = [first_on.get(row[victim.node], min_members[0]) for victim in found.victims]
        for victim, trigger in zip(found.victims, triggers, strict=True):
            self.actions.append(self._eviction(victim, unit, trigger))
        self._nominate(unit, min_members, found.placement)
        return True

    def _nominate(self, unit: Unit, min_members: Sequence[Pod], placement: Placement) -> None:
        self.snapshot.reserve(min_members)
        nodes = self._nominate_members(unit, min_members, placement)
        names = ", ".join(sorted(set(nodes.values())))
        self._report(unit.members, f"{unit.name} is nominated to {names}: waiting for pods there to terminate")
        self._block_queue(unit)

    def _nominate_members(self, unit: Unit, members: Sequence[Pod], placement: Placement) -> dict[str, str]:
        """Returns their nodes by uid. The other members of the unit have no nomination any more."""
        nodes = {pod.uid: self.snapshot.table.nodes[placement[pod.uid]].name for pod in members}
        self.actions += [Nominate(pod, nodes[pod.uid]) for pod in members if pod.nominated != nodes[pod.uid]]
        self.actions += [Nominate(pod, "") for pod in unit.members if pod.nominated and pod.uid not in nodes]
        return nodes

    def _mark_unschedulable(self, unit: Unit, message: str, reason: str) -> None:
        """Nothing but a lack of resources or quota stops it: in a strict-FIFO queue it blocks all later units."""
        self._mark_pending(unit, f"gang {unit.name}: {message}" if unit.groups else message, reason)
        self._block_queue(unit)

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
        if not self.candidates(unit):
            return "no lower-priority pods to preempt"
        return "preempting all lower-priority pods would not free enough resources"

    def _eviction(self, victim: Pod, unit: Unit, trigger: Pod) -> Evict:
        if unit.groups:
            preemptor = f"higher priority pods, preemptor: {unit.name}, triggerpod: {'/'.join(trigger.key)}"
        else:
            preemptor = "a higher priority pod"
        message = f"{trigger.scheduler}: preempting to accommodate {preemptor}"
        return Evict(victim, unit.name, trigger, message)

    def _signature(self, unit: Unit) -> tuple[object, ...]:
        """Everything that decides whether a unit fits: equal units are tried once.

        Which members of a gang are needed depends on all of them, in the order of their names, and on those bound.
        """
        members = sorted(unit.members, key=lambda pod: pod.key) if unit.groups else unit.members
        position = {group.key: number for number, group in enumerate(unit.groups)}
        return (
            *((id(pod.requirements), pod.role, position.get(pod.group or ("", ""))) for pod in members),
            *(minimum_signature(group, self._cluster) for group in unit.groups),
            unit.preempts,
            *self._victim_scope(unit),
        )

    def candidates(self, unit: Unit) -> Candidates:
        priority, queues, own_groups = scope = self._victim_scope(unit)
        if scope not in self._candidates:
            in_all_groups = priority, queues, frozenset[Key]()
            if in_all_groups not in self._candidates:
                self._candidates[in_all_groups] = Candidates(priority, queues, self.snapshot)
            if own_groups:
                self._candidates[scope] = self._candidates[in_all_groups].without_groups(own_groups)
        return self._candidates[scope]

    def _victim_scope(self, unit: Unit) -> tuple[int, frozenset[str], frozenset[Key]]:
        """Which pods it may preempt: those below this priority, in these queues, and outside of these groups.

        The groups are its own and the linked ones, as far as they have bound members of a lower priority.
        """
        groups = {pod.group for pod in unit.members if pod.group} | {group.key for group in unit.groups}
        own_groups = frozenset(
            key for key in groups if any(self._is_below(unit, pod) for pod in self._cluster.members(key))
        )
        return unit.priority, unit.queues, own_groups

    def _is_below(self, unit: Unit, pod: Pod) -> bool:
        return bool(pod.node) and self._cluster.priority_of(pod) < unit.priority

    def _nominated(self, members: Sequence[Pod]) -> dict[str, int]:
        row = self.snapshot.table.row
        return {pod.uid: row[pod.nominated] for pod in members if pod.nominated in row}

    def _blocked_by_queue_head(self, unit: Unit) -> str:
        for queue in sorted(unit.queues & self._heads.keys()):
            head = self._heads[queue]
            if head != _queue_entry(unit.members[0]):  # the rest of the head's own gang is not blocked
                return f"queue {queue} is strict FIFO: {head} is ahead and pending"
        return ""

    def _block_queue(self, unit: Unit) -> None:
        for queue in unit.queues:
            if is_strict(queue, self._cluster, self._policy):
                self._heads.setdefault(queue, _queue_entry(unit.members[0]))


def _queue_entry(pod: Pod) -> str:
    """What counts as one entry of a queue: a gang, or a single pod."""
    return group_name(pod.group) if pod.group else "/".join(pod.key)


def _may_need_search(unit: Unit) -> bool:
    """Whether refusing it can be expensive. A nominated gang is tried in every cycle: it would lose its reservation."""
    if len(unit.members) == 1 or any(pod.nominated for pod in unit.members):
        return False
    requirements = {pod.requirements for pod in unit.members}
    return len(requirements) > 1 or any(one.concerns_other_pods for one in requirements)


def _late_member(unit: Unit, pod: Pod) -> Unit:
    """A member above minMember, once the gang has started: scheduled like a single pod."""
    return replace(unit, name="/".join(pod.key), members=(pod,), groups=(), partial=())
