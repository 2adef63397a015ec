"""The order in which members join their nodes, where one may join only beside another."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.core.capacity import Capacity
from scheduler.core.scheduling_types import PodRequirements

Placed = list[tuple[int, PodRequirements]]  # rows of nodes, and who joins there, in this order


def in_joining_order(found: Sequence[tuple[int, PodRequirements]], capacity: Capacity) -> Placed | None:
    """These members, each after those that it needs; None if not all of them may join. The capacity is left unchanged.

    A member that may not join yet is asked again once others have joined.
    """
    joined: Placed = []
    waiting = list(found)
    while waiting:
        later: Placed = []
        for row, requirements in waiting:
            if capacity.fits(row, requirements):
                capacity.allocate(row, requirements)
                joined.append((row, requirements))
            else:
                later.append((row, requirements))
        if len(later) == len(waiting):
            break
        waiting = later
    for row, requirements in joined:
        capacity.release(row, requirements)
    return None if waiting else joined
