"""Why a pod is unschedulable, in kube-scheduler's format: how many nodes, and what each of them lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from scheduler.core.capacity import Capacity
from scheduler.core.effort import filter_effort
from scheduler.core.node_table import Mask
from scheduler.core.placement_filters import excluded
from scheduler.core.scheduling_types import PODS, Pod, PodRequirements, format_amount
from scheduler.core.snapshot import Snapshot


def fit_error(requirements: PodRequirements, capacity: Capacity) -> str:
    """What keeps such a pod off the nodes, summed up."""
    table = capacity.table
    if not len(table):
        return "no nodes are available"
    eligibility = table.eligibility(requirements)
    tainted = eligibility.tainted & ~eligibility.cordoned
    unmatched = eligibility.unmatched & ~eligibility.tainted & ~eligibility.cordoned
    parts = [
        (int(eligibility.cordoned.sum()), "node(s) were unschedulable"),
        (int(tainted.sum()), "node(s) had untolerated taint(s)"),
        (int(unmatched.sum()), "node(s) didn't match Pod's node affinity/selector"),
    ]
    rejected = eligibility.tainted | eligibility.unmatched | eligibility.cordoned
    for reason, nodes in eligibility.without_volumes:  # a node counts for the first of them only
        parts.append((int((nodes & ~rejected).sum()), reason))
        rejected = rejected | nodes
    for resource, amount in requirements.requests:
        if amount > 0:
            lacking = int((eligibility.allowed & ~_enough(capacity, resource, amount)).sum())
            parts.append((lacking, "Too many pods" if resource == PODS else f"Insufficient {resource}"))
    for reason, nodes in excluded(requirements, table, capacity.layers):
        parts.append((int((eligibility.allowed & nodes).sum()), reason))
    totals = Counter[str]()
    for count, reason in parts:
        totals[reason] += count
    reasons = ", ".join(f"{count} {reason}" for reason, count in totals.items() if count)
    return f"0/{len(table)} nodes are available: {reasons or 'free resources are reserved for nominated pods'}"


def gang_fit_error(members: Sequence[Pod], snapshot: Snapshot) -> str:
    """How many of the required members fit, and what the first that does not fit lacks."""
    capacity = Capacity(snapshot.table, *(layer.copy() for layer in snapshot.free_now.layers))
    snapshot.effort_spent += len(members) * filter_effort(len(snapshot.table))
    for placed, pod in enumerate(members):
        if capacity.allocate_best(pod.requirements) is None:
            return f"{placed} of {len(members)} required members fit; {fit_error(pod.requirements, capacity)}"
    return f"its {len(members)} required members do not fit together"


def quota_exceeded(members: Sequence[Pod], snapshot: Snapshot) -> str:
    """Which capability of which queue would be exceeded; empty when none would."""
    exceeded = snapshot.queue_usage.exceeded(members, later=False)
    if exceeded is None:
        return ""
    queue, resource = exceeded
    requested = sum(dict(pod.requests).get(resource, 0) for pod in members if snapshot.cluster.queue_of(pod) == queue)
    used, limit = snapshot.queue_usage.used(queue, resource), snapshot.queue_usage.capability(queue)[resource]
    usage = f"{format_amount(resource, used)} of {format_amount(resource, limit)} {resource}"
    return f"queue {queue} uses {usage}, {format_amount(resource, requested)} more requested"


def _enough(capacity: Capacity, resource: str, amount: int) -> Mask:
    column = capacity.table.column.get(resource)
    if column is None:
        return np.zeros(len(capacity.table), np.bool_)
    enough: Mask = np.logical_and.reduce([layer[column] >= amount for layer in capacity.layers])
    return enough
