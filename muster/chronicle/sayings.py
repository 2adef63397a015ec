"""Questions about what the scheduler says: conditions, nominations and events."""

from __future__ import annotations

from muster.chronicle.history import History
from muster.chronicle.preemptions import preempted_event
from muster.chronicle.questions import Answer, Question, Verdict


def explains(pod: str, words: tuple[str, ...]) -> Question:
    """The pod's condition PodScheduled=False says why, in words that name the reason."""
    wanted = f"{pod} refused with a reason that names {', '.join(words)}"

    def ask(history: History) -> Answer:
        life = history.pod(pod)
        refusal = life.refusal if life else None
        if refusal is None:
            return Answer(Verdict.OPEN, f"nothing is said about {pod}")
        said = f"{refusal.reason}: {refusal.message}"
        return Answer(Verdict.YES if all(word in said for word in words) else Verdict.OPEN, said)

    return Question(wanted, ask, (pod,))


def warns(pod: str, words: tuple[str, ...]) -> Question:
    """A Warning event FailedScheduling about the pod names the reason."""
    wanted = f"a warning event FailedScheduling about {pod} that names {', '.join(words)}"

    def ask(history: History) -> Answer:
        life = history.pod(pod)
        about = [event for _, event in history.events("FailedScheduling", about=life.uid)] if life else []
        if any(event.type == "Warning" and all(word in event.message for word in words) for event in about):
            return Answer(Verdict.YES, about[-1].message)
        said = "; ".join(f"{event.type}: {event.message}" for event in about)
        return Answer(Verdict.OPEN, f"events about {pod}: {said or 'none'}")

    return Question(wanted, ask, (pod,))


def event_names_node(victim: str, preemptor: str) -> Question:
    """The event that ties the victim to its preemptor is a Normal one and names the node the victim was on."""
    wanted = f"a Normal event Preempted on {victim} that names its node"

    def ask(history: History) -> Answer:
        one, other = history.pod(victim), history.pod(preemptor)
        found = preempted_event(history, one, other) if one and other else None
        if found is None or one is None:
            return Answer(Verdict.OPEN, f"no event ties {victim} to {preemptor}")
        event = found[1]
        right = event.type == "Normal" and one.node in event.message.split()
        return Answer(Verdict.YES if right else Verdict.NO, f"{event.type} event: {event.message}")

    return Question(wanted, ask, (victim, preemptor))


def nominated_to_the_node_of(preemptor: str, victim: str) -> Question:
    """The first nomination names the node that the victim is leaving, and the pod reports that it is unschedulable."""
    wanted = f"{preemptor} nominated to the node of {victim}"

    def ask(history: History) -> Answer:
        one, other = history.pod(preemptor), history.pod(victim)
        nodes = [node for _, node in one.nominations if node] if one else []
        if not nodes or other is None:
            return Answer(Verdict.OPEN, f"{preemptor} was not nominated")
        return Answer(Verdict.YES if nodes[0] == other.node else Verdict.NO, f"nominated to {', '.join(nodes)}")

    return Question(wanted, ask, (preemptor, victim))
