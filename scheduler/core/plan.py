"""The decision: a cluster and a policy in, actions out. The same cluster always gives the same actions.

Whoever waits is looked at once, in the written order. It starts where there is room now; or it holds the room that
those who are leaving will give back; or room is made for it; or it waits, is told why, and holds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from scheduler.core import reasons
from scheduler.core.actions import Action, Bind, Evict, Nominate, Release, Report
from scheduler.core.admit import is_strict, refusal_of_unit
from scheduler.core.cluster import Cluster
from scheduler.core.draft import Draft
from scheduler.core.model import Key, Pod
from scheduler.core.phases import phases
from scheduler.core.placing import Placement, place
from scheduler.core.policy import Policy
from scheduler.core.preempt import preempt
from scheduler.core.units import Unit, least_members, title, units
from scheduler.core.victims import Candidates


def plan(cluster: Cluster, policy: Policy) -> list[Action]:
    """What to do now. Nothing is remembered between two plans: everything follows from the cluster."""
    waiting = units(cluster, policy)
    if not waiting:
        return list(phases(cluster, policy))
    planning = Planning(cluster, policy)
    return [*planning.run(waiting), *phases(cluster, policy, planning.started)]


class Planning:
    """One pass over everybody who waits; `draft` is how things stand after those who were decided about."""

    def __init__(self, cluster: Cluster, policy: Policy) -> None:
        self._cluster, self._policy = cluster, policy
        self.draft = Draft(cluster)
        self.actions: list[Action] = []
        self.started: set[Key] = set()  # the gangs that this plan starts
        self._heads = dict(self._being_started())  # strict queues, with whose turn it is, and what that one does
        self._refused: dict[tuple[object, ...], str] = {}  # what was asked for in vain, and why
        self._candidates: dict[tuple[int, frozenset[str], frozenset[Key]], Candidates] = {}

    def run(self, waiting: Sequence[Unit]) -> list[Action]:
        for unit in waiting:
            self.decide(unit)
        return self.actions

    def decide(self, unit: Unit) -> None:
        if why := (
            unit.blocked
            or refusal_of_unit(unit, self._cluster)
            or self._losing_members(unit)
            or self._behind_a_head(unit)
        ):
            self._wait(unit, why)  # and holds nobody up
            return
        least = least_members(unit, self._cluster) if unit.groups else list(unit.members)
        likeness = (*(id(pod.shape) for pod in least), unit.preempts, *self._whom_it_may_evict(unit))
        if likeness in self._refused:
            self._wait_in_vain(unit, self._refused[likeness])
        elif self._start(unit, unit.members):
            pass
        elif started := self._start_minimum(unit, least):
            for pod in unit.members:
                if pod.uid not in started:
                    self.decide(_alone(unit, pod))
        elif not self._hold(unit, least) and not self._make_room(unit, least):
            self._refused[likeness] = self._reason(unit, least)
            self._wait_in_vain(unit, self._refused[likeness])

    def _start(self, unit: Unit, members: Sequence[Pod]) -> bool:
        """Now, all of these members."""
        if self.draft.shares.excess(members, later=False):
            return False
        placement = place(members, self.draft.now, self._nominated(members))
        if placement is None:
            return False
        self.draft.bind(members)
        self.started |= {group.key for group in unit.groups}
        self._stop_behind(unit, "starts")
        self.actions += [Bind(pod, self.draft.table.nodes[placement[pod.uid]].name) for pod in members]
        return True

    def _start_minimum(self, unit: Unit, least: Sequence[Pod]) -> set[str]:
        """Now, as many as must start together: the smallest, or else those who would find a place by themselves."""
        if len(least) == len(unit.members):
            return set()
        members = least
        if not self._start(unit, members):
            members = least_members(unit, self._cluster, lambda shape: bool(self.draft.now.fitting(shape).any()))
            if not self._start(unit, members):
                return set()
        return {pod.uid for pod in members}

    def _hold(self, unit: Unit, least: Sequence[Pod]) -> bool:
        """When those who leave are gone: until then the room is spoken for."""
        if self.draft.shares.excess(least, later=True):
            return False
        placement = place(least, self.draft.later, self._nominated(least))
        if placement is None:
            return False
        self._promise(unit, least, placement)
        return True

    def _make_room(self, unit: Unit, least: Sequence[Pod]) -> bool:
        """By evictions, if they make room for all of them."""
        if not self._policy.preemption or not unit.preempts:
            return False
        found = preempt(least, self.candidates(unit), self.draft)
        if found is None:
            return False
        self.draft.evict(found.victims)
        for pod in least:
            self.draft.later.take(found.placement[pod.uid], pod.shape)
        for candidates in self._candidates.values():
            candidates.without(found.victims)
        self.actions += [self._eviction(victim, unit, least, found.placement) for victim in found.victims]
        self._promise(unit, least, found.placement)
        return True

    def _promise(self, unit: Unit, least: Sequence[Pod], placement: Placement) -> None:
        self.draft.reserve(least)
        nodes = {pod.uid: self.draft.table.nodes[placement[pod.uid]].name for pod in least}
        self.actions += [Nominate(pod, nodes[pod.uid]) for pod in least if pod.nominated != nodes[pod.uid]]
        self.actions += [Nominate(pod, "") for pod in unit.members if pod.nominated and pod.uid not in nodes]
        places = ", ".join(sorted(set(nodes.values())))
        why = f"{unit.name} waits for pods that leave; its room is held on {places}"
        self._report(unit.members, why)
        self._stop_behind(unit, "waits")

    def _wait_in_vain(self, unit: Unit, why: str) -> None:
        """It could start as far as it is concerned: in a strict queue nobody passes it."""
        self._wait(unit, f"gang {unit.name}: {why}" if unit.groups else why)
        self._stop_behind(unit, "waits")

    def _wait(self, unit: Unit, why: str) -> None:
        self.actions += [Nominate(pod, "") for pod in unit.members if pod.nominated]
        self._report(unit.members, why)
        left = [pod for pod in unit.partial if pod.uid not in self.draft.going]
        self.actions += [Release(pod, f"{unit.name} was started in part: {why}") for pod in left]

    def _losing_members(self, unit: Unit) -> str:
        """A gang that has never started, and from which this plan takes somebody, has to be looked at anew."""
        lost = any(pod.uid in self.draft.going for pod in unit.partial)
        return f"gang {unit.name} loses members to more important work" if lost else ""

    def _report(self, members: Sequence[Pod], why: str) -> None:
        self.actions += [Report(pod, why) for pod in members]

    def _reason(self, unit: Unit, least: Sequence[Pod]) -> str:
        why = reasons.over_share(least, self.draft)
        if not why and unit.groups:
            why = reasons.gang_shortage(least, self.draft)
        why = why or reasons.shortage(least[0].shape, self.draft.now)
        if not self._policy.preemption:
            return f"{why}; preemption is switched off"
        if not unit.preempts:
            return f"{why}; it does not preempt"
        if not self.candidates(unit).on:
            return f"{why}; nobody is less important"
        return f"{why}; evicting everybody less important would not make enough room"

    def _eviction(self, victim: Pod, unit: Unit, least: Sequence[Pod], placement: Placement) -> Evict:
        row = self.draft.table.row[victim.node]
        trigger = next((pod for pod in least if placement[pod.uid] == row), least[0])
        if unit.groups:
            told = f"higher priority pods, preemptor: {unit.name}, triggerpod: {'/'.join(trigger.key)}"
        else:
            told = "a higher priority pod"
        message = f"{trigger.scheduler}: preempting to accommodate {told}"
        return Evict(victim, unit.name, trigger, message)

    def candidates(self, unit: Unit) -> Candidates:
        asked = self._whom_it_may_evict(unit)
        if asked not in self._candidates:
            self._candidates[asked] = Candidates(*asked, self.draft)
        return self._candidates[asked]

    def _whom_it_may_evict(self, unit: Unit) -> tuple[int, frozenset[str], frozenset[Key]]:
        """Those of less than this priority, in these queues, and not of these groups.

        They are those of its members and those that start together with them, as far as somebody of them is bound.
        """
        groups = {pod.group for pod in unit.members if pod.group} | {group.key for group in unit.groups}
        fellows = frozenset(key for key in groups if any(pod.node for pod in self._cluster.members(key)))
        return unit.priority, unit.queues, fellows

    def _nominated(self, members: Sequence[Pod]) -> dict[str, int]:
        row = self.draft.table.row
        return {pod.uid: row[pod.nominated] for pod in members if pod.nominated in row}

    def _behind_a_head(self, unit: Unit) -> str:
        for queue in sorted(unit.queues & self._heads.keys()):
            head, does = self._heads[queue]
            if head != _line(unit.members[0]):  # nobody waits for the rest of its own gang
                return f"queue {queue} is served strictly in order, and {head} {does} before it"
        return ""

    def _stop_behind(self, unit: Unit, does: str) -> None:
        for queue in unit.queues:
            if is_strict(queue, self._cluster, self._policy):
                self._heads.setdefault(queue, (_line(unit.members[0]), does))

    def _being_started(self) -> Iterator[tuple[str, tuple[str, str]]]:
        """Bindings may overtake each other on their way: in a strict queue the next one waits until they are done."""
        for pod in self._cluster.binding.values():
            queue = self._cluster.queue_of(pod)
            if is_strict(queue, self._cluster, self._policy):
                yield queue, (_line(pod), "starts")


def _line(pod: Pod) -> str:
    """Who takes a turn in a queue: a gang, or a pod by itself."""
    return title(pod.group) if pod.group else "/".join(pod.key)


def _alone(unit: Unit, pod: Pod) -> Unit:
    """A member above the minimum, once the gang has started: placed like any pod."""
    return replace(unit, name="/".join(pod.key), members=(pod,), groups=(), partial=())
