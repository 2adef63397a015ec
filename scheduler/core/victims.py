"""Preemption candidates, and the cost of evicting them.

Candidates are ordered by priority, then by start time (earlier first), then by name. Non-preemptible pods, pods of
another queue, pods of another schedulerName and terminating pods are no candidates. A gang with disruption mode All is
evicted as a unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy

import numpy as np

from scheduler.core.bound_pods import Usage
from scheduler.core.cost_bounds import ABOVE_ANY_PRIORITY, NO_VICTIMS, Cost, CostBounds
from scheduler.core.disruption_budgets import DisruptionBudgets
from scheduler.core.node_table import Mask, Numbers
from scheduler.core.pod_constraints import Counter
from scheduler.core.scheduling_types import Key, Pod
from scheduler.core.snapshot import Snapshot


class Candidates:
    """The pods that a unit of this priority, in these queues, may preempt."""

    def __init__(self, priority: int, queues: frozenset[str], snapshot: Snapshot) -> None:
        self._snapshot, self._cluster, self._bound = snapshot, snapshot.cluster, snapshot.bound_pods
        self._budgets = DisruptionBudgets(self._cluster.budgets, snapshot.evicted.values())
        self._group_victims: dict[Key, list[Pod]] = {}  # of gangs with disruption mode All
        self._is_candidate: Mask = np.zeros(len(self._bound.pods), np.bool_)
        self._is_candidate[self._preemptible(priority, queues)] = True
        self._is_candidate[self._bound.positions(snapshot.evicted.values())] = False
        self._keep_gangs_together()
        self._on_row: dict[int, list[Pod]] = {}  # as far as it was asked for
        candidates = np.flatnonzero(self._is_candidate)
        self._protected: Mask = np.zeros(len(self._bound.pods), np.bool_)
        if self._budgets.is_exhausted():
            pods = self._bound.pods
            self._protected[candidates] = [self._budgets.protect(pods[one]) for one in candidates.tolist()]
        self.bounds = CostBounds(candidates, self._protected, snapshot)
        self._counted_bounds: dict[frozenset[Counter], CostBounds] = {}
        self.freeable: Numbers = self.bounds.freeable()
        for kind, requirements in enumerate(self._bound.kinds):
            columns = [
                column for column, _ in snapshot.table.usage(requirements) if column >= len(snapshot.table.column)
            ]
            if columns:
                rows = self._bound.row[candidates[self._bound.kind[candidates] == kind]]
                self.freeable[columns] += np.bincount(rows, minlength=len(snapshot.table))

    def __bool__(self) -> bool:
        return bool(self._is_candidate.any())

    def on(self, row: int) -> list[Pod]:
        """The candidates on a node, the highest priority first."""
        found = self._on_row.get(row)
        if found is None:
            pods = [self._bound.pods[position] for position in self._bound.on(row) if self._is_candidate[position]]
            found = self._on_row[row] = sorted(pods, key=self.priority_key)
        return found

    def without_groups(self, groups: frozenset[Key]) -> Candidates:
        """The same candidates but for the members of these groups: a unit never preempts its own gang."""
        found = copy(self)
        found._is_candidate, found._on_row = self._is_candidate.copy(), dict(self._on_row)
        found.freeable, found._counted_bounds = self.freeable.copy(), dict(self._counted_bounds)
        found._budgets, found._group_victims = self._budgets.copy(), dict(self._group_victims)
        found._remove(self._bound.positions(pod for key in groups for pod in self._cluster.members(key)))
        return found

    def remove(self, evicted: Sequence[int]) -> None:
        """The pods at these positions, which this cycle evicts, are no candidates any more."""
        if self._budgets:
            self._budgets.consume(self._bound.pods[position] for position in evicted)
        if self._group_victims:
            for position in evicted:
                self._group_victims.pop(self._bound.pods[position].group or ("", ""), None)
        self._remove(evicted)

    def _remove(self, positions: Sequence[int]) -> None:
        gone = np.array(positions, np.int64)
        gone = gone[self._is_candidate[gone]]
        self._is_candidate[gone] = False
        rows, kinds = self._bound.row[gone], self._bound.kind[gone]
        for row in rows.tolist():
            self._on_row.pop(row, None)
        for kind in set(kinds.tolist()):
            for column, amount in self._snapshot.table.usage(self._bound.kinds[kind]):
                np.subtract.at(self.freeable[column], rows[kinds == kind], amount)

    def ascending_by_counters(self, rows: Numbers, excluding: frozenset[Counter]) -> Iterator[tuple[Cost, int]]:
        """Lower bounds where resources are not missing: at least one candidate that these counters count must go."""
        if excluding not in self._counted_bounds:
            counted = [not excluding.isdisjoint(one.counted) for one in self._bound.kinds]
            candidates = np.flatnonzero(self._is_candidate & np.array(counted, np.bool_)[self._bound.kind])
            self._counted_bounds[excluding] = CostBounds(candidates, self._protected, self._snapshot)
        return self._counted_bounds[excluding].ascending(
            rows, np.zeros((1, len(rows)), np.int64), np.zeros(1, np.int64)
        )

    def freeable_quota(self) -> dict[str, Usage]:
        """How much of each queue all candidates together would free."""
        return self._snapshot.queue_usage.freed_at(self._is_candidate)

    def all_pods(self) -> list[Pod]:
        rows = dict.fromkeys(self._bound.row[self._is_candidate].tolist())
        return [pod for row in rows for pod in self.on(row)]

    def priority_key(self, pod: Pod) -> tuple[int, float, tuple[str, str]]:
        """The key that sorts the highest-priority pod first."""
        return -self._cluster.priority_of(pod), pod.started, pod.key

    def group_victims(self, pod: Pod) -> list[Pod]:
        """The pods that are evicted together with this one: itself, or its gang with disruption mode All."""
        if pod.group is None:
            return [pod]
        group = self._cluster.group_of(pod)
        if group is None or not group.disruption_mode_all:
            return [pod]
        if group.key not in self._group_victims:
            members = self._cluster.members(group.key)
            self._group_victims[group.key] = [one for one in members if one.node and not self._is_terminating(one)]
        return self._group_victims[group.key]

    def with_group_victims(self, pods: Iterable[Pod]) -> list[Pod]:
        """These pods, and those that are evicted together with them."""
        if not self._bound.evicted_together:
            return sorted(pods, key=self.priority_key)
        victims: dict[str, Pod] = {}
        for pod in pods:
            if pod.uid not in victims:
                for member in self.group_victims(pod):
                    victims[member.uid] = member
        return sorted(victims.values(), key=self.priority_key)

    def reprieve_order(self, pods: Sequence[Pod]) -> list[Pod]:
        """The order in which victims are reprieved: PDB violations first, then the highest priority."""
        if not self._budgets:
            return sorted(pods, key=self.priority_key)
        violating = {pod.uid for pod in self.pdb_violations(pods)}
        return sorted(pods, key=lambda pod: (pod.uid not in violating, self.priority_key(pod)))

    def reprieve_order_on(self, row: int) -> list[Pod]:
        """The same for all candidates on a node, which are sorted already."""
        return self.reprieve_order(self.on(row)) if self._budgets else self.on(row)

    def pdb_violations(self, pods: Sequence[Pod]) -> list[Pod]:
        """The pods whose eviction, in this order, would violate a PodDisruptionBudget."""
        return self._budgets.violations(pods)

    def cost(self, victims: Sequence[Pod]) -> Cost:
        """The cost by which nodes are compared, as kube-scheduler documents it; the lowest is chosen.

        Fewest PDB violations; lowest highest victim priority; lowest sum of priorities; fewest victims; latest start
        time of the highest-priority victims.
        """
        if not victims:
            return NO_VICTIMS
        priorities = [self._cluster.priority_of(pod) for pod in victims]
        highest = max(priorities)
        earliest = min(pod.started for pod, its in zip(victims, priorities, strict=True) if its == highest)
        total = sum(priority + ABOVE_ANY_PRIORITY for priority in priorities)
        return len(self.pdb_violations(victims)), highest, total, len(victims), -earliest

    def _preemptible(self, priority: int, queues: frozenset[str]) -> Numbers:
        """The positions of these pods. A pod whose node is gone frees nothing."""
        bound, found = self._bound, self._bound.in_queues(queues)
        return found[~bound.spared[found] & (bound.row[found] >= 0) & (bound.priority[found] < priority)]

    def _keep_gangs_together(self) -> None:
        """A gang with disruption mode All of which one member is no candidate has none at all."""
        for positions in self._bound.evicted_together:
            victims = [one for one in positions if not self._is_terminating(self._bound.pods[one])]
            if not self._is_candidate[victims].all():
                self._is_candidate[positions] = False

    def _is_terminating(self, pod: Pod) -> bool:
        return pod.terminating or pod.uid in self._snapshot.evicted
