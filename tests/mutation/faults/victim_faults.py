"""Victim faults: candidates, their order, and the choice of the node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from scheduler.core import preempt
from scheduler.core.cost_bounds import Cost, CostBounds
from scheduler.core.disruption_budgets import DisruptionBudgets
from scheduler.core.node_table import Numbers
from scheduler.core.reprieve import PreemptionPlan
from scheduler.core.scheduling_types import Pod
from scheduler.core.snapshot import Snapshot
from scheduler.core.victims import Candidates
from scheduler.runtime import convert
from scheduler.runtime.api_types import ApiPod
from tests.mutation.aims import Aim
from tests.mutation.faults.registry import Patch, fault

_HIGHEST_USER_PRIORITY = 1_000_000_000

_preemptible = Candidates._preemptible
_PriorityKey = tuple[int, float, tuple[str, str]]


@fault(
    'JPR-05: no pod of the gang "train" is bound',
    'PRE-03: "equal" stays pending',
    Aim(
        "PRE-12",
        '"ordinary", "policy-never" stay pending',
        seen="holder (priority 50) was preempted for ordinary (priority 50",
    ),
    'QUE-14: the gang "equal" is queued',
)
def preempts_equal_priority(patch: Patch) -> None:
    """Pods of equal priority are preempted, too."""

    def or_equal(candidates: Candidates, priority: int, queues: frozenset[str]) -> Numbers:
        return _preemptible(candidates, priority + 1, queues)

    patch.attribute(Candidates, "_preemptible", or_equal)


@fault('JPR-06: no pod of the gang "train" is bound', 'JPR-07: "protected" was not evicted')
def non_preemptible_pods_are_preempted(patch: Patch) -> None:
    """Non-preemptible pods are preempted like others."""
    read = convert.convert_pod
    patch.function(read, lambda found: replace(read(found), non_preemptible=False))


@fault('JPR-06: no pod of the gang "train" is bound', 'JPR-07: "protected" was not evicted')
def only_non_preemptible_pods_are_preempted(patch: Patch) -> None:
    """Only non-preemptible pods are preempted."""
    read = convert.convert_pod

    def inverted(found: ApiPod) -> Pod:
        pod = read(found)
        return replace(pod, non_preemptible=not pod.non_preemptible)

    patch.function(read, inverted)


@fault('PRE-13: "urgent" runs')
def policy_never_pods_are_not_preempted(patch: Patch) -> None:
    """A pod with preemptionPolicy Never is never preempted."""

    def except_policy_never(candidates: Candidates, priority: int, queues: frozenset[str]) -> Numbers:
        return _only(candidates, _preemptible(candidates, priority, queues), lambda pod: pod.preempts)

    patch.attribute(Candidates, "_preemptible", except_policy_never)


@fault('PRE-23: "guardian" runs')
def system_critical_priority_is_capped(patch: Patch) -> None:
    """Priorities above the highest user priority are capped."""
    read = convert.convert_pod

    def capped(found: ApiPod) -> Pod:
        pod = read(found)
        return replace(pod, priority=min(pod.priority, _HIGHEST_USER_PRIORITY))

    patch.function(read, capped)


@fault('PRE-10: "urgent" runs on "mixed"')
def pdbs_are_ignored(patch: Patch) -> None:
    """PodDisruptionBudgets are ignored."""
    patch.attribute(DisruptionBudgets, "_of", lambda *_: [])


@fault('PRE-11: "urgent" runs')
def pdbs_are_never_violated(patch: Patch) -> None:
    """A PodDisruptionBudget is never violated."""

    def within_budget(candidates: Candidates, priority: int, queues: frozenset[str]) -> Numbers:
        found = _preemptible(candidates, priority, queues)
        return _only(candidates, found, lambda pod: not candidates.pdb_violations([pod]))

    patch.attribute(Candidates, "_preemptible", within_budget)


@fault('JPR-09: "low" was preempted for the gang "train"', 'PRE-04: "low" was preempted for "urgent"')
def highest_priority_victims_first(patch: Patch) -> None:
    """On a node the highest-priority candidates are preempted first."""
    priority_key = Candidates.priority_key

    def reversed_key(candidates: Candidates, pod: Pod) -> _PriorityKey:
        priority, started, key = priority_key(candidates, pod)
        return -priority, started, key

    patch.attribute(Candidates, "priority_key", reversed_key)


@fault('PRE-05: "newest" was preempted for "urgent"')
def longest_running_victims_first(patch: Patch) -> None:
    """At equal priority the longest-running pod is preempted first."""
    priority_key = Candidates.priority_key

    def longest_running_first(candidates: Candidates, pod: Pod) -> _PriorityKey:
        priority, started, key = priority_key(candidates, pod)
        return priority, -started, key

    patch.attribute(Candidates, "priority_key", longest_running_first)


@fault(
    'JPR-10: "high" was not evicted',
    'PRE-07: "urgent" runs on "middle"',
    'PRE-08: "urgent" runs on "single"',
    'PRE-09: "urgent" runs on "short"',
    'PRE-10: "urgent" runs on "mixed"',
)
def most_expensive_node_is_chosen(patch: Patch) -> None:
    """The node with the highest cost is chosen."""
    cost = Candidates.cost

    def most_expensive(candidates: Candidates, victims: Sequence[Pod]) -> Cost:
        broken, highest, total, number, earliest = cost(candidates, victims)
        return -broken, -highest, -total, -number, -earliest

    def no_bounds(_: CostBounds, rows: Numbers, *__: Numbers) -> Iterator[tuple[Cost, int]]:
        return (((-1000, 0, 0, 0, 0.0), int(row)) for row in rows)  # all nodes are compared

    patch.attribute(Candidates, "cost", most_expensive)
    patch.attribute(CostBounds, "ascending", no_bounds)


@fault('JPR-21: "batch-0", "batch-1", "batch-2", "batch-3" were preempted for "urgent"')
def disruption_mode_all_is_ignored(patch: Patch) -> None:
    """Disruption mode All is ignored."""
    patch.attribute(Candidates, "group_victims", lambda _, pod: [pod])


@fault('QUE-14: "other-0", "other-1", "other-2", "other-3" were not evicted')
def preempts_in_other_queues(patch: Patch) -> None:
    """For every victim, a lower-priority pod of another queue is evicted as well."""
    choose = preempt.preempt

    def from_all_queues(members: Sequence[Pod], candidates: Candidates, snapshot: Snapshot) -> PreemptionPlan | None:
        found, cluster = choose(members, candidates, snapshot), snapshot.cluster
        if found is None:
            return None
        priority, own = min(map(cluster.priority_of, members)), {cluster.queue_of(pod) for pod in members}
        others = [
            pod
            for pod in cluster.bound()
            if cluster.queue_of(pod) not in own and pod.key[0] == members[0].key[0] and not pod.terminating
        ]
        other_victims = [pod for pod in others if cluster.priority_of(pod) < priority][: len(found.victims)]
        return replace(found, victims=(*found.victims, *other_victims))

    patch.function(choose, from_all_queues)


def _only(candidates: Candidates, positions: Numbers, allowed: Callable[[Pod], bool]) -> Numbers:
    return positions[[allowed(candidates._bound.pods[position]) for position in positions.tolist()]]
