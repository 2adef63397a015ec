"""Preemption candidates, and the cost of evicting them.

Candidates are ordered by priority, then by start time (earlier first), then by name. Non-preemptible pods, pods of
another queue and terminating pods are no candidates. A gang with disruption mode All is evicted as a unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from scheduler.core.node_table import Mask, Numbers, requirement_matches
from scheduler.core.scheduling_types import DisruptionBudget, Key, Pod
from scheduler.core.snapshot import Snapshot

_ABOVE_ANY_PRIORITY = 1 << 33  # added to each priority, so that more victims always have a larger sum

Cost = tuple[int, int, int, int, float]


class Candidates:
    """The pods that a unit of this priority, in these queues, may preempt; the highest priority first.

    Members of `own_groups`, the unit's own groups, are never candidates.
    """

    def __init__(self, priority: int, queues: frozenset[str], own_groups: frozenset[Key], snapshot: Snapshot) -> None:
        self._snapshot, self._cluster, self._own_groups = snapshot, snapshot.cluster, own_groups
        self.by_node: dict[int, list[Pod]] = {}  # by row
        self.freeable: Numbers = np.zeros_like(snapshot.table.used)
        self.highest_priority: Numbers = np.full(len(snapshot.table), -_ABOVE_ANY_PRIORITY, np.int64)
        self.pdb_protected: Mask = np.zeros(len(snapshot.table), np.bool_)  # nodes with an exhausted PDB's pods
        self._disruptions_left = {key: budget.allowed for key, budget in self._cluster.budgets.items()}
        for evicted in snapshot.evicted.values():
            self._consume_budgets(evicted)
        self._group_victims: dict[Key, list[Pod]] = {}  # of gangs with disruption mode All
        kept_groups: dict[Key, bool] = {}  # true: one of its members is not preemptible
        for pod in self._cluster.bound():
            if not self._is_preemptible(pod, priority, queues):
                continue
            group = self._cluster.group_of(pod)
            if group is not None and group.disruption_mode_all:
                if group.key not in kept_groups:
                    members = self.group_victims(pod)
                    kept_groups[group.key] = not all(self._is_preemptible(one, priority, queues) for one in members)
                if kept_groups[group.key]:
                    continue
            self._add(pod)
        for pods in self.by_node.values():
            pods.sort(key=self.priority_key)

    def remove(self, evicted: Iterable[Pod]) -> None:
        """Pods that this cycle evicts are no candidates any more."""
        for pod in evicted:
            self._consume_budgets(pod)
            if pod.group is not None:
                self._group_victims.pop(pod.group, None)
            row = self._snapshot.table.row[pod.node]
            pods = self.by_node.get(row, [])
            if pod not in pods:
                continue
            pods.remove(pod)
            priorities = (self._cluster.priority_of(one) for one in pods)
            self.highest_priority[row] = max(priorities, default=-_ABOVE_ANY_PRIORITY)
            for column, amount in known_columns(pod, self._snapshot):
                self.freeable[column, row] -= amount
            if not pods:
                del self.by_node[row]

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
            return 0, -_ABOVE_ANY_PRIORITY, 0, 0, 0.0
        priorities = [self._cluster.priority_of(pod) for pod in victims]
        highest = max(priorities)
        earliest = min(pod.started for pod, its in zip(victims, priorities, strict=True) if its == highest)
        total = sum(priority + _ABOVE_ANY_PRIORITY for priority in priorities)
        return len(self.pdb_violations(victims)), highest, total, len(victims), -earliest

    def _is_preemptible(self, pod: Pod, priority: int, queues: frozenset[str]) -> bool:
        return (
            self._cluster.priority_of(pod) < priority
            and not pod.non_preemptible
            and pod.group not in self._own_groups
            and not self._is_terminating(pod)
            and self._cluster.queue_of(pod) in queues
            and pod.node in self._snapshot.table.row
        )

    def _is_terminating(self, pod: Pod) -> bool:
        return pod.terminating or pod.uid in self._snapshot.evicted

    def _add(self, pod: Pod) -> None:
        row = self._snapshot.table.row[pod.node]
        self.by_node.setdefault(row, []).append(pod)
        self.highest_priority[row] = max(int(self.highest_priority[row]), self._cluster.priority_of(pod))
        left = self._disruptions_left
        self.pdb_protected[row] |= bool(left) and any(left[one.key] <= 0 for one in self._budgets(pod))
        for column, amount in known_columns(pod, self._snapshot):
            self.freeable[column, row] += amount

    def _consume_budgets(self, pod: Pod) -> None:
        for budget in self._budgets(pod):
            self._disruptions_left[budget.key] -= 1

    def _budgets(self, pod: Pod) -> list[DisruptionBudget]:
        return [budget for budget in self._cluster.budgets.values() if _selects(budget, pod)]


def known_columns(pod: Pod, snapshot: Snapshot) -> list[tuple[int, int]]:
    """The columns and amounts of the pod's requests; resources that no node has are left out."""
    column = snapshot.table.column
    return [(column[resource], amount) for resource, amount in pod.requests if resource in column]


def _selects(budget: DisruptionBudget, pod: Pod) -> bool:
    return (
        budget.key[0] == pod.key[0]
        and all(pod.labels.get(key) == value for key, value in budget.selector.items())
        and all(requirement_matches(requirement, pod.labels) for requirement in budget.expressions)
    )
