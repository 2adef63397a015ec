"""Queues: which jobs are queued, and how much of its capability a queue uses.

What a queue is, which pods count against it and what it allows is known to the scheduler's dialect. Usage is checked at
bindings: what was bound stays bound when a capability shrinks afterwards, so only a binding can exceed it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from muster.assertions.allocation import used_by
from muster.assertions.gangs import group_phases
from muster.assertions.preemption import victims
from muster.cluster.resources import Resource
from muster.recording.history import History
from muster.recording.objects import CustomObject, Pod
from muster.recording.pod_history import PodHistory
from muster.recording.quantities import GPU, amounts, readable
from muster.recording.questions import Answer, Outcome, Question
from muster.recording.records import Moment

_NOT_STARTED = ("queued", "admitted")


class QueueDialect(Protocol):
    """What these questions need of a scheduler's dialect; muster/schedulers/dialect.py has the implementation."""

    group_kind: Resource | None
    queue_kind: Resource | None

    def phase(self, group: Mapping[str, Any]) -> str: ...
    def gang_of(self, pod: Pod) -> str: ...
    def queue_of(self, group: CustomObject) -> str: ...
    def queue_of_pod(self, pod: Pod) -> str: ...
    def limits_of(self, queue: str) -> Mapping[str, str]: ...
    def capability(self, queue: CustomObject) -> Mapping[str, str]: ...


def within_capability(queue: str, dialect: QueueDialect) -> Question:
    """No binding lifts the usage of the queue above the capability that is in force at that moment.

    Pending until a pod of the queue is bound: a queue without any proves nothing.
    """
    wanted = f"queue {queue} never using more than its capability"

    def ask(history: History) -> Answer:
        peak: dict[str, int] = {}
        pods = pods_of_queue(history, queue, dialect)
        for pod in pods:
            if pod.bound is None:
                continue
            limits = _limits(history, queue, pod.bound, dialect)
            used = used_by(pods, pod.bound)
            over = [name for name, limit in limits.items() if used.get(name, 0) > limit]
            if over:
                excess = ", ".join(f"{readable(used[name])} of {readable(limits[name])} {name}" for name in over)
                when = history.seconds(pod.bound)
                return Answer(Outcome.FALSE, f"{pod.name} was bound at {when:.1f} s, and {queue} then used {excess}")
            peak = {name: max(used.get(name, 0), peak.get(name, 0)) for name in limits}
        if not any(pod.bound for pod in pods):
            return Answer(Outcome.PENDING, f"no pod of queue {queue} was bound")
        most = ", ".join(f"{readable(amount)} {name}" for name, amount in peak.items())
        return Answer(Outcome.TRUE, f"at most {most or 'nothing that is limited'} in use in {queue}")

    return Question(wanted, ask)


def gpus_in_use_by_queue(wanted_gpus: Mapping[str, int], dialect: QueueDialect, *, give_or_take: int = 0) -> Question:
    """So many GPUs are in use in each queue, right now, within a tolerance."""
    wanted = ", ".join(f"about {number} GPUs in use in {queue}" for queue, number in wanted_gpus.items())

    def ask(history: History) -> Answer:
        now = history.now
        used = {queue: used_by(pods_of_queue(history, queue, dialect), now).get(GPU, 0) for queue in wanted_gpus}
        seen = ", ".join(f"{readable(amount)} GPUs in {queue}" for queue, amount in used.items())
        near = all(abs(used[queue] - 1000 * number) <= 1000 * give_or_take for queue, number in wanted_gpus.items())
        return Answer(Outcome.TRUE if near else Outcome.PENDING, seen)

    def reclaimed(history: History) -> list[str]:
        return [pod.uid for pod in victims(history) if _queue_of(history, pod, dialect) in wanted_gpus]

    return Question(wanted, ask, victims=reclaimed)


def gang_queued(gang: str, members: tuple[str, ...], dialect: QueueDialect) -> Question:
    """No member is bound, and the PodGroup, where there is one, is queued or admitted."""
    wanted = f"gang {gang} queued, none of its pods bound"

    def ask(history: History) -> Answer:
        bound = [pod.name for pod in history.pods_named(members) if pod.bound]
        phases = group_phases(history, gang, dialect.phase) if dialect.group_kind else []
        seen = f"its PodGroup was {' → '.join(phases) or 'never seen'}; bound: {', '.join(bound) or 'none'}"
        if bound or (phases and phases[-1] not in _NOT_STARTED):
            return Answer(Outcome.FALSE, seen)
        return Answer(Outcome.TRUE if phases or dialect.group_kind is None else Outcome.PENDING, seen)

    return Question(wanted, ask, members)


def queue_state(kind: str, queue: str, is_open: Callable[[CustomObject], bool], *, opened: bool) -> Question:
    """The queue's status says that it is open, or that it is not."""
    wanted = f"queue {queue} {'open' if opened else 'closed'}"

    def ask(history: History) -> Answer:
        newest = _object_at(history, kind, queue)
        if newest is None:
            return Answer(Outcome.PENDING, f"no queue {queue} was seen")
        outcome = Outcome.TRUE if is_open(newest) is opened else Outcome.PENDING
        return Answer(outcome, f"queue {queue}: {newest.status}")

    return Question(wanted, ask)


def pods_of_queue(history: History, queue: str, dialect: QueueDialect) -> list[PodHistory]:
    """The pods that count against a queue."""
    return [pod for pod in history.pods if _queue_of(history, pod, dialect) == queue]


def _queue_of(history: History, pod: PodHistory, dialect: QueueDialect) -> str:
    if dialect.group_kind is None:
        return dialect.queue_of_pod(pod.latest)
    group = _object_at(history, dialect.group_kind.kind, dialect.gang_of(pod.latest))
    return dialect.queue_of(group) if group else ""


def _limits(history: History, queue: str, moment: Moment, dialect: QueueDialect) -> dict[str, int]:
    if dialect.queue_kind is None:
        return amounts(dialect.limits_of(queue))
    known = _object_at(history, dialect.queue_kind.kind, queue, history.surely_after(moment))
    return amounts(dialect.capability(known)) if known else {}


def _object_at(history: History, kind: str, name: str, moment: Moment | None = None) -> CustomObject | None:
    """A custom object as it was at a moment, or as it was last seen."""
    states = [record for record in history.custom_objects(kind, name) if moment is None or record.moment <= moment]
    newest = states[-1].object if states else None
    return newest if isinstance(newest, CustomObject) else None
