"""The search for a placement of a heterogeneous gang that greedy placement has not found.

Members with equal requirements are one class, and nodes that take the same members are one kind, so that the search
counts instead of naming pods and nodes. Nodes that take all classes beside each other leave no choice. For the others
it goes from node to node and keeps, of all ways to fill the nodes so far, those that no other way surpasses in every
class. That is exact for two classes of members. With more classes only the most promising ways are kept, and the effort
is limited: then the search may miss a placement (docs/reference-scheduler.md, Limits).

The trap: only what excludes a member for good is counted here. Whether all of them may join beside each other is for
`Capacity` to say (`joining_order`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scheduler.core.capacity import Capacity
from scheduler.core.effort import Effort
from scheduler.core.node_table import Mask, Numbers
from scheduler.core.scheduling_types import PodRequirements

_STEP_EFFORT = 5_000  # of one node, however little there is to look at
_SORT_EFFORT = 20  # of each way, to sort it
_MAX_WAYS = 200  # kept after each node, if there are more than two classes of members
_MAX_PATTERNS = 200  # tried for each kind of nodes

_Found = list[tuple[int, Sequence[int]]]  # rows, with the number of members that each takes, by class


def search(
    wanted: Mapping[PodRequirements, int], capacity: Capacity, effort: Effort
) -> list[tuple[int, PodRequirements]] | None:
    """Where so many pods with each of these requirements fit together, by row; None when no placement was found."""
    found = _Search(wanted, capacity, effort).run()
    if found is None:
        return None
    placed: list[tuple[int, PodRequirements]] = []
    left = dict(wanted)
    for row, counts in found:
        for one, count in zip(wanted, counts, strict=True):
            taken = min(count, left[one])  # the last nodes of a way may have places for more than there are
            placed += [(row, one)] * taken
            left[one] -= taken
    return placed


@dataclass(frozen=True, slots=True)
class _Step:
    """How each way that was kept after one node came about: from which way before it, and by which pattern."""

    row: int
    patterns: Numbers
    origin: Numbers
    pattern: Numbers


class _Search:
    """Arrays: nodes by classes of members, or nodes by the columns that the members request."""

    def __init__(self, wanted: Mapping[PodRequirements, int], capacity: Capacity, effort: Effort) -> None:
        self._wanted: Numbers = np.array(list(wanted.values()), np.int64)
        requested = [dict(capacity.table.columns(one) or ()) for one in wanted]
        columns = sorted(set().union(*requested))
        self._requests: Numbers = np.array([[one.get(column, 0) for column in columns] for one in requested], np.int64)
        self._rows: Numbers = np.arange(len(capacity.table))
        self._free: Numbers = np.minimum.reduce([layer[columns] for layer in capacity.layers]).T
        self._most: Numbers = np.stack(  # how many of each class a node takes, if it takes no others
            [np.minimum(capacity.places(one), count) for one, count in wanted.items()], axis=1
        )
        self._effort = effort

    def run(self) -> _Found | None:
        taken = list(self._nodes_without_choice())
        if not self._wanted.any():
            return taken
        usable = self._sort_nodes()
        if not (
            (self._most.sum(axis=0) >= self._wanted).all() and self._suffice(usable.sum(axis=0), self._wanted[None])
        ):
            return None
        found = self._fill(usable)
        return None if found is None else taken + found

    def _nodes_without_choice(self) -> Iterator[tuple[int, Sequence[int]]]:
        """Use the nodes on which all classes fit beside each other; the nodes with a choice are left."""
        together = (self._most @ self._requests <= self._free).all(axis=1)
        reached = np.minimum(np.cumsum(self._most[together], axis=0), self._wanted)
        taken = np.diff(reached, axis=0, prepend=0)
        for row, counts in zip(self._rows[together][taken.any(axis=1)], taken[taken.any(axis=1)], strict=True):
            yield int(row), counts.tolist()
        self._wanted = self._wanted - taken.sum(axis=0)
        most = np.minimum(self._most, self._wanted)
        choice = ~together & most.any(axis=1)
        self._rows, self._free, self._most = self._rows[choice], self._free[choice], most[choice]

    def _sort_nodes(self) -> Numbers:
        """Nodes for the scarcest class first, then those that take the most, then by name. Returns what is usable.

        What no combination of members can use of a node's free resources does not tell two nodes apart.
        """
        divisor = np.array([math.gcd(*column) for column in self._requests.T.tolist()], np.int64)
        usable: Numbers = np.minimum(self._free, self._most @ self._requests) // divisor * divisor
        scarcest = np.where(self._most > 0, self._scarcity(), 0).max(axis=1, initial=0)
        order = np.lexsort((self._rows, *usable.T, *self._most.T, -self._most.sum(axis=1), -scarcest))
        self._rows, self._most = self._rows[order], self._most[order]
        return usable[order]

    def _scarcity(self) -> npt.NDArray[np.float64]:
        """By class of members, which part of all places for it will be used."""
        part: npt.NDArray[np.float64] = self._wanted / np.maximum(self._most.sum(axis=0), 1)
        return part

    def _suffice(self, resources: Numbers, ways: Numbers) -> Mask:
        """Necessary: enough of every resource, over all nodes, for that many members."""
        enough: Mask = np.all(ways @ self._requests <= resources, axis=1)
        return enough

    def _fill(self, usable: Numbers) -> _Found | None:
        """Go from node to node. A way is a row of numbers: how many members are placed so far, by class."""
        left_places, left_resources = self._most.sum(axis=0), usable.sum(axis=0)
        ways: Numbers = np.zeros((1, len(self._wanted)), np.int64)
        patterns: dict[bytes, Numbers] = {}
        steps: list[_Step] = []
        for row, most, free in zip(self._rows.tolist(), self._most, usable, strict=True):
            kind = most.tobytes() + free.tobytes()
            if kind not in patterns:
                patterns[kind] = self._patterns(most, free)
            choices = patterns[kind]
            if not self._effort.spend(_STEP_EFFORT + len(ways) * choices.size):
                return None
            left_places, left_resources = left_places - most, left_resources - free
            reached = np.minimum((ways[:, None, :] + choices).reshape(-1, ways.shape[1]), self._wanted)
            missing = self._wanted - reached
            kept = np.flatnonzero((missing <= left_places).all(axis=1) & self._suffice(left_resources, missing))
            kept = kept[self._not_surpassed(reached[kept])]
            if not len(kept):
                return None
            origin, pattern = np.divmod(kept, len(choices))
            steps.append(_Step(row, choices, origin, pattern))
            ways = reached[kept]
            if len(complete := np.flatnonzero((ways == self._wanted).all(axis=1))):
                return list(_traced_back(steps, int(complete[0])))
        return None

    def _patterns(self, most: Numbers, free: Numbers) -> Numbers:
        """Numbers of members, by class, that fit on such a node together; of a large number an even sample."""
        found: Numbers = np.zeros((1, len(most)), np.int64)
        left: Numbers = free[None, :]
        for number in np.flatnonzero(most):
            counts = np.arange(int(most[number]) + 1)
            found = np.repeat(found, len(counts), axis=0)
            found[:, number] = np.tile(counts, len(left))
            left = free - found @ self._requests
            fits = np.flatnonzero((left >= 0).all(axis=1))
            self._effort.spend(found.size)
            fits = fits[np.linspace(0, len(fits) - 1, min(len(fits), _MAX_PATTERNS)).astype(np.int64)]
            found, left = found[fits], left[fits]
        return found[self._not_surpassed(found)]

    def _not_surpassed(self, ways: Numbers) -> Numbers:
        """The indexes of the ways to which no other way is at least equal in every class; of equal ways the first."""
        if not len(ways):
            return np.zeros(0, np.int64)
        if ways.shape[1] == 2:  # from the largest number of the first class down, the second number must rise
            self._effort.spend(_SORT_EFFORT * len(ways))
            order: Numbers = np.lexsort((-ways[:, 1], -ways[:, 0]))
            second = ways[order, 1]
            return np.compress(second > np.concatenate(([-1], np.maximum.accumulate(second)[:-1])), order)
        kept: Numbers = np.lexsort((*(-ways.T), -(ways @ self._scarcity())))
        ways = ways[kept]
        distinct = np.flatnonzero(np.concatenate(([True], (ways[1:] != ways[:-1]).any(axis=1))))[:_MAX_WAYS]
        kept, ways = kept[distinct], ways[distinct]
        self._effort.spend(ways.size * len(ways))
        at_least_equal = (ways[:, None, :] <= ways[None, :, :]).all(axis=2).sum(axis=1)  # itself included
        return np.compress(at_least_equal == 1, kept)


def _traced_back(steps: Sequence[_Step], way: int) -> Iterable[tuple[int, Sequence[int]]]:
    for step in reversed(steps):
        yield step.row, step.patterns[step.pattern[way]].tolist()
        way = int(step.origin[way])
