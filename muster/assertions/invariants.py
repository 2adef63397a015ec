"""What must hold in every scenario, whatever it tests. Checked on the merged history at each Then and at the end.

An invariant returns one message for each violation. KWOK has no kubelet that would reject a pod, so an overcommitted
node is noticed here or nowhere.
"""

from __future__ import annotations

from collections.abc import Callable

from muster.assertions.allocation import free_resources
from muster.assertions.gangs import podgroup_records
from muster.assertions.preemption_invariants import (
    no_eviction_in_vain,
    no_repeated_eviction,
    no_uncounted_victim,
    no_victim_for_bound_preemptor,
    no_victim_has_equal_or_higher_priority,
)
from muster.recording.history import History
from muster.recording.objects import CustomObject, Node, Pod, Taint, Toleration
from muster.recording.pod_history import PodHistory
from muster.recording.quantities import readable
from muster.recording.records import Moment, Record

Invariant = Callable[[History], list[str]]
_EXCLUDING_EFFECTS = ("NoSchedule", "NoExecute")
# Reasons of DisruptionTarget that Kubernetes documents for components other than a scheduler.
TAKEN_FROM_OUTSIDE = frozenset(
    {
        "DeletionByTaintManager",
        "DeletionByDeviceTaintManager",
        "EvictionByEvictionAPI",
        "DeletionByPodGC",
        "TerminationByKubelet",
    }
)


def no_node_overcommitted(history: History) -> list[str]:
    """No binding exceeds what is allocatable at that moment; a pod counts until it is gone or in a terminal phase."""
    violations = []
    for pod in history.pods:
        if pod.bound is None or pod.bound.at < history.began:  # bound before the scenario began
            continue
        free = free_resources(history, pod.node, pod.bound)
        over = {name: -free.get(name, 0) for name in pod.requests if free.get(name, 0) < 0}
        if over:
            excess = ", ".join(f"{readable(amount)} {name} too many" for name, amount in over.items())
            violations.append(
                f"{pod.name} was bound to {pod.node} at {history.seconds(pod.bound):.1f} s"
                f" although it did not fit ({excess})"
            )
    return violations


def no_pod_bound_against_taint(history: History) -> list[str]:
    """No pod is bound against a taint that was there before the scheduler last tried the pod."""
    violations = []
    for pod in history.pods:
        node = history.nodes.get(pod.node) if pod.bound else None
        if node is None or pod.bound is None or pod.bound.at < history.began:
            continue
        tried = history.surely_before(_last_attempt(pod))
        ignored = [
            taint.key
            for taint in excluding_taints(node.at(tried))
            if taint in excluding_taints(node.at(history.surely_after(pod.bound))) and not tolerated(taint, pod.latest)
        ]
        if ignored:
            violations.append(f"{pod.name} was bound to {pod.node} against its taint {', '.join(ignored)}")
    return violations


def no_pod_of_another_scheduler_bound(history: History) -> list[str]:
    """No pod whose schedulerName is another scheduler's is bound; one that was created with a node never needed it."""
    return [
        f"{pod.name} has schedulerName {pod.latest.spec.scheduler_name} and was bound to {pod.node}"
        for pod in history.pods
        if pod.namespace == history.namespace
        and not history.conventions.accepts_scheduler_name(pod.latest.spec.scheduler_name)
        and pod.bound
        and pod.bound > pod.created
    ]


def no_started_gang_below_min_member(history: History) -> list[str]:
    """No gang of which minMember pods are bound loses one of these by its scheduler.

    What is legal for a correct scheduler: a gang that lost members for another reason (one ended or failed, its owner,
    a taint or the eviction API removed it) may be below its minimum, and may then be released or evicted as a whole.
    Members above the minimum may go. Preemption may take single members, unless the gang is a unit by its disruption
    mode: then all of it goes or none. Native PodGroups have the mode Single by default; Koordinator, Coscheduling and
    Volcano (its chart sets enablePreemptable: false for the plugin gang) preempt pod by pod, whatever is left of it.

    What counts is the moment of each loss: a replacement that is bound later does not undo it. Pods with a controller
    are left out: it deletes them as it sees fit.
    """
    violations = []
    gangs: dict[str, list[PodHistory]] = {}
    for pod in history.pods:
        if pod.bound and pod.namespace == history.namespace and (gang := history.group_of(pod)):
            gangs.setdefault(gang, []).append(pod)
    for gang, members in gangs.items():
        lost = [pod for pod in members if _is_below_minimum_without(history, gang, members, pod)]
        if lost:
            needed = _min_member_at(history, gang, lost[0].deleting or lost[0].created)
            names = ", ".join(f"{pod.name} at {history.seconds(pod.deleting or pod.created):.1f} s" for pod in lost)
            violations.append(f"gang {gang} had started with minMember {needed}, and then lost {names}")
    return violations


AT_EVERY_THEN: tuple[Invariant, ...] = (
    no_node_overcommitted,
    no_victim_has_equal_or_higher_priority,
    no_victim_for_bound_preemptor,
    no_repeated_eviction,
    no_pod_bound_against_taint,
    no_pod_of_another_scheduler_bound,
    no_started_gang_below_min_member,
)
AT_THE_END: tuple[Invariant, ...] = (*AT_EVERY_THEN, no_eviction_in_vain, no_uncounted_victim)


def tolerated(taint: Taint, pod: Pod) -> bool:
    return any(_matches(toleration, taint) for toleration in pod.spec.tolerations)


def _matches(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return bool(toleration.key) and toleration.value == taint.value


def excluding_taints(node: Node | None) -> list[Taint]:
    """The taints that keep pods away, with the one that a cordon stands for."""
    taints = list(node.spec.taints) if node else []
    if node and node.spec.unschedulable:
        taints.append(Taint("node.kubernetes.io/unschedulable", "NoSchedule"))
    return [taint for taint in taints if taint.effect in _EXCLUDING_EFFECTS]


def _last_attempt(pod: PodHistory) -> Moment:
    """The scheduler cannot have decided before the pod existed, nor before it last reported it unschedulable."""
    assert pod.bound is not None
    return pod.scheduling_failed if pod.scheduling_failed and pod.scheduling_failed < pod.bound else pod.created


def _is_below_minimum_without(history: History, gang: str, members: list[PodHistory], pod: PodHistory) -> bool:
    """Its deletion took the gang from at least minMember bound pods to fewer, and was the scheduler's doing."""
    moment = pod.deleting
    if moment is None or pod.uid in history.removed_on_purpose or (pod.ended and pod.ended < moment):
        return False
    if any(owner.controller for owner in pod.latest.metadata.owner_references):
        return False
    others = [other for other in members if other is not pod and _is_present(other, moment)]
    needed = _min_member_at(history, gang, moment)
    if not needed or len(others) + 1 < needed or len(others) >= needed:
        return False
    return not _may_be_evicted(history, gang, pod, others)


def _may_be_evicted(history: History, gang: str, pod: PodHistory, others: list[PodHistory]) -> bool:
    """Whether the mark on the pod says that it was preempted as its gang allows, or taken from outside."""
    mark, moment = pod.disruption, pod.deleting
    if mark is None or moment is None:
        return False
    if mark.type == "DisruptionTarget" and mark.reason in TAKEN_FROM_OUTSIDE:
        return True
    group = _group_at(history, gang, moment)
    is_unit = group is not None and history.conventions.is_evicted_as_unit(group)
    if history.conventions.is_preemption(mark) and not is_unit:
        return True
    return all(
        other.disrupted or other.deleting or other.ended or other.uid in history.removed_on_purpose for other in others
    )


def _is_present(pod: PodHistory, moment: Moment) -> bool:
    """Bound before that moment, and neither deleted nor ended by then."""
    left = min((when for when in (pod.deleting, pod.ended, pod.gone) if when), default=None)
    return pod.bound is not None and pod.bound < moment and (left is None or left > moment)


def _min_member_at(history: History, gang: str, moment: Moment) -> int:
    """The smallest minMember that may have been in force; 1 where no PodGroup was seen, 0 where it was deleted."""
    records = podgroup_records(history, gang)
    if not records:
        return 1
    earliest, latest = history.surely_before(moment), history.surely_after(moment)
    before = sum(record.moment <= earliest for record in records)
    in_force = [record for record in records[max(0, before - 1) :] if record.moment <= latest]
    return min((_minimum(history, record) for record in in_force), default=0)


def _minimum(history: History, record: Record) -> int:
    if record.change == "DELETED" or not isinstance(record.object, CustomObject):
        return 0
    return max(1, history.conventions.min_member(record.object.spec))


def _group_at(history: History, gang: str, moment: Moment) -> CustomObject | None:
    """The PodGroup as it was at that moment."""
    objects = [record.object for record in podgroup_records(history, gang) if record.moment <= moment]
    return objects[-1] if objects and isinstance(objects[-1], CustomObject) else None
