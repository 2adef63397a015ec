"""What must hold in every scenario, whatever it tests. Checked on the merged history at each Then and at the end.

An invariant returns one message for each violation. KWOK has no kubelet that would reject a pod, so an overcommitted
node is noticed here or nowhere.
"""

from __future__ import annotations

from collections.abc import Callable

from muster.assertions.allocation import free_resources
from muster.assertions.gangs import min_member_of
from muster.assertions.preemption_invariants import (
    no_eviction_in_vain,
    no_repeated_eviction,
    no_uncounted_victim,
    no_victim_for_bound_preemptor,
    no_victim_has_equal_or_higher_priority,
)
from muster.recording.history import History
from muster.recording.objects import Node, Pod, Taint, Toleration
from muster.recording.pod_history import PodHistory
from muster.recording.quantities import readable
from muster.recording.records import Moment

Invariant = Callable[[History], list[str]]
_EXCLUDING_EFFECTS = ("NoSchedule", "NoExecute")


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
    """Once minMember pods of a gang are bound, no pod of it is deleted unless it ended or was preempted.

    Pods with a controller are left out: it deletes them as it sees fit.
    """
    violations = []
    gangs: dict[str, list[PodHistory]] = {}
    for pod in history.pods:
        if pod.bound and pod.namespace == history.namespace and (gang := history.group_of(pod)):
            gangs.setdefault(gang, []).append(pod)
    for gang, members in gangs.items():
        lost = [pod for pod in members if _is_lost(history, pod)]
        needed = min_member_of(history, gang)
        if lost and len(members) >= needed > len(members) - len(lost):
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


def _is_lost(history: History, pod: PodHistory) -> bool:
    """Deleted while it ran, by neither the scenario nor its controller, and without the mark of a disruption.

    A preempted pod has that mark, and so has one that a NoExecute taint or the eviction API removed.
    """
    if pod.deleting is None or pod.uid in history.removed_on_purpose:
        return False
    if pod.ended and pod.ended < pod.deleting:
        return False
    return pod.disruption is None and not any(owner.controller for owner in pod.latest.metadata.owner_references)
