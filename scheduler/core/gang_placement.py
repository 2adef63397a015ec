"""Gang placement: a node for every member, or for none.

Greedy: the largest member first, each on its best node. That can fail for a heterogeneous gang although a placement
exists, so a bounded search follows. For identical members it cannot, and counting is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from scheduler.core.capacity import Capacity, largest_first
from scheduler.core.node_table import Mask
from scheduler.core.scheduling_types import Pod, PodRequirements

Placement = dict[str, int]  # by uid, the row of a node

_MAX_SEARCHED_MEMBERS = 48
_MAX_SEARCH_STEPS = 4000


def place(members: Sequence[Pod], capacity: Capacity, nominated: Mapping[str, int] | None = None) -> Placement | None:
    """Allocate for all members, on their nominated nodes first; or leave the capacity unchanged and return None."""
    if len(members) == 1:
        return _place_greedily(members, capacity, nominated or {})
    distinct = {pod.requirements for pod in members}
    if len(distinct) == 1 and capacity.max_pods(members[0].requirements) < len(members):
        return None
    ordered = sorted(members, key=largest_first)
    placed = _place_greedily(ordered, capacity, nominated or {})
    if placed is None and len(distinct) > 1 and len(members) <= _MAX_SEARCHED_MEMBERS:
        placed = _Search(ordered, capacity).run()
    return placed


def _place_greedily(members: Sequence[Pod], capacity: Capacity, nominated: Mapping[str, int]) -> Placement | None:
    placed: Placement = {}
    for pod in members:
        row = nominated.get(pod.uid)
        if row is not None and capacity.fits(row, pod.requirements):
            capacity.allocate(row, pod.requirements)
        else:
            row = capacity.allocate_best(pod.requirements)
        if row is None:
            _release_all(members, placed, capacity)
            return None
        placed[pod.uid] = row
    return placed


def _release_all(members: Sequence[Pod], placed: Mapping[str, int], capacity: Capacity) -> None:
    for pod in members:
        if pod.uid in placed:
            capacity.release(placed[pod.uid], pod.requirements)


class _Search:
    """Backtracking over all placements, up to a number of steps; identical nodes are tried once."""

    def __init__(self, members: Sequence[Pod], capacity: Capacity) -> None:
        self._members, self._capacity = members, capacity
        self._distinct: list[PodRequirements] = list(dict.fromkeys(pod.requirements for pod in members))
        self._allowed: list[Mask] = [capacity.table.eligibility(one).allowed for one in self._distinct]
        self._placed: Placement = {}
        self._steps = 0

    def run(self) -> Placement | None:
        return dict(self._placed) if self._place_from(0) else None

    def _place_from(self, number: int) -> bool:
        if number == len(self._members):
            return True
        pod = self._members[number]
        for row in self._choices(pod):
            self._steps += 1
            if self._steps > _MAX_SEARCH_STEPS:
                return False
            self._capacity.allocate(row, pod.requirements)
            self._placed[pod.uid] = row
            if self._place_from(number + 1):
                return True
            del self._placed[pod.uid]
            self._capacity.release(row, pod.requirements)
        return False

    def _choices(self, pod: Pod) -> list[int]:
        seen: set[tuple[object, ...]] = set()
        choices = []
        for row in np.flatnonzero(self._capacity.fitting(pod.requirements)):
            free = tuple(tuple(layer[:, row]) for layer in self._capacity.layers)
            node_class = (*free, *(bool(allowed[row]) for allowed in self._allowed))
            if node_class not in seen:
                seen.add(node_class)
                choices.append((sum(free[0]), int(row)))
        return [row for _, row in sorted(choices)]
