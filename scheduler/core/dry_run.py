"""The dry run of a preemption, as kube-scheduler does it: on each node alone, for a pod that other pods matter to.

On a node, all lower-priority pods are removed. If the pod then passes every filter, they are added back one by one, in
the order of reprieve, and stay where it still passes; the others are the victims. So a pod whose host port is in use,
whose required anti-affinity or spread is violated, or that must be avoided, preempts the pods there that exclude it.
Victims on other nodes are never considered, and a pod that it must be near is no help as a victim.

The nodes do not depend on each other: the n-th candidates of many nodes are added back together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import islice

import numpy as np

from scheduler.core.capacity import Capacity
from scheduler.core.cost_bounds import Cost
from scheduler.core.node_table import Numbers
from scheduler.core.placement_filters import may_exclude
from scheduler.core.scheduling_types import Pod, PodRequirements
from scheduler.core.snapshot import Snapshot
from scheduler.core.victims import Candidates

_NODES_AT_ONCE = 16  # at first; then four times as many


class DryRun:
    """`remaining` is free beside the members placed so far, without the victims selected for them."""

    def __init__(self, candidates: Candidates, remaining: Capacity, snapshot: Snapshot) -> None:
        self._candidates, self._snapshot, self._remaining = candidates, snapshot, remaining
        self._freed: Numbers = candidates.freeable.copy()  # by the candidates that are not selected yet
        self._selected: set[str] = set()
        self._amounts: dict[PodRequirements, Numbers] = {}

    def cheapest(self, requirements: PodRequirements) -> tuple[int, list[Pod]] | None:
        """The row on which such a pod costs the fewest victims, and these; None when it fits nowhere."""
        best: tuple[Cost, int, list[Pod]] | None = None
        bounds, at_once = self._bounds(requirements), _NODES_AT_ONCE
        while batch := list(islice(bounds, at_once)):
            at_once *= 4
            if best is not None and best[:2] <= batch[0]:
                break
            for row, victims in self._victims([row for _, row in batch], requirements).items():
                cost = self._candidates.cost(self._candidates.with_group_victims(victims))
                if best is None or (cost, row) < best[:2]:
                    best = cost, row, victims
        return None if best is None else best[1:]

    def select(self, victims: Iterable[Pod]) -> None:
        """These are victims from now on."""
        for pod in victims:
            row = self._snapshot.table.row[pod.node]
            self._selected.add(pod.uid)
            self._freed[:, row] -= self._vector(pod)
            self._remaining.release(row, pod.requirements)

    def _bounds(self, requirements: PodRequirements) -> Iterator[tuple[Cost, int]]:
        """The nodes on which it would fit without all candidates there, by a lower bound of the cost."""
        table, free = self._snapshot.table, self._remaining.layers[0]
        rows = np.flatnonzero(Capacity(table, free, freed=self._freed).fitting(requirements))
        if not len(rows):
            return iter(())
        requested = np.array(table.columns(requirements), np.int64)
        columns, amounts = requested[:, 0], requested[:, 1]
        missing: Numbers = amounts[:, None] - free[np.ix_(columns, rows)]
        lacking = (missing > 0).any(axis=0)
        return merge(
            self._candidates.bounds.ascending(rows[lacking], missing[:, lacking], columns),
            self._candidates.ascending_by_counters(rows[~lacking], frozenset(may_exclude(requirements, table))),
        )

    def _victims(self, rows: Sequence[int], requirements: PodRequirements) -> dict[int, list[Pod]]:
        """By row, the candidates that cannot stay beside such a pod."""
        freed, before = self._freed, self._freed[:, rows]
        without = Capacity(self._snapshot.table, self._remaining.layers[0], freed=freed)
        orders = {row: self._reprieve_order(row) for row in rows}
        victims: dict[int, list[Pod]] = {row: [] for row in rows}
        for position in range(max(map(len, orders.values()))):
            here = [row for row, order in orders.items() if len(order) > position]
            added = np.stack([self._vector(orders[row][position]) for row in here], axis=1)
            freed[:, here] -= added
            stays = without.fitting(requirements)[here]
            freed[:, here] += np.where(stays, 0, added)
            for row, kept in zip(here, stays.tolist(), strict=True):
                if not kept:
                    victims[row].append(orders[row][position])
        freed[:, rows] = before
        return victims

    def _reprieve_order(self, row: int) -> list[Pod]:
        pods = [pod for pod in self._candidates.on(row) if pod.uid not in self._selected]
        return self._candidates.reprieve_order(pods)

    def _vector(self, pod: Pod) -> Numbers:
        """What the pod counts in each column."""
        found = self._amounts.get(pod.requirements)
        if found is None:
            found = self._amounts[pod.requirements] = np.zeros(len(self._freed), np.int64)
            for column, amount in self._snapshot.table.usage(pod.requirements):
                found[column] += amount
        return found
