"""What must hold in every scenario, whatever it is about. Judged on the merged history at each Then and at the end.

An invariant returns the sentences that tell how it was broken. KWOK has no kubelet that would refuse a pod, so an
over-committed node shows here or nowhere.
"""

from __future__ import annotations

from collections.abc import Callable

from muster.chronicle.history import History
from muster.chronicle.lifelines import PodLife
from muster.chronicle.objects import Node, Pod, Taint, Toleration
from muster.chronicle.preemptions import free_on, named_by_events, victims
from muster.chronicle.quantities import readable
from muster.chronicle.records import Moment

Invariant = Callable[[History], list[str]]
_BLOCKING = ("NoSchedule", "NoExecute")


def no_node_is_overcommitted(history: History) -> list[str]:
    """No binding exceeds what the node offers at that moment; a pod counts until it is gone or terminal."""
    broken = []
    for pod in history.pods:
        if pod.bound is None or pod.bound.at < history.began:  # before the scenario: not its business
            continue
        free = free_on(history, pod.node, pod.bound)
        over = {name: -free.get(name, 0) for name in pod.asks if free.get(name, 0) < 0}
        if over:
            excess = ", ".join(f"{readable(amount)} {name} too many" for name, amount in over.items())
            broken.append(
                f"{pod.name} was bound to {pod.node} at {history.seconds(pod.bound):.1f} s"
                f" although the node had no room for it ({excess})"
            )
    return broken


def no_victim_is_as_important(history: History) -> list[str]:
    """A preemption victim has strictly lower priority than the pod it went for."""
    return [
        f"{victim.name} (priority {victim.priority}) was preempted for {pod.name} (priority {pod.priority})"
        for victim in victims(history)
        for pod in named_by_events(history, victim)
        if victim.priority >= pod.priority
    ]


def no_pod_ignores_a_taint(history: History) -> list[str]:
    """No pod is bound against a taint that was there before the scheduler last looked at the pod."""
    broken = []
    for pod in history.pods:
        node = history.nodes.get(pod.node) if pod.bound else None
        if node is None or pod.bound is None or pod.bound.at < history.began:
            continue
        looked = history.surely_before(_last_look(pod))
        ignored = [
            taint.key
            for taint in _blocking(node.at(looked))
            if taint in _blocking(node.at(history.surely_after(pod.bound))) and not tolerated(taint, pod.pod)
        ]
        if ignored:
            broken.append(f"{pod.name} was bound to {pod.node} against its taint {', '.join(ignored)}")
    return broken


def no_eviction_is_in_vain(history: History) -> list[str]:
    """In the end every eviction has helped somebody: bound, gone, overtaken, or waiting for a victim to leave."""
    broken = []
    for victim in victims(history):
        served = named_by_events(history, victim)
        if not served or victim.gone is None or any(_is_settled(history, pod) for pod in served):
            continue
        broken.append(f"{victim.name} was evicted for {served[0].name}, which is still not placed")
    return broken


AT_EVERY_THEN: tuple[Invariant, ...] = (no_node_is_overcommitted, no_victim_is_as_important, no_pod_ignores_a_taint)
AT_THE_END: tuple[Invariant, ...] = (*AT_EVERY_THEN, no_eviction_is_in_vain)


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


def _blocking(node: Node | None) -> list[Taint]:
    taints = list(node.spec.taints) if node else []
    if node and node.spec.unschedulable:
        taints.append(Taint("node.kubernetes.io/unschedulable", "NoSchedule"))
    return [taint for taint in taints if taint.effect in _BLOCKING]


def _last_look(pod: PodLife) -> Moment:
    """The scheduler cannot have decided before the pod existed, nor before it last refused it."""
    assert pod.bound is not None
    return pod.refused if pod.refused and pod.refused < pod.bound else pod.created


def _is_settled(history: History, pod: PodLife) -> bool:
    if pod.bound or pod.deleting:
        return True
    return any(other.priority > pod.priority and other.bound and other.bound > pod.created for other in history.pods)
