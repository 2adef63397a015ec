"""Kinds of nodes: nodes that no decision about these classes of members tells apart, as they are now.

What tells two nodes apart is what is free of the requested resources, the counters that matter to the members or to
which they matter, their eligibility, and their domains. All other columns are left out: with every tenant's counters,
each question would cost more, and nodes would differ by pods that are of no concern.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Set

import numpy as np

from scheduler.core.capacity import Capacity
from scheduler.core.node_table import NodeTable, Numbers
from scheduler.core.placement_filters import may_exclude
from scheduler.core.pod_constraints import AntiAffinityOwners, Counter, MatchingPods, PodConstraints
from scheduler.core.scheduling_types import PodRequirements


class NodeKinds:
    """For members with these requirements."""

    def __init__(
        self, classes: Collection[PodRequirements], capacity: Capacity, without_keys: Set[str] = frozenset()
    ) -> None:
        """Domains by one of `without_keys` do not tell nodes apart."""
        self._capacity = capacity
        self._columns: Numbers = np.array(sorted(_columns(classes, capacity.table)), np.int64)
        self._same_forever = _fixed_properties(classes, capacity.table, without_keys)

    def of(self, rows: Numbers) -> list[bytes]:
        """The kind of each of these nodes."""
        layers = [layer[np.ix_(self._columns, rows)] for layer in self._capacity.layers]
        found = np.concatenate((*layers, self._same_forever[:, rows])).T.copy()
        return [row.tobytes() for row in found]


def _columns(classes: Iterable[PodRequirements], table: NodeTable) -> set[int]:
    found = set[int]()
    for one in classes:
        found.update(column for column, _ in table.known_columns(one))
        found.update(
            table.counter_column[counter] for counter in _counters(one, table) if counter in table.counter_column
        )
    return found


def _counters(requirements: PodRequirements, table: NodeTable) -> Iterator[Counter]:
    """The counters that a decision about such a pod asks, or that it changes."""
    yield from requirements.counted
    if requirements.constraints is not None:
        yield from requirements.constraints.counters
    for counted in requirements.counted:
        if isinstance(counted, MatchingPods):
            yield from table.owners.get(counted, ())
    yield from may_exclude(requirements, table)


def _fixed_properties(classes: Collection[PodRequirements], table: NodeTable, without_keys: Set[str]) -> Numbers:
    properties: list[Numbers] = []
    for one in classes:
        eligibility = table.eligibility(one)
        masks = eligibility.allowed, eligibility.tainted, eligibility.unmatched
        properties += [*(mask.astype(np.int64) for mask in masks), eligibility.penalty]
        properties += [table.volume_slots(users.requirement) for users in (one.constraints or PodConstraints()).volumes]
    for key in sorted(_topology_keys(classes, table) - without_keys):
        numbers, count = table.domains(key)
        sizes = np.bincount(numbers + 1, minlength=count + 1)[numbers + 1]
        properties.append(np.where((numbers >= 0) & (sizes == 1), -2, numbers))  # one such node is like another
    return np.array(properties, np.int64)


def _topology_keys(classes: Iterable[PodRequirements], table: NodeTable) -> set[str]:
    """By which a constraint of these members, or an anti-affinity that means them, compares nodes."""
    found = set[str]()
    for one in classes:
        wanted = one.constraints or PodConstraints()
        found.update(term.topology_key for term in (*wanted.affinity, *wanted.anti_affinity))
        found.update(term.topology_key for _, term in wanted.preferred)
        found.update(constraint.topology_key for constraint in wanted.spread)
        for counter in _counters(one, table):
            if isinstance(counter, AntiAffinityOwners):
                found.add(counter.term.topology_key)
    return found
