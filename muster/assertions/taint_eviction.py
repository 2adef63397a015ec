"""Eviction by NoExecute taints: when a pod is evicted, and whether a node has a taint.

The control plane counts from the moment at which it sees the taint, so a pod is never early by more than the time that
a change takes to reach the recorder.
"""

from __future__ import annotations

from muster import timeouts
from muster.recording.history import History
from muster.recording.pod_history import PodHistory
from muster.recording.questions import Answer, Outcome, Question
from muster.recording.records import Moment

BY_TAINT = "DeletionByTaintManager"


def evicted_by_taint_after(name: str, node: str, seconds: int) -> Question:
    """From the node's first NoExecute taint to the deletion of the pod so many seconds pass."""
    wanted = f"{name} evicted from {node} by the taint after {seconds} s"

    def ask(history: History) -> Answer:
        pod = history.pod(name)
        tainted = _first_tainted(history, node, pod) if pod else None
        if pod is None or tainted is None:
            return Answer(Outcome.PENDING, f"{node} has no NoExecute taint")
        if pod.deleting is None:
            return Answer(Outcome.PENDING, f"{name} is still on {node}")
        stayed = pod.deleting.at - tainted.at
        seen = f"{name} was deleted {stayed:.1f} s after {node} was tainted"
        if pod.disruption is None or pod.disruption.reason != BY_TAINT:
            return Answer(Outcome.FALSE, f"{seen}, but not because of a taint")
        earliest, latest = seconds - timeouts.TAINT_EVICTION_EARLY, seconds + timeouts.TAINT_EVICTION_LATE
        return Answer(Outcome.TRUE if earliest <= stayed <= latest else Outcome.FALSE, seen)

    return Question(wanted, ask, (name,))


def has_taint(node: str, key: str, effect: str) -> Question:
    """The node has that taint now."""

    def ask(history: History) -> Answer:
        known = history.nodes.get(node)
        taints = known.latest.spec.taints if known else []
        found = any((taint.key, taint.effect) == (key, effect) for taint in taints)
        seen = ", ".join(f"{taint.key}:{taint.effect}" for taint in taints) or "no taints"
        return Answer(Outcome.TRUE if found else Outcome.PENDING, f"{node}: {seen}")

    return Question(f"{node} tainted {key}:{effect}", ask)


def _first_tainted(history: History, node: str, pod: PodHistory) -> Moment | None:
    """When the node first had a NoExecute taint after the pod was bound to it."""
    known = history.nodes.get(node)
    for moment, state in known.states if known and pod.bound else []:
        if pod.bound and moment > pod.bound and any(taint.effect == "NoExecute" for taint in state.spec.taints):
            return moment
    return None
