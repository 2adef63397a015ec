"""Faults in the order in which those who wait are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from scheduler.core.model import Group
from scheduler.core.units import Unit
from scheduler.runtime import customs
from scheduler.runtime.objects import Custom, PriorityClass
from tests.broken.faults import Patch, fault


@fault("DOC-3", "DOC-5", "JPR-20", "PRE-21", "PRE-24", "PRE-27", "QUE-02", "QUE-10")
def the_least_important_first(patch: Patch) -> None:
    """The less important go before the more important."""
    patch.attribute(Unit, "order", property(lambda unit: (unit.priority, unit.created, unit.name)))


@fault("DOC-3", "QUE-02", "QUE-10")
def priority_is_ignored(patch: Patch) -> None:
    """Who came first goes first, however important the others are."""
    patch.attribute(Unit, "order", property(lambda unit: (unit.created, unit.name)))


@fault("QUE-03")
def the_newest_first(patch: Patch) -> None:
    """Among equals the one that came last goes first."""
    patch.attribute(Unit, "order", property(lambda unit: (-unit.priority, -unit.created, unit.name)))


@fault("QUE-03")
def age_is_ignored(patch: Patch) -> None:
    """Among equals only the name counts."""
    patch.attribute(Unit, "order", property(lambda unit: (-unit.priority, unit.name)))


@fault("QUE-13")
def priority_is_frozen(patch: Patch) -> None:
    """A gang stays as important as it was when it was first seen."""
    read, first = customs.read_group, dict[str, int | None]()

    def remembered(found: Custom, kind: str, classes: Mapping[str, PriorityClass]) -> Group:
        group = read(found, kind, classes)
        return replace(group, priority=first.setdefault(group.uid, group.priority))

    patch.function(read, remembered)
