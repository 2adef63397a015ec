"""The bound pods as columns, so that a question about all of them is one operation instead of a loop.

A cluster has tens of thousands of bound pods, and the first preemption of a cycle asks about each of them. So the
columns are made once for a cycle, and only where there is a preemption or a queue with a capability.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Set
from functools import cached_property
from itertools import count

import numpy as np

from scheduler.core.cluster_state import ClusterState
from scheduler.core.node_table import Mask, Numbers
from scheduler.core.scheduling_types import DEFAULT_QUEUE, Group, Key, Pod, PodRequirements

Usage = dict[str, int]  # by resource


class BoundPods:
    """A pod is known by its position. The pods of one node are side by side, in the order of the rows."""

    def __init__(self, cluster: ClusterState, schedulers: Set[str]) -> None:
        self._row_of = cluster.table.row
        on_node = cluster.bound_by_node()
        known = sorted(on_node.keys() & self._row_of.keys(), key=self._row_of.__getitem__)
        gone = on_node.keys() - self._row_of.keys()
        elsewhere = [pod for name in sorted(gone) for pod in on_node[name].values()]
        self.pods: list[Pod] = [pod for name in known for pod in on_node[name].values()] + elsewhere
        rows, sizes = [self._row_of[name] for name in known], [len(on_node[name]) for name in known]
        self.row: Numbers = np.repeat(np.array([*rows, -1]), [*sizes, len(elsewhere)])
        self._first: Numbers = np.zeros(len(cluster.table) + 1, np.int64)  # position on each row
        self._first[1:][rows] = sizes
        self._first = np.cumsum(self._first)
        self.started = np.array([pod.started for pod in self.pods], np.float64)
        self.spared: Mask = np.array(
            [pod.terminating or pod.non_preemptible or pod.scheduler not in schedulers for pod in self.pods], np.bool_
        )
        self.priority: Numbers = np.array([pod.priority for pod in self.pods], np.int64)
        self._queues: dict[str, int] = {}
        self._queue: Numbers = np.array(
            [self._queues.setdefault(pod.queue or DEFAULT_QUEUE, len(self._queues)) for pod in self.pods], np.int64
        )
        self.evicted_together: list[list[int]] = []  # the gangs with disruption mode All
        of_group: dict[Key, list[int]] = {}
        for position, pod in enumerate(self.pods):
            if pod.group is not None:
                of_group.setdefault(pod.group, []).append(position)
        for positions in of_group.values():
            if group := cluster.group_of(self.pods[positions[0]]):
                self._apply(group, positions)
        self.kinds, self.kind = _kinds(self.pods)

    def _apply(self, group: Group, positions: list[int]) -> None:
        """A group's queue and priority have precedence over those of its pods."""
        self._queue[positions] = self._queues.setdefault(group.queue or DEFAULT_QUEUE, len(self._queues))
        if group.priority is not None:
            self.priority[positions] = group.priority
        if group.disruption_mode_all:
            self.evicted_together.append(positions)

    def in_queues(self, queues: Set[str]) -> Numbers:
        """The positions of the pods in these queues, ascending."""
        found = [self._of_queue[self._queues[queue]] for queue in queues if queue in self._queues]
        return np.sort(np.concatenate([np.zeros(0, np.int64), *found]))

    @cached_property
    def _of_queue(self) -> list[Numbers]:
        """By the number of a queue, the positions of its pods."""
        sizes = np.bincount(self._queue, minlength=len(self._queues))
        return np.split(np.argsort(self._queue, kind="stable"), np.cumsum(sizes)[:-1])

    @cached_property
    def terminating(self) -> Mask:
        return np.array([pod.terminating for pod in self.pods], np.bool_)

    def usage(self, positions: Mask) -> dict[str, Usage]:
        """What these pods request together, by queue and resource."""
        queues, found = list(self._queues), dict[str, Usage]()
        like = self._queue[positions] * len(self.kinds) + self.kind[positions]
        for cell, times in Counter(like.tolist()).items():
            queue, kind = divmod(cell, len(self.kinds))
            usage = found.setdefault(queues[queue], {})
            for resource, amount in self.kinds[kind].requests:
                usage[resource] = usage.get(resource, 0) + times * amount
        return found

    def on(self, row: int) -> range:
        """The positions of the pods on a node."""
        return range(self._first[row], self._first[row + 1])

    def positions(self, pods: Iterable[Pod]) -> list[int]:
        """The positions of these pods, without those whose node is gone."""
        by_row: dict[int, set[str]] = {}
        for pod in pods:
            if pod.node in self._row_of:
                by_row.setdefault(self._row_of[pod.node], set()).add(pod.uid)
        return [
            position for row, uids in by_row.items() for position in self.on(row) if self.pods[position].uid in uids
        ]


def _kinds(pods: list[Pod]) -> tuple[list[PodRequirements], Numbers]:
    """The distinct requirements, and which of them each pod has. Equal ones usually are one object already."""
    number_of = defaultdict[int, int](count().__next__)  # by identity
    numbers: Numbers = np.array([number_of[id(pod.requirements)] for pod in pods], np.int64)
    example: Numbers = np.zeros(len(number_of), np.int64)
    example[numbers] = np.arange(len(pods))
    kinds: dict[PodRequirements, int] = {}
    equal = [kinds.setdefault(pods[position].requirements, len(kinds)) for position in example]
    return list(kinds), np.array(equal, np.int64)[numbers]
