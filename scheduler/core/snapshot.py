"""The snapshot that one scheduling cycle works on: free resources and queue usage, updated by each decision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler.core.capacity import Capacity, LastAllocation
from scheduler.core.cluster_state import ClusterState
from scheduler.core.node_table import Numbers
from scheduler.core.scheduling_types import DEFAULT_QUEUE, Pod

Usage = dict[str, int]


class Snapshot:
    """Changes are local to the cycle: the cluster state itself is not modified."""

    def __init__(self, cluster: ClusterState) -> None:
        self.cluster, self.table = cluster, cluster.table
        free_now: Numbers = self.table.allocatable - self.table.used
        free_later: Numbers = free_now + self.table.terminating
        last = LastAllocation()  # of either: they share a layer
        self.free_now = Capacity(self.table, free_now, free_later, last=last)
        self.free_later = Capacity(self.table, free_later, last=last)
        self.evicted: dict[str, Pod] = {}  # by this cycle
        self.queue_usage = QueueUsage(cluster)

    def bind(self, members: Iterable[Pod]) -> None:
        """Count pods that are bound: their resources were allocated in `free_now`, which includes both layers."""
        for pod in members:
            self.queue_usage.add(pod, now=True)

    def reserve(self, members: Iterable[Pod]) -> None:
        """Count nominated pods: their resources were allocated in `free_later` only, ahead of all later units."""
        for pod in members:
            self.queue_usage.add(pod, now=False)

    def evict(self, pods: Iterable[Pod]) -> None:
        """Evicted pods free their resources later, not now."""
        for pod in pods:
            self.evicted[pod.uid] = pod
            self.free_later.release(self.table.row[pod.node], pod.requirements)
            self.queue_usage.remove(pod)


class QueueUsage:
    """Resources used by the pods of each queue. A pod counts from its binding until it is gone."""

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster
        self.has_limits = any(queue.capability for queue in cluster.queues.values())
        self._used_now: dict[str, Usage] = {}
        self._used_later: dict[str, Usage] = {}

    def exceeded(self, pods: Iterable[Pod], *, later: bool, without: Iterable[Pod] = ()) -> tuple[str, str] | None:
        """The queue and resource whose capability these pods would exceed; pods in `without` count as evicted."""
        if not self.has_limits:
            return None
        requested: dict[str, Usage] = {}
        freed: dict[str, Usage] = {}
        for pod in pods:
            _add(requested.setdefault(self._cluster.queue_of(pod), {}), pod, +1)
        for pod in without:
            queue = self._cluster.queue_of(pod)
            if queue in requested:
                _add(freed.setdefault(queue, {}), pod, +1)
        for queue, amounts in sorted(requested.items()):
            freed_in_queue = freed.get(queue, {})
            for resource, limit in sorted(self.capability(queue).items()):
                amount = amounts.get(resource, 0)
                used_now, used_later = self._usage(queue)
                layers = [used_later] if later else [used_now, used_later]
                used = max(layer.get(resource, 0) for layer in layers) - freed_in_queue.get(resource, 0)
                if amount > 0 and used + amount > limit:
                    return queue, resource
        return None

    def capability(self, queue: str) -> Mapping[str, int]:
        found = self._cluster.queues.get(queue)
        return found.capability if found else {}

    def add(self, pod: Pod, *, now: bool) -> None:
        self._change(pod, +1, now=now)

    def remove(self, pod: Pod) -> None:
        self._change(pod, -1, now=False)

    def used(self, queue: str, resource: str) -> int:
        return self._usage(queue)[0].get(resource, 0)

    def _change(self, pod: Pod, sign: int, *, now: bool) -> None:
        if not self.has_limits:
            return
        queue = self._cluster.queue_of(pod)
        if self.capability(queue):
            used_now, used_later = self._usage(queue)
            _add(used_later, pod, sign)
            if now:
                _add(used_now, pod, sign)

    def _usage(self, queue: str) -> tuple[Usage, Usage]:
        if not self._used_now:
            self._count()
        return self._used_now.setdefault(queue, {}), self._used_later.setdefault(queue, {})

    def _count(self) -> None:
        """Count on first use of a queue with a capability: most clusters have none."""
        self._used_now[DEFAULT_QUEUE] = {}
        for pod in self._cluster.bound():
            queue = self._cluster.queue_of(pod)
            if self.capability(queue):
                _add(self._used_now.setdefault(queue, {}), pod, +1)
                if not pod.terminating:
                    _add(self._used_later.setdefault(queue, {}), pod, +1)


def _add(usage: Usage, pod: Pod, sign: int) -> None:
    for resource, amount in pod.requests:
        usage[resource] = usage.get(resource, 0) + sign * amount
