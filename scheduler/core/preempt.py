"""Preemption: one decision for a pod or for a whole gang. Everybody it needs goes, or nobody does.

1. All members are placed, one after the other, on the cluster without the less important pods. If one finds no place,
   nobody goes.
2. Each member takes the node that costs least (see `victims`), counting only those who would go in addition.
3. From the most important victim down, whoever can stay stays, even if members must be placed anew for it.

What is left is a set from which nobody can be taken away. A pod by itself is a gang of one: then step 2 is the choice
of a node that kube-scheduler documents, and step 3 changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from scheduler.core.draft import Draft
from scheduler.core.model import Pod, Shape
from scheduler.core.nodes import Numbers
from scheduler.core.placing import Placement, place
from scheduler.core.room import Room, largest_first
from scheduler.core.victims import Candidates, Cost, known_columns

_NODES_LOOKED_AT = 100  # for one member: on a large cluster those without protected and with the least important pods
_REARRANGEMENTS = 64  # tried for one gang: beyond that a victim may go that a better arrangement could have kept


@dataclass(frozen=True, slots=True)
class Preemption:
    """Where the members will be, and who goes for them."""

    placement: Placement
    victims: tuple[Pod, ...]


def preempt(members: Sequence[Pod], candidates: Candidates, draft: Draft) -> Preemption | None:
    """How to make room for all of these members; None when no evictions would. The draft is left as it was."""
    return _RoomMaking(members, candidates, draft).run()


class _RoomMaking:
    def __init__(self, members: Sequence[Pod], candidates: Candidates, draft: Draft) -> None:
        self._draft, self._candidates = draft, candidates
        self._members = sorted(members, key=largest_first)
        self._base: Numbers = draft.later.layers[0]
        self._victims: dict[int, list[Pod]] = {}  # by row, as things stand
        self._wanted: dict[int, set[int]] = {}  # by row, the columns that members ask for there
        self._costs: dict[tuple[int, Shape], tuple[Cost, list[Pod]]] = {}

    def run(self) -> Preemption | None:
        if not self._candidates.on:
            return None
        everybody = self._candidates.everybody() if self._draft.shares.limited else []
        if self._draft.shares.excess(self._members, later=True, without=everybody):
            return None
        placement = self._cheaply()
        if placement is None:
            placement = place(self._members, Room(self._draft.table, self._base + self._candidates.freed))
            if placement is None:
                return None
            self._victims = {row: list(self._candidates.on.get(row, ())) for row in set(placement.values())}
        going = [pod for row in sorted(self._victims) for pod in self._victims[row]]
        if self._draft.shares.excess(self._members, later=True, without=going):
            going = everybody
        return self._keep_back(placement, going)

    def _cheaply(self) -> Placement | None:
        """Step 1 and 2 together: the cheapest node for each member, with everybody before it in place."""
        room = Room(self._draft.table, self._base + self._candidates.freed)
        placement: Placement = {}
        for pod in self._members:
            rows = np.flatnonzero(room.fitting(pod.shape))
            if not len(rows):
                return None
            if len(rows) > _NODES_LOOKED_AT:
                order = np.lexsort((self._candidates.worst[rows], self._candidates.endangered[rows]))
                rows = rows[order[:_NODES_LOOKED_AT]]
            row = min((int(row) for row in rows), key=lambda row: (self._cost(row, pod.shape, room)[0], row))
            self._victims[row] = self._cost(row, pod.shape, room)[1]
            room.take(row, pod.shape)
            self._wanted.setdefault(row, set()).update(column for column, _ in known_columns(pod, self._draft))
            placement[pod.uid] = row
            self._costs = {known: cost for known, cost in self._costs.items() if known[0] != row}
        return placement

    def _cost(self, row: int, shape: Shape, room: Room) -> tuple[Cost, list[Pod]]:
        """What one more such pod on this node would cost, and everybody who would have to leave it."""
        found = self._costs.get((row, shape))
        if found is None:
            victims = self._who_cannot_stay(row, shape, room)
            before = {pod.uid for pod in self._victims.get(row, ())}
            added = [pod for pod in self._with_crews(victims) if pod.uid not in before]
            found = self._costs[row, shape] = self._candidates.cost(added), victims
        return found

    def _who_cannot_stay(self, row: int, shape: Shape, room: Room) -> list[Pod]:
        free = room.layers[0][:, row].tolist()
        wanted = self._wanted.get(row, set()) | {column for column, _ in self._draft.table.columns(shape) or ()}
        for column, amount in self._draft.table.columns(shape) or ():
            free[column] -= amount
        pods = self._candidates.on.get(row, [])
        victims = []
        for pod in self._sparing_budgets(pods):
            asked = known_columns(pod, self._draft)
            if all(free[column] >= amount for column, amount in asked if column in wanted):
                for column, amount in asked:
                    free[column] -= amount
            else:
                victims.append(pod)
        return sorted(victims, key=self._candidates.importance)

    def _sparing_budgets(self, pods: Sequence[Pod]) -> list[Pod]:
        """The order in which victims are kept back: those whose budget would break, then the most important."""
        in_danger = {pod.uid for pod in self._candidates.in_danger(pods)}
        return sorted(pods, key=lambda pod: (pod.uid not in in_danger, self._candidates.importance(pod)))

    def _with_crews(self, pods: Sequence[Pod]) -> list[Pod]:
        everybody: dict[str, Pod] = {}
        for pod in pods:
            if pod.uid not in everybody:
                everybody |= {fellow.uid: fellow for fellow in self._candidates.crew(pod)}
        return sorted(everybody.values(), key=self._candidates.importance)

    def _keep_back(self, placement: Placement, going: Sequence[Pod]) -> Preemption:
        """Step 3: from the most important down, whoever can stay stays."""
        gone = {pod.uid: pod for pod in self._with_crews(going)}
        free, taken = self._after(placement, gone.values()), self._asked_for(placement)
        quota_is_short = bool(self._draft.shares.excess(self._members, later=True))
        rearranged = 0
        for pod in self._sparing_budgets(list(gone.values())):
            if pod.uid not in gone:
                continue
            crew = self._candidates.crew(pod)
            if quota_is_short and self._draft.shares.excess(
                self._members, later=True, without=_apart_from(crew, gone).values()
            ):
                continue
            if self._have_room(crew, free, taken):
                for kept in crew:
                    gone.pop(kept.uid, None)
                    for column, amount in known_columns(kept, self._draft):
                        free[column, self._draft.table.row[kept.node]] -= amount
            elif len(self._members) > 1 and rearranged < _REARRANGEMENTS:
                rearranged += 1
                rest = _apart_from(crew, gone)
                other = place(self._members, self._room_without(rest.values()), placement)
                if other is not None:
                    placement, gone = other, rest
                    free, taken = self._after(placement, gone.values()), self._asked_for(placement)
        return Preemption(placement, tuple(sorted(gone.values(), key=self._candidates.importance)))

    def _room_without(self, gone: Iterable[Pod]) -> Room:
        room = Room(self._draft.table, self._base.copy())
        for pod in gone:
            room.give(self._draft.table.row[pod.node], pod.shape)
        return room

    def _after(self, placement: Placement, gone: Iterable[Pod]) -> Numbers:
        room = self._room_without(gone)
        for pod in self._members:
            room.take(placement[pod.uid], pod.shape)
        return room.layers[0]

    def _asked_for(self, placement: Placement) -> set[tuple[int, int]]:
        """The columns, by row, of which the members take something."""
        return {
            (column, placement[member.uid])
            for member in self._members
            for column, _ in known_columns(member, self._draft)
        }

    def _have_room(self, pods: Sequence[Pod], free: Numbers, taken: set[tuple[int, int]]) -> bool:
        """Beside the members: what nobody of them asks for may be short already, and is no reason to go."""
        needed: dict[tuple[int, int], int] = {}
        for pod in pods:
            for column, amount in known_columns(pod, self._draft):
                place_of_it = column, self._draft.table.row[pod.node]
                needed[place_of_it] = needed.get(place_of_it, 0) + amount
        return all(free[place_of_it] >= amount for place_of_it, amount in needed.items() if place_of_it in taken)


def _apart_from(crew: Iterable[Pod], gone: dict[str, Pod]) -> dict[str, Pod]:
    stays = {fellow.uid for fellow in crew}
    return {uid: other for uid, other in gone.items() if uid not in stays}
