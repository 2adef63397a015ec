"""Fit: which nodes have enough free resources for a pod, and which of them is best.

Capacity has layers. Free now: allocatable minus the requests of all bound pods. Free later: what is free once
terminating pods are gone, minus what is reserved for nominated pods. A pod is bound only where both layers have enough:
it takes no capacity that is reserved for another pod.
"""

from __future__ import annotations

import numpy as np

from scheduler.core.node_table import Mask, NodeTable, Numbers
from scheduler.core.scheduling_types import CPU, GPU, PODS, Pod, PodRequirements

_PENALTY_WEIGHT = 1 << 44  # a penalty outweighs any amount of free resources
_MAX_SCORE = _PENALTY_WEIGHT - 1


class LastAllocation:
    """The requirements and the node of the last allocation; None when something else has changed since."""

    def __init__(self) -> None:
        self.requirements: PodRequirements | None = None
        self.row = 0


class Capacity:
    """Free resources by node. An allocation counts in every layer."""

    def __init__(self, table: NodeTable, *layers: Numbers, last: LastAllocation | None = None) -> None:
        self.table, self.layers = table, layers
        self._last = last or LastAllocation()

    def allocate_best(self, requirements: PodRequirements) -> int | None:
        """Allocate on the best node for such a pod; None when no node fits."""
        last = self._last
        if last.requirements is requirements and self.fits(last.row, requirements):
            row: int | None = last.row  # an identical pod came before: the fullest node is even fuller now
        else:
            row = self.best(requirements, self.fitting(requirements))
        if row is not None:
            self._change(row, requirements, -1)
            last.requirements, last.row = requirements, row
        return row

    def fitting(self, requirements: PodRequirements) -> Mask:
        """The eligible nodes that have enough free resources for such a pod."""
        columns = self.table.columns(requirements)
        if columns is None:
            return np.zeros(len(self.table), np.bool_)
        fits = self.table.eligibility(requirements).allowed.copy()
        for layer in self.layers:
            for column, amount in columns:
                fits &= layer[column] >= amount
        return fits

    def fits(self, row: int, requirements: PodRequirements) -> bool:
        columns = self.table.columns(requirements)
        if columns is None or not self.table.eligibility(requirements).allowed[row]:
            return False
        return all(layer[column, row] >= amount for layer in self.layers for column, amount in columns)

    def best(self, requirements: PodRequirements, among: Mask) -> int | None:
        """The fullest node that fits (bin packing keeps large free blocks whole); then the first by name."""
        rows = np.flatnonzero(among)
        if not len(rows):
            return None
        score = self.table.eligibility(requirements).penalty[rows] * _PENALTY_WEIGHT
        column = self.table.column.get(binpack_resource(requirements))
        if column is not None:
            score = score + np.clip(self.layers[0][column, rows], 0, _MAX_SCORE)
        return int(rows[np.argmin(score)])

    def max_pods(self, requirements: PodRequirements) -> int:
        """How many such pods fit at once."""
        columns = self.table.columns(requirements)
        if not columns:
            return 0
        rows = np.flatnonzero(self.fitting(requirements))
        if not len(rows):
            return 0
        counts = [layer[column, rows] // amount for layer in self.layers for column, amount in columns]
        return int(np.minimum.reduce(counts).sum())

    def allocate(self, row: int, requirements: PodRequirements) -> None:
        self._change(row, requirements, -1)

    def release(self, row: int, requirements: PodRequirements) -> None:
        self._change(row, requirements, +1)

    def _change(self, row: int, requirements: PodRequirements, sign: int) -> None:
        self._last.requirements = None
        for resource, amount in requirements.requests:
            column = self.table.column.get(resource)
            if column is not None:
                for layer in self.layers:
                    layer[column, row] += sign * amount


def binpack_resource(requirements: PodRequirements) -> str:
    """The resource by which nodes are filled up."""
    requested = {resource for resource, amount in requirements.requests if amount > 0}
    return next((resource for resource in (GPU, CPU) if resource in requested), PODS)


def largest_first(pod: Pod) -> tuple[object, ...]:
    """The order in which members are placed: large pods, which fit on few nodes, come first."""
    return *(-amount for amount in size(pod)), pod.created, pod.key


def size(pod: Pod) -> tuple[int, ...]:
    """Larger pods are harder to place: GPUs count first, then CPUs, then the rest."""
    requested = dict(pod.requests)
    return requested.pop(GPU, 0), requested.pop(CPU, 0), sum(requested.values())
