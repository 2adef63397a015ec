"""The search for a placement of a gang whose members matter to each other: affinity, spread, host ports.

Members join one after the other, and whether one may join depends on those before it: a pod that must be near another
comes after that, and a spread may only allow one order. So the search goes back both on the node and on the order.

Members with equal requirements are one class. Nodes that no filter tells apart, as they are now, are one kind: only the
best of a kind is tried. A state (how many members of which class are on which node) that led nowhere is not entered
again. With enough effort that is exact; beyond it a placement may be missed (docs/reference-scheduler.md, Limits).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

import numpy as np

from scheduler.core.capacity import Capacity
from scheduler.core.effort import Effort
from scheduler.core.node_table import Numbers
from scheduler.core.pod_constraints import AntiAffinityOwners, PodConstraints
from scheduler.core.scheduling_types import PodRequirements

_MAX_MEMBERS = 300  # for more the interpreter's stack is not deep enough

_Placed = list[tuple[int, PodRequirements]]


def constrained_search(
    wanted: Mapping[PodRequirements, int], capacity: Capacity, effort: Effort
) -> list[tuple[int, PodRequirements]] | None:
    """Where so many pods with each of these requirements fit, in the order of joining; None if nothing was found.

    The capacity is left unchanged.
    """
    members = sum(wanted.values())
    if members > _MAX_MEMBERS or not effort.allows_filters(len(capacity.table), members):
        return None
    return _Search(wanted, capacity, effort).run()


class _Search:
    def __init__(self, wanted: Mapping[PodRequirements, int], capacity: Capacity, effort: Effort) -> None:
        self._missing, self._capacity, self._effort = Counter(wanted), capacity, effort
        self._placed: _Placed = []
        self._dead_ends: set[frozenset[tuple[tuple[int, PodRequirements], int]]] = set()
        self._same_forever = self._fixed_properties(list(wanted))

    def run(self) -> _Placed | None:
        return self._placed if self._place_rest() else None

    def _place_rest(self) -> bool:
        if not self._missing.total():
            return True
        state = frozenset(Counter(self._placed).items())
        if state in self._dead_ends:
            return False
        for requirements in [one for one, count in self._missing.items() if count]:
            for row in self._choices(requirements):
                self._capacity.allocate(row, requirements)
                self._missing[requirements] -= 1
                self._placed.append((row, requirements))
                complete = self._place_rest()
                self._capacity.release(row, requirements)
                self._missing[requirements] += 1
                if complete:
                    return True
                self._placed.pop()
                if self._effort.left <= 0:
                    return False
        self._dead_ends.add(state)
        return False

    def _choices(self, requirements: PodRequirements) -> Iterator[int]:
        """The nodes that such a pod may join now, the best first, one of each kind."""
        if not self._effort.spend_on_filters(len(self._capacity.table)):
            return
        left = self._capacity.fitting(requirements)
        kind_of = self._kinds(np.flatnonzero(left))
        rows_of: dict[bytes, list[int]] = defaultdict(list)
        for row, kind in kind_of.items():
            rows_of[kind].append(row)
        while (best := self._capacity.best(requirements, left)) is not None:
            yield best
            left[rows_of[kind_of[best]]] = False

    def _kinds(self, rows: Numbers) -> dict[int, bytes]:
        """By row, everything that tells a node apart: what is free, which pods are counted there, and what stays so."""
        found = np.concatenate((*self._capacity.layers, self._same_forever))[:, rows].T.copy()
        kinds = found.view(np.dtype((np.void, found.shape[1] * found.itemsize))).reshape(-1)
        return dict(zip(rows.tolist(), kinds.tolist(), strict=True))

    def _fixed_properties(self, classes: list[PodRequirements]) -> Numbers:
        table = self._capacity.table
        masks = []
        for one in classes:
            eligibility = table.eligibility(one)
            masks += [eligibility.allowed, eligibility.tainted, eligibility.unmatched, eligibility.penalty]
        domains = []
        for key in sorted(set(self._topology_keys(classes))):
            numbers, count = table.domains(key)
            sizes = np.bincount(numbers + 1, minlength=count + 1)[numbers + 1]
            domains.append(np.where((numbers >= 0) & (sizes == 1), -2, numbers))  # one such node is like another
        return np.array([*masks, *domains], np.int64)

    def _topology_keys(self, classes: list[PodRequirements]) -> Iterator[str]:
        for one in classes:
            wanted = one.constraints or PodConstraints()
            for term in (*wanted.affinity, *wanted.anti_affinity, *(term for _, term in wanted.preferred)):
                yield term.topology_key
            yield from (constraint.topology_key for constraint in wanted.spread)
        for counter in self._capacity.table.counter_column:
            if isinstance(counter, AntiAffinityOwners):
                yield counter.term.topology_key
