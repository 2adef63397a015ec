"""The snapshot that one scheduling cycle works on: free resources and queue usage, updated by each decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from scheduler.core.capacity import Capacity, LastAllocation
from scheduler.core.cluster_state import ClusterState
from scheduler.core.node_table import Numbers
from scheduler.core.policy import MOST_ALLOCATED, SCHEDULER_NAMES
from scheduler.core.scheduling_types import DEFAULT_QUEUE, Pod

Usage = dict[str, int]


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
        self.queue_usage = QueueUsage(cluster, schedulers)
        self._bound_by_queue: dict[str, list[Pod]] = {}

    def bound_in(self, queues: Iterable[str]) -> Iterator[Pod]:
        """The pods of these queues that were bound when the cycle began."""
        if not self._bound_by_queue:
            for pod in self.cluster.bound():
                self._bound_by_queue.setdefault(self.cluster.queue_of(pod), []).append(pod)
        for queue in sorted(queues):
            yield from self._bound_by_queue.get(queue, ())

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
    """Resources used by the pods of each queue. A pod counts from its binding until it is gone.

    A pod of another scheduler counts only if it, or its group, names the queue: a pod that names none is in the default
    queue of its own scheduler, if that has one.
    """

    def __init__(self, cluster: ClusterState, schedulers: Set[str] = SCHEDULER_NAMES) -> None:
        self._cluster, self._schedulers = cluster, schedulers
        self.has_limits = any(queue.capability for queue in cluster.queues.values())
        self._used_now: dict[str, Usage] = {}
        self._used_later: dict[str, Usage] = {}

    def exceeded(self, pods: Iterable[Pod], *, later: bool, without: Iterable[Pod] = ()) -> tuple[str, str] | None:
        """The queue and resource whose capability these pods would exceed; pods in `without` count as evicted."""
        if not self.has_limits:
            return None
        requested = self._sum(pods)
        freed = self._sum(pod for pod in without if self._counts(pod))
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
        if self.capability(queue) and self._counts(pod):
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
        counted = [pod for pod in self._cluster.bound() if self._counts(pod)]
        self._used_now = {DEFAULT_QUEUE: {}, **self._sum(counted)}
        self._used_later = self._sum(pod for pod in counted if not pod.terminating)

    def _sum(self, pods: Iterable[Pod]) -> dict[str, Usage]:
        """What these pods request, by queue: like pods are counted first, because there may be many."""
        found: dict[str, Usage] = {}
        like = Counter((self._cluster.queue_of(pod), pod.requirements) for pod in pods)
        for (queue, requirements), count in like.items():
            usage = found.setdefault(queue, {})
            for resource, amount in requirements.requests:
                usage[resource] = usage.get(resource, 0) + count * amount
        return found

    def _counts(self, pod: Pod) -> bool:
        return pod.scheduler in self._schedulers or self._cluster.names_queue(pod)

    def to_free(self, pods: Iterable[Pod]) -> dict[tuple[str, str], int]:
        """By queue and resource, how much must be freed before these pods are within every capability."""
        requested: Counter[tuple[str, str]] = Counter()
        for pod in pods:
            for resource, amount in pod.requests:
                requested[self._cluster.queue_of(pod), resource] += amount
        return {
            (queue, resource): self._usage(queue)[1].get(resource, 0) + amount - self.capability(queue)[resource]
            for (queue, resource), amount in requested.items()
            if amount > 0 and resource in self.capability(queue)
        }

    def freed_by(self, pod: Pod) -> Iterator[tuple[tuple[str, str], int]]:
        """By queue and resource, how much the eviction of this pod frees."""
        if self._counts(pod):
            queue = self._cluster.queue_of(pod)
            yield from (((queue, resource), amount) for resource, amount in pod.requests)


class QuotaToFree:
    """Which victims a gang needs for its quota: a running sum, because there may be thousands of victims."""

    def __init__(self, usage: QueueUsage, members: Sequence[Pod], victims: Iterable[Pod]) -> None:
        self._usage = usage
        over_quota = usage.exceeded(members, later=True) is not None
        self._spare = {cell: -amount for cell, amount in usage.to_free(members).items()} if over_quota else {}
        for pod in victims if over_quota else ():
            self._count(pod, +1)

    def allows(self, victims: Iterable[Pod]) -> bool:
        """Whether the quota that is freed suffices if these victims are kept."""
        kept: Counter[tuple[str, str]] = Counter()
        for pod in victims if self._spare else ():
            kept.update(dict(self._usage.freed_by(pod)))
        return all(self._spare[cell] >= amount for cell, amount in kept.items() if cell in self._spare)

    def keep(self, victims: Iterable[Pod]) -> None:
        for pod in victims:
            self._count(pod, -1)

    def _count(self, pod: Pod, sign: int) -> None:
        for cell, amount in self._usage.freed_by(pod):
            if cell in self._spare:
                self._spare[cell] += sign * amount


def _add(usage: Usage, pod: Pod, sign: int) -> None:
    for resource, amount in pod.requests:
        usage[resource] = usage.get(resource, 0) + sign * amount
