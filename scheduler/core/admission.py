"""Admission: whether a queue takes work at all. An admitted gang reserves nothing: only pods that are bound count."""

from __future__ import annotations

from scheduler.core.cluster import Cluster
from scheduler.core.model import DEFAULT_QUEUE, Group
from scheduler.core.policy import Policy
from scheduler.core.units import Unit


def refusal(queue: str, cluster: Cluster) -> str:
    """Why the queue takes nothing; empty when it does. The default queue need not exist."""
    found = cluster.queues.get(queue)
    if found is None:
        return "" if queue == DEFAULT_QUEUE else f"queue {queue} does not exist"
    if found.problem:
        return f"queue {queue}: {found.problem}"
    return "" if found.opened else f"queue {queue} is closed"


def refusal_of_unit(unit: Unit, cluster: Cluster) -> str:
    """A late member of a gang that has started is not new work: a closed queue lets it return."""
    late = not unit.groups and unit.members[0].group is not None
    return next((why for queue in sorted(unit.queues) if not late and (why := refusal(queue, cluster))), "")


def refusal_of_group(group: Group, cluster: Cluster) -> str:
    """A group that asks for more than its queue may ever use is not admitted, nor one whose queue takes nothing."""
    queue = group.queue or DEFAULT_QUEUE
    if why := group.problem or refusal(queue, cluster):
        return why
    found = cluster.queues.get(queue)
    for resource, limit in sorted(found.capability.items() if found else ()):
        if group.least.get(resource, 0) > limit:
            return f"asks for more {resource} than queue {queue} may ever use"
    return ""


def is_strict(queue: str, cluster: Cluster, policy: Policy) -> bool:
    """Whether nobody overtakes the head of the queue."""
    found = cluster.queues.get(queue)
    if found is None:
        return False
    return policy.strict_queues if found.strict is None else found.strict
