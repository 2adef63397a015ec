"""The order of bindings in strict-FIFO queues.

Everything that fits starts in one cycle, up to the first unit that does not fit. But bindings that are written at the
same time may finish in any order, so each unit's bindings name those of the unit ahead, which must be done first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from scheduler.core.admission import is_strict
from scheduler.core.cluster_state import ClusterState
from scheduler.core.policy import Policy
from scheduler.core.scheduling_types import Pod


@dataclass(slots=True)
class _Entry:
    """A gang or a single pod: its bindings, and those that come before them."""

    name: str
    after: tuple[str, ...]
    bindings: list[str] = field(default_factory=list)


class BindingOrder:
    """The newest entry of each strict-FIFO queue. What earlier cycles have in flight is ahead of this cycle."""

    def __init__(self, cluster: ClusterState, policy: Policy) -> None:
        self._cluster, self._policy = cluster, policy
        self._newest: dict[str, _Entry] = {}
        for pod in cluster.binding.values():
            queue = cluster.queue_of(pod)
            if is_strict(queue, cluster, policy):
                self._newest.setdefault(queue, _Entry("", ())).bindings.append(pod.uid)

    def add(self, name: str, queues: Iterable[str], members: Sequence[Pod]) -> tuple[str, ...]:
        """Which bindings must be done before those of these members; late members of a gang are of its entry."""
        after: list[str] = []
        for queue in sorted(queues):
            if is_strict(queue, self._cluster, self._policy):
                newest = self._newest.get(queue)
                if newest is None or newest.name != name:
                    newest = self._newest[queue] = _Entry(name, tuple(newest.bindings) if newest else ())
                newest.bindings += [pod.uid for pod in members]
                after += newest.after
        return tuple(after)
