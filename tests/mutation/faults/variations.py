"""Variations: the reference scheduler, changed in what no document promises. It stays correct, so it must stay green.

A scenario that is red on one of them asks for more than it says: that is a defect of the scenario.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from scheduler.client import Client
from scheduler.core import node_table, unschedulable
from scheduler.core.actions import UNSCHEDULABLE, Bind
from scheduler.core.capacity import Capacity, Crowding, scored_resource
from scheduler.core.node_table import Mask
from scheduler.core.plan import SchedulingCycle
from scheduler.core.scheduling_types import Node, Pod, PodRequirements
from scheduler.core.scheduling_units import Unit
from scheduler.core.victims import Candidates
from scheduler.runtime import requests
from scheduler.runtime import scheduler as scheduling_loop
from scheduler.runtime.event_recorder import EventRecorder
from scheduler.runtime.executor import Executor
from tests.mutation.faults.registry import Patch

_BATCH_INTERVAL = 0.3  # seconds
_SLOW_CYCLE = 1.0  # seconds
_PENALTY_WEIGHT = 1 << 44  # a preference outweighs any amount of free resources
_MAX_FREE = _PENALTY_WEIGHT - 1


def other_tie_breaks(patch: Patch) -> None:
    """Where nothing else decides, the last node, pod and gang by name is chosen, not the first."""
    priority_key, order = Candidates.priority_key, vars(Unit)["order"].fget

    def nodes_by_name(nodes: Iterable[Node], key: Callable[[Node], str]) -> list[Node]:
        return sorted(nodes, key=key, reverse=True)

    def last_pod_first(candidates: Candidates, pod: Pod) -> tuple[int, float, tuple[int, ...]]:
        priority, started, key = priority_key(candidates, pod)
        return priority, started, _descending("/".join(key))

    def last_unit_first(unit: Unit) -> tuple[object, ...]:
        *before, name = order(unit)
        return *before, _descending(name)

    vars(node_table)["sorted"] = sorted  # the only call that takes a key there is the order of the nodes
    patch.attribute(node_table, "sorted", lambda found, key=None: nodes_by_name(found, key) if key else sorted(found))
    patch.attribute(Candidates, "priority_key", last_pod_first)
    patch.attribute(Unit, "order", property(last_unit_first))


def spreads_pods(patch: Patch) -> None:
    """Pods are placed on the emptiest node that fits, not on the fullest."""

    def emptiest(
        capacity: Capacity, requirements: PodRequirements, among: Mask, _crowding: Crowding | None = None
    ) -> int | None:
        rows = np.flatnonzero(among)
        if not len(rows):
            return None
        score = capacity.table.eligibility(requirements).penalty[rows] * _PENALTY_WEIGHT
        column = capacity.table.column.get(scored_resource(requirements))
        if column is not None:
            score = score - np.clip(capacity.layers[0][column, rows], 0, _MAX_FREE)
        return int(rows[np.argmin(score)])

    def without_shortcut(
        capacity: Capacity, requirements: PodRequirements, _crowding: Crowding | None = None
    ) -> int | None:
        row = emptiest(capacity, requirements, capacity.fitting(requirements))
        if row is not None:
            capacity.allocate(row, requirements)
        return row

    patch.attribute(Capacity, "best", emptiest)
    patch.attribute(Capacity, "allocate_best", without_shortcut)


def other_wording(patch: Patch) -> None:
    """Events and conditions say the same in other words, where no document shows the words."""
    record, report, fit_error = EventRecorder.record, SchedulingCycle._report, unschedulable.fit_error
    mark = requests.mark_preempted

    def reworded_event(events: EventRecorder, *regarding: Any, reason: str, note: str, **more: Any) -> None:
        if reason == "Preempted":  # kube-scheduler's wording before 1.27, which a walk-through shows as well
            preemptor, node = more["related"], note.rpartition(" ")[2]
            note = f"Preempted by {preemptor.namespace}/{preemptor.name} on node {node}"
        record(events, *regarding, reason=reason, note=note, **more)

    def reworded_report(
        cycle: SchedulingCycle, members: Sequence[Pod], message: str, reason: str = UNSCHEDULABLE
    ) -> None:
        report(cycle, members, f"Not scheduled yet ({message})", reason)

    def reworded_fit_error(requirements: PodRequirements, capacity: Capacity) -> str:
        _, _, reasons = fit_error(requirements, capacity).partition(": ")
        return f"None of the {len(capacity.table)} nodes will do; {reasons}"

    async def reworded_mark(client: Client, pod: Pod, message: str) -> None:
        await mark(client, pod, message.replace("a higher priority pod", "a pod that ranks higher"))

    patch.attribute(EventRecorder, "record", reworded_event)
    patch.attribute(SchedulingCycle, "_report", reworded_report)
    patch.function(fit_error, reworded_fit_error)
    patch.function(mark, reworded_mark)


def binds_in_batches(patch: Patch) -> None:
    """Bindings are collected and written together, every 0.3 s."""
    bind = Executor._bind

    async def with_the_next_batch(executor: Executor, action: Bind) -> None:
        await asyncio.sleep(_BATCH_INTERVAL - asyncio.get_running_loop().time() % _BATCH_INTERVAL)
        await bind(executor, action)

    patch.attribute(Executor, "_bind", with_the_next_batch)


def decides_a_second_later(patch: Patch) -> None:
    """A second passes between a change and the decision about it."""
    patch.attribute(scheduling_loop, "_MIN_DELAY", _SLOW_CYCLE)
    patch.attribute(scheduling_loop, "_MAX_DELAY", _SLOW_CYCLE)


def _descending(text: str) -> tuple[int, ...]:
    """A key that sorts texts the other way round."""
    return (*(-ord(letter) for letter in text), 1)


VARIATIONS: dict[str, Callable[[Patch], None]] = {
    one.__name__.replace("_", "-"): one
    for one in (other_tie_breaks, spreads_pods, other_wording, binds_in_batches, decides_a_second_later)
}
