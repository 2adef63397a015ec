"""Admission: whether a queue accepts work. An admitted gang reserves nothing: only bound pods count."""

from __future__ import annotations

from scheduler.core.cluster_state import ClusterState
from scheduler.core.policy import Policy
from scheduler.core.scheduling_types import DEFAULT_QUEUE, Group
from scheduler.core.scheduling_units import Unit


def rejection(queue: str, cluster: ClusterState) -> str:
    """Why the queue accepts no work; empty when it does. The default queue need not exist."""
    found = cluster.queues.get(queue)
    if found is None:
        return "" if queue == DEFAULT_QUEUE else f"queue {queue} does not exist"
    if found.problem:
        return f"queue {queue}: {found.problem}"
    return "" if found.is_open else f"queue {queue} is closed"


def unit_rejection(unit: Unit, cluster: ClusterState) -> str:
    """A late member of a gang that has started is not new work: it may return to a closed queue."""
    if not unit.groups and unit.members[0].group is not None:
        return ""
    return next((reason for queue in sorted(unit.queues) if (reason := rejection(queue, cluster))), "")


def group_rejection(group: Group, cluster: ClusterState) -> str:
    """A gang is rejected if its queue accepts no work, or if it requests more than the queue's capability."""
    queue = group.queue or DEFAULT_QUEUE
    if reason := group.problem or rejection(queue, cluster):
        return reason
    found = cluster.queues.get(queue)
    for resource, limit in sorted(found.capability.items() if found else ()):
        if group.min_resources.get(resource, 0) > limit:
            return f"minResources exceed the capability of queue {queue} in {resource}"
    return ""


def is_strict(queue: str, cluster: ClusterState, policy: Policy) -> bool:
    """Whether the queue is strict FIFO: its pending head blocks all later work."""
    found = cluster.queues.get(queue)
    if found is None:
        return False
    return policy.strict_queues if found.strict is None else found.strict
