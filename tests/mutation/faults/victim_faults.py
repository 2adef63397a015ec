"""Faults in the choice of victims: who may go, who goes first, and from which node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scheduler.core import preempt
from scheduler.core.draft import Draft
from scheduler.core.model import Pod
from scheduler.core.preempt import Preemption
from scheduler.core.victims import Candidates, Cost
from scheduler.runtime import reading
from scheduler.runtime.objects import ApiPod
from tests.broken.faults import Patch, fault

_HIGHEST_OF_USERS = 1_000_000_000

_may_go = Candidates._may_go
_Importance = tuple[int, float, tuple[str, str]]


@fault("JPR-05", "PRE-03", "PRE-12", "QUE-14")
def equals_may_go(patch: Patch) -> None:
    """Pods of the same priority are victims, too."""

    def or_equal(candidates: Candidates, pod: Pod, priority: int, queues: frozenset[str]) -> bool:
        return _may_go(candidates, pod, priority + 1, queues)

    patch.attribute(Candidates, "_may_go", or_equal)


@fault("JPR-06")
def protection_is_ignored(patch: Patch) -> None:
    """Pods that may not be evicted are victims like others."""

    def unprotected(candidates: Candidates, pod: Pod, priority: int, queues: frozenset[str]) -> bool:
        return _may_go(candidates, replace(pod, protected=False), priority, queues)

    patch.attribute(Candidates, "_may_go", unprotected)


@fault("JPR-06", "JPR-07")
def protection_is_turned_round(patch: Patch) -> None:
    """Only pods that may not be evicted are victims."""

    def turned(candidates: Candidates, pod: Pod, priority: int, queues: frozenset[str]) -> bool:
        return _may_go(candidates, replace(pod, protected=not pod.protected), priority, queues)

    patch.attribute(Candidates, "_may_go", turned)


@fault("PRE-13")
def the_polite_are_spared(patch: Patch) -> None:
    """A pod that never preempts is never preempted."""

    def but_the_polite(candidates: Candidates, pod: Pod, priority: int, queues: frozenset[str]) -> bool:
        return pod.preempts and _may_go(candidates, pod, priority, queues)

    patch.attribute(Candidates, "_may_go", but_the_polite)


@fault("PRE-23")
def nobody_above_users(patch: Patch) -> None:
    """What the cluster itself needs is no more important than the most important pod of a user."""
    read = reading.read_pod

    def capped(found: ApiPod) -> Pod:
        pod = read(found)
        return replace(pod, priority=min(pod.priority, _HIGHEST_OF_USERS))

    patch.function(read, capped)


@fault("PRE-10")
def budgets_are_ignored(patch: Patch) -> None:
    """Disruption budgets do not matter."""
    patch.attribute(Candidates, "in_danger", lambda *_: [])


@fault("PRE-11")
def budgets_stop_everybody(patch: Patch) -> None:
    """A pod whose disruption budget would break is no victim, for nobody."""

    def within_budget(candidates: Candidates, pod: Pod, priority: int, queues: frozenset[str]) -> bool:
        return not candidates.in_danger([pod]) and _may_go(candidates, pod, priority, queues)

    patch.attribute(Candidates, "_may_go", within_budget)


@fault("JPR-09", "PRE-04")
def the_important_go_first(patch: Patch) -> None:
    """On a node the most important of the less important pods goes first."""
    importance = Candidates.importance

    def upside_down(candidates: Candidates, pod: Pod) -> _Importance:
        priority, started, key = importance(candidates, pod)
        return -priority, started, key

    patch.attribute(Candidates, "importance", upside_down)


@fault("PRE-05")
def veterans_go_first(patch: Patch) -> None:
    """Among equals the one goes that has run the longest."""
    importance = Candidates.importance

    def novices_first(candidates: Candidates, pod: Pod) -> _Importance:
        priority, started, key = importance(candidates, pod)
        return priority, -started, key

    patch.attribute(Candidates, "importance", novices_first)


@fault("JPR-10", "PRE-07", "PRE-08", "PRE-09", "PRE-10")
def the_dearest_node_is_chosen(patch: Patch) -> None:
    """Of several nodes the one is cleared where that costs most."""
    cost = Candidates.cost

    def dearest(candidates: Candidates, victims: Sequence[Pod]) -> Cost:
        broken, highest, total, number, earliest = cost(candidates, victims)
        return -broken, -highest, -total, -number, -earliest

    patch.attribute(Candidates, "cost", dearest)


@fault("JPR-21")
def crews_are_split(patch: Patch) -> None:
    """Of a gang that leaves as one, only those go whose room is needed."""
    patch.attribute(Candidates, "crew", lambda _, pod: [pod])


@fault("QUE-14")
def other_queues_pay(patch: Patch) -> None:
    """For every victim, a less important pod of another queue goes as well."""
    choose = preempt.preempt

    def from_all_queues(members: Sequence[Pod], candidates: Candidates, draft: Draft) -> Preemption | None:
        found, cluster = choose(members, candidates, draft), draft.cluster
        if found is None:
            return None
        priority, own = min(map(cluster.priority_of, members)), {cluster.queue_of(pod) for pod in members}
        others = [
            pod
            for pod in cluster.bound()
            if cluster.queue_of(pod) not in own and pod.key[0] == members[0].key[0] and not pod.leaving
        ]
        payers = [pod for pod in others if cluster.priority_of(pod) < priority][: len(found.victims)]
        return replace(found, victims=(*found.victims, *payers))

    patch.function(choose, from_all_queues)
