"""Preemption for a whole gang: its victims, whether each was necessary, and what conditions and events say.

Which member triggers a preemption is up to the scheduler: a victim was preempted for the gang when nothing names a
preemptor outside the gang.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase

from muster.assertions.allocation import fits, free_resources
from muster.assertions.preemption import (
    names_preemptor,
    preemptors_in_events,
    victim_in_event,
    victims,
    victims_named,
)
from muster.recording.conventions import BY_SCHEDULER
from muster.recording.history import History
from muster.recording.objects import Event
from muster.recording.pod_history import PodHistory
from muster.recording.questions import Answer, Outcome, Question
from muster.recording.records import Moment


def preempted_for_gang(candidates: tuple[str, ...], count: int, gang: str, members: tuple[str, ...]) -> Question:
    """So many of the candidates, no more and no fewer, were preempted, each of them for this gang."""
    wanted = f"exactly {count} of {', '.join(candidates)} preempted for gang {gang}"

    def ask(history: History) -> Answer:
        preempted = [pod for pod in victims(history) if pod.name in candidates]
        times = ", ".join(f"{pod.name} at {history.seconds(pod.disrupted or pod.created):.1f} s" for pod in preempted)
        seen = f"{len(preempted)} preempted ({times})" if preempted else "no pod was preempted"
        for victim in preempted:
            others = [pod.name for pod in preemptors_in_events(history, victim) if pod.name not in members]
            if others:
                return Answer(Outcome.FALSE, f"{victim.name} was preempted for {', '.join(others)}")
            if victim.disrupted and victim.disrupted < _first_created(history, members):
                return Answer(Outcome.FALSE, f"{victim.name} was preempted before gang {gang} was created")
        if len(preempted) > count:
            return Answer(Outcome.FALSE, seen)
        return Answer(Outcome.TRUE if len(preempted) == count else Outcome.PENDING, seen)

    return Question(wanted, ask, (*candidates, *members), victims_named(candidates))


def victim_message_contains(victim: str, terms: tuple[str, ...]) -> Question:
    """Before it is gone the victim has DisruptionTarget by a scheduler, with a message that contains these terms."""
    wanted = f"{victim} marked {BY_SCHEDULER} before it is gone, with a message that names {', '.join(terms)}"
    return _victim_message(victim, wanted, lambda message: all(term in message for term in terms))


def victim_message_matches(victim: str, pattern: str) -> Question:
    """The same, with a message of exactly this text; `?` matches any one character."""
    wanted = f"{victim} marked {BY_SCHEDULER} before it is gone, with the message: {pattern}"
    return _victim_message(victim, wanted, lambda message: fnmatchcase(message, pattern))


def _victim_message(victim: str, wanted: str, is_right: Callable[[str], bool]) -> Question:
    def ask(history: History) -> Answer:
        pod = history.pod(victim)
        if pod is None or pod.disruption is None or pod.disrupted is None:
            too_late = pod is not None and pod.gone is not None
            return Answer(Outcome.FALSE if too_late else Outcome.PENDING, f"{victim} has no DisruptionTarget")
        in_time = pod.gone is None or pod.disrupted < pod.gone
        right = pod.disruption.reason == BY_SCHEDULER and is_right(pod.disruption.message)
        seen = f"{pod.disruption.reason}: {pod.disruption.message}"
        return Answer(Outcome.TRUE if right and in_time else Outcome.FALSE, seen)

    return Question(wanted, ask, (victim,), victims_named((victim,)))


def victim_event(victim: str, reason: str, members: tuple[str, ...], *, names_member: bool) -> Question:
    """There is an event of this reason about the victim; `names_member`: it names a member of the gang and the node."""
    wanted = f"an event {reason} about {victim}" + (" that names its preemptor and its node" if names_member else "")

    def ask(history: History) -> Answer:
        pod = history.pod(victim)
        events = [event for _, event in history.events(reason, about=pod.uid)] if pod else []
        gang = history.pods_named(members)
        found = any(pod and (not names_member or _names_member_and_node(event, pod, gang)) for event in events)
        messages = "; ".join(f"{event.type} {event.reason}: {event.message}" for event in events)
        return Answer(Outcome.TRUE if found else Outcome.PENDING, f"events about {victim}: {messages or 'none'}")

    return Question(wanted, ask, (victim,), victim_in_event(victim))


def every_gang_victim_necessary(gang: str, members: tuple[str, ...]) -> Question:
    """Once the last member is bound, no victim would still fit: none could have been reprieved."""
    wanted = f"every victim of gang {gang} was necessary"

    def ask(history: History) -> Answer:
        bound = [pod.bound for pod in history.pods_named(members)]
        if len(bound) < len(members) or None in bound:
            return Answer(Outcome.PENDING, f"gang {gang} is not bound yet")
        last = max(moment for moment in bound if moment)
        needless = [pod for pod in victims(history) if fits(pod, free_resources(history, pod.node, last))]
        if not needless:
            return Answer(Outcome.TRUE, "no victim could have been reprieved")
        names = ", ".join(f"{pod.name} on {pod.node}" for pod in needless)
        return Answer(Outcome.FALSE, f"enough was free for {names} when all of gang {gang} was bound")

    return Question(wanted, ask, members, lambda history: [pod.uid for pod in victims(history)])


def _first_created(history: History, members: tuple[str, ...]) -> Moment:
    return min((pod.created for pod in history.pods_named(members)), default=history.now)


def _names_member_and_node(event: Event, victim: PodHistory, gang: list[PodHistory]) -> bool:
    return victim.node in event.message.split() and any(names_preemptor(event, pod) for pod in gang)
