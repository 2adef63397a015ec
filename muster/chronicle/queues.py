"""Questions about queues: who waits, who goes first, and how much the work of a queue uses.

What a queue is, which pods count against it and what it allows is a matter of the scheduler's dialect; here only the
words are named that a dialect must know. Usage is judged at bindings: what was bound stays bound when a capability
shrinks afterwards, so only a binding can break the promise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from muster.chronicle.history import History
from muster.chronicle.lifelines import PodLife
from muster.chronicle.objects import Pod, Thing
from muster.chronicle.quantities import GPU, amounts, readable
from muster.chronicle.questions import Answer, Question, Verdict
from muster.chronicle.records import Moment
from muster.cluster.resources import Resource

_FORWARD = ("queued", "admitted", "running", "finished")


class Words(Protocol):
    """What a dialect must be able to read in its own objects."""

    group_kind: Resource | None
    queue_kind: Resource | None

    def phase(self, group: Mapping[str, Any]) -> str: ...
    def running_members(self, group: Thing) -> int: ...
    def gang_of(self, pod: Pod) -> str: ...
    def queue_of(self, group: Thing) -> str: ...
    def queue_of_pod(self, pod: Pod) -> str: ...
    def limits_of(self, queue: str) -> Mapping[str, str]: ...
    def capability(self, queue: Thing) -> Mapping[str, str]: ...


def within_capability(queue: str, words: Words) -> Question:
    """No binding lifts what the queue's work uses above the capability that is in force at that moment."""
    wanted = f"queue {queue} never using more than its capability"

    def ask(history: History) -> Answer:
        peak: dict[str, int] = {}
        work = of_queue(history, queue, words)
        for life in work:
            if life.bound is None:
                continue
            limits = _limits(history, queue, life.bound, words)
            used = _used(work, life.bound)
            over = [name for name, limit in limits.items() if used.get(name, 0) > limit]
            if over:
                told = ", ".join(f"{readable(used[name])} of {readable(limits[name])} {name}" for name in over)
                when = history.seconds(life.bound)
                return Answer(Verdict.NO, f"{life.name} was bound at {when:.1f} s, and {queue} then used {told}")
            peak = {name: max(used.get(name, 0), peak.get(name, 0)) for name in limits}
        told = ", ".join(f"{readable(amount)} {name}" for name, amount in peak.items())
        return Answer(Verdict.YES, f"at most {told or 'nothing'} in use in {queue}")

    return Question(wanted, ask)


def shares(wanted_gpus: Mapping[str, int], words: Words, *, give_or_take: int = 0) -> Question:
    """So many GPUs are in use in each queue, right now, within a tolerance."""
    wanted = ", ".join(f"about {number} GPUs in use in {queue}" for queue, number in wanted_gpus.items())

    def ask(history: History) -> Answer:
        now = history.now
        used = {queue: _used(of_queue(history, queue, words), now).get(GPU, 0) for queue in wanted_gpus}
        seen = ", ".join(f"{readable(amount)} GPUs in {queue}" for queue, amount in used.items())
        near = all(abs(used[queue] - 1000 * number) <= 1000 * give_or_take for queue, number in wanted_gpus.items())
        return Answer(Verdict.YES if near else Verdict.OPEN, seen)

    return Question(wanted, ask)


def is_queued(gang: str, members: tuple[str, ...], words: Words) -> Question:
    """No member is bound, and the group object, where there is one, says that the gang waits: queued or admitted."""
    wanted = f"gang {gang} queued, none of its pods bound"

    def ask(history: History) -> Answer:
        bound = [life.name for name in members if (life := history.pod(name)) and life.bound]
        said = phases(history, gang, words)
        seen = f"its group was {' → '.join(said) or 'never seen'}; bound: {', '.join(bound) or 'nobody'}"
        if bound or (said and said[-1] not in _FORWARD[:2]):
            return Answer(Verdict.NO, seen)
        return Answer(Verdict.YES if said or words.group_kind is None else Verdict.OPEN, seen)

    return Question(wanted, ask, members)


def goes_forward(gang: str, words: Words) -> Question:
    """The group object went from waiting to running and never back."""
    wanted = f"the group of gang {gang} going from queued to running, never back"

    def ask(history: History) -> Answer:
        said = phases(history, gang, words)
        ranks = [_FORWARD.index(phase) for phase in said]
        seen = " → ".join(said) or f"no group {gang} was seen"
        if ranks != sorted(ranks):
            return Answer(Verdict.NO, seen)
        return Answer(Verdict.YES if "running" in said else Verdict.OPEN, seen)

    return Question(wanted, ask)


def counted_running(gang: str, number: int, words: Words) -> Question:
    """The group object counted so many running members, and at no time more."""
    wanted = f"the group of gang {gang} counting up to {number} running pods"

    def ask(history: History) -> Answer:
        most = max((words.running_members(thing) for thing in _group(history, gang, words)), default=0)
        verdict = Verdict.NO if most > number else Verdict.YES if most == number else Verdict.OPEN
        return Answer(verdict, f"the group of {gang} counted at most {most}")

    return Question(wanted, ask)


def declared(gang: str, minimum: int, queue: str, words: Words) -> Question:
    """The group object says how many must start together, and in which queue it is."""

    def ask(history: History) -> Answer:
        groups = _group(history, gang, words)
        if not groups:
            return Answer(Verdict.OPEN, f"no group of {gang} was seen")
        said, where = groups[-1].spec.get("minMember"), words.queue_of(groups[-1])
        seen = f"the group of {gang} needs {said} pods, in queue {where}"
        return Answer(Verdict.YES if (said, where) == (minimum, queue) else Verdict.NO, seen)

    return Question(f"the group of {gang} needing {minimum} pods, in queue {queue}", ask)


def succeeded(pods: tuple[str, ...]) -> Question:
    """All of them came to a good end."""

    def ask(history: History) -> Answer:
        ends = {name: life.pod.status.phase if (life := history.pod(name)) else "never seen" for name in pods}
        others = [f"{name}: {phase}" for name, phase in ends.items() if phase != "Succeeded"]
        if others:
            return Answer(Verdict.NO if "Failed" in ends.values() else Verdict.OPEN, ", ".join(others))
        return Answer(Verdict.YES, f"{len(ends)} pods succeeded")

    return Question(f"{', '.join(pods)} succeeded", ask, pods)


def whole_before_any(first: tuple[str, ...], second: tuple[str, ...], text: str) -> Question:
    """Every pod of the one was bound before any pod of the other."""

    def ask(history: History) -> Answer:
        early = [life.bound if (life := history.pod(name)) else None for name in first]
        late = [life.bound for name in second if (life := history.pod(name)) and life.bound]
        complete = [moment for moment in early if moment]
        if late and (len(complete) < len(early) or max(complete) > min(late)):
            told = f"{len([one for one in complete if one < min(late)])} of {len(early)} were bound by then"
            return Answer(Verdict.NO, f"somebody was bound at {history.seconds(min(late)):.1f} s; {told}")
        if len(complete) < len(early) or not late:
            return Answer(
                Verdict.OPEN, f"{len(complete)} of {len(early)} bound, {len(late)} of {len(second)} after them"
            )
        last, start = history.seconds(max(complete)), history.seconds(min(late))
        return Answer(Verdict.YES, f"whole at {last:.1f} s, the other from {start:.1f} s")

    return Question(text, ask, (*first, *second))


def started_whole(gangs: Mapping[str, tuple[str, ...]], number: int) -> Question:
    """So many of the gangs have come to run with all of their pods, and of the others nobody was ever bound."""
    wanted = f"exactly {number} of the gangs {', '.join(gangs)} started whole, nobody of the others bound"

    def ask(history: History) -> Answer:
        lives = {name: [history.pod(pod) for pod in pods] for name, pods in gangs.items()}
        whole = [name for name, pods in lives.items() if all(life and life.running for life in pods)]
        bound = {name: sum(1 for life in pods if life and life.bound) for name, pods in lives.items()}
        seen = ", ".join(f"{count} of {len(gangs[name])} bound of {name}" for name, count in bound.items())
        if len(whole) > number:
            return Answer(Verdict.NO, seen)
        partial = [name for name in gangs if bound[name] and name not in whole]
        return Answer(Verdict.YES if len(whole) == number and not partial else Verdict.OPEN, seen)

    return Question(wanted, ask, tuple(pod for pods in gangs.values() for pod in pods))


def queue_is(kind: str, queue: str, is_open: Callable[[Thing], bool], *, opened: bool) -> Question:
    """The queue says of itself that it is open, or that it is not."""
    wanted = f"queue {queue} {'open' if opened else 'closed'}"

    def ask(history: History) -> Answer:
        newest = _state(history, kind, queue)
        if newest is None:
            return Answer(Verdict.OPEN, f"no queue {queue} was seen")
        return Answer(Verdict.YES if is_open(newest) is opened else Verdict.OPEN, f"queue {queue}: {newest.status}")

    return Question(wanted, ask)


def phases(history: History, gang: str, words: Words) -> list[str]:
    """The phases of a gang's group object as they came, in neutral words, repetitions left out."""
    said = [words.phase({"status": thing.status}) for thing in _group(history, gang, words)]
    return [phase for number, phase in enumerate(said) if not number or said[number - 1] != phase]


def of_queue(history: History, queue: str, words: Words) -> list[PodLife]:
    """The pods that count against a queue."""
    return [life for life in history.pods if _queue_of(history, life, words) == queue]


def _used(work: list[PodLife], moment: Moment) -> dict[str, int]:
    """What these pods hold at a moment, the one bound at that very moment counted in."""
    used: dict[str, int] = {}
    for life in work:
        if life.holds_room_at(moment):
            for name, amount in life.asks.items():
                used[name] = used.get(name, 0) + amount
    return used


def _group(history: History, gang: str, words: Words) -> list[Thing]:
    kind = words.group_kind.kind if words.group_kind else ""
    return [record.object for record in history.thing(kind, gang) if isinstance(record.object, Thing)]


def _queue_of(history: History, life: PodLife, words: Words) -> str:
    if words.group_kind is None:
        return words.queue_of_pod(life.pod)
    group = _state(history, words.group_kind.kind, words.gang_of(life.pod))
    return words.queue_of(group) if group else ""


def _limits(history: History, queue: str, moment: Moment, words: Words) -> dict[str, int]:
    if words.queue_kind is None:
        return amounts(words.limits_of(queue))
    known = _state(history, words.queue_kind.kind, queue, history.surely_after(moment))
    return amounts(words.capability(known)) if known else {}


def _state(history: History, kind: str, name: str, moment: Moment | None = None) -> Thing | None:
    """An object of the scheduler's own kind as it was at a moment, or as it was last seen."""
    states = [record for record in history.thing(kind, name) if moment is None or record.moment <= moment]
    thing = states[-1].object if states else None
    return thing if isinstance(thing, Thing) else None
