"""What the scheduler and the control plane report about a pod: the condition PodScheduled, and events."""

from __future__ import annotations

import re

from muster.recording.history import History
from muster.recording.objects import CustomObject
from muster.recording.questions import Answer, Outcome, Question

_GATED = "SchedulingGated"  # the reason of PodScheduled=False while the pod has a scheduling gate


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


def or_by_group(question: Question, name: str, terms: tuple[str, ...] = ()) -> Question:
    """The question, or where the scheduler reports gated pods on group objects: that of the pod says why it is pending.

    The message there must say the same terms, in the scheduler's wording: that it is not admitted is no reason.
    """

    def ask(history: History) -> Answer:
        reports = _reports_about_gated_pod(history, name)
        wordings = [history.conventions.group_wordings.get(term, re.escape(term)) for term in terms]
        if any(all(re.search(wording, message) for wording in wordings) for message in reports):
            return Answer(Outcome.TRUE, "; ".join(reports))
        answer = question.ask(history)
        if answer.outcome is Outcome.TRUE or not reports:
            return answer
        return Answer(answer.outcome, f"its group: {'; '.join(reports)}", answer.seen)

    return Question(question.wanted, ask, question.about)


def _reports_about_gated_pod(history: History, name: str) -> list[str]:
    """The conditions of the pod's group object that say why the gated pod is not admitted."""
    conventions, pod = history.conventions, history.pod(name)
    failure = pod.scheduling_failure if pod else None
    if not conventions.reports_gated_pods_on_groups or pod is None or failure is None or failure.reason != _GATED:
        return []
    records = [record for kind in conventions.group_kinds for record in history.records.get(kind, [])]
    groups = [record.object for record in records if isinstance(record.object, CustomObject)]
    own = [group for group in groups if any(owner.uid == pod.uid for owner in group.metadata.owner_references)]
    return [
        f"{condition['type']}={condition['status']}: {condition.get('message', '')}"
        for condition in (own[-1].status.get("conditions", []) if own else [])
        if conventions.is_group_unschedulable(condition)
    ]


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
