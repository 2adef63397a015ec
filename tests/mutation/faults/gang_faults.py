"""Gang faults: membership, minMember, and all-or-nothing starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from scheduler.client import Client
from scheduler.core import podgroup_phases, scheduling_units
from scheduler.core.actions import UNSCHEDULABLE, Action
from scheduler.core.cluster_state import ClusterState
from scheduler.core.plan import SchedulingCycle
from scheduler.core.policy import Policy
from scheduler.core.scheduling_types import Group, Pod
from scheduler.core.scheduling_units import Unit
from scheduler.runtime import podgroups_and_queues, requests
from scheduler.runtime.api_types import CustomResource, PriorityClass
from scheduler.runtime.assumed_pods import AssumedPods
from tests.mutation.aims import Aim
from tests.mutation.faults.registry import Patch, fault


def _split(unit: Unit) -> Iterator[Unit]:
    """The members of a gang as single pods."""
    for pod in unit.members:
        yield replace(unit, name="/".join(pod.key), members=(pod,), groups=(), partial=(), blocked="")


def _split_by_role(unit: Unit) -> Iterator[Unit]:
    """The roles of a gang as units that are all or nothing by themselves."""
    for role in dict.fromkeys(pod.role for pod in unit.members):
        members = tuple(pod for pod in unit.members if pod.role == role)
        yield replace(unit, name=f"{unit.name}-{role}", members=members, groups=(), partial=(), blocked="")


@fault('GNG-03: the other one of the gangs "left", "right" runs')
def only_the_first_gang_starts(patch: Patch) -> None:
    """The bindings of every gang but the first are not written."""
    bind, started = requests.bind, dict[str, object]()

    async def bind_first(client: Client, pod: Pod, node: str) -> None:
        if pod.group is None or started.setdefault(pod.key[0], pod.group) == pod.group:
            await bind(client, pod, node)

    patch.function(bind, bind_first)


@fault(
    'GNG-01: no pod of the gang "train" is bound',
    'GNG-03: exactly one of the gangs "left", "right" runs, and no pod of the others',
    'GNG-04: no pod of the gang "train" is bound',
    Aim(
        "GNG-05",
        'at least 3 pods of the gang "train" are bound, or none',
        seen="started with minMember 3, and then lost",
    ),
    'GNG-07: no pod of the gang "train" is bound',
    'GNG-09: no pod of the gang "train" is bound',
    'JPR-03: no pod of the gang "train" is bound',
    'JPR-15: no pod of the gang "actors" is bound',
    'JPR-22: no pod of the gang "huge" is bound',
    'QUE-17: exactly one of the gangs "one", "other" ran with all pods, and no pod',
)
def gangs_are_ignored(patch: Patch) -> None:
    """Members of a gang are scheduled as single pods."""
    whole = scheduling_units.pending_units

    def split(cluster: ClusterState, policy: Policy) -> list[Unit]:
        return [part for unit in whole(cluster, policy) for part in (_split(unit) if unit.groups else [unit])]

    patch.function(whole, split)


@fault(
    'GNG-03: exactly one of the gangs "left", "right" runs, and no pod of the others',
    'QUE-01: exactly one of the gangs "first", "second", "third" ran with all pods',
    'QUE-17: exactly one of the gangs "one", "other" ran with all pods, and no pod',
)
def gangs_bind_alternately(patch: Patch) -> None:
    """Gangs bind one member in turn, so that two of them are partially started."""
    whole = scheduling_units.pending_units

    def in_turn(cluster: ClusterState, policy: Policy) -> list[Unit]:
        found = [list(_split(unit)) if unit.groups else [unit] for unit in whole(cluster, policy)]
        longest = max(map(len, found), default=0)
        return [parts[turn] for turn in range(longest) for parts in found if turn < len(parts)]

    patch.function(whole, in_turn)


@fault(
    'GNG-01: no pod of the gang "train" is bound',
    'GNG-11: no pod of the gang "train" is bound',
    'JPR-16: no pod of the gang "train" is bound',
)
def gangs_start_below_min_member(patch: Patch) -> None:
    """A gang starts with the members that exist, whatever its minMember."""
    patch.function(scheduling_units._blocked_reason, lambda *_: ("", False))


@fault('GNG-07: no pod of the gang "train" is bound')
def roles_start_separately(patch: Patch) -> None:
    """Each role of a gang starts as soon as that role fits, whatever the other roles need."""
    whole = scheduling_units.pending_units

    def by_role(cluster: ClusterState, policy: Policy) -> list[Unit]:
        return [part for unit in whole(cluster, policy) for part in (_split_by_role(unit) if unit.groups else [unit])]

    patch.function(whole, by_role)


@fault('GNG-06: no pod of the gang "train" is bound')
def pods_start_without_their_podgroup(patch: Patch) -> None:
    """A pod whose PodGroup does not exist is scheduled like a single pod."""
    single = scheduling_units._single_pod_unit

    def unblocked(pod: Pod, group: Group | None, cluster: ClusterState) -> Unit:
        unit = single(pod, group, cluster)
        return replace(unit, blocked="") if group is None else unit

    patch.function(single, unblocked)


@fault('GNG-07: no pod of the gang "train" is bound')
def role_minima_are_ignored(patch: Patch) -> None:
    """The minimum of each role is ignored: any members are enough for minMember."""
    read = podgroups_and_queues.convert_podgroup

    def without_roles(found: CustomResource, kind: str, classes: Mapping[str, PriorityClass]) -> Group:
        return replace(read(found, kind, classes), roles={})

    patch.function(read, without_roles)


@fault('GNG-04: "small" runs')
def pending_gangs_reserve_capacity(patch: Patch) -> None:
    """A pending gang reserves the capacity that a part of it would fit into."""
    mark_pending = SchedulingCycle._mark_pending

    def reserve_for_pending(cycle: SchedulingCycle, unit: Unit, message: str, reason: str = UNSCHEDULABLE) -> None:
        mark_pending(cycle, unit, message, reason)
        capacity = cycle.snapshot.free_now
        for pod in unit.members if unit.groups else ():
            row = capacity.best(pod.requirements, capacity.fitting(pod.requirements))
            if row is not None:
                capacity.allocate(row, pod.requirements)

    patch.attribute(SchedulingCycle, "_mark_pending", reserve_for_pending)


@fault(Aim("GNG-04", 'no pod of the gang "train" is bound', seen="did not bind the probe pod"))
def a_pending_gang_blocks_all_later_units(patch: Patch) -> None:
    """While a gang is unschedulable, no unit behind it is scheduled, of whatever queue."""
    run = SchedulingCycle.run

    def up_to_a_pending_gang(cycle: SchedulingCycle, pending: Sequence[Unit]) -> Iterator[Sequence[Action]]:
        for unit in pending:
            yield from run(cycle, [unit])
            if unit.groups and not cycle.started.issuperset(group.key for group in unit.groups):
                break

    patch.attribute(SchedulingCycle, "run", up_to_a_pending_gang)


@fault('GNG-05: the whole gang "train" runs', 'GNG-08: the whole gang "train" runs')
def late_members_stay_pending(patch: Patch) -> None:
    """A pod that joins a started gang stays pending."""
    single = scheduling_units._single_pod_unit

    def locked_out(pod: Pod, group: Group | None, cluster: ClusterState) -> Unit:
        unit = single(pod, group, cluster)
        return replace(unit, blocked="the gang has already started") if group is not None else unit

    patch.function(single, locked_out)


@fault('GNG-09: at least 3 pods of the gang "train" run, and the others stay pending')
def min_member_is_frozen(patch: Patch) -> None:
    """Changes of minMember are ignored."""
    read, first = podgroups_and_queues.convert_podgroup, dict[str, int]()

    def remembered(found: CustomResource, kind: str, classes: Mapping[str, PriorityClass]) -> Group:
        group = read(found, kind, classes)
        return replace(group, min_member=first.setdefault(group.uid, group.min_member))

    patch.function(read, remembered)


@fault('GNG-10: the PodGroup of gang "train" stays in phase "finished"')
def terminal_phases_change(patch: Patch) -> None:
    """A finished PodGroup leaves its terminal phase."""
    patch.attribute(podgroup_phases, "FINISHED", frozenset())


@fault('GNG-11: no pod of the gang "train" is bound')
def deleted_members_count(patch: Patch) -> None:
    """A pending member that was deleted still counts towards minMember."""
    saw, lost = AssumedPods.observe, AssumedPods.remove

    def overlook(assumed_pods: AssumedPods, pod: Pod, version: int) -> None:
        if not pod.terminating or pod.node or pod.group is None:
            saw(assumed_pods, pod, version)

    def remember(assumed_pods: AssumedPods, uid: str) -> None:
        pod = assumed_pods._cluster.pods.get(uid)
        if pod is None or pod.node or pod.group is None:
            lost(assumed_pods, uid)

    patch.attribute(AssumedPods, "observe", overlook)
    patch.attribute(AssumedPods, "remove", remember)


@fault('GNG-12: the whole gang "train" runs')
def bound_members_do_not_count(patch: Patch) -> None:
    """Bound members of a partially started gang do not count towards minMember."""
    patch.function(scheduling_units.counted_members, lambda *_: [])
