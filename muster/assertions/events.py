"""What the scheduler and the control plane report about a pod: the condition PodScheduled, and events."""

from __future__ import annotations

from muster.recording.history import History
from muster.recording.questions import Answer, Outcome, Question


def scheduling_failure_names(name: str, terms: tuple[str, ...]) -> Question:
    """The pod's condition PodScheduled=False says why, in a message that contains these terms."""
    wanted = f"{name} unschedulable with a reason that names {', '.join(terms)}"

    def ask(history: History) -> Answer:
        pod = history.pod(name)
        failure = pod.scheduling_failure if pod else None
        if failure is None:
            return Answer(Outcome.PENDING, f"{name} has no condition PodScheduled=False")
        message = f"{failure.reason}: {failure.message}"
        return Answer(Outcome.TRUE if all(term in message for term in terms) else Outcome.PENDING, message)

    return Question(wanted, ask, (name,))


def failed_scheduling_event_names(name: str, terms: tuple[str, ...]) -> Question:
    """A Warning event FailedScheduling about the pod contains these terms."""
    wanted = f"a Warning event FailedScheduling about {name} that names {', '.join(terms)}"

    def ask(history: History) -> Answer:
        pod = history.pod(name)
        events = [event for _, event in history.events("FailedScheduling", about=pod.uid)] if pod else []
        if any(event.type == "Warning" and all(term in event.message for term in terms) for event in events):
            return Answer(Outcome.TRUE, events[-1].message)
        messages = "; ".join(f"{event.type}: {event.message}" for event in events)
        return Answer(Outcome.PENDING, f"events about {name}: {messages or 'none'}")

    return Question(wanted, ask, (name,))


def event_contains(name: str, reason: str, text: str) -> Question:
    """An event about the pod contains the text. It is found by name: the taint controller's events have no uid."""
    wanted = f"an event {reason} about {name} that contains {text!r}"

    def ask(history: History) -> Answer:
        pod = history.pod(name)
        key = (pod.namespace, pod.name) if pod else None
        messages = [
            event.message
            for _, event in history.events(reason)
            if (event.metadata.namespace, event.involved_object.name) == key
        ]
        seen = f"events {reason} about {name}: {'; '.join(messages) or 'none'}"
        return Answer(Outcome.TRUE if any(text in message for message in messages) else Outcome.PENDING, seen)

    return Question(wanted, ask, (name,))
