"""Invariants about preemption: for whom a pod is preempted, and that no preemption is repeated or in vain.

A scheduler that writes no event Preempted names no preemptor. Then every pod that was pending when the victim was
marked may be the preemptor: the rules still hold for such a scheduler, only less strictly.
"""

from __future__ import annotations

from muster.assertions.gangs import min_member_of, podgroup_versions
from muster.assertions.preemption import preemptors_in_events, victims
from muster.recording.history import History
from muster.recording.pod_history import PodHistory
from muster.recording.records import Moment


def no_victim_has_equal_or_higher_priority(history: History) -> list[str]:
    """A victim has strictly lower priority than its preemptor; what a queue reclaims may have any priority."""
    violations = []
    for victim in _victims_of_scheduler(history):
        named = preemptors_in_events(history, victim)
        violations += [
            f"{victim.name} (priority {victim.priority}) was preempted for {pod.name} (priority {pod.priority})"
            for pod in named
            if victim.priority >= pod.priority and not _has_priority_of_its_group(history, pod)
        ]
        pending = _pending_when_marked(history, victim)
        if named or history.conventions.reclaims or not pending:
            continue
        if any(_has_priority_of_its_group(history, pod) for pod in pending):
            continue
        if all(victim.priority >= pod.priority for pod in pending):
            others = ", ".join(f"{pod.name} ({pod.priority})" for pod in pending)
            violations.append(
                f"{victim.name} (priority {victim.priority}) was preempted while no pending pod had a higher priority:"
                f" {others}"
            )
    return violations


def no_victim_for_bound_preemptor(history: History) -> list[str]:
    """No pod is preempted for a pod that is bound already, or for a gang of which minMember pods are bound."""
    violations = []
    for victim in _victims_of_scheduler(history):
        named = preemptors_in_events(history, victim)
        if not named and not _pending_when_marked(history, victim):
            when = history.seconds(victim.disrupted or victim.created)
            violations.append(f"{victim.name} was preempted at {when:.1f} s while no pod was pending")
        served = [pod for pod in named if _is_served(history, pod, victim.disrupted or victim.created)]
        if named and len(served) == len(named):
            names = ", ".join(pod.name for pod in served)
            violations.append(f"{victim.name} was preempted for {names}, which was bound already")
    return violations


def no_eviction_in_vain(history: History) -> list[str]:
    """In the end the preemptor of every victim that is gone is bound, deleted, or overtaken on the victim's node."""
    violations = []
    for victim in _victims_of_scheduler(history):
        preemptors = preemptors_in_events(history, victim) or _pending_when_marked(history, victim)
        if not preemptors or victim.gone is None or _is_overtaken(history, victim):
            continue
        if not any(pod.bound or pod.deleting for pod in preemptors):
            names = " or ".join(pod.name for pod in preemptors)
            violations.append(f"{victim.name} was evicted for {names}, which is still not bound")
    return violations


def no_uncounted_victim(history: History) -> list[str]:
    """At the end no pod was preempted but those that a step of the scenario has counted."""
    return [
        f"{victim.name} was preempted at {history.seconds(victim.disrupted or victim.created):.1f} s,"
        " which no step of the scenario expects"
        for victim in _victims_of_scheduler(history)
        if victim.uid not in history.expected_victims
    ]


def no_repeated_eviction(history: History) -> list[str]:
    """No workload is evicted, started and evicted again unless something changed from outside in between."""
    violations = []
    evicted = _victims_of_scheduler(history)
    for first in evicted:
        for second in evicted:
            if second.uid == first.uid or _workload(second) != _workload(first):
                continue
            marked, bound, again = first.disrupted, second.bound, second.disrupted
            if not (marked and bound and again and marked < bound < again):
                continue
            if not _changed_from_outside(history, marked, again):
                violations.append(
                    f"{first.name} was preempted at {history.seconds(marked):.1f} s, bound again as {second.name} at"
                    f" {history.seconds(bound):.1f} s and preempted again at {history.seconds(again):.1f} s,"
                    " and nothing changed from outside"
                )
    return violations


def _victims_of_scheduler(history: History) -> list[PodHistory]:
    """Without those that the scenario itself marked and deleted."""
    return [pod for pod in victims(history) if pod.uid not in history.removed_on_purpose]


def _pending_when_marked(history: History, victim: PodHistory) -> list[PodHistory]:
    marked = victim.disrupted or victim.created
    since, until = history.surely_before(marked), history.surely_after(marked)
    return [
        pod
        for pod in history.pods
        if pod.uid != victim.uid
        and pod.created <= until
        and (pod.bound is None or pod.bound > since)
        and (pod.deleting is None or pod.deleting > since)
    ]


def _has_priority_of_its_group(history: History, pod: PodHistory) -> bool:
    """Its PodGroup names a PriorityClass and the pod has none: what counts is a number that is not in the pod."""
    newest = podgroup_versions(history, history.group_of(pod))[-1:]
    return pod.priority == 0 and any(group.spec.get("priorityClassName") for group in newest)


def _is_served(history: History, pod: PodHistory, moment: Moment) -> bool:
    """It was bound before that moment, and so were minMember pods of its gang."""
    before = history.surely_before(moment)
    if pod.bound is None or pod.bound >= before:
        return False
    gang = history.group_of(pod)
    if not gang:
        return True
    bound = [one for one in history.pods if history.group_of(one) == gang and one.bound and one.bound < before]
    return len(bound) >= min_member_of(history, gang)


def _is_overtaken(history: History, victim: PodHistory) -> bool:
    """A pod of higher priority than the victim was bound to its node after it was marked."""
    marked = victim.disrupted or victim.created
    return any(
        pod.node == victim.node and pod.priority > victim.priority and pod.bound and pod.bound > marked
        for pod in history.pods
    )


def _workload(pod: PodHistory) -> tuple[str, ...]:
    """The controller that creates such pods, or the name where there is none."""
    owner = next((one.uid for one in pod.latest.metadata.owner_references if one.controller), "")
    return (owner,) if owner else (pod.namespace, pod.name)


def _changed_from_outside(history: History, since: Moment, until: Moment) -> bool:
    """The scenario acted, a pod ended by itself, or a node changed."""
    ended = [pod.ended.at for pod in history.pods if pod.ended]
    nodes = [moment.at for node in history.nodes.values() if not node.is_probe for moment, _ in node.states]
    return any(since.at < moment < until.at for moment in (*history.outside_changes, *ended, *nodes))
