"""The snapshot that one scheduling cycle works on: free resources and queue usage, updated by each decision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from functools import cached_property

import numpy as np

from scheduler.core.bound_pods import BoundPods
from scheduler.core.capacity import Capacity, LastAllocation
from scheduler.core.cluster_state import ClusterState
from scheduler.core.node_table import Numbers
from scheduler.core.policy import MOST_ALLOCATED, SCHEDULER_NAMES
from scheduler.core.queue_usage import QueueUsage
from scheduler.core.scheduling_types import Pod


class Snapshot:
    """Changes are local to the cycle: the cluster state itself is not modified."""

    def __init__(
        self,
        cluster: ClusterState,
        schedulers: Set[str] = SCHEDULER_NAMES,
        scoring_strategy: str = MOST_ALLOCATED,
    ) -> None:
        self.cluster, self.table = cluster, cluster.table
        free_now: Numbers = self.table.allocatable - self.table.used
        free_later: Numbers = free_now + self.table.terminating
        last = LastAllocation()  # of either: they share a layer
        self.free_now = Capacity(self.table, free_now, free_later, last=last, scoring_strategy=scoring_strategy)
        self.free_later = Capacity(self.table, free_later, last=last, scoring_strategy=scoring_strategy)
        self.evicted: dict[str, Pod] = {}  # by this cycle
        self._schedulers = schedulers
        self.effort_spent = 0  # by this cycle, on placing gangs
        self.queue_usage = QueueUsage(cluster, schedulers, lambda: self.bound_pods)

    @cached_property
    def bound_pods(self) -> BoundPods:
        """The pods that were bound when the cycle began."""
        return BoundPods(self.cluster, self._schedulers)

    def nothing_is_freed_later(self) -> bool:
        """No pod terminates, and nothing is reserved: what does not fit now does not fit later."""
        now, later = self.free_now.layers
        return np.array_equal(now, later)

    def bind(self, members: Iterable[Pod]) -> None:
        """Count pods that are bound: their resources were allocated in `free_now`, which includes both layers."""
        for pod in members:
            self.queue_usage.add(pod, now=True)

    def reserve(self, members: Iterable[Pod]) -> None:
        """Count nominated pods: their resources were allocated in `free_later` only, ahead of all later units."""
        for pod in members:
            self.queue_usage.add(pod, now=False)

    def evict(self, pods: Sequence[Pod]) -> None:
        """Evicted pods free their resources later, not now."""
        for pod in pods:
            self.evicted[pod.uid] = pod
        self.free_later.release_all(pods)
        self.queue_usage.remove(pods)
