"""Why a pod waits, told by the code that decides: those before it are decided about, then it is looked at closely."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.core.actions import Bind, Evict, Nominate, Report
from scheduler.core.cluster import Cluster
from scheduler.core.model import PODS, Pod, shown
from scheduler.core.plan import Planning
from scheduler.core.policy import Policy
from scheduler.core.units import Unit, least_members, title, units

_NODES_SHOWN = 20
_NAMES_SHOWN = 5


def explain(cluster: Cluster, policy: Policy, pod: Pod) -> str:
    """Some lines for a person, the answer first."""
    name = "/".join(pod.key)
    if pod.node:
        return f"{name} is bound to {pod.node}" + (", and is leaving it" if pod.leaving else "")
    if pod.leaving:
        return f"{name} is being deleted"
    if pod.gated:
        return f"{name} is gated: nobody looks at it until its scheduling gates are removed"
    if pod.scheduler not in policy.schedulers:
        return f"{name} asks for the scheduler {pod.scheduler}, which is not this one"
    planning = Planning(cluster, policy)
    waiting = units(cluster, policy)
    for place, unit in enumerate(waiting):
        if any(member.uid == pod.uid for member in unit.members):
            before = [other.name for other in waiting[:place]]
            return "\n".join(_told(unit, pod, before, planning))
        planning.decide(unit)
    return f"{name} is not known here"


def _told(unit: Unit, pod: Pod, before: list[str], planning: Planning) -> Iterator[str]:
    nodes = list(_nodes(unit, pod, planning)) if not unit.blocked else []
    details = list(_gang(unit, planning.draft.cluster))
    so_far = len(planning.actions)
    planning.decide(unit)
    yield "/".join(pod.key) + " " + _verdict(pod, planning, so_far)
    yield f"priority {unit.priority}, queue {', '.join(sorted(unit.queues))}, {_order(before)}"
    yield from details
    yield from nodes


def _verdict(pod: Pod, planning: Planning, so_far: int) -> str:
    mine = planning.actions[so_far:]
    for action in mine:
        if isinstance(action, Bind) and action.pod.uid == pod.uid:
            return f"starts on {action.node} now"
    victims = [action.pod for action in mine if isinstance(action, Evict)]
    if victims:
        return f"waits until those have left who go for it: {_names(['/'.join(one.key) for one in victims])}"
    nominated = next((one.node for one in mine if isinstance(one, Nominate) and one.pod.uid == pod.uid), "")
    told = next((one.message for one in mine if isinstance(one, Report) and one.pod.uid == pod.uid), "")
    return f"waits: {told}" + (f" (nominated to {nominated})" if nominated else "")


def _order(before: list[str]) -> str:
    return f"{len(before)} before it: {_names(before)}" if before else "nobody waits before it"


def _gang(unit: Unit, cluster: Cluster) -> Iterator[str]:
    for group in unit.groups:
        there = cluster.members(group.key)
        bound = sum(1 for one in there if one.node)
        yield f"gang {title(group.key)}: {group.minimum} start together, {len(there)} exist, {bound} bound"
    if unit.groups and not unit.blocked:
        yield f"at the least: {_names([one.key[1] for one in least_members(unit, cluster)])}"


def _nodes(unit: Unit, pod: Pod, planning: Planning) -> Iterator[str]:
    draft, table = planning.draft, planning.draft.table
    who, candidates = table.eligibility(pod.shape), planning.candidates(unit)
    for row, node in enumerate(table.nodes[:_NODES_SHOWN]):
        if who.cordoned[row]:
            yield f"  {node.name}: cordoned"
        elif who.tainted[row]:
            yield f"  {node.name}: has a taint that it does not tolerate"
        elif who.unmatched[row]:
            yield f"  {node.name}: is not one that it asks for"
        else:
            lower = [f"{'/'.join(one.key)} ({draft.cluster.priority_of(one)})" for one in candidates.on.get(row, ())]
            yield f"  {node.name}: {_room(pod, row, planning)}" + (
                f"; less important: {_names(lower)}" if lower else ""
            )
    if len(table) > _NODES_SHOWN:
        yield f"  … and {len(table) - _NODES_SHOWN} more nodes"


def _room(pod: Pod, row: int, planning: Planning) -> str:
    table = planning.draft.table
    now, later = planning.draft.now.layers
    told = []
    for resource, asked in pod.requests:
        column = table.column.get(resource)
        if column is None:
            told.append(f"offers no {resource}")
        elif resource != PODS or now[column, row] < asked:
            free, soon = int(now[column, row]), int(later[column, row])
            held = (
                f" ({shown(resource, soon)} when those who leave are gone, less what is held)" if soon != free else ""
            )
            offered = shown(resource, int(table.allocatable[column, row]))
            told.append(f"{resource} {shown(resource, free)} free{held} of {offered}, {shown(resource, asked)} asked")
    return ", ".join(told) or "has room"


def _names(names: list[str]) -> str:
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more
