"""Nomination faults: between the preemption decision and the binding."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.core.gang_placement import Placement
from scheduler.core.node_table import NodeTable
from scheduler.core.plan import SchedulingCycle
from scheduler.core.scheduling_types import Pod
from scheduler.core.scheduling_units import Unit
from tests.mutation.faults.registry import Patch, fault


@fault(
    'DOC-5: "hp-worker-1", "hp-worker-2" are nominated to different nodes while',
    'JPR-13: "lesser", "equal" stay pending',
    'PRE-16: "urgent" is nominated to the node of "victim" while "victim" terminates',
    'PRE-22: "urgent" is nominated to the node of "victim" while "victim" terminates',
)
def capacity_is_not_reserved(patch: Patch) -> None:
    """Preemptors are not nominated, and the capacity that victims free is not reserved."""

    def without_reservation(
        cycle: SchedulingCycle, unit: Unit, min_members: Sequence[Pod], placement: Placement
    ) -> None:
        for pod in min_members:
            cycle.snapshot.free_later.release(placement[pod.uid], pod.requirements)
        cycle._report(unit.members, f"{unit.name} waits for pods to terminate")

    patch.attribute(SchedulingCycle, "_nominate", without_reservation)


@fault(
    'JPR-12: the gang "train" stays pending while exactly two of "first", "second"',
    'PRE-17: "urgent" stays pending while exactly one of "first", "second" terminates',
)
def preempts_again_while_victims_terminate(patch: Patch) -> None:
    """A preemptor whose victims are terminating preempts one more pod."""
    reserve = SchedulingCycle._reserve

    def reserve_and_evict(cycle: SchedulingCycle, unit: Unit, min_members: Sequence[Pod]) -> bool:
        reserved = reserve(cycle, unit, min_members)
        others = [pod for pod in cycle.candidates(unit).all_pods() if pod.key[0] == min_members[0].key[0]]
        for victim in others[-1:] if reserved else ():
            row = cycle.snapshot.table.row[victim.node]
            cycle.snapshot.evict([victim])
            cycle.actions.append(cycle._eviction(victim, unit, min_members, {pod.uid: row for pod in min_members}))
        return reserved

    patch.attribute(SchedulingCycle, "_reserve", reserve_and_evict)


@fault(
    'JPR-12: the gang "train" stays pending while exactly two of "first", "second"',
    'JPR-13: the gang "train" stays pending while exactly two of "early", "late"',
    'PRE-16: "urgent" stays pending',
    'PRE-17: "urgent" stays pending while exactly one of "first", "second" terminates',
    'PRE-28: "urgent", "lower" stay pending',
)
def terminating_pods_count_as_gone(patch: Patch) -> None:
    """Terminating pods count as gone."""
    add_usage = NodeTable.add_usage

    def without_terminating(
        table: NodeTable, name: str, requests: Sequence[tuple[str, int]], *, terminating: bool, sign: int
    ) -> None:
        if not terminating:
            add_usage(table, name, requests, terminating=False, sign=sign)

    patch.attribute(NodeTable, "add_usage", without_terminating)


@fault('JPR-14: no pod of the gang "first" is bound', 'PRE-22: "urgent" stays pending')
def nominated_pods_come_first(patch: Patch) -> None:
    """Nominated pods come before all others, also before higher priorities."""

    def nominated_first(unit: Unit) -> tuple[bool, int, float, str]:
        return not any(pod.nominated for pod in unit.members), -unit.priority, unit.created, unit.name

    patch.attribute(Unit, "order", property(nominated_first))
