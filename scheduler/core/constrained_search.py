"""The search for a placement of a gang whose members matter to each other: affinity, spread, host ports.

Members join one after the other, and whether one may join depends on those before it: a pod that must be near another
comes after that, and a spread may only allow one order. So the search goes back both on the node and on the order.

Members with equal requirements are one class. Nodes that no filter tells apart, as they are now, are one kind: only the
best of a kind is tried. A state (how many members of which class are on which node) that led nowhere is not entered
again. With enough effort that is exact; beyond it a placement may be missed (docs/reference-scheduler.md, Limits).

The way to the first dead end is never cut short, however many members and nodes there are: the effort limits how often
the search goes back.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

import numpy as np

from scheduler.core.capacity import Capacity
from scheduler.core.effort import Effort
from scheduler.core.joining_order import Placed
from scheduler.core.node_kinds import NodeKinds
from scheduler.core.scheduling_types import PodRequirements


def constrained_search(
    wanted: Mapping[PodRequirements, int], capacity: Capacity, effort: Effort, *, going_back: bool = True
) -> Placed | None:
    """Where so many pods with each of these requirements fit, in the order of joining; None if nothing was found.

    The capacity is left unchanged.
    """
    return _Search(wanted, capacity, effort).run(going_back=going_back)


class _Search:
    def __init__(self, wanted: Mapping[PodRequirements, int], capacity: Capacity, effort: Effort) -> None:
        self._missing, self._capacity, self._effort = Counter(wanted), capacity, effort
        self._placed: Placed = []
        self._on: Counter[tuple[int, PodRequirements]] = Counter()  # the same, counted
        self._dead_ends: set[frozenset[tuple[tuple[int, PodRequirements], int]]] = set()
        self._kinds: NodeKinds | None = None

    def run(self, *, going_back: bool) -> Placed | None:
        """Depth first, without recursion: a gang may have more members than the interpreter's stack is deep."""
        choices = [self._choices()]
        while self._missing.total():
            choice = next(choices[-1], None)
            if choice is not None:
                self._join(*choice)
                if not self._dead_ends or self._state() not in self._dead_ends:
                    choices.append(self._choices())
                else:
                    self._leave()
                continue
            if not self._placed or not going_back or self._effort.left <= 0:
                self._undo_all()
                return None
            self._dead_ends.add(self._state())
            choices.pop()
            self._leave()
        found = list(self._placed)
        self._undo_all()
        return found

    def _choices(self) -> Iterator[tuple[int, PodRequirements]]:
        """Who may join now, and where: the best node first, then one of each kind."""
        for requirements in [one for one, count in self._missing.items() if count]:
            if self._dead_ends and self._effort.left <= 0:
                return
            self._effort.spend_on_filters(len(self._capacity.table))
            left = self._capacity.fitting(requirements)
            best = self._capacity.best(requirements, left)
            if best is None:
                continue
            yield best, requirements
            if self._kinds is None:
                self._kinds = NodeKinds(list(self._missing), self._capacity)
            rows = np.flatnonzero(left)
            kind_of, rows_of = (
                dict(zip(rows.tolist(), self._kinds.of(rows), strict=True)),
                defaultdict[bytes, list[int]](list),
            )
            for row, kind in kind_of.items():
                rows_of[kind].append(row)
            left[rows_of[kind_of[best]]] = False
            while (other := self._capacity.best(requirements, left)) is not None:
                yield other, requirements
                left[rows_of[kind_of[other]]] = False

    def _join(self, row: int, requirements: PodRequirements) -> None:
        self._capacity.allocate(row, requirements)
        self._missing[requirements] -= 1
        self._placed.append((row, requirements))
        self._on[row, requirements] += 1

    def _leave(self) -> None:
        row, requirements = self._placed.pop()
        self._capacity.release(row, requirements)
        self._missing[requirements] += 1
        self._on[row, requirements] -= 1

    def _undo_all(self) -> None:
        while self._placed:
            self._leave()

    def _state(self) -> frozenset[tuple[tuple[int, PodRequirements], int]]:
        return frozenset((one, count) for one, count in self._on.items() if count)
