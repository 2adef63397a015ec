"""The cluster as a plan leaves it, step by step: who was placed, who goes, which room and which share is spoken for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from scheduler.core.cluster import Cluster
from scheduler.core.model import DEFAULT_QUEUE, Pod
from scheduler.core.nodes import Numbers
from scheduler.core.room import LastChange, Room

Usage = dict[str, int]


class Draft:
    """Changes here cost nothing: the cluster itself stays as it is."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.table = cluster, cluster.table
        self._now: Numbers = self.table.allocatable - self.table.used
        self._later: Numbers = self._now + self.table.leaving
        last = LastChange()  # of either: they share a layer
        self.now = Room(self.table, self._now, self._later, last=last)
        self.later = Room(self.table, self._later, last=last)
        self.going: dict[str, Pod] = {}  # evicted by this plan
        self.shares = Shares(cluster)

    def bind(self, members: Iterable[Pod]) -> None:
        """They start: their rooms were taken in `now`, which counts in both layers."""
        for pod in members:
            self.shares.use(pod, now=True)

    def reserve(self, members: Iterable[Pod]) -> None:
        """They will start: their room was taken in `later` only, and nobody after them gets it."""
        for pod in members:
            self.shares.use(pod, now=False)

    def evict(self, pods: Iterable[Pod]) -> None:
        """They go: later there will be room, now there is not."""
        for pod in pods:
            self.going[pod.uid] = pod
            self.later.give(self.table.row[pod.node], pod.shape)
            self.shares.leave(pod)


class Shares:
    """What the work of each queue uses. A pod uses its queue's share from binding until it is gone."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.limited = any(queue.capability for queue in cluster.queues.values())
        self._now: dict[str, Usage] = {}
        self._later: dict[str, Usage] = {}

    def excess(self, pods: Iterable[Pod], *, later: bool, without: Iterable[Pod] = ()) -> tuple[str, str] | None:
        """The queue and the resource that these pods would exceed; `without` are pods thought away."""
        if not self.limited:
            return None
        asked: dict[str, Usage] = {}
        freed: dict[str, Usage] = {}
        for pod in pods:
            _add(asked.setdefault(self._cluster.queue_of(pod), {}), pod, +1)
        for pod in without:
            queue = self._cluster.queue_of(pod)
            if queue in asked:
                _add(freed.setdefault(queue, {}), pod, +1)
        for queue, amounts in sorted(asked.items()):
            given_back = freed.get(queue, {})
            for resource, limit in sorted(self.capability(queue).items()):
                wanted = amounts.get(resource, 0)
                held = self._usage(queue)
                layers = [held[1]] if later else [held[0], held[1]]
                most = max(layer.get(resource, 0) for layer in layers) - given_back.get(resource, 0)
                if wanted > 0 and most + wanted > limit:
                    return queue, resource
        return None

    def capability(self, queue: str) -> Mapping[str, int]:
        found = self._cluster.queues.get(queue)
        return found.capability if found else {}

    def use(self, pod: Pod, *, now: bool) -> None:
        self._change(pod, +1, now=now)

    def leave(self, pod: Pod) -> None:
        self._change(pod, -1, now=False)

    def used(self, queue: str, resource: str) -> int:
        return self._usage(queue)[0].get(resource, 0)

    def _change(self, pod: Pod, sign: int, *, now: bool) -> None:
        if not self.limited:
            return
        queue = self._cluster.queue_of(pod)
        if self.capability(queue):
            present, future = self._usage(queue)
            _add(future, pod, sign)
            if now:
                _add(present, pod, sign)

    def _usage(self, queue: str) -> tuple[Usage, Usage]:
        if not self._now:
            self._count()
        return self._now.setdefault(queue, {}), self._later.setdefault(queue, {})

    def _count(self) -> None:
        """Only when a queue with a limit is first asked about: most clusters have none."""
        self._now[DEFAULT_QUEUE] = {}
        for pod in self._cluster.bound():
            queue = self._cluster.queue_of(pod)
            if self.capability(queue):
                _add(self._now.setdefault(queue, {}), pod, +1)
                if not pod.leaving:
                    _add(self._later.setdefault(queue, {}), pod, +1)


def _add(usage: Usage, pod: Pod, sign: int) -> None:
    for resource, amount in pod.requests:
        usage[resource] = usage.get(resource, 0) + sign * amount
