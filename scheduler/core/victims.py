"""Preemption candidates, and the cost of evicting them.

Candidates are ordered by priority, then by start time (earlier first), then by name. Non-preemptible pods, pods of
another queue and terminating pods are no candidates. A gang with disruption mode All is evicted as a unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import cache

import numpy as np

from scheduler.core.cost_bounds import (
    ABOVE_ANY_PRIORITY,
    NO_VICTIMS,
    Cost,
    CostBounds,
    counter_columns,
    known_columns,
)
from scheduler.core.node_table import Numbers, requirement_matches
from scheduler.core.pod_constraints import Counter
from scheduler.core.scheduling_types import DisruptionBudget, Key, Pod
from scheduler.core.snapshot import Snapshot


class Candidates:
    """The pods that a unit of this priority, in these queues, may preempt; the highest priority first."""

    def __init__(self, priority: int, queues: frozenset[str], snapshot: Snapshot) -> None:
        self._snapshot, self._cluster = snapshot, snapshot.cluster
        self.by_node: dict[int, list[Pod]] = {}  # by row
        self._disruptions_left = {key: budget.allowed for key, budget in self._cluster.budgets.items()}
        for evicted in snapshot.evicted.values():
            self._consume_budgets(evicted)
        self._group_victims: dict[Key, list[Pod]] = {}  # of gangs with disruption mode All
        kept_groups: dict[Key, bool] = {}  # true: one of its members is not preemptible
        for pod in snapshot.bound_in(queues):
            if not self._is_preemptible(pod, priority, queues):
                continue
            group = self._cluster.group_of(pod)
            if group is not None and group.disruption_mode_all:
                if group.key not in kept_groups:
                    members = self.group_victims(pod)
                    kept_groups[group.key] = not all(self._is_preemptible(one, priority, queues) for one in members)
                if kept_groups[group.key]:
                    continue
            self.by_node.setdefault(snapshot.table.row[pod.node], []).append(pod)
        for pods in self.by_node.values():
            pods.sort(key=self.priority_key)
        self.bounds = CostBounds(self.by_node, self._is_protected, snapshot)
        self._counted_bounds: dict[frozenset[Counter], CostBounds] = {}
        self.freeable: Numbers = self.bounds.freeable()
        columns = cache(lambda requirements: counter_columns(requirements, snapshot))
        for row, pods in self.by_node.items():
            for pod in pods:
                for column in columns(pod.requirements) if pod.requirements.counted else ():
                    self.freeable[column, row] += 1

    def without_groups(self, groups: frozenset[Key]) -> Candidates:
        """The same candidates but for the members of these groups: a unit never preempts its own gang."""
        found = copy(self)
        found.by_node = {row: list(pods) for row, pods in self.by_node.items()}
        found.freeable, found._counted_bounds = self.freeable.copy(), dict(self._counted_bounds)
        found._disruptions_left, found._group_victims = dict(self._disruptions_left), dict(self._group_victims)
        for pod in (pod for key in groups for pod in self._cluster.members(key) if pod.node):
            found._remove(pod)
        return found

    def remove(self, evicted: Iterable[Pod]) -> None:
        """Pods that this cycle evicts are no candidates any more."""
        for pod in evicted:
            self._consume_budgets(pod)
            if pod.group is not None:
                self._group_victims.pop(pod.group, None)
            self._remove(pod)

    def _remove(self, pod: Pod) -> None:
        row = self._snapshot.table.row.get(pod.node)
        if row is None or pod not in self.by_node.get(row, ()):
            return
        self.by_node[row].remove(pod)
        if not self.by_node[row]:
            del self.by_node[row]
        for column, amount in known_columns(pod.requirements, self._snapshot):
            self.freeable[column, row] -= amount
        for column in counter_columns(pod.requirements, self._snapshot):
            self.freeable[column, row] -= 1

    def ascending_by_counters(self, rows: Numbers, excluding: frozenset[Counter]) -> Iterator[tuple[Cost, int]]:
        """Lower bounds where resources are not missing: at least one candidate that these counters count must go."""
        if excluding not in self._counted_bounds:
            counted = {
                row: found
                for row, pods in self.by_node.items()
                if (found := [pod for pod in pods if not excluding.isdisjoint(pod.requirements.counted)])
            }
            self._counted_bounds[excluding] = CostBounds(counted, self._is_protected, self._snapshot)
        return self._counted_bounds[excluding].ascending(
            rows, np.zeros((1, len(rows)), np.int64), np.zeros(1, np.int64)
        )

    def all_pods(self) -> list[Pod]:
        return [pod for row in sorted(self.by_node) for pod in self.by_node[row]]

    def priority_key(self, pod: Pod) -> tuple[int, float, tuple[str, str]]:
        """The key that sorts the highest-priority pod first."""
        return -self._cluster.priority_of(pod), pod.started, pod.key

    def group_victims(self, pod: Pod) -> list[Pod]:
        """The pods that are evicted together with this one: itself, or its gang with disruption mode All."""
        group = self._cluster.group_of(pod)
        if group is None or not group.disruption_mode_all:
            return [pod]
        if group.key not in self._group_victims:
            members = self._cluster.members(group.key)
            self._group_victims[group.key] = [one for one in members if one.node and not self._is_terminating(one)]
        return self._group_victims[group.key]

    def with_group_victims(self, pods: Iterable[Pod]) -> list[Pod]:
        """These pods, and those that are evicted together with them."""
        victims: dict[str, Pod] = {}
        for pod in pods:
            if pod.uid not in victims:
                victims |= {member.uid: member for member in self.group_victims(pod)}
        return sorted(victims.values(), key=self.priority_key)

    def reprieve_order(self, pods: Sequence[Pod]) -> list[Pod]:
        """The order in which victims are reprieved: PDB violations first, then the highest priority."""
        if not self._disruptions_left:
            return sorted(pods, key=self.priority_key)
        violating = {pod.uid for pod in self.pdb_violations(pods)}
        return sorted(pods, key=lambda pod: (pod.uid not in violating, self.priority_key(pod)))

    def reprieve_order_on(self, row: int) -> list[Pod]:
        """The same for all candidates on a node, which are sorted already."""
        pods = self.by_node.get(row, [])
        return self.reprieve_order(pods) if self._disruptions_left else pods

    def pdb_violations(self, pods: Sequence[Pod]) -> list[Pod]:
        """The pods whose eviction, in this order, would violate a PodDisruptionBudget."""
        if not self._disruptions_left:
            return []
        left, violating = dict(self._disruptions_left), []
        for pod in pods:
            budgets = self._budgets(pod)
            for budget in budgets:
                left[budget.key] -= 1
            if any(left[budget.key] < 0 for budget in budgets):
                violating.append(pod)
        return violating

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

    def _is_preemptible(self, pod: Pod, priority: int, queues: frozenset[str]) -> bool:
        return (
            not pod.terminating
            and not pod.non_preemptible
            and self._cluster.priority_of(pod) < priority
            and pod.uid not in self._snapshot.evicted
            and self._cluster.queue_of(pod) in queues
            and pod.node in self._snapshot.table.row
        )

    def _is_terminating(self, pod: Pod) -> bool:
        return pod.terminating or pod.uid in self._snapshot.evicted

    def _is_protected(self, pod: Pod) -> bool:
        left = self._disruptions_left
        return bool(left) and any(left[one.key] <= 0 for one in self._budgets(pod))

    def _consume_budgets(self, pod: Pod) -> None:
        for budget in self._budgets(pod):
            self._disruptions_left[budget.key] -= 1

    def _budgets(self, pod: Pod) -> list[DisruptionBudget]:
        return [budget for budget in self._cluster.budgets.values() if _selects(budget, pod)]


def _selects(budget: DisruptionBudget, pod: Pod) -> bool:
    return (
        budget.key[0] == pod.key[0]
        and all(pod.labels.get(key) == value for key, value in budget.selector.items())
        and all(requirement_matches(requirement, pod.labels) for requirement in budget.expressions)
    )
