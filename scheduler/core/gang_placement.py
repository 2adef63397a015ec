"""Gang: a place for every member, or for none.

The largest member first, each where it fits best. Where members differ that can paint itself into a corner, so a
bounded search follows; where they are alike it cannot, and counting is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from scheduler.core.model import Pod, Shape
from scheduler.core.nodes import Mask
from scheduler.core.room import Room, largest_first

Placement = dict[str, int]  # by uid, the row of a node

_SEARCHED_MEMBERS = 48
_SEARCH_STEPS = 4000


def place(members: Sequence[Pod], room: Room, wanted: Mapping[str, int] | None = None) -> Placement | None:
    """Take room for all of them, where `wanted` says first; or leave the room as it was and return None."""
    if len(members) == 1:
        return _greedily(members, room, wanted or {})
    shapes = {pod.shape for pod in members}
    if len(shapes) == 1 and room.capacity(members[0].shape) < len(members):
        return None
    ordered = sorted(members, key=largest_first)
    placed = _greedily(ordered, room, wanted or {})
    if placed is None and len(shapes) > 1 and len(members) <= _SEARCHED_MEMBERS:
        placed = _Search(ordered, room).run()
    return placed


def _greedily(members: Sequence[Pod], room: Room, wanted: Mapping[str, int]) -> Placement | None:
    placed: Placement = {}
    for pod in members:
        row = wanted.get(pod.uid)
        if row is not None and room.fits(row, pod.shape):
            room.take(row, pod.shape)
        else:
            row = room.take_best(pod.shape)
        if row is None:
            _give_back(members, placed, room)
            return None
        placed[pod.uid] = row
    return placed


def _give_back(members: Sequence[Pod], placed: Mapping[str, int], room: Room) -> None:
    for pod in members:
        if pod.uid in placed:
            room.give(placed[pod.uid], pod.shape)


class _Search:
    """Every arrangement, up to a number of steps; nodes that are alike are tried once."""

    def __init__(self, members: Sequence[Pod], room: Room) -> None:
        self._members, self._room = members, room
        self._shapes: list[Shape] = list(dict.fromkeys(pod.shape for pod in members))
        self._allowed: list[Mask] = [room.table.eligibility(shape).allowed for shape in self._shapes]
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
            if self._steps > _SEARCH_STEPS:
                return False
            self._room.take(row, pod.shape)
            self._placed[pod.uid] = row
            if self._place_from(number + 1):
                return True
            del self._placed[pod.uid]
            self._room.give(row, pod.shape)
        return False

    def _choices(self, pod: Pod) -> list[int]:
        seen: set[tuple[object, ...]] = set()
        choices = []
        for row in np.flatnonzero(self._room.fitting(pod.shape)):
            likeness = tuple(tuple(layer[:, row]) for layer in self._room.layers)
            kind = (*likeness, *(bool(allowed[row]) for allowed in self._allowed))
            if kind not in seen:
                seen.add(kind)
                choices.append((sum(likeness[0]), int(row)))
        return [row for _, row in sorted(choices)]
