"""Questions about promised places: a nomination that is made while a victim leaves, and one that is taken back."""

from __future__ import annotations

from muster.chronicle.history import History
from muster.chronicle.questions import Answer, Question, Verdict


def promised_while_leaving(pod: str, victim: str) -> Question:
    """The pod is nominated to the victim's node, and the victim is on its way out but not gone yet."""
    wanted = f"{pod} nominated to the node of {victim} while {victim} is leaving"

    def ask(history: History) -> Answer:
        one, other = history.pod(pod), history.pod(victim)
        if one is None or other is None:
            return Answer(Verdict.OPEN, f"{pod if one is None else victim} was never seen")
        promise = one.nominations[-1][1] if one.nominations else ""
        seen = f"{pod} is nominated to {promise or 'no node'}; {victim} {'leaves' if other.deleting else 'stays'}"
        if other.gone:
            return Answer(Verdict.NO, f"{victim} is gone since {history.seconds(other.gone):.1f} s; {seen}")
        return Answer(Verdict.YES if other.deleting and promise == other.node else Verdict.OPEN, seen)

    return Question(wanted, ask, (pod, victim))


def promise_taken_back(pod: str, holder: str) -> Question:
    """The holder sits on a node that was promised to the pod; the pod is nominated elsewhere by now, or nowhere."""
    wanted = f"{pod} no longer nominated to the node of {holder}"

    def ask(history: History) -> Answer:
        one, other = history.pod(pod), history.pod(holder)
        if one is None or other is None or other.bound is None:
            return Answer(Verdict.OPEN, f"{holder} is not bound yet")
        if other.node not in [node for _, node in one.nominations]:
            return Answer(Verdict.NO, f"{pod} was never nominated to {other.node}")
        newest = one.nominations[-1][1]
        seen = f"{pod} is nominated to {newest or 'no node'}, {holder} is bound to {other.node}"
        return Answer(Verdict.OPEN if newest == other.node else Verdict.YES, seen)

    return Question(wanted, ask, (pod, holder))
