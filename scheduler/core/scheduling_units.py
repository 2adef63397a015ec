"""Scheduling units: a pod, or the pending members of a gang; and the order in which they are scheduled.

Queue order: higher priority first; at equal priority nominated units first, then pods that a started gang needs to
reach minMember again, then by creation time, then by name. A gang's creation time is its PodGroup's; its priority is
that of its PodGroup's class, or else that of its lowest-priority member.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from scheduler.core.capacity import size
from scheduler.core.cluster_state import ClusterState
from scheduler.core.linked_groups import linked_sets
from scheduler.core.policy import Policy
from scheduler.core.scheduling_types import Group, Key, Pod, PodRequirements

# Phases of a PodGroup that has reached minMember once. Unknown, of both APIs: some members run, others were lost.
STARTED = frozenset({"Running", "Scheduled", "Unknown"})
FINISHED = frozenset({"Completed", "Finished", "Failed"})


@dataclass(frozen=True, slots=True)
class Unit:
    """Pending pods that are scheduled together."""

    name: str  # namespace/name of the pod or the PodGroup
    members: tuple[Pod, ...]
    groups: tuple[Group, ...] = ()  # none: a single pod, or a late member of a gang that has started
    priority: int = 0
    preempts: bool = True
    created: float = 0.0
    queues: frozenset[str] = frozenset()
    partial: tuple[Pod, ...] = ()  # bound members of a gang that has never reached minMember
    blocked: str = ""  # why it cannot be scheduled yet
    incomplete: bool = False  # blocked because members do not exist yet, and for no other reason
    completes_gang: bool = False  # the place of a member that a started gang has lost and needs

    @property
    def order(self) -> tuple[int, bool, bool, float, str]:
        nominated = any(pod.nominated for pod in self.members)
        return -self.priority, not nominated, not self.completes_gang, self.created, self.name


def group_name(key: Key) -> str:
    """namespace/name of a PodGroup, for messages."""
    return f"{key[0]}/{key[1].rpartition(':')[2]}"


def pending_units(cluster: ClusterState, policy: Policy) -> list[Unit]:
    """All pending units, in queue order."""
    found: list[Unit] = []
    gangs: dict[Key, list[Pod]] = defaultdict(list)
    started: dict[Key, bool] = {}
    for pod in cluster.pending.values():
        if pod.scheduler not in policy.schedulers:
            continue
        group = cluster.group_of(pod)
        if group is not None and group.key not in started:
            started[group.key] = has_started(group, cluster)
        if pod.group is None or pod.problem or group is None or group.problem or started[group.key]:
            found.append(_single_pod_unit(pod, group, cluster))
        else:
            gangs[pod.group].append(pod)
    for linked in linked_sets(gangs, cluster.group_links() if gangs else {}):
        found.append(_gang(linked, [pod for key in linked for pod in gangs.get(key, ())], cluster))
    return sorted(found, key=lambda unit: unit.order)


def has_started(group: Group, cluster: ClusterState) -> bool:
    """Whether the gang has reached minMember, so that further members are scheduled like single pods.

    Linked groups start together: a gang waits for all of them, unless its phase or an ended member says that it has
    started before.
    """
    if group.match_policy == "only-waiting":
        return False
    counts = cluster.counts.get(group.key, group.counts)
    if _has_min_member(group, cluster):
        before = group.phase in STARTED or counts.succeeded + counts.failed > 0
        return before or all(_is_complete(key, cluster) for key in cluster.linked(group.key))
    has_members = bool(counted_members(group, cluster)) or counts.succeeded > 0
    return group.match_policy == "once-satisfied" and group.phase in STARTED and has_members


def _has_min_member(group: Group, cluster: ClusterState) -> bool:
    bound, counts = counted_members(group, cluster), cluster.counts.get(group.key, group.counts)
    ended = counts.succeeded + counts.failed  # their roles are not known any more
    enough = reaches_min_member(group, bound) or (ended > 0 and len(bound) + ended >= effective_min_member(group))
    return bool(bound) and enough


def _is_complete(key: Key, cluster: ClusterState) -> bool:
    """Whether a linked group is waited for no longer."""
    group = cluster.groups[key]
    waits = group.match_policy != "only-waiting" and group.phase not in STARTED | FINISHED
    return not waits or _has_min_member(group, cluster)


def reaches_min_member(group: Group, pods: Sequence[Pod]) -> bool:
    roles = Counter(pod.role for pod in pods)
    return len(pods) >= effective_min_member(group) and all(roles[role] >= count for role, count in group.roles.items())


def effective_min_member(group: Group) -> int:
    """A minMember of 0 counts as 1: an empty gang is pending like any other work."""
    return max(1, group.min_member)


def select_min_members(
    unit: Unit, cluster: ClusterState, can_be_placed: Callable[[PodRequirements], bool] | None = None
) -> list[Pod]:
    """The smallest members that satisfy minMember and every role's minimum.

    Members that cannot be placed come last, so that they do not block the others; by default those that fit on no empty
    node.
    """
    placeable = cache(can_be_placed or cluster.table.fits_on_empty_node)

    def smallest_first(pod: Pod) -> tuple[bool, tuple[int, ...], Key]:
        return not placeable(pod.requirements), size(pod), pod.key

    chosen: list[Pod] = []
    for group in unit.groups:
        bound = Counter(pod.role for pod in counted_members(group, cluster))
        members = sorted((pod for pod in unit.members if pod.group == group.key), key=smallest_first)
        role_members: dict[str, Pod] = {}
        for role, count in sorted(group.roles.items()):
            of_role = [pod for pod in members if pod.role == role][: max(0, count - bound[role])]
            role_members |= {pod.uid: pod for pod in of_role}
        others = [pod for pod in members if pod.uid not in role_members]
        missing = max(0, effective_min_member(group) - bound.total() - len(role_members))
        chosen += [*role_members.values(), *others[:missing]]
    return chosen


def minimum_signature(group: Group, cluster: ClusterState) -> tuple[object, ...]:
    """How many more members, of which roles and for which queue, a gang needs: what `select_min_members` depends on."""
    bound = Counter(pod.role for pod in counted_members(group, cluster))
    return group.queue, effective_min_member(group), tuple(sorted(group.roles.items())), tuple(sorted(bound.items()))


def counted_members(group: Group, cluster: ClusterState) -> list[Pod]:
    """The bound members that count towards minMember."""
    if group.match_policy == "only-waiting":
        return []
    return [pod for pod in cluster.members(group.key) if pod.node and not pod.terminating]


def _single_pod_unit(pod: Pod, group: Group | None, cluster: ClusterState) -> Unit:
    blocked = pod.problem
    if pod.group is not None and group is None:
        blocked = blocked or f"PodGroup {group_name(pod.group)} does not exist"
    elif group is not None and group.problem:
        blocked = blocked or f"PodGroup {group_name(group.key)}: {group.problem}"
    preempts = _preempts(pod, cluster)
    queues = frozenset({cluster.queue_of(pod)})
    name = "/".join(pod.key)
    priority, completes = cluster.priority_of(pod), group is not None and _is_short(group, cluster)
    return Unit(name, (pod,), (), priority, preempts, pod.created, queues, (), blocked, completes_gang=completes)


def _is_short(group: Group, cluster: ClusterState) -> bool:
    """Whether a gang has lost members that it needs: those that have ended are not missing."""
    bound, counts = counted_members(group, cluster), cluster.counts.get(group.key, group.counts)
    ended = counts.succeeded + counts.failed
    return not reaches_min_member(group, bound) and len(bound) + ended < effective_min_member(group)


def _gang(linked: Sequence[Key], pods: Iterable[Pod], cluster: ClusterState) -> Unit:
    members = tuple(sorted(pods, key=lambda pod: (pod.created, pod.key)))
    groups = tuple(cluster.groups[key] for key in linked)
    preempts = all(_preempts(pod, cluster) for pod in members)
    partial = tuple(
        pod
        for group in groups
        if group.phase not in STARTED | FINISHED and not has_started(group, cluster)
        for pod in counted_members(group, cluster)
    )
    blocked, incomplete = _blocked_reason(linked, members, cluster)
    return Unit(
        name=group_name(members[0].group or linked[0]),
        members=members,
        groups=groups,
        priority=min(cluster.priority_of(pod) for pod in members),
        preempts=preempts,
        created=min(group.created for group in groups),
        queues=frozenset(cluster.queue_of(pod) for pod in members),
        partial=partial,
        blocked=blocked,
        incomplete=incomplete,
    )


def _preempts(pod: Pod, cluster: ClusterState) -> bool:
    """Whether neither its own PriorityClass nor its PodGroup's has preemptionPolicy Never."""
    group = cluster.group_of(pod)
    return pod.preempts and (group is None or group.preempts is not False)


def _blocked_reason(linked: Sequence[Key], members: Sequence[Pod], cluster: ClusterState) -> tuple[str, bool]:
    """Why a gang cannot be scheduled yet, and whether it only lacks members."""
    for key in linked:
        group = cluster.groups[key]
        if not_linked := group.linked_groups.difference(linked):
            missing = min(not_linked)
            if missing not in cluster.groups:
                return f"linked PodGroup {group_name(missing)} does not exist", False
            return f"linked PodGroup {group_name(missing)} does not list {group_name(key)}", False
        if group.problem:
            return f"PodGroup {group_name(key)}: {group.problem}", False
        existing = counted_members(group, cluster) + [pod for pod in members if pod.group == key]
        if not reaches_min_member(group, existing) and not has_started(group, cluster):
            problem = _problem_in(key, cluster)
            shortfall = f"gang {group_name(key)} is below minMember: {_shortfall(group, existing)}"
            return shortfall + problem, not problem
    return "", False


def _problem_in(key: Key, cluster: ClusterState) -> str:
    """A member that exists and does not count, if there is one: the others should not have to look for it."""
    found = min(
        ((pod.key[1], pod.problem) for pod in cluster.members(key) if pod.problem and not pod.node), default=None
    )
    return f"; {found[0]}: {found[1]}" if found else ""


def _shortfall(group: Group, existing: Sequence[Pod]) -> str:
    roles = Counter(pod.role for pod in existing)
    for role, count in sorted(group.roles.items()):
        if roles[role] < count:
            return f"{roles[role]} of {count} {role} pods exist"
    return f"{len(existing)} of {effective_min_member(group)} pods exist"
