"""What is decided about as one: a pod, or the members of a gang that must start together; and in which order.

The written order: the more important first; among equals those for whom room is already being made, then the older,
then the name. A gang is as old as its group, and as important as its group's class or else its least important member.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from scheduler.core.cluster import Claims, Cluster
from scheduler.core.model import Group, Key, Pod, Shape
from scheduler.core.policy import Policy
from scheduler.core.room import size

STARTED = frozenset({"Running", "Scheduled"})  # phases of a group that has once reached its minimum
FINISHED = frozenset({"Completed", "Finished", "Failed"})


@dataclass(frozen=True, slots=True)
class Unit:
    """Pods that wait and are decided about together."""

    name: str  # namespace/name of the pod or the group
    members: tuple[Pod, ...]
    groups: tuple[Group, ...] = ()  # none: a pod by itself, or a late member of a gang that has started
    priority: int = 0
    preempts: bool = True
    created: float = 0.0
    queues: frozenset[str] = frozenset()
    partial: tuple[Pod, ...] = ()  # members that are bound although the gang has never reached its minimum
    blocked: str = ""  # why it cannot be looked at yet

    @property
    def order(self) -> tuple[int, bool, float, str]:
        return -self.priority, not any(pod.nominated for pod in self.members), self.created, self.name


def title(key: Key) -> str:
    """A group as people know it."""
    return f"{key[0]}/{key[1].rpartition(':')[2]}"


def units(cluster: Cluster, policy: Policy) -> list[Unit]:
    """Everything that waits for a decision, in order."""
    found: list[Unit] = []
    gangs: dict[Key, list[Pod]] = defaultdict(list)
    started: dict[Key, bool] = {}
    for pod in cluster.waiting.values():
        if pod.scheduler not in policy.schedulers:
            continue
        group = cluster.group_of(pod)
        if group is not None and group.key not in started:
            started[group.key] = has_started(group, cluster)
        if pod.group is None or pod.problem or group is None or group.problem or started[group.key]:
            found.append(_single(pod, group, cluster))
        else:
            gangs[pod.group].append(pod)
    naming, named = cluster.partners() if gangs else ({}, {})
    while gangs:
        key = next(iter(gangs))
        family = sorted(_reached(key, naming) & _reached(key, named))
        found.append(_gang(family, [pod for key in family for pod in gangs.pop(key, [])], cluster))
    return sorted(found, key=lambda unit: unit.order)


def has_started(group: Group, cluster: Cluster) -> bool:
    """Whether it has reached its minimum, so that further members are placed like any pod."""
    if group.match == "only-waiting":
        return False
    bound = counted(group, cluster)
    counts = cluster.counts.get(group.key, group.counts)
    ended = counts.succeeded + counts.failed  # of which roles is not known any more
    if bound and (reaches_minimum(group, bound) or (ended and len(bound) + ended >= least(group))):
        return True
    someone_is_left = bool(bound) or counts.succeeded > 0
    return group.match == "once-satisfied" and group.phase in STARTED and someone_is_left


def reaches_minimum(group: Group, pods: Sequence[Pod]) -> bool:
    roles = Counter(pod.role for pod in pods)
    return len(pods) >= least(group) and all(roles[role] >= fewest for role, fewest in group.roles.items())


def least(group: Group) -> int:
    """A gang of nobody is a gang of one: it waits like any other work."""
    return max(1, group.minimum)


def least_members(unit: Unit, cluster: Cluster, can_be_placed: Callable[[Shape], bool] | None = None) -> list[Pod]:
    """The members that must start together at the least: the smallest that make up every minimum.

    Those that cannot be placed, if nothing else is said those that no node could ever take, come last: they must not
    keep the others waiting.
    """
    hopeful = cache(can_be_placed or cluster.table.could_ever_take)

    def ease(pod: Pod) -> tuple[bool, tuple[int, ...], Key]:
        return not hopeful(pod.shape), size(pod), pod.key

    chosen: list[Pod] = []
    for group in unit.groups:
        bound = Counter(pod.role for pod in counted(group, cluster))
        mine = sorted((pod for pod in unit.members if pod.group == group.key), key=ease)
        picked: dict[str, Pod] = {}
        for role, fewest in sorted(group.roles.items()):
            of_role = [pod for pod in mine if pod.role == role][: max(0, fewest - bound[role])]
            picked |= {pod.uid: pod for pod in of_role}
        others = [pod for pod in mine if pod.uid not in picked]
        chosen += [*picked.values(), *others[: max(0, least(group) - bound.total() - len(picked))]]
    return chosen


def counted(group: Group, cluster: Cluster) -> list[Pod]:
    """The bound members that count towards the minimum."""
    if group.match == "only-waiting":
        return []
    return [pod for pod in cluster.members(group.key) if pod.node and not pod.leaving]


def _single(pod: Pod, group: Group | None, cluster: Cluster) -> Unit:
    blocked = pod.problem
    if pod.group is not None and group is None:
        blocked = blocked or f"group {title(pod.group)} does not exist"
    elif group is not None and group.problem:
        blocked = blocked or f"group {title(group.key)}: {group.problem}"
    preempts = _preempts(pod, cluster)
    queues = frozenset({cluster.queue_of(pod)})
    name = "/".join(pod.key)
    return Unit(name, (pod,), (), cluster.priority_of(pod), preempts, pod.created, queues, (), blocked)


def _reached(key: Key, claims: Claims) -> set[Key]:
    """Itself and everybody from claim to claim.

    Groups start together where this holds in both directions: nobody's gang waits because a stranger names it.
    """
    reached, ahead = {key}, [key]
    while ahead:
        new = claims.get(ahead.pop(), set()) - reached
        reached |= new
        ahead += new
    return reached


def _gang(family: Sequence[Key], pods: Iterable[Pod], cluster: Cluster) -> Unit:
    members = tuple(sorted(pods, key=lambda pod: (pod.created, pod.key)))
    groups = tuple(cluster.groups[key] for key in family)
    preempts = all(_preempts(pod, cluster) for pod in members)
    partial = tuple(
        pod
        for group in groups
        if group.phase not in STARTED | FINISHED and not has_started(group, cluster)
        for pod in counted(group, cluster)
    )
    return Unit(
        name=title(members[0].group or family[0]),
        members=members,
        groups=groups,
        priority=min(cluster.priority_of(pod) for pod in members),
        preempts=preempts,
        created=min(group.created for group in groups),
        queues=frozenset(cluster.queue_of(pod) for pod in members),
        partial=partial,
        blocked=_incomplete(family, members, cluster),
    )


def _preempts(pod: Pod, cluster: Cluster) -> bool:
    """Only if neither its own class nor its group's says Never."""
    group = cluster.group_of(pod)
    return pod.preempts and (group is None or group.preempts is not False)


def _incomplete(family: Sequence[Key], members: Sequence[Pod], cluster: Cluster) -> str:
    for key in family:
        group = cluster.groups[key]
        if left_out := group.partners.difference(family):
            partner = min(left_out)
            if partner not in cluster.groups:
                return f"group {title(partner)}, which starts together with this one, does not exist"
            return f"group {title(partner)}, which should start together with {title(key)}, does not name it"
        if group.problem:
            return f"group {title(key)}: {group.problem}"
        there = counted(group, cluster) + [pod for pod in members if pod.group == key]
        if not reaches_minimum(group, there) and not has_started(group, cluster):
            return f"gang {title(key)} waits for its members: {_shortfall(group, there)}"
    return ""


def _shortfall(group: Group, there: Sequence[Pod]) -> str:
    roles = Counter(pod.role for pod in there)
    for role, fewest in sorted(group.roles.items()):
        if roles[role] < fewest:
            return f"{roles[role]} of {fewest} {role} pods exist"
    return f"{len(there)} of {least(group)} pods exist"
