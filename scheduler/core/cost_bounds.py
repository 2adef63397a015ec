"""The node on which a preemption costs least, found without selecting the victims on every node.

Nodes come in the order of lower bounds of their costs. On a large cluster most can be left out at a glance: their bound
is above the cost that was found elsewhere, so that the result is that of comparing all nodes. The bounds only have to
be low enough. They are not updated when candidates are evicted: that never lowers a cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush

import numpy as np

from scheduler.core.node_table import Mask, Numbers
from scheduler.core.snapshot import Snapshot

# PDB violations, highest priority, sum of priorities, number of victims, latest start (negative): the lowest is chosen.
# The sum and the number are per member, where a node would take several members at once.
Cost = tuple[int, int, float, float, float]

ABOVE_ANY_PRIORITY = 1 << 33  # added to each priority, so that more victims always have a larger sum
NO_VICTIMS: Cost = 0, -ABOVE_ANY_PRIORITY, 0, 0, 0.0

Evaluate = Callable[[int], Cost | None]  # the cost on a row; None: one more member does not fit there

_MAX_LEVELS = 32  # of priority that are told apart; more of them only make the bounds lower


class CostBounds:
    """What the candidates on each node are like: by row, and by column."""

    def __init__(self, candidates: Numbers, protected: Mask, snapshot: Snapshot) -> None:
        """`candidates` are positions of bound pods; `protected`: those whose eviction violates a budget in any case."""
        bound, nodes = snapshot.bound_pods, len(snapshot.table)
        rows, priority = bound.row[candidates], bound.priority[candidates]
        priorities = sorted(set(priority.tolist()))
        step = -(-len(priorities) // _MAX_LEVELS) or 1
        self._levels: list[int] = priorities[::step]  # ascending; each goes up to the next one
        size = snapshot.table.used.shape
        self._freeable = np.zeros((len(self._levels), *size), np.int64)  # by the candidates of each level
        self._largest = np.zeros(size, np.int64)  # request of one candidate
        self._lowest: Numbers = np.full(nodes, ABOVE_ANY_PRIORITY, np.int64)  # priority of a candidate
        self._latest = np.full(nodes, -np.inf)  # start of a candidate
        self._protected: Mask = np.ones(nodes, np.bool_)  # no candidate can be evicted without a PDB violation
        level = np.searchsorted(np.array(priorities, np.int64), priority) // step
        kind, requested = bound.kind[candidates], requested_by_kind(snapshot)
        for column in np.flatnonzero(requested.any(axis=0)).tolist():
            amounts = requested[kind, column]
            np.add.at(self._freeable[:, column], (level, rows), amounts)
            np.maximum.at(self._largest[column], rows, amounts)
        np.minimum.at(self._lowest, rows, priority)
        np.maximum.at(self._latest, rows, bound.started[candidates])
        self._protected[rows[~protected[candidates]]] = False

    def freeable(self) -> Numbers:
        """What all candidates together would free."""
        found: Numbers = self._freeable.sum(axis=0)
        return found

    def fewest(self, row: int, missing: Iterable[tuple[int, int]]) -> int:
        """At least so many victims free what is missing on this row, by column."""
        largest = self._largest
        return max(-(-amount // max(int(largest[column, row]), 1)) for column, amount in missing)

    def ascending(
        self, rows: Numbers, missing: Numbers, columns: Numbers, amounts: Numbers | None = None, most: int = 1
    ) -> Iterator[tuple[Cost, int]]:
        """Lower bounds on these rows, the lowest first, then by row.

        `missing`, by column and row, is what one more pod requests there and is not free: of one column at least. With
        `amounts`, which one pod requests, a node may take up to `most` pods at once.
        """
        if not len(rows):
            return
        cells = np.ix_(columns, rows)
        highest: Numbers = np.full(len(rows), self._levels[0] if self._levels else 0, np.int64)
        freed = np.zeros_like(missing)
        for number, level in enumerate(self._levels[1:]):
            freed += self._freeable[number][cells]
            highest[(missing > freed).any(axis=0)] = level
        highest = np.maximum(highest, self._lowest[rows])
        largest = np.maximum(self._largest[cells], 1)
        victims, total = np.full(len(rows), np.inf), np.full(len(rows), np.inf)
        for pods in range(1, most + 1):
            more = 0 if amounts is None else (pods - 1) * amounts[:, None]
            fewest: Numbers = np.maximum((-(-(missing + more) // largest)).max(axis=0), 1)
            of_all = highest + ABOVE_ANY_PRIORITY + (fewest - 1) * (self._lowest[rows] + ABOVE_ANY_PRIORITY)
            victims, total = np.minimum(victims, fewest / pods), np.minimum(total, of_all / pods)
        violations, start = self._protected[rows].astype(np.int64), -self._latest[rows]
        for one in np.lexsort((rows, start, victims, total, highest, violations)):
            cost = int(violations[one]), int(highest[one]), float(total[one]), float(victims[one]), float(start[one])
            yield cost, int(rows[one])


class CheapestNodes:
    """For members with the same requirements. `changed` must be called for each row that a member was placed on."""

    def __init__(self, bounds: Iterator[tuple[Cost, int]], evaluate: Evaluate) -> None:
        self._bounds, self._evaluate = bounds, evaluate
        self._next = next(bounds, None)
        self._found: list[tuple[Cost, int, int]] = []  # a heap: cost, row, and the version of the row
        self._versions: dict[int, int] = {}

    def cheapest(self) -> int | None:
        """The row with the lowest cost, then the first by name; None when no row is left."""
        while True:
            while self._found and self._found[0][2] != self._versions.get(self._found[0][1], 0):
                heappop(self._found)
            if self._next is None or (self._found and self._found[0][:2] <= self._next):
                return self._found[0][1] if self._found else None
            row = self._next[1]
            self._next = next(self._bounds, None)
            if row not in self._versions:
                self._push(row)

    def changed(self, row: int) -> None:
        """The bound of this row holds no longer: evicted victims may leave capacity for more members."""
        self._versions[row] = self._versions.get(row, 0) + 1
        self._push(row)

    def _push(self, row: int) -> None:
        cost = self._evaluate(row)
        if cost is not None:
            heappush(self._found, (cost, row, self._versions.get(row, 0)))


def requested_by_kind(snapshot: Snapshot) -> Numbers:
    """What a pod of each kind requests, by kind and column."""
    kinds = snapshot.bound_pods.kinds
    found: Numbers = np.zeros((len(kinds), len(snapshot.table.used)), np.int64)
    for number, requirements in enumerate(kinds):
        for column, amount in snapshot.table.known_columns(requirements):
            found[number, column] = amount
    return found
