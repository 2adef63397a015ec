"""Queue order faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from scheduler.core.scheduling_types import Group
from scheduler.core.scheduling_units import Unit
from scheduler.runtime import podgroups_and_queues
from scheduler.runtime.api_types import CustomResource, PriorityClass
from tests.mutation.faults.registry import Patch, fault


@fault(
    'DOC-3: the gang "B" is queued',
    'DOC-5: "hp-worker-1", "hp-worker-2", "lp-pod-3" stay pending',
    'JPR-20: "low-again" stays pending',
    'PRE-21: "urgent" stays pending',
    'PRE-24: "low" stays pending',
    'PRE-27: "replacement" stays pending',
    'QUE-02: the gang "low" is queued',
    'QUE-10: the gang "low" is queued',
)
def lowest_priority_first(patch: Patch) -> None:
    """Lower priorities are scheduled first."""
    patch.attribute(Unit, "order", property(lambda unit: (unit.priority, unit.created, unit.name)))


@fault(
    'DOC-3: the gang "B" is queued',
    'QUE-02: the gang "low" is queued',
    'QUE-10: the gang "low" is queued',
)
def priority_is_ignored(patch: Patch) -> None:
    """The queue order is the creation time, whatever the priority."""
    patch.attribute(Unit, "order", property(lambda unit: (unit.created, unit.name)))


@fault('QUE-03: the whole gang "older" runs')
def newest_first(patch: Patch) -> None:
    """At equal priority the newest unit is scheduled first."""
    patch.attribute(Unit, "order", property(lambda unit: (-unit.priority, -unit.created, unit.name)))


@fault('QUE-03: the whole gang "older" runs')
def creation_time_is_ignored(patch: Patch) -> None:
    """At equal priority the queue order is the name."""
    patch.attribute(Unit, "order", property(lambda unit: (-unit.priority, unit.name)))


@fault('QUE-13: the whole gang "newer" runs')
def priority_is_frozen(patch: Patch) -> None:
    """Changes of a PodGroup's priority are ignored."""
    read, first = podgroups_and_queues.convert_podgroup, dict[str, int | None]()

    def remembered(found: CustomResource, kind: str, classes: Mapping[str, PriorityClass]) -> Group:
        group = read(found, kind, classes)
        return replace(group, priority=first.setdefault(group.uid, group.priority))

    patch.function(read, remembered)
