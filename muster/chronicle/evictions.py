"""Questions about pods that a taint drives out: when, how soon, and what is said about it.

The control plane counts from the moment at which it hears of the taint, so a pod is never early by more than the time
that the news takes to reach the recorder.
"""

from __future__ import annotations

from muster.chronicle.history import History
from muster.chronicle.lifelines import PodLife
from muster.chronicle.questions import Answer, Question, Verdict
from muster.chronicle.records import Moment

BY_TAINT = "DeletionByTaintManager"
_EARLY = 0.25  # seconds: the recorder and the controller hear of a taint at slightly different times
_LATE = 5.0  # seconds: a busy machine, not another rule


def driven_out_after(pod: str, node: str, seconds: int) -> Question:
    """From the node's first NoExecute taint to the pod being asked to go, so many seconds pass."""
    wanted = f"{pod} driven out of {node} after {seconds} s"

    def ask(history: History) -> Answer:
        life = history.pod(pod)
        tainted = _tainted(history, node, life) if life else None
        if life is None or tainted is None:
            return Answer(Verdict.OPEN, f"{node} has no NoExecute taint")
        if life.deleting is None:
            return Answer(Verdict.OPEN, f"{pod} is still on {node}")
        stayed = life.deleting.at - tainted.at
        seen = f"{pod} was asked to go {stayed:.1f} s after {node} was tainted"
        if life.mark is None or life.mark.reason != BY_TAINT:
            return Answer(Verdict.NO, f"{seen}, but not because of a taint")
        in_time = seconds - _EARLY <= stayed <= seconds + _LATE
        return Answer(Verdict.YES if in_time else Verdict.NO, seen)

    return Question(wanted, ask, (pod,))


def carries_taint(node: str, key: str, effect: str) -> Question:
    """The node has that taint now."""
    wanted = f"{node} tainted {key}:{effect}"

    def ask(history: History) -> Answer:
        life = history.nodes.get(node)
        taints = life.node.spec.taints if life else []
        found = any((one.key, one.effect) == (key, effect) for one in taints)
        seen = ", ".join(f"{one.key}:{one.effect}" for one in taints) or "no taints"
        return Answer(Verdict.YES if found else Verdict.OPEN, f"{node}: {seen}")

    return Question(wanted, ask)


def told(pod: str, reason: str, words: str) -> Question:
    """An event about the pod says so. Events of the taint controller name the pod and leave its uid out."""
    wanted = f"an event {reason} about {pod} that says {words!r}"

    def ask(history: History) -> Answer:
        life = history.pod(pod)
        place = (life.namespace, life.name) if life else None
        about = [
            event.message
            for _, event in history.events(reason)
            if (event.metadata.namespace, event.involved_object.name) == place
        ]
        seen = f"events {reason} about {pod}: {'; '.join(about) or 'none'}"
        return Answer(Verdict.YES if any(words in message for message in about) else Verdict.OPEN, seen)

    return Question(wanted, ask, (pod,))


def _tainted(history: History, node: str, pod: PodLife) -> Moment | None:
    """When the node first had a NoExecute taint after the pod had come to it."""
    life = history.nodes.get(node)
    for moment, state in life.states if life and pod.bound else []:
        if pod.bound and moment > pod.bound and any(taint.effect == "NoExecute" for taint in state.spec.taints):
            return moment
    return None
