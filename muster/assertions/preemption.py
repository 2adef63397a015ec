"""Preemption: the victims, their preemptor, and whether every victim was necessary.

A victim is recognised by its condition (DisruptionTarget by a scheduler). The event Preempted names its preemptor: in
the related object where the scheduler sets it, by uid or name in the message where it does not (kube-scheduler 1.37
leaves `related` empty for pods).
"""

from __future__ import annotations

from collections.abc import Callable

from muster.assertions.allocation import fits, free_resources
from muster.assertions.pods import still_runs
from muster.recording.history import History
from muster.recording.objects import Event
from muster.recording.pod_history import PodHistory
from muster.recording.quantities import readable
from muster.recording.questions import Answer, Milestone, Outcome, Question, always
from muster.recording.records import Moment


def victims(history: History) -> list[PodHistory]:
    """Pods that a scheduler preempted, in the order in which they were marked."""
    is_preemption = history.conventions.is_preemption
    marked = [pod for pod in history.pods if pod.disruption and is_preemption(pod.disruption)]
    return sorted(marked, key=lambda pod: pod.disrupted or pod.created)


def victims_among(history: History, names: tuple[str, ...]) -> list[str]:
    """The names of those pods that were preempted."""
    with history.changed:
        return [pod.name for pod in victims(history) if pod.name in names]


def victims_named(names: tuple[str, ...]) -> Callable[[History], list[str]]:
    """The uids of those pods that were preempted: for questions that count them."""
    return lambda history: [pod.uid for pod in victims(history) if pod.name in names]


def victim_in_event(name: str) -> Callable[[History], list[str]]:
    """The uid of a pod that an event calls a victim. The event may be seen before the pod is marked."""
    return lambda history: [pod.uid for pod in history.pods_named((name,))]


def preempted_event(history: History, victim: PodHistory, preemptor: PodHistory) -> tuple[Moment, Event] | None:
    """The event on the victim that names this preemptor."""
    for moment, event in history.events("Preempted", about=victim.uid):
        if names_preemptor(event, preemptor):
            return moment, event
    return None


def names_preemptor(event: Event, preemptor: PodHistory) -> bool:
    if event.related is not None and event.related.uid:
        return event.related.uid == preemptor.uid
    terms = event.message.replace(",", " ").split()
    return preemptor.uid in terms or f"{preemptor.namespace}/{preemptor.name}" in terms


def preemptors_in_events(history: History, victim: PodHistory) -> list[PodHistory]:
    """The pods that the victim's events name as preemptors. Not every scheduler names them (PRE-15 tests that)."""
    events = [event for _, event in history.events("Preempted", about=victim.uid)]
    return [pod for pod in history.pods if any(names_preemptor(event, pod) for event in events)]


def preempted_event_names(victim: str, preemptor: str) -> Milestone:
    """The event on the victim that names its preemptor has been seen."""

    def moment(history: History) -> Moment | None:
        evicted, other = history.pod(victim), history.pod(preemptor)
        found = preempted_event(history, evicted, other) if evicted and other else None
        return found[0] if found else None

    def detail(history: History) -> str:
        pod = history.pod(victim)
        messages = [event.message for _, event in history.events("Preempted", about=pod.uid)] if pod else []
        return f"events Preempted on {victim}: {'; '.join(messages) or 'none'}"

    return Milestone(f"an event Preempted on {victim} names {preemptor}", moment, (victim, preemptor), detail)


def preempted_event_names_node(candidates: tuple[str, ...], preemptor: str) -> Question:
    """A Normal event Preempted about the victim names the preemptor and the node that the victim was on.

    Of several candidates only those count that are marked as victims, and a wrong event about one of them decides
    nothing: the right one may be about another.
    """
    wanted = f"a Normal event Preempted about {' or '.join(candidates)} that names {preemptor} and the node"

    def ask(history: History) -> Answer:
        other = history.pod(preemptor)
        if len(candidates) > 1:
            evicted = [pod for pod in victims(history) if pod.name in candidates]
        else:
            evicted = history.pods_named(candidates)
        found = [(pod, seen[1]) for pod in evicted if other and (seen := preempted_event(history, pod, other))]
        for pod, event in found:
            if event.type == "Normal" and pod.node in event.message.split():
                return Answer(Outcome.TRUE, f"{event.type} event: {event.message}")
        if found and len(candidates) == 1:
            return Answer(Outcome.FALSE, f"{found[0][1].type} event: {found[0][1].message}")
        messages = [f"{event.type}: {event.message}" for _, event in history.events("Preempted")]
        return Answer(Outcome.PENDING, "; ".join(messages) or "no event Preempted")

    counted = victims_named(candidates) if len(candidates) > 1 else victim_in_event(candidates[0])
    return Question(wanted, ask, (*candidates, preemptor), counted)


def exactly_preempted(candidates: tuple[str, ...], count: int, by: str) -> Question:
    """So many of the candidates, no more and no fewer, were preempted, each of them for this preemptor."""
    wanted = f"exactly {count} of {', '.join(candidates)} preempted for {by}"

    def ask(history: History) -> Answer:
        preempted = [pod for pod in victims(history) if pod.name in candidates]
        seen = _describe_victims(history, preempted, by)
        if len(preempted) > count:
            return Answer(Outcome.FALSE, seen, _enough_victims(history, preempted, by))
        if len(preempted) < count:
            return Answer(Outcome.PENDING, seen)
        preemptor = history.pod(by)
        for victim in preempted:
            others = [pod.name for pod in preemptors_in_events(history, victim) if pod is not preemptor]
            if others:
                return Answer(Outcome.FALSE, f"{victim.name} was preempted for {', '.join(others)}")
            if preemptor is None or (victim.disrupted and victim.disrupted < preemptor.created):
                return Answer(Outcome.FALSE, f"{victim.name} was preempted before {by} was created")
        return Answer(Outcome.TRUE, seen)

    return Question(wanted, ask, (*candidates, by), victims_named(candidates))


def all_preempted(names: tuple[str, ...]) -> Question:
    """All of them were preempted, for whichever pod."""

    def ask(history: History) -> Answer:
        preempted = [pod.name for pod in victims(history) if pod.name in names]
        outcome = Outcome.TRUE if set(preempted) == set(names) else Outcome.PENDING
        return Answer(outcome, f"preempted: {', '.join(preempted) or 'none'}")

    return Question(f"{', '.join(names)} preempted", ask, names, victims_named(names))


def no_pod_preempted() -> Question:
    """No pod was deleted or marked for eviction."""

    def violation(history: History) -> str:
        evicted = [pod for pod in history.pods if (pod.deleting or pod.disrupted) and not pod.placeholder_for]
        evicted = [pod for pod in evicted if pod.uid not in history.removed_on_purpose]
        return "; ".join(f"{pod.name} was {_describe_eviction(history, pod)}" for pod in evicted)

    return always("no pod is preempted", violation)


def no_other_pod_evicted_or_failed() -> Question:
    """Apart from the victims that steps before this one have counted, no pod was deleted and none failed."""

    def violation(history: History) -> str:
        others = [
            f"{pod.name} ({'deleted' if pod.deleting or not pod.ended else 'Failed'})"
            for pod in _other_pods(history)
            if (pod.deleting or pod.latest.status.phase == "Failed")
            and not pod.placeholder_for  # which is deleted when a pod of its gang comes
        ]
        return f"also evicted or failed: {', '.join(others)}" if others else ""

    return always("no other pod is evicted or fails", violation)


def no_other_pod_evicted() -> Question:
    """The same, but pods may fail, as those do that lost a peer of their job."""

    def violation(history: History) -> str:
        others = [pod.name for pod in _other_pods(history) if pod.deleting]
        return f"also evicted: {', '.join(others)}" if others else ""

    return always("no other pod is evicted", violation)


def every_victim_necessary(by: str) -> Question:
    """No victim could have been reprieved: its resources were needed, given all other victims on the same node."""
    wanted = f"every victim of {by} was necessary"

    def ask(history: History) -> Answer:
        preemptor = history.pod(by)
        if preemptor is None or preemptor.bound is None:
            return Answer(Outcome.PENDING, f"{by} is not bound yet")
        needless = [pod.name for pod in victims(history) if _still_fits(history, pod, preemptor)]
        if needless:
            return Answer(
                Outcome.FALSE, f"{', '.join(needless)} was preempted although {by} fits beside it on {preemptor.node}"
            )
        return Answer(Outcome.TRUE, f"none of {_names(victims(history)) or 'no victims'} could have been reprieved")

    return Question(wanted, ask, (by,), lambda history: [pod.uid for pod in victims(history)])


def runs_on_node_of_victim(preemptor: str, candidates: tuple[str, ...]) -> Question:
    """The preemptor runs now, on the node of a victim among these pods."""
    wanted = f"{preemptor} on the node of a victim among {', '.join(candidates)}"
    runs_now = still_runs(preemptor)

    def ask(history: History) -> Answer:
        running, pod = runs_now.ask(history), history.pod(preemptor)
        if running.outcome is not Outcome.TRUE or pod is None:
            return running
        preempted = [victim for victim in victims(history) if victim.name in candidates]
        if any(victim.node == pod.node for victim in preempted):
            return Answer(Outcome.TRUE, f"{preemptor} runs on {pod.node}")
        nodes = ", ".join(f"{victim.name} was on {victim.node}" for victim in preempted) or "no pod was preempted"
        return Answer(Outcome.FALSE, f"{preemptor} runs on {pod.node}; {nodes}")

    return Question(wanted, ask, (preemptor, *candidates), victims_named(candidates))


def pending_while_victims_terminate(
    preemptors: tuple[str, ...], candidates: tuple[str, ...], number: int, text: str
) -> Question:
    """So many candidates terminate, the others were not deleted, and no preemptor is bound yet. `text` names them."""
    wanted = f"{text} pending while exactly {number} of {', '.join(candidates)} terminate"

    def ask(history: History) -> Answer:
        terminating = [pod.name for pod in history.pods_named(candidates) if pod.deleting]
        bound = [f"{pod.name} is bound to {pod.node}" for pod in history.pods_named(preemptors) if pod.bound]
        seen = f"deleted: {', '.join(terminating) or 'none'}"
        if bound:
            return Answer(Outcome.FALSE, f"{', '.join(bound)}; {seen}")
        if len(terminating) > number:
            return Answer(Outcome.FALSE, seen)
        return Answer(Outcome.TRUE if len(terminating) == number else Outcome.PENDING, seen)

    return Question(wanted, ask, (*preemptors, *candidates), victims_named(candidates))


def _other_pods(history: History) -> list[PodHistory]:
    """Neither victims that the scenario has counted nor deleted by the scenario itself."""
    accepted = history.expected_victims | history.removed_on_purpose
    return [pod for pod in history.pods if pod.uid not in accepted]


def _still_fits(history: History, victim: PodHistory, preemptor: PodHistory) -> bool:
    if victim.node != preemptor.node:
        return True
    return fits(victim, free_resources(history, preemptor.node, preemptor.bound or history.now))


def _names(pods: list[PodHistory]) -> str:
    return ", ".join(pod.name for pod in pods)


def _describe_eviction(history: History, pod: PodHistory) -> str:
    if pod.disruption and pod.disrupted:
        return f"marked {pod.disruption.reason} at {history.seconds(pod.disrupted):.1f} s"
    return f"deleted at {history.seconds(pod.deleting or pod.created):.1f} s"


def _describe_victims(history: History, preempted: list[PodHistory], by: str) -> str:
    if not preempted:
        return "no pod was preempted"
    preemptor = history.pod(by)
    start = preemptor.created.at if preemptor else history.began
    times = [f"{pod.name} {(pod.disrupted or pod.created).at - start:.1f} s" for pod in preempted]
    return f"{len(preempted)} preempted ({', '.join(times)} after {by} was created)"


def _enough_victims(history: History, preempted: list[PodHistory], by: str) -> str:
    """The first moment at which enough resources were freed and yet another pod was preempted."""
    preemptor = history.pod(by)
    if preemptor is None:
        return ""
    for number in range(1, len(preempted)):
        first = preempted[:number]
        freed: dict[str, int] = {}
        for pod in first:
            for name, amount in pod.requests.items():
                freed[name] = freed.get(name, 0) + amount
        if fits(preemptor, freed) and len({pod.node for pod in first}) == 1:
            requested = [f"{readable(amount)} {name}" for name, amount in preemptor.requests.items() if name != "pods"]
            return f"{number} victim(s) would have been enough: {_names(first)} freed {', '.join(requested)}"
    return ""
