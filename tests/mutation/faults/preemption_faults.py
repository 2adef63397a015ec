"""Faults of preemption as a decision: whether it is taken at all, for whom, and how much it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scheduler.core import placing, preempt, units
from scheduler.core.draft import Draft
from scheduler.core.model import Pod, Shape
from scheduler.core.nodes import Eligibility
from scheduler.core.plan import Planning
from scheduler.core.preempt import Preemption
from scheduler.core.room import Room, size
from scheduler.core.victims import Candidates
from scheduler.runtime import config
from tests.broken.faults import Patch, fault

_preempt = preempt.preempt


@fault("DOC-1", "DOC-2", "JPR-01", "PRE-01", "PRE-11", "PRE-13", "PRE-23", "QUE-14")
def never_preempts(patch: Patch) -> None:
    """Nobody ever goes for anybody."""
    patch.attribute(Planning, "_make_room", lambda *_: False)


@fault("QUE-07")
def preemption_stays_on(patch: Patch) -> None:
    """Preemption cannot be switched off."""
    read = config.read_config
    patch.function(read, lambda path: replace(read(path), preemption=True))


@fault("JPR-04", "PRE-12")
def never_is_ignored(patch: Patch) -> None:
    """A pod with the preemptionPolicy Never preempts all the same."""
    patch.function(units._preempts, lambda *_: True)


@fault("DOC-5", "JPR-03", "JPR-15", "JPR-22")
def evicts_for_a_part(patch: Patch) -> None:
    """When evictions do not make room for a whole gang, they are made for as many members as they help."""

    def for_some(members: Sequence[Pod], candidates: Candidates, draft: Draft) -> Preemption | None:
        for number in range(len(members), 0, -1):
            found = _preempt(members[:number], candidates, draft)
            if found is not None:
                anywhere = next(iter(found.placement.values()))
                return replace(found, placement={pod.uid: anywhere for pod in members} | found.placement)
        return None

    patch.function(_preempt, for_some)


@fault("JPR-03", "JPR-22", "PRE-19")
def evicts_in_vain(patch: Patch) -> None:
    """Whoever finds no place has everybody less important evicted, whether that helps or not."""

    def in_hope(members: Sequence[Pod], candidates: Candidates, draft: Draft) -> Preemption | None:
        found, everybody = _preempt(members, candidates, draft), _neighbours(members, candidates)
        if found is not None or not everybody:
            return found
        row = draft.table.row[everybody[0].node]
        return Preemption({pod.uid: row for pod in members}, tuple(everybody))

    patch.function(_preempt, in_hope)


@fault("DOC-1", "JPR-08", "JPR-09", "JPR-11", "PRE-04", "PRE-06", "PRE-17", "PRE-29")
def nobody_is_kept_back(patch: Patch) -> None:
    """When somebody must go, everybody goes who is less important."""

    def all_of_them(members: Sequence[Pod], candidates: Candidates, draft: Draft) -> Preemption | None:
        found = _preempt(members, candidates, draft)
        return found and replace(found, victims=tuple(_neighbours(members, candidates)))

    patch.function(_preempt, all_of_them)


@fault("JPR-17", "TNT-12")
def victims_behind_taints(patch: Patch) -> None:
    """Nodes that a pod may not enter are cleared for it."""

    def anywhere(members: Sequence[Pod], candidates: Candidates, draft: Draft) -> Preemption | None:
        table = draft.table
        judged = table.eligibility

        def everywhere(shape: Shape) -> Eligibility:
            return replace(judged(shape), allowed=np.ones(len(table), np.bool_))

        table.eligibility = everywhere  # type: ignore[method-assign]
        try:
            return _preempt(members, candidates, draft)
        finally:
            del table.eligibility

    patch.function(_preempt, anywhere)


@fault("JPR-19")
def sizes_are_ignored(patch: Patch) -> None:
    """Every member of a gang is taken to be as small as its smallest."""
    place = placing.place

    def alike(members: Sequence[Pod]) -> list[Pod]:
        smallest = min(members, key=size).shape
        return [replace(pod, shape=smallest) for pod in members]

    def place_alike(members: Sequence[Pod], room: Room, wanted: dict[str, int] | None = None) -> object:
        return place(alike(members), room, wanted)

    patch.function(place, place_alike)
    patch.function(_preempt, lambda members, candidates, draft: _preempt(alike(members), candidates, draft))


@fault("PRE-02")
def free_room_is_not_enough(patch: Patch) -> None:
    """Whoever finds a place has somebody less important evicted as well."""
    start = Planning._start

    def start_and_evict(planning: Planning, unit: units.Unit, members: Sequence[Pod]) -> bool:
        started = start(planning, unit, members)
        draft = planning.draft
        first = units._single(members[0], draft.cluster.group_of(members[0]), draft.cluster)
        for victim in _neighbours(members, planning.candidates(first))[:1] if started else ():
            draft.evict([victim])
            row = draft.table.row[victim.node]
            planning.actions.append(planning._eviction(victim, first, members, {pod.uid: row for pod in members}))
        return started

    patch.attribute(Planning, "_start", start_and_evict)


def _neighbours(members: Sequence[Pod], candidates: Candidates) -> list[Pod]:
    """Candidates of the members' own namespace: the harness has pods of its own in another one."""
    return [pod for pod in candidates.everybody() if pod.key[0] == members[0].key[0]]
