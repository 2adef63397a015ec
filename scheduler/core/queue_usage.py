"""How much of each queue's capability is used: now, and once terminating and evicted pods are gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cached_property

import numpy as np

from scheduler.core.bound_pods import BoundPods, Usage
from scheduler.core.cluster_state import ClusterState
from scheduler.core.node_table import Mask
from scheduler.core.scheduling_types import DEFAULT_QUEUE, Pod

_NOTHING: Mapping[str, Usage] = {}


class QueueUsage:
    """Resources used by the pods of each queue. A pod counts from its binding until it is gone.

    A pod of another scheduler counts only if it, or its group, names the queue: a pod that names none is in the default
    queue of its own scheduler, if that has one.
    """

    def __init__(self, cluster: ClusterState, schedulers: Set[str], bound_pods: Callable[[], BoundPods]) -> None:
        self._cluster, self._schedulers, self._bound_pods = cluster, schedulers, bound_pods
        self.has_limits = any(queue.capability for queue in cluster.queues.values())
        self._used_now: dict[str, Usage] = {}
        self._used_later: dict[str, Usage] = {}

    def exceeded(
        self, pods: Iterable[Pod], *, later: bool, freed: Mapping[str, Usage] = _NOTHING
    ) -> tuple[str, str] | None:
        """The queue and resource whose capability these pods would exceed, if evictions free so much of each queue."""
        if not self.has_limits:
            return None
        requested = self._sum(pods)
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
        if not self.has_limits:
            return
        queue = self._cluster.queue_of(pod)
        if self.capability(queue) and self._counts(pod):
            used_now, used_later = self._usage(queue)
            for usage in (used_now, used_later) if now else (used_later,):
                for resource, amount in pod.requests:
                    usage[resource] = usage.get(resource, 0) + amount

    def remove(self, pods: Iterable[Pod]) -> None:
        """These pods are evicted."""
        for queue, usage in self.freed(pods).items():
            used_later = self._usage(queue)[1]
            for resource, amount in usage.items():
                used_later[resource] = used_later.get(resource, 0) - amount

    def freed(self, pods: Iterable[Pod]) -> dict[str, Usage]:
        """How much of each queue the eviction of these pods frees."""
        return self._sum(pod for pod in pods if self._counts(pod)) if self.has_limits else {}

    def freed_at(self, positions: Mask) -> dict[str, Usage]:
        """The same for many bound pods."""
        return self._bound_pods().usage(positions & self._counted) if self.has_limits else {}

    def used(self, queue: str, resource: str) -> int:
        return self._usage(queue)[0].get(resource, 0)

    def _usage(self, queue: str) -> tuple[Usage, Usage]:
        if not self._used_now:
            self._count()
        return self._used_now.setdefault(queue, {}), self._used_later.setdefault(queue, {})

    def _count(self) -> None:
        """Count on first use of a queue with a capability: most clusters have none."""
        bound = self._bound_pods()
        self._used_now = {DEFAULT_QUEUE: {}, **bound.usage(self._counted)}
        self._used_later = bound.usage(self._counted & ~bound.terminating)

    @cached_property
    def _counted(self) -> Mask:
        return np.array([self._counts(pod) for pod in self._bound_pods().pods], np.bool_)

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

    def counted_in(self, pod: Pod) -> str:
        """The queue whose quota the pod uses; empty if it uses none."""
        return self._cluster.queue_of(pod) if self._counts(pod) else ""


class QuotaToFree:
    """Which victims a gang needs for its quota: a running sum, because there may be thousands of victims."""

    def __init__(self, usage: QueueUsage, members: Sequence[Pod], victims: Iterable[Pod]) -> None:
        self._usage = usage
        over_quota = usage.exceeded(members, later=True) is not None
        self._spare = {cell: -amount for cell, amount in usage.to_free(members).items()} if over_quota else {}
        self._known: dict[object, list[tuple[tuple[str, str], int]]] = {}  # by everything that this depends on
        self.evict(victims)

    @property
    def is_enough(self) -> bool:
        """Whether the victims free the quota that the gang needs."""
        return all(spare >= 0 for spare in self._spare.values())

    def allows(self, victims: Sequence[Pod]) -> bool:
        """Whether the quota that is freed suffices if these victims are kept."""
        if not self._spare:
            return True
        if len(victims) == 1:
            return all(self._spare[cell] >= amount for cell, amount in self._cells(victims[0]))
        kept: dict[tuple[str, str], int] = {}
        for pod in victims:
            for cell, amount in self._cells(pod):
                kept[cell] = kept.get(cell, 0) + amount
        return all(self._spare[cell] >= amount for cell, amount in kept.items())

    def evict(self, victims: Iterable[Pod]) -> None:
        for pod in victims if self._spare else ():
            for cell, amount in self._cells(pod):
                self._spare[cell] += amount

    def keep(self, victims: Iterable[Pod]) -> None:
        for pod in victims if self._spare else ():
            for cell, amount in self._cells(pod):
                self._spare[cell] -= amount

    def _cells(self, pod: Pod) -> list[tuple[tuple[str, str], int]]:
        """What the pod frees of the quota that is needed; like victims are looked at once."""
        key = pod.group, pod.queue, pod.scheduler, pod.requirements
        found = self._known.get(key)
        if found is None:
            queue = self._usage.counted_in(pod)
            cells = [((queue, resource), amount) for resource, amount in pod.requests]
            found = self._known[key] = [(cell, amount) for cell, amount in cells if cell in self._spare]
        return found
