"""Fit: which nodes have enough free resources for a pod, and which of them is best.

Capacity has layers. Free now: allocatable minus the requests of all bound pods. Free later: what is free once
terminating pods are gone, minus what is reserved for nominated pods. A pod is bound only where both layers have enough:
it takes no capacity that is reserved for another pod. Constraints regarding other pods hold in both layers, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from scheduler.core.node_table import Mask, NodeTable, Numbers
from scheduler.core.placement_filters import allowed, excluded_for_good, preference, takes_one_only
from scheduler.core.policy import LEAST_ALLOCATED, MOST_ALLOCATED
from scheduler.core.scheduling_types import CPU, GPU, PODS, Pod, PodRequirements

Crowding = Callable[[Numbers], Numbers]  # for these rows, lower is better

_PENALTY_WEIGHT = 1 << 44  # a penalty outweighs any amount of free resources
_MAX_SCORE = _PENALTY_WEIGHT - 1


class LastAllocation:
    """The requirements and the node of the last allocation; None when something else has changed since."""

    def __init__(self) -> None:
        self.requirements: PodRequirements | None = None
        self.row = 0


class Capacity:
    """Free resources by node. An allocation counts in every layer.

    With `freed`, a pod fits on a node if it did without what is counted there: victims on that node alone. With
    `within`, some pods may use only a part of the nodes.
    """

    def __init__(
        self,
        table: NodeTable,
        *layers: Numbers,
        freed: Numbers | None = None,
        last: LastAllocation | None = None,
        scoring_strategy: str = MOST_ALLOCATED,
        within: Mapping[PodRequirements, Mask] | None = None,
    ) -> None:
        self.table, self.layers, self.freed, self._within = table, layers, freed, within or {}
        self._last = last or LastAllocation()
        self._spreads = scoring_strategy == LEAST_ALLOCATED

    def packed(self) -> Capacity | None:
        """The same resources, allocated by bin packing; None if they are already."""
        return self.restricted(self._within) if self._spreads else None

    def restricted(self, within: Mapping[PodRequirements, Mask]) -> Capacity:
        """The same resources, of which such pods may use only these nodes, by bin packing."""
        return Capacity(self.table, *self.layers, freed=self.freed, last=self._last, within=within)

    def allocate_best(self, requirements: PodRequirements, crowding: Crowding | None = None) -> int | None:
        """Allocate on the best node for such a pod; None when no node fits."""
        last = self._last
        same = last.requirements is requirements and not requirements.concerns_other_pods and crowding is None
        if same and not self._spreads and self.fits(last.row, requirements):
            row: int | None = last.row  # an identical pod came before: the fullest node is even fuller now
        else:
            row = self.best(requirements, self.fitting(requirements), crowding)
        if row is not None:
            self._change(row, requirements, -1)
            last.requirements, last.row = requirements, row
        return row

    def fitting(self, requirements: PodRequirements) -> Mask:
        """The eligible nodes that have enough free resources for such a pod, and that other pods do not exclude."""
        fits = self._with_resources(requirements)
        if requirements.concerns_other_pods:
            fits &= allowed(requirements, self.table, self.layers, self.freed)
        return fits

    def _with_resources(self, requirements: PodRequirements) -> Mask:
        columns = self.table.columns(requirements)
        if columns is None:
            return np.zeros(len(self.table), np.bool_)
        fits = self.table.eligibility(requirements).allowed.copy()
        if requirements in self._within:
            fits &= self._within[requirements]
        for layer in self.layers:
            for column, amount in columns:
                fits &= layer[column] >= (amount if self.freed is None else amount - self.freed[column])
        return fits

    def fits(self, row: int, requirements: PodRequirements) -> bool:
        columns = self.table.columns(requirements)
        if columns is None or not self.table.eligibility(requirements).allowed[row]:
            return False
        if requirements in self._within and not self._within[requirements][row]:
            return False
        freed = self.freed
        for layer in self.layers:
            for column, amount in columns:
                if layer[column, row] < (amount if freed is None else amount - freed[column, row]):
                    return False
        if not requirements.concerns_other_pods:
            return True
        return bool(allowed(requirements, self.table, self.layers, self.freed)[row])

    def best(self, requirements: PodRequirements, among: Mask, crowding: Crowding | None = None) -> int | None:
        """The preferred node that fits; then the fullest or the emptiest, by the policy; then the first by name.

        The least crowded one comes before the policy. A pod that requests GPUs is packed, and it comes after: spread
        over all nodes, such pods would leave none whole for large jobs.
        """
        rows = np.flatnonzero(among)
        if not len(rows):
            return None
        penalty = self.table.eligibility(requirements).penalty[rows]
        if requirements.concerns_other_pods:
            preferred = preference(requirements, self.table, self.layers[0], rows)
            penalty = penalty if preferred is None else penalty - preferred
        allocation = self._allocation_score(requirements, rows)
        score = penalty * _PENALTY_WEIGHT + allocation
        if crowding is None:
            return int(rows[np.argmin(score)])
        packed, crowded = scored_resource(requirements) == GPU, crowding(rows)
        return int(rows[_first_lowest((score, crowded) if packed else (penalty, crowded, allocation))])

    def _allocation_score(self, requirements: PodRequirements, rows: Numbers) -> Numbers:
        """Lower is better: the free amount of one resource, or the part of it that would be allocated."""
        resource = scored_resource(requirements)
        column = self.table.column.get(resource)
        if column is None:
            return np.zeros(len(rows), np.int64)
        free = self.layers[0][column, rows]
        score: Numbers = np.clip(free, 0, _MAX_SCORE)
        if self._spreads:
            left = free - dict(requirements.requests).get(resource, 0)
            part = 1 - left / np.maximum(self.table.allocatable[column, rows], 1)
            score = (np.clip(part, 0, 1) * _MAX_SCORE).astype(np.int64)
        return score

    def places(self, requirements: PodRequirements) -> Numbers:
        """How many such pods each node takes at most, as long as no pod goes: other constraints may allow fewer.

        What other pods may yet allow by joining, an affinity or a spread, is not asked.
        """
        found: Numbers = np.zeros(len(self.table), np.int64)
        columns = self.table.columns(requirements)
        rows = np.flatnonzero(self._with_resources(requirements)) if columns else ()
        if not columns or not len(rows):
            return found
        counts = [layer[column, rows] // amount for layer in self.layers for column, amount in columns]
        found[rows] = np.minimum.reduce(counts)
        if requirements.concerns_other_pods:
            found[excluded_for_good(requirements, self.table, self.layers)] = 0
            found[takes_one_only(requirements, self.table) & (found > 0)] = 1
        return found

    def allocate(self, row: int, requirements: PodRequirements) -> None:
        self._change(row, requirements, -1)

    def release(self, row: int, requirements: PodRequirements) -> None:
        self._change(row, requirements, +1)

    def release_all(self, pods: Iterable[Pod]) -> None:
        """Release what these bound pods use: like pods of one node at once, because there may be thousands."""
        row = self.table.row
        for (node, requirements), times in Counter((pod.node, pod.requirements) for pod in pods).items():
            self._change(row[node], requirements, times)

    def _change(self, row: int, requirements: PodRequirements, times: int) -> None:
        self._last.requirements = None
        for column, amount in self.table.usage(requirements):
            for layer in self.layers:
                layer[column, row] += times * amount


def _first_lowest(keys: tuple[Numbers, ...]) -> int:
    """The first position at which the first key is lowest; of equal ones, the next key decides."""
    left = np.arange(len(keys[0]))
    for key in keys:
        values = key[left]
        left = left[values == values.min()]
    return int(left[0])


def scored_resource(requirements: PodRequirements) -> str:
    """The resource by which nodes are compared."""
    requested = {resource for resource, amount in requirements.requests if amount > 0}
    return next((resource for resource in (GPU, CPU) if resource in requested), PODS)


def largest_first(pod: Pod) -> tuple[object, ...]:
    """The order in which members are placed: large pods, which fit on few nodes, come first."""
    return *(-amount for amount in size(pod)), pod.created, pod.key


def size(pod: Pod) -> tuple[int, ...]:
    """Larger pods are harder to place: GPUs count first, then CPUs, then the rest."""
    requested = dict(pod.requests)
    return requested.pop(GPU, 0), requested.pop(CPU, 0), sum(requested.values())
