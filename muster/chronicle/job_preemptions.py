"""Questions about preemption for a whole gang: who went for it, who had to, and what was held for its members.

Which member triggers a preemption is a scheduler's own affair: a victim went for the gang when nothing ties it to
anybody outside the gang.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase

from muster.chronicle.gangs import members
from muster.chronicle.history import History
from muster.chronicle.lifelines import PodLife
from muster.chronicle.objects import Event
from muster.chronicle.preemptions import BY_SCHEDULER, free_on, named_by_events, tied_to, victims
from muster.chronicle.quantities import readable
from muster.chronicle.questions import Answer, Question, Verdict
from muster.chronicle.records import Moment


def preempted_for_gang(candidates: tuple[str, ...], count: int, gang: str, pods: tuple[str, ...]) -> Question:
    """So many of the candidates, no more and no fewer, were preempted, each of them for this gang."""
    wanted = f"exactly {count} of {', '.join(candidates)} preempted for gang {gang}"

    def ask(history: History) -> Answer:
        gone = [life for life in victims(history) if life.name in candidates]
        seen = ", ".join(f"{life.name} at {history.seconds(life.marked or life.created):.1f} s" for life in gone)
        seen = f"{len(gone)} preempted ({seen})" if gone else "nobody was preempted"
        for life in gone:
            others = [pod.name for pod in named_by_events(history, life) if pod.name not in pods]
            if others:
                return Answer(Verdict.NO, f"{life.name} was preempted for {', '.join(others)}")
            if life.marked and life.marked < _first_seen(history, pods):
                return Answer(Verdict.NO, f"{life.name} was preempted before gang {gang} was there")
        if len(gone) > count:
            return Answer(Verdict.NO, seen)
        return Answer(Verdict.YES if len(gone) == count else Verdict.OPEN, seen)

    return Question(wanted, ask, (*candidates, *pods))


def victim_names(victim: str, words: tuple[str, ...]) -> Question:
    """Before it goes the victim carries DisruptionTarget by a scheduler, in words that say who did it and for whom."""
    wanted = f"{victim} marked {BY_SCHEDULER} before it goes, with a message that names {', '.join(words)}"
    return _marked(victim, wanted, lambda message: all(word in message for word in words))


def victim_says(victim: str, words: str) -> Question:
    """The same, with a message of exactly these words; `?` stands for any one letter."""
    wanted = f"{victim} marked {BY_SCHEDULER} before it goes, with the message: {words}"
    return _marked(victim, wanted, lambda message: fnmatchcase(message, words))


def _marked(victim: str, wanted: str, right_words: Callable[[str], bool]) -> Question:
    def ask(history: History) -> Answer:
        life = history.pod(victim)
        if life is None or life.mark is None or life.marked is None:
            late = life is not None and life.gone is not None
            return Answer(Verdict.NO if late else Verdict.OPEN, f"{victim} carries no DisruptionTarget")
        said = f"{life.mark.reason}: {life.mark.message}"
        in_time = life.gone is None or life.marked < life.gone
        right = life.mark.reason == BY_SCHEDULER and right_words(life.mark.message)
        return Answer(Verdict.YES if right and in_time else Verdict.NO, said)

    return Question(wanted, ask, (victim,))


def eviction_told(victim: str, reason: str, pods: tuple[str, ...], *, tied: bool) -> Question:
    """An event about the victim tells of its eviction; `tied`: it also names a member of the gang and the node."""
    wanted = f"an event {reason} about {victim}" + (" that names its preemptor and its node" if tied else "")

    def ask(history: History) -> Answer:
        life = history.pod(victim)
        about = [event for _, event in history.events(reason, about=life.uid)] if life else []
        told = [event for event in about if life and (not tied or _ties(event, life, members(history, pods)))]
        said = "; ".join(f"{event.type} {event.reason}: {event.message}" for event in about)
        return Answer(Verdict.YES if told else Verdict.OPEN, f"events about {victim}: {said or 'none'}")

    return Question(wanted, ask, (victim,))


def no_gang_victim_could_stay(gang: str, pods: tuple[str, ...]) -> Question:
    """Once the last member is placed, no victim would still find its room: each of them was needed."""
    wanted = f"every victim of gang {gang} was necessary"

    def ask(history: History) -> Answer:
        placed = [life.bound for life in members(history, pods)]
        if len(placed) < len(pods) or None in placed:
            return Answer(Verdict.OPEN, f"gang {gang} is not placed yet")
        last = max(moment for moment in placed if moment)
        spared = [life for life in victims(history) if _fits(life, free_on(history, life.node, last))]
        if not spared:
            return Answer(Verdict.YES, "no victim could have stayed")
        told = ", ".join(f"{life.name} on {life.node}" for life in spared)
        return Answer(Verdict.NO, f"room was left for {told} when all of gang {gang} was placed")

    return Question(wanted, ask, pods)


def waits_for_victims(gang: str, pods: tuple[str, ...], candidates: tuple[str, ...], number: int) -> Question:
    """So many candidates terminate, the others are left alone, and nobody of the gang is bound yet."""
    wanted = f"gang {gang} waiting while exactly {number} of {', '.join(candidates)} terminate"

    def ask(history: History) -> Answer:
        going = [life.name for life in members(history, candidates) if life.deleting]
        early = [life.name for life in members(history, pods) if life.bound]
        seen = f"asked to go: {', '.join(going) or 'nobody'}"
        if early:
            return Answer(Verdict.NO, f"{', '.join(early)} bound; {seen}")
        if len(going) > number:
            return Answer(Verdict.NO, seen)
        return Answer(Verdict.YES if len(going) == number else Verdict.OPEN, seen)

    return Question(wanted, ask, (*pods, *candidates))


def nominated_apart(pods: tuple[str, ...], leaving: tuple[str, ...]) -> Question:
    """At one moment, while all of `leaving` terminate, each pod is nominated to a node of its own."""
    wanted = f"{', '.join(pods)} nominated to a node each while {', '.join(leaving)} terminate"

    def ask(history: History) -> Answer:
        going, waiting = members(history, leaving), members(history, pods)
        steps = [(moment, life.name, node) for life in waiting for moment, node in life.nominations]
        steps += [(life.deleting, "", "") for life in going if life.deleting]
        held: dict[str, str] = {}
        for moment, name, node in sorted(steps):
            if name:
                held[name] = node
            apart = {node for node in held.values() if node}
            if len(apart) == len(pods) and len(going) == len(leaving) and all(_terminates(o, moment) for o in going):
                return Answer(Verdict.YES, ", ".join(f"{pod} to {held[pod]}" for pod in pods))
        over = len(going) == len(leaving) and all(life.gone for life in going)
        return Answer(Verdict.NO if over else Verdict.OPEN, _nominations(history, pods, going))

    return Question(wanted, ask, (*pods, *leaving))


def run_where_nominated(pods: tuple[str, ...]) -> Question:
    """Each runs on the node that it was last nominated to, and the nomination is taken back."""
    wanted = f"{', '.join(pods)} running where they were nominated, no nomination left"

    def ask(history: History) -> Answer:
        lives = members(history, pods)
        there = [f"{life.name} on {life.node or 'no node'}, nominated to {_last_nomination(life)}" for life in lives]
        seen = "; ".join(there)
        if len(lives) < len(pods) or not all(life.running for life in lives):
            return Answer(Verdict.OPEN, seen)
        if any(life.node != _last_nomination(life) for life in lives):
            return Answer(Verdict.NO, seen)
        left = [life.name for life in lives if life.pod.status.nominated_node_name]
        return Answer(Verdict.OPEN if left else Verdict.YES, f"{seen}; still nominated: {', '.join(left) or 'nobody'}")

    return Question(wanted, ask, pods)


def nothing_free(nodes: tuple[str, ...], resource: str) -> Question:
    """Every bit of a resource is in use on these nodes, right now."""

    def ask(history: History) -> Answer:
        free = {node: free_on(history, node, history.now).get(resource, 0) for node in nodes}
        seen = ", ".join(f"{readable(amount)} {resource} free on {node}" for node, amount in free.items())
        return Answer(Verdict.OPEN if any(free.values()) else Verdict.YES, seen)

    return Question(f"no {resource} free on {', '.join(nodes)}", ask)


def _first_seen(history: History, pods: tuple[str, ...]) -> Moment:
    return min((life.created for life in members(history, pods)), default=history.now)


def _ties(event: Event, victim: PodLife, gang: list[PodLife]) -> bool:
    return victim.node in event.message.split() and any(tied_to(event, pod) for pod in gang)


def _fits(life: PodLife, room: dict[str, int]) -> bool:
    return all(room.get(name, 0) >= amount for name, amount in life.asks.items())


def _terminates(life: PodLife, moment: Moment) -> bool:
    return life.deleting is not None and life.deleting <= moment and (life.gone is None or moment < life.gone)


def _last_nomination(life: PodLife) -> str:
    return next((node for _, node in reversed(life.nominations) if node), "no node")


def _nominations(history: History, pods: tuple[str, ...], going: list[PodLife]) -> str:
    told = [
        f"{life.name} to {', '.join(dict.fromkeys(node for _, node in life.nominations if node)) or 'no node'}"
        for life in members(history, pods)
    ]
    left = [
        f"{life.name} asked to go at {history.seconds(life.deleting):.1f} s"
        + (f", gone at {history.seconds(life.gone):.1f} s" if life.gone else "")
        for life in going
        if life.deleting
    ]
    return f"nominated: {'; '.join(told)}. {'; '.join(left) or 'nobody was asked to go'}"
