"""Nomination faults: between the preemption decision and the binding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scheduler.core import gang_placement
from scheduler.core.capacity import Capacity, Crowding
from scheduler.core.effort import Effort
from scheduler.core.gang_placement import Placement
from scheduler.core.node_table import Eligibility, NodeTable
from scheduler.core.plan import SchedulingCycle
from scheduler.core.scheduling_types import Pod, PodRequirements
from scheduler.core.scheduling_units import Unit
from scheduler.runtime import convert
from scheduler.runtime.api_types import ApiPod
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


@fault('DOC-5: "hp-worker-1", "hp-worker-2", "lp-pod-3" stay pending', 'JPR-13: "lesser", "equal" stay pending')
def nominated_nodes_are_given_away(patch: Patch) -> None:
    """Members of a gang are nominated, but other pods may use what has become free there before the gang can start."""
    nominate = SchedulingCycle._nominate

    def only_nominate(cycle: SchedulingCycle, unit: Unit, min_members: Sequence[Pod], placement: Placement) -> None:
        nominate(cycle, unit, min_members, placement)
        for pod in min_members:
            cycle.snapshot.free_later.release(placement[pod.uid], pod.requirements)

    patch.attribute(SchedulingCycle, "_nominate", only_nominate)


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
            cycle.snapshot.evict([victim])
            cycle.actions.append(cycle._eviction(victim, unit, min_members[0]))
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
        table: NodeTable, name: str, requirements: PodRequirements, *, terminating: bool, sign: int
    ) -> None:
        if not terminating:
            add_usage(table, name, requirements, terminating=False, sign=sign)

    patch.attribute(NodeTable, "add_usage", without_terminating)


@fault('JPR-14: no pod of the gang "first" is bound', 'PRE-22: "urgent" stays pending')
def nominated_pods_come_first(patch: Patch) -> None:
    """Nominated pods come before all others, also before higher priorities."""

    def nominated_first(unit: Unit) -> tuple[bool, int, float, str]:
        return not any(pod.nominated for pod in unit.members), -unit.priority, unit.created, unit.name

    patch.attribute(Unit, "order", property(nominated_first))


@fault('PRE-30: "equal" stays pending')
def equal_priority_takes_reserved_capacity(patch: Patch) -> None:
    """A pod takes capacity that is reserved for a nominated pod of equal priority."""
    nominate, start = SchedulingCycle._nominate, SchedulingCycle._start
    reserved: dict[int, tuple[int, Pod]] = {}  # the priority, and the pod, by the row of its node

    def remember(cycle: SchedulingCycle, unit: Unit, min_members: Sequence[Pod], placement: Placement) -> None:
        reserved.update({placement[pod.uid]: (unit.priority, pod) for pod in min_members})
        nominate(cycle, unit, min_members, placement)

    def start_there(cycle: SchedulingCycle, unit: Unit, members: Sequence[Pod]) -> bool:
        if any(pod.nominated for pod in members):
            return start(cycle, unit, members)
        free_later = cycle.snapshot.free_later
        equal = [(row, pod) for row, (priority, pod) in reserved.items() if priority == unit.priority]
        for row, pod in equal:
            free_later.release(row, pod.requirements)
        started = start(cycle, unit, members)
        for row, pod in equal:
            free_later.allocate(row, pod.requirements)
        return started

    patch.attribute(SchedulingCycle, "_nominate", remember)
    patch.attribute(SchedulingCycle, "_start", start_there)


@fault('PRE-33: "urgent" stays pending')
def nominated_nodes_are_not_checked_again(patch: Patch) -> None:
    """A nominated pod is bound to its nominated node, whatever taints that has got meanwhile."""
    place = gang_placement.place

    def place_there(
        members: Sequence[Pod],
        capacity: Capacity,
        nominated: Mapping[str, int] | None = None,
        crowding: Crowding | None = None,
        *,
        effort: Effort | None = None,
    ) -> Placement | None:
        table, rows = capacity.table, list((nominated or {}).values())
        evaluate = table.eligibility

        def everywhere_nominated(requirements: PodRequirements) -> Eligibility:
            found = evaluate(requirements)
            allowed = found.allowed.copy()
            allowed[rows] = True
            return replace(found, allowed=allowed)

        table.eligibility = everywhere_nominated  # type: ignore[method-assign]
        try:
            return place(members, capacity, nominated, crowding, effort=effort)
        finally:
            del table.eligibility

    patch.function(place, place_there)


@fault('FLT-07: "urgent" stays pending while exactly one of "first", "second" terminates')
def terminations_before_the_start_are_forgotten(patch: Patch) -> None:
    """After a restart nothing is expected of pods that were terminating before it: other pods are preempted."""
    read = convert.convert_pod
    seen_running: set[str] = set()

    def without_older_terminations(found: ApiPod) -> Pod:
        pod = read(found)
        if not pod.terminating:
            seen_running.add(pod.uid)
        forgotten = pod.terminating and pod.uid not in seen_running
        return replace(pod, terminating=False, non_preemptible=True) if forgotten else pod

    patch.function(read, without_older_terminations)
