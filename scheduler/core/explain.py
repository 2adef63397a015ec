"""Explain why a pod is pending, by the code that decides: schedule the units ahead of it, then describe its turn."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.core.actions import Bind, Evict, Nominate, Report
from scheduler.core.cluster_state import ClusterState
from scheduler.core.plan import SchedulingCycle
from scheduler.core.policy import Policy
from scheduler.core.scheduling_types import PODS, Pod, format_amount
from scheduler.core.scheduling_units import Unit, group_name, pending_units, select_min_members

_NODES_SHOWN = 20
_NAMES_SHOWN = 5


def explain(cluster: ClusterState, policy: Policy, pod: Pod) -> str:
    """A few lines of text, the outcome first."""
    name = "/".join(pod.key)
    if pod.node:
        return f"{name} is bound to {pod.node}" + (", and is terminating" if pod.terminating else "")
    if pod.terminating:
        return f"{name} is being deleted"
    if pod.gated:
        return f"{name} is pending: it has scheduling gates and is not scheduled until they are removed"
    if pod.scheduler not in policy.schedulers:
        return f"{name} has schedulerName {pod.scheduler}, which this scheduler does not serve"
    cycle = SchedulingCycle(cluster, policy)
    pending = pending_units(cluster, policy)
    for position, unit in enumerate(pending):
        if any(member.uid == pod.uid for member in unit.members):
            ahead = [other.name for other in pending[:position]]
            return "\n".join(_lines(unit, pod, ahead, cycle))
        cycle.decide(unit)
    return f"{name} is unknown to this scheduler"


def _lines(unit: Unit, pod: Pod, ahead: list[str], cycle: SchedulingCycle) -> Iterator[str]:
    nodes = list(_nodes(unit, pod, cycle)) if not unit.blocked else []
    gang = list(_gang(unit, cycle.snapshot.cluster))
    decided = len(cycle.actions)
    cycle.decide(unit)
    yield "/".join(pod.key) + " " + _outcome(pod, cycle, decided)
    yield f"priority {unit.priority}, queue {', '.join(sorted(unit.queues))}, {_position(ahead)}"
    yield from gang
    yield from nodes


def _outcome(pod: Pod, cycle: SchedulingCycle, decided: int) -> str:
    actions = cycle.actions[decided:]
    for action in actions:
        if isinstance(action, Bind) and action.pod.uid == pod.uid:
            return f"can be bound to {action.node} now"
    victims = [action.pod for action in actions if isinstance(action, Evict)]
    if victims:
        return f"is pending until its victims have terminated: {_names(['/'.join(one.key) for one in victims])}"
    nominated = next((one.node for one in actions if isinstance(one, Nominate) and one.pod.uid == pod.uid), "")
    reason = next((one.message for one in actions if isinstance(one, Report) and one.pod.uid == pod.uid), "")
    return f"is pending: {reason}" + (f" (nominated to {nominated})" if nominated else "")


def _position(ahead: list[str]) -> str:
    return f"{len(ahead)} ahead in the queue: {_names(ahead)}" if ahead else "first in the queue"


def _gang(unit: Unit, cluster: ClusterState) -> Iterator[str]:
    for group in unit.groups:
        members = cluster.members(group.key)
        bound = sum(1 for one in members if one.node)
        yield f"gang {group_name(group.key)}: minMember {group.min_member}, {len(members)} pods exist, {bound} bound"
    if unit.groups and not unit.blocked:
        yield f"required members: {_names([one.key[1] for one in select_min_members(unit, cluster)])}"


def _nodes(unit: Unit, pod: Pod, cycle: SchedulingCycle) -> Iterator[str]:
    snapshot, table = cycle.snapshot, cycle.snapshot.table
    eligibility, candidates = table.eligibility(pod.requirements), cycle.candidates(unit)
    for row, node in enumerate(table.nodes[:_NODES_SHOWN]):
        if eligibility.cordoned[row]:
            yield f"  {node.name}: unschedulable (cordoned)"
        elif eligibility.tainted[row]:
            yield f"  {node.name}: has an untolerated taint"
        elif eligibility.unmatched[row]:
            yield f"  {node.name}: doesn't match the pod's node affinity/selector"
        elif reason := next((one for one, nodes in eligibility.without_volumes if nodes[row]), ""):
            yield f"  {node.name}: {reason.removeprefix('node(s) ')}"
        else:
            victims = candidates.on(row)
            lower = [f"{'/'.join(one.key)} ({snapshot.cluster.priority_of(one)})" for one in victims]
            preemptible = f"; lower-priority pods: {_names(lower)}" if lower else ""
            yield f"  {node.name}: {_free_resources(pod, row, cycle)}{preemptible}"
    if len(table) > _NODES_SHOWN:
        yield f"  … and {len(table) - _NODES_SHOWN} more nodes"


def _free_resources(pod: Pod, row: int, cycle: SchedulingCycle) -> str:
    table = cycle.snapshot.table
    free_now, free_later = cycle.snapshot.free_now.layers
    parts = []
    for resource, requested in pod.requests:
        column = table.column.get(resource)
        if column is None:
            parts.append(f"has no {resource}")
        elif resource != PODS or free_now[column, row] < requested:
            free, later = int(free_now[column, row]), int(free_later[column, row])
            unreserved = f" ({format_amount(resource, later)} unreserved after terminations)" if later != free else ""
            allocatable = format_amount(resource, int(table.allocatable[column, row]))
            parts.append(
                f"{resource} {format_amount(resource, free)} free{unreserved} of {allocatable}, "
                f"{format_amount(resource, requested)} requested"
            )
    return ", ".join(parts) or "fits"


def _names(names: list[str]) -> str:
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more
