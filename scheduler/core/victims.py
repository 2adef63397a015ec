"""Who could go for somebody more important, and whom it would hurt least.

Importance: priority, then who started earlier, then the name. Protected pods, pods of another queue and pods that are
going already are no candidates. A gang that leaves as one goes whole, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from scheduler.core.draft import Draft
from scheduler.core.model import Budget, Key, Pod
from scheduler.core.nodes import Mask, Numbers, holds

_ABOVE_ANY_PRIORITY = 1 << 33  # added to each priority, so that more victims always sum to more

Cost = tuple[int, int, int, int, float]


class Candidates:
    """The pods that a unit of this priority, in these queues, could have evicted; the most important first.

    `spared` are its own groups: nobody goes for a fellow.
    """

    def __init__(self, priority: int, queues: frozenset[str], spared: frozenset[Key], draft: Draft) -> None:
        self._draft, self._cluster, self._spared = draft, draft.cluster, spared
        self.on: dict[int, list[Pod]] = {}  # by row
        self.freed: Numbers = np.zeros_like(draft.table.used)
        self.worst: Numbers = np.full(len(draft.table), -_ABOVE_ANY_PRIORITY, np.int64)
        self.endangered: Mask = np.zeros(len(draft.table), np.bool_)  # somebody there whom a budget protects
        self._left = {key: budget.allowed for key, budget in self._cluster.budgets.items()}
        for gone in draft.going.values():
            self._use_budgets(gone)
        self._crews: dict[Key, list[Pod]] = {}  # of gangs that leave as one
        held_back: dict[Key, bool] = {}  # because one of the crew may not go
        for pod in self._cluster.bound():
            if not self._may_go(pod, priority, queues):
                continue
            group = self._cluster.group_of(pod)
            if group is not None and group.leaves_whole:
                if group.key not in held_back:
                    held_back[group.key] = not all(self._may_go(one, priority, queues) for one in self.crew(pod))
                if held_back[group.key]:
                    continue
            self._add(pod)
        for pods in self.on.values():
            pods.sort(key=self.importance)

    def without(self, gone: Iterable[Pod]) -> None:
        """These go now: as if they had never been candidates."""
        for pod in gone:
            self._use_budgets(pod)
            if pod.group is not None:
                self._crews.pop(pod.group, None)
            row = self._draft.table.row[pod.node]
            pods = self.on.get(row, [])
            if pod not in pods:
                continue
            pods.remove(pod)
            self.worst[row] = max((self._cluster.priority_of(one) for one in pods), default=-_ABOVE_ANY_PRIORITY)
            for column, amount in known_columns(pod, self._draft):
                self.freed[column, row] -= amount
            if not pods:
                del self.on[row]

    def everybody(self) -> list[Pod]:
        return [pod for row in sorted(self.on) for pod in self.on[row]]

    def importance(self, pod: Pod) -> tuple[int, float, tuple[str, str]]:
        """The key that sorts the most important pod first."""
        return -self._cluster.priority_of(pod), pod.started, pod.key

    def crew(self, pod: Pod) -> list[Pod]:
        """Those who go when this pod goes."""
        group = self._cluster.group_of(pod)
        if group is None or not group.leaves_whole:
            return [pod]
        if group.key not in self._crews:
            fellows = self._cluster.members(group.key)
            self._crews[group.key] = [fellow for fellow in fellows if fellow.node and not self._is_going(fellow)]
        return self._crews[group.key]

    def in_danger(self, pods: Sequence[Pod]) -> list[Pod]:
        """Those whose going would break a disruption budget, if they went in this order."""
        if not self._left:
            return []
        left, broken = dict(self._left), []
        for pod in pods:
            covered = self._budgets(pod)
            for budget in covered:
                left[budget.key] -= 1
            if any(left[budget.key] < 0 for budget in covered):
                broken.append(pod)
        return broken

    def cost(self, victims: Sequence[Pod]) -> Cost:
        """Nodes are compared by it, as kube-scheduler documents: the least is chosen.

        Fewest broken budgets; the highest priority among the victims; the sum of their priorities; their number; and
        the one whose most important victims started latest.
        """
        if not victims:
            return 0, -_ABOVE_ANY_PRIORITY, 0, 0, 0.0
        priorities = [self._cluster.priority_of(pod) for pod in victims]
        highest = max(priorities)
        earliest = min(pod.started for pod, its in zip(victims, priorities, strict=True) if its == highest)
        total = sum(priority + _ABOVE_ANY_PRIORITY for priority in priorities)
        return len(self.in_danger(victims)), highest, total, len(victims), -earliest

    def _may_go(self, pod: Pod, priority: int, queues: frozenset[str]) -> bool:
        return (
            self._cluster.priority_of(pod) < priority
            and not pod.protected
            and pod.group not in self._spared
            and not self._is_going(pod)
            and self._cluster.queue_of(pod) in queues
            and pod.node in self._draft.table.row
        )

    def _is_going(self, pod: Pod) -> bool:
        return pod.leaving or pod.uid in self._draft.going

    def _add(self, pod: Pod) -> None:
        row = self._draft.table.row[pod.node]
        self.on.setdefault(row, []).append(pod)
        self.worst[row] = max(int(self.worst[row]), self._cluster.priority_of(pod))
        self.endangered[row] |= bool(self._left) and any(self._left[one.key] <= 0 for one in self._budgets(pod))
        for column, amount in known_columns(pod, self._draft):
            self.freed[column, row] += amount

    def _use_budgets(self, pod: Pod) -> None:
        for budget in self._budgets(pod):
            self._left[budget.key] -= 1

    def _budgets(self, pod: Pod) -> list[Budget]:
        return [budget for budget in self._cluster.budgets.values() if _covers(budget, pod)]


def known_columns(pod: Pod, draft: Draft) -> list[tuple[int, int]]:
    column = draft.table.column
    return [(column[resource], amount) for resource, amount in pod.requests if resource in column]


def _covers(budget: Budget, pod: Pod) -> bool:
    return (
        budget.key[0] == pod.key[0]
        and all(pod.labels.get(key) == value for key, value in budget.selector.items())
        and all(holds(requirement, pod.labels) for requirement in budget.expressions)
    )
