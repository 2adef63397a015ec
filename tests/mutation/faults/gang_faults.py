"""Faults of gangs: who belongs to one, when it is complete, and whether it starts whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from scheduler.core import phases, units
from scheduler.core.cluster import Cluster
from scheduler.core.model import Group, Pod
from scheduler.core.plan import Planning
from scheduler.core.policy import Policy
from scheduler.core.units import Unit
from scheduler.runtime import customs
from scheduler.runtime.beliefs import Beliefs
from scheduler.runtime.objects import Custom, PriorityClass
from tests.broken.faults import Patch, fault


def _split(unit: Unit) -> Iterator[Unit]:
    """A gang as if its members had nothing to do with each other."""
    for pod in unit.members:
        yield replace(unit, name="/".join(pod.key), members=(pod,), groups=(), partial=(), blocked="")


@fault("GNG-01", "GNG-02", "GNG-03", "GNG-04", "GNG-05", "GNG-07", "GNG-09", "JPR-03", "JPR-15", "JPR-22", "QUE-17")
def one_by_one(patch: Patch) -> None:
    """The members of a gang are placed one by one, as if they had nothing to do with each other."""
    whole = units.units

    def split(cluster: Cluster, policy: Policy) -> list[Unit]:
        return [part for unit in whole(cluster, policy) for part in (_split(unit) if unit.groups else [unit])]

    patch.function(whole, split)


@fault("GNG-03", "QUE-01", "QUE-17")
def in_turns(patch: Patch) -> None:
    """Gangs take room in turns, a member of each, so that two of them sit on a part of it."""
    whole = units.units

    def in_turn(cluster: Cluster, policy: Policy) -> list[Unit]:
        found = [list(_split(unit)) if unit.groups else [unit] for unit in whole(cluster, policy)]
        longest = max(map(len, found), default=0)
        return [parts[turn] for turn in range(longest) for parts in found if turn < len(parts)]

    patch.function(whole, in_turn)


@fault("GNG-01", "GNG-11", "JPR-16")
def incomplete_gangs_start(patch: Patch) -> None:
    """A gang does not wait for its members: those that are there are all of it."""
    patch.function(units._incomplete, lambda *_: "")


@fault("GNG-06")
def undeclared_gangs_start(patch: Patch) -> None:
    """A pod whose group does not exist is placed like any pod."""
    single = units._single

    def unblocked(pod: Pod, group: Group | None, cluster: Cluster) -> Unit:
        unit = single(pod, group, cluster)
        return replace(unit, blocked="") if group is None else unit

    patch.function(single, unblocked)


@fault("GNG-04")
def waiting_gangs_reserve(patch: Patch) -> None:
    """A gang that waits keeps the room that a part of it would fit into."""
    wait = Planning._wait

    def keep_room(planning: Planning, unit: Unit, why: str) -> None:
        wait(planning, unit, why)
        room = planning.draft.now
        for pod in unit.members if unit.groups else ():
            row = room.best(pod.shape, room.fitting(pod.shape))
            if row is not None:
                room.take(row, pod.shape)

    patch.attribute(Planning, "_wait", keep_room)


@fault("GNG-05", "GNG-08")
def late_members_stay_out(patch: Patch) -> None:
    """Whoever joins a gang that has started waits for ever."""
    single = units._single

    def locked_out(pod: Pod, group: Group | None, cluster: Cluster) -> Unit:
        unit = single(pod, group, cluster)
        return replace(unit, blocked="the gang has started without it") if group is not None else unit

    patch.function(single, locked_out)


@fault("GNG-09")
def minimum_is_frozen(patch: Patch) -> None:
    """A gang needs as many members as it did when it was first seen."""
    read, first = customs.read_group, dict[str, int]()

    def remembered(found: Custom, kind: str, classes: Mapping[str, PriorityClass]) -> Group:
        group = read(found, kind, classes)
        return replace(group, minimum=first.setdefault(group.uid, group.minimum))

    patch.function(read, remembered)


@fault("GNG-10")
def phases_go_back(patch: Patch) -> None:
    """A gang that has finished is looked at again, as if it had not."""
    patch.attribute(phases, "FINISHED", frozenset())


@fault("GNG-11")
def deleted_members_count(patch: Patch) -> None:
    """A member that was deleted while it waited is still one."""
    saw, lost = Beliefs.saw, Beliefs.lost

    def overlook(beliefs: Beliefs, pod: Pod, version: int) -> None:
        if not pod.leaving or pod.node or pod.group is None:
            saw(beliefs, pod, version)

    def remember(beliefs: Beliefs, uid: str) -> None:
        pod = beliefs._cluster.pods.get(uid)
        if pod is None or pod.node or pod.group is None:
            lost(beliefs, uid)

    patch.attribute(Beliefs, "saw", overlook)
    patch.attribute(Beliefs, "lost", remember)


@fault("GNG-12")
def bound_members_do_not_count(patch: Patch) -> None:
    """Members that were bound before do not count towards the minimum of a gang that was started in part."""
    patch.function(units.counted, lambda *_: [])
