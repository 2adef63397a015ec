"""What must hold in every scenario, whatever it tests. Checked on the merged history at each Then and at the end.

An invariant returns one message for each violation. KWOK has no kubelet that would reject a pod, so an overcommitted
node is noticed here or nowhere.
"""

from __future__ import annotations

from collections.abc import Callable

from muster.assertions.allocation import free_resources
from muster.assertions.gang_invariants import no_started_gang_below_min_member
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
