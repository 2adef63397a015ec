"""Preemption: one decision for a pod or for a whole gang. Victim selection is all or nothing.

1. All members are placed, one after the other, on the cluster without its lower-priority pods. If one does not fit,
   nothing is preempted.
2. Each member takes the node with the lowest cost (see `victims`), counting only additional victims.
3. Reprieve: from the highest-priority victim down, victims that still fit are kept, even if members must move for it.

The result is minimal: no single victim can be reprieved any more. A single pod is a gang of one: then step 2 is the
node choice that kube-scheduler documents, and step 3 changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from scheduler.core.capacity import Capacity, largest_first
from scheduler.core.gang_placement import Placement, place
from scheduler.core.node_table import Numbers
from scheduler.core.scheduling_types import Pod, PodRequirements
from scheduler.core.snapshot import Snapshot
from scheduler.core.victims import Candidates, Cost, known_columns

_MAX_NODES_COMPARED = 100  # per member: on a large cluster those without PDB violations and with the lowest priorities
_MAX_REARRANGEMENTS = 64  # per gang: beyond that, a victim may be evicted that another placement would have kept


@dataclass(frozen=True, slots=True)
class PreemptionPlan:
    """Where the members will be placed, and which pods are evicted for them."""

    placement: Placement
    victims: tuple[Pod, ...]


def preempt(members: Sequence[Pod], candidates: Candidates, snapshot: Snapshot) -> PreemptionPlan | None:
    """How to place all of these members; None when no evictions would help. The snapshot is not changed."""
    return _VictimSelection(members, candidates, snapshot).run()


class _VictimSelection:
    def __init__(self, members: Sequence[Pod], candidates: Candidates, snapshot: Snapshot) -> None:
        self._snapshot, self._candidates = snapshot, candidates
        self._members = sorted(members, key=largest_first)
        self._free: Numbers = snapshot.free_later.layers[0]
        self._victims: dict[int, list[Pod]] = {}  # by row, for the members placed so far
        self._requested: dict[int, set[int]] = {}  # by row, the columns that members request there
        self._costs: dict[tuple[int, PodRequirements], tuple[Cost, list[Pod]]] = {}

    def run(self) -> PreemptionPlan | None:
        if not self._candidates.by_node:
            return None
        usage = self._snapshot.queue_usage
        all_candidates = self._candidates.all_pods() if usage.has_limits else []
        if usage.exceeded(self._members, later=True, without=all_candidates):
            return None
        placement = self._cheapest_placement()
        if placement is None:
            placement = place(self._members, self._capacity_without_candidates())
            if placement is None:
                return None
            self._victims = {row: list(self._candidates.by_node.get(row, ())) for row in set(placement.values())}
        victims = [pod for row in sorted(self._victims) for pod in self._victims[row]]
        if usage.exceeded(self._members, later=True, without=victims):
            victims = all_candidates
        return self._reprieve(placement, victims)

    def _cheapest_placement(self) -> Placement | None:
        """Steps 1 and 2 together: the cheapest node for each member, with all members before it placed."""
        capacity = self._capacity_without_candidates()
        placement: Placement = {}
        for pod in self._members:
            rows = np.flatnonzero(capacity.fitting(pod.requirements))
            if not len(rows):
                return None
            if len(rows) > _MAX_NODES_COMPARED:
                order = np.lexsort((self._candidates.highest_priority[rows], self._candidates.pdb_protected[rows]))
                rows = rows[order[:_MAX_NODES_COMPARED]]
            row = min((int(row) for row in rows), key=lambda row: (self._cost(row, pod.requirements, capacity)[0], row))
            self._victims[row] = self._cost(row, pod.requirements, capacity)[1]
            capacity.allocate(row, pod.requirements)
            self._requested.setdefault(row, set()).update(column for column, _ in known_columns(pod, self._snapshot))
            placement[pod.uid] = row
            self._costs = {known: cost for known, cost in self._costs.items() if known[0] != row}
        return placement

    def _cost(self, row: int, requirements: PodRequirements, capacity: Capacity) -> tuple[Cost, list[Pod]]:
        """The cost of one more such pod on this node, and all victims on it."""
        found = self._costs.get((row, requirements))
        if found is None:
            victims = self._select_victims(row, requirements, capacity)
            before = {pod.uid for pod in self._victims.get(row, ())}
            added = [pod for pod in self._with_group_victims(victims) if pod.uid not in before]
            found = self._costs[row, requirements] = self._candidates.cost(added), victims
        return found

    def _select_victims(self, row: int, requirements: PodRequirements, capacity: Capacity) -> list[Pod]:
        """The candidates on the node that do not fit beside the members and one more such pod."""
        free = capacity.layers[0][:, row].tolist()
        columns = self._snapshot.table.columns(requirements) or ()
        requested = self._requested.get(row, set()) | {column for column, _ in columns}
        for column, amount in columns:
            free[column] -= amount
        victims = []
        for pod in self._reprieve_order(self._candidates.by_node.get(row, [])):
            amounts = known_columns(pod, self._snapshot)
            if all(free[column] >= amount for column, amount in amounts if column in requested):
                for column, amount in amounts:
                    free[column] -= amount
            else:
                victims.append(pod)
        return sorted(victims, key=self._candidates.priority_key)

    def _reprieve_order(self, pods: Sequence[Pod]) -> list[Pod]:
        """The order in which victims are reprieved: PDB violations first, then the highest priority."""
        violating = {pod.uid for pod in self._candidates.pdb_violations(pods)}
        return sorted(pods, key=lambda pod: (pod.uid not in violating, self._candidates.priority_key(pod)))

    def _with_group_victims(self, pods: Sequence[Pod]) -> list[Pod]:
        victims: dict[str, Pod] = {}
        for pod in pods:
            if pod.uid not in victims:
                victims |= {member.uid: member for member in self._candidates.group_victims(pod)}
        return sorted(victims.values(), key=self._candidates.priority_key)

    def _reprieve(self, placement: Placement, selected: Sequence[Pod]) -> PreemptionPlan:
        """Step 3: from the highest priority down, keep every victim that still fits."""
        victims = {pod.uid: pod for pod in self._with_group_victims(selected)}
        free, requested = self._free_after(placement, victims.values()), self._requested_cells(placement)
        usage = self._snapshot.queue_usage
        over_quota = bool(usage.exceeded(self._members, later=True))
        rearrangements = 0
        for pod in self._reprieve_order(list(victims.values())):
            if pod.uid not in victims:
                continue
            group = self._candidates.group_victims(pod)
            if over_quota and usage.exceeded(self._members, later=True, without=_without(group, victims).values()):
                continue
            if self._fit_beside_members(group, free, requested):
                for reprieved in group:
                    victims.pop(reprieved.uid, None)
                    for column, amount in known_columns(reprieved, self._snapshot):
                        free[column, self._snapshot.table.row[reprieved.node]] -= amount
            elif len(self._members) > 1 and rearrangements < _MAX_REARRANGEMENTS:
                rearrangements += 1
                remaining = _without(group, victims)
                moved = place(self._members, self._capacity_without(remaining.values()), placement)
                if moved is not None:
                    placement, victims = moved, remaining
                    free, requested = self._free_after(placement, victims.values()), self._requested_cells(placement)
        return PreemptionPlan(placement, tuple(sorted(victims.values(), key=self._candidates.priority_key)))

    def _capacity_without_candidates(self) -> Capacity:
        return Capacity(self._snapshot.table, self._free + self._candidates.freeable)

    def _capacity_without(self, victims: Iterable[Pod]) -> Capacity:
        capacity = Capacity(self._snapshot.table, self._free.copy())
        for pod in victims:
            capacity.release(self._snapshot.table.row[pod.node], pod.requirements)
        return capacity

    def _free_after(self, placement: Placement, victims: Iterable[Pod]) -> Numbers:
        capacity = self._capacity_without(victims)
        for pod in self._members:
            capacity.allocate(placement[pod.uid], pod.requirements)
        return capacity.layers[0]

    def _requested_cells(self, placement: Placement) -> set[tuple[int, int]]:
        """The columns, by row, that the members request."""
        return {
            (column, placement[member.uid])
            for member in self._members
            for column, _ in known_columns(member, self._snapshot)
        }

    def _fit_beside_members(self, pods: Sequence[Pod], free: Numbers, requested: set[tuple[int, int]]) -> bool:
        """A resource that no member requests may be overcommitted already: it is no reason to evict."""
        needed: dict[tuple[int, int], int] = {}
        for pod in pods:
            for column, amount in known_columns(pod, self._snapshot):
                cell = column, self._snapshot.table.row[pod.node]
                needed[cell] = needed.get(cell, 0) + amount
        return all(free[cell] >= amount for cell, amount in needed.items() if cell in requested)


def _without(group: Iterable[Pod], victims: dict[str, Pod]) -> dict[str, Pod]:
    reprieved = {member.uid for member in group}
    return {uid: other for uid, other in victims.items() if uid not in reprieved}
