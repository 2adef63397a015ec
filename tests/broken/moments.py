"""Faults between a decision and the start: while victims leave, and when somebody more important comes along."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.core.model import Pod
from scheduler.core.nodes import NodeTable
from scheduler.core.placing import Placement
from scheduler.core.plan import Planning
from scheduler.core.units import Unit
from tests.broken.faults import Patch, fault


@fault("DOC-5", "JPR-13", "PRE-16", "PRE-22")
def no_room_is_held(patch: Patch) -> None:
    """Nobody is nominated, and the room that victims give back is anybody's."""

    def promise_nothing(planning: Planning, unit: Unit, least: Sequence[Pod], placement: Placement) -> None:
        for pod in least:
            planning.draft.later.give(placement[pod.uid], pod.shape)
        planning._report(unit.members, f"{unit.name} waits for pods that leave")

    patch.attribute(Planning, "_promise", promise_nothing)


@fault("JPR-12", "PRE-17")
def a_second_round(patch: Patch) -> None:
    """Whoever waits for its victims to leave has another one evicted."""
    hold = Planning._hold

    def hold_and_evict(planning: Planning, unit: Unit, least: Sequence[Pod]) -> bool:
        held = hold(planning, unit, least)
        others = [pod for pod in planning.candidates(unit).everybody() if pod.key[0] == least[0].key[0]]
        for victim in others[-1:] if held else ():
            row = planning.draft.table.row[victim.node]
            planning.draft.evict([victim])
            planning.actions.append(planning._eviction(victim, unit, least, {pod.uid: row for pod in least}))
        return held

    patch.attribute(Planning, "_hold", hold_and_evict)


@fault("JPR-12", "JPR-13", "PRE-16", "PRE-17", "PRE-28")
def who_leaves_holds_nothing(patch: Patch) -> None:
    """A pod that is being deleted is taken to be gone."""
    hold = NodeTable.hold

    def until_asked(
        table: NodeTable, name: str, requests: Sequence[tuple[str, int]], *, leaving: bool, sign: int
    ) -> None:
        if not leaving:
            hold(table, name, requests, leaving=False, sign=sign)

    patch.attribute(NodeTable, "hold", until_asked)


@fault("JPR-14", "PRE-22")
def promises_are_final(patch: Patch) -> None:
    """Whoever is nominated goes before everybody else, also before the more important."""

    def promised_first(unit: Unit) -> tuple[bool, int, float, str]:
        return not any(pod.nominated for pod in unit.members), -unit.priority, unit.created, unit.name

    patch.attribute(Unit, "order", property(promised_first))
