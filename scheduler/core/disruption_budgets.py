"""PodDisruptionBudgets: how many disruptions each still allows, and which pods it selects.

Budgets are found by a label that they select: a cluster may have one for each of hundreds of applications, and tens of
thousands of pods to ask about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from scheduler.core.label_matching import requirement_matches
from scheduler.core.scheduling_types import DisruptionBudget, Key, Pod

_Label = tuple[str, str]


class DisruptionBudgets:
    """The budgets of the cluster, as far as the evictions of this cycle have left something of them."""

    def __init__(self, budgets: Mapping[Key, DisruptionBudget], evicted: Iterable[Pod]) -> None:
        self._left = {key: budget.allowed for key, budget in budgets.items()}
        self._by_label: dict[tuple[str, _Label], list[DisruptionBudget]] = {}  # by namespace and label
        self._others: dict[str, list[DisruptionBudget]] = {}  # by namespace, without a label that all its pods have
        for budget in budgets.values():
            label = next(iter(budget.selector.items()), None)
            if label is None:
                self._others.setdefault(budget.key[0], []).append(budget)
            else:
                self._by_label.setdefault((budget.key[0], label), []).append(budget)
        self._known: dict[tuple[str, tuple[_Label, ...]], list[DisruptionBudget]] = {}
        self.consume(evicted)

    def __bool__(self) -> bool:
        return bool(self._left)

    def copy(self) -> DisruptionBudgets:
        found = DisruptionBudgets({}, ())
        found._left, found._known = dict(self._left), self._known
        found._by_label, found._others = self._by_label, self._others
        return found

    def consume(self, evicted: Iterable[Pod]) -> None:
        for pod in evicted if self else ():
            for budget in self._of(pod):
                self._left[budget.key] -= 1

    def is_exhausted(self) -> bool:
        """Whether there is one that allows no disruption."""
        return any(left <= 0 for left in self._left.values())

    def protect(self, pod: Pod) -> bool:
        """Whether each eviction of the pod violates a budget."""
        budgets = self._of(pod)
        return bool(budgets) and min(self._left[one.key] for one in budgets) <= 0

    def violations(self, pods: Sequence[Pod]) -> list[Pod]:
        """The pods whose eviction, in this order, would violate a budget."""
        left, violating = dict(self._left), []
        for pod in pods if self else ():
            budgets = self._of(pod)
            for budget in budgets:
                left[budget.key] -= 1
            if any(left[budget.key] < 0 for budget in budgets):
                violating.append(pod)
        return violating

    def _of(self, pod: Pod) -> list[DisruptionBudget]:
        """The budgets that select the pod. Pods with the same labels are looked at once."""
        namespace, labels = key = pod.key[0], tuple(pod.labels.items())
        if key not in self._known:
            found = [one for label in labels for one in self._by_label.get((namespace, label), ())]
            found += self._others.get(namespace, ())
            self._known[key] = [one for one in found if _selects(one, pod)]
        return self._known[key]


def _selects(budget: DisruptionBudget, pod: Pod) -> bool:
    return all(pod.labels.get(key) == value for key, value in budget.selector.items()) and all(
        requirement_matches(requirement, pod.labels) for requirement in budget.expressions
    )
