"""Fit: which nodes have room for a pod, and which of them is the best.

Room has layers. Now: what is free this moment. Later: what will be free when those who leave are gone, less what is
spoken for. A pod may start where both have room: it takes no place that is held for somebody else.
"""

from __future__ import annotations

import numpy as np

from scheduler.core.model import CPU, GPU, PODS, Pod, Shape
from scheduler.core.nodes import Mask, NodeTable, Numbers

_PENALTY_WEIGHT = 1 << 44  # a penalty outweighs any amount of free room
_MOST = _PENALTY_WEIGHT - 1


class LastChange:
    """Who was placed last, and where; nobody when something else has changed since."""

    def __init__(self) -> None:
        self.shape: Shape | None = None
        self.row = 0


class Room:
    """Free room by node. Taking room takes it from every layer."""

    def __init__(self, table: NodeTable, *layers: Numbers, last: LastChange | None = None) -> None:
        self.table, self.layers = table, layers
        self._last = last or LastChange()

    def take_best(self, shape: Shape) -> int | None:
        """Take the best node for such a pod; None when there is none."""
        last = self._last
        if last.shape is shape and self.fits(last.row, shape):
            row: int | None = last.row  # the pod before was just like it: what was the fullest node is even fuller now
        else:
            row = self.best(shape, self.fitting(shape))
        if row is not None:
            self._change(row, shape, -1)
            last.shape, last.row = shape, row
        return row

    def fitting(self, shape: Shape) -> Mask:
        """The nodes where such a pod may be and has room."""
        columns = self.table.columns(shape)
        if columns is None:
            return np.zeros(len(self.table), np.bool_)
        fits = self.table.eligibility(shape).allowed.copy()
        for layer in self.layers:
            for column, amount in columns:
                fits &= layer[column] >= amount
        return fits

    def fits(self, row: int, shape: Shape) -> bool:
        columns = self.table.columns(shape)
        if columns is None or not self.table.eligibility(shape).allowed[row]:
            return False
        return all(layer[column, row] >= amount for layer in self.layers for column, amount in columns)

    def best(self, shape: Shape, among: Mask) -> int | None:
        """The fullest node that fits, so that large free blocks stay whole; then the first by name."""
        rows = np.flatnonzero(among)
        if not len(rows):
            return None
        score = self.table.eligibility(shape).penalty[rows] * _PENALTY_WEIGHT
        column = self.table.column.get(scarcest(shape))
        if column is not None:
            score = score + np.clip(self.layers[0][column, rows], 0, _MOST)
        return int(rows[np.argmin(score)])

    def capacity(self, shape: Shape) -> int:
        """How many such pods there is room for at once."""
        columns = self.table.columns(shape)
        if not columns:
            return 0
        rows = np.flatnonzero(self.fitting(shape))
        if not len(rows):
            return 0
        counts = [layer[column, rows] // amount for layer in self.layers for column, amount in columns]
        return int(np.minimum.reduce(counts).sum())

    def take(self, row: int, shape: Shape) -> None:
        self._change(row, shape, -1)

    def give(self, row: int, shape: Shape) -> None:
        self._change(row, shape, +1)

    def _change(self, row: int, shape: Shape, sign: int) -> None:
        self._last.shape = None
        for resource, amount in shape.requests:
            column = self.table.column.get(resource)
            if column is not None:
                for layer in self.layers:
                    layer[column, row] += sign * amount


def scarcest(shape: Shape) -> str:
    """The resource that nodes are filled up by."""
    asked = {resource for resource, amount in shape.requests if amount > 0}
    return next((resource for resource in (GPU, CPU) if resource in asked), PODS)


def largest_first(pod: Pod) -> tuple[object, ...]:
    """The order in which members are placed: what is hard to place goes before what is easy."""
    return *(-amount for amount in size(pod)), pod.created, pod.key


def size(pod: Pod) -> tuple[int, ...]:
    """Larger pods are harder to place: GPUs count first, then CPUs, then the rest."""
    asked = dict(pod.requests)
    return asked.pop(GPU, 0), asked.pop(CPU, 0), sum(asked.values())
