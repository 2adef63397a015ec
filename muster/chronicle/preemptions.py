"""Who had to go, for whom, and whether that was necessary.

The victim says so itself (DisruptionTarget by a scheduler); the event Preempted ties it to its preemptor: by the
related object where the scheduler sets it, by uid or name in the message where it does not (kube-scheduler 1.37
leaves `related` empty for pods).
"""

from __future__ import annotations

from muster.chronicle.history import History
from muster.chronicle.lifelines import PodLife
from muster.chronicle.objects import Condition, Event
from muster.chronicle.quantities import readable
from muster.chronicle.questions import Answer, Fact, Question, Verdict, always
from muster.chronicle.records import Moment

BY_SCHEDULER = "PreemptionByScheduler"
_BY_KUEUE, _FOR_OTHERS = "WorkloadEvictedDueToPreempted", "Preempted to accommodate"  # it has a mark of its own


def victims(history: History) -> list[PodLife]:
    """Pods that a scheduler evicted, in the order in which they were asked to go."""
    evicted = [life for life in history.pods if life.mark and _by_a_scheduler(life.mark)]
    return sorted(evicted, key=lambda life: life.marked or life.created)


def _by_a_scheduler(mark: Condition) -> bool:
    return mark.reason == BY_SCHEDULER or (mark.reason == _BY_KUEUE and mark.message.startswith(_FOR_OTHERS))


def preempted_event(history: History, victim: PodLife, preemptor: PodLife) -> tuple[Moment, Event] | None:
    """The event on the victim that names this preemptor."""
    for moment, event in history.events("Preempted", about=victim.uid):
        if tied_to(event, preemptor):
            return moment, event
    return None


def tied_to(event: Event, preemptor: PodLife) -> bool:
    if event.related is not None and event.related.uid:
        return event.related.uid == preemptor.uid
    words = event.message.replace(",", " ").split()
    return preemptor.uid in words or f"{preemptor.namespace}/{preemptor.name}" in words


def named_by_events(history: History, victim: PodLife) -> list[PodLife]:
    """The pods that the victim's events name as its preemptors. Not every scheduler names them (PRE-15 judges that)."""
    said = [event for _, event in history.events("Preempted", about=victim.uid)]
    return [pod for pod in history.pods if any(tied_to(event, pod) for event in said)]


def preempted_for(victim: str, preemptor: str) -> Fact:
    """The event that ties a victim to its preemptor has been seen."""

    def moment(history: History) -> Moment | None:
        one, other = history.pod(victim), history.pod(preemptor)
        found = preempted_event(history, one, other) if one and other else None
        return found[0] if found else None

    def detail(history: History) -> str:
        life = history.pod(victim)
        said = [event.message for _, event in history.events("Preempted", about=life.uid)] if life else []
        return f"events Preempted on {victim}: {'; '.join(said) or 'none'}"

    return Fact(f"{victim} is preempted for {preemptor}", moment, (victim, preemptor), detail)


def exactly_preempted(candidates: tuple[str, ...], count: int, by: str) -> Question:
    """So many of the candidates, no more and no fewer, were preempted, each of them for this preemptor."""
    wanted = f"exactly {count} of {', '.join(candidates)} preempted for {by}"

    def ask(history: History) -> Answer:
        gone = [life for life in victims(history) if life.name in candidates]
        if len(gone) > count:
            return Answer(Verdict.NO, _tell(history, gone, by), _enough(history, gone, by))
        if len(gone) < count:
            return Answer(Verdict.OPEN, _tell(history, gone, by))
        preemptor = history.pod(by)
        for life in gone:
            others = [pod.name for pod in named_by_events(history, life) if pod is not preemptor]
            if others:
                return Answer(Verdict.NO, f"{life.name} was preempted for {', '.join(others)}")
            if preemptor is None or (life.marked and life.marked < preemptor.created):
                return Answer(Verdict.NO, f"{life.name} was preempted before {by} was there")
        return Answer(Verdict.YES, _tell(history, gone, by))

    return Question(wanted, ask, (*candidates, by))


def nothing_else_disturbed(history: History) -> str:
    """Only preemption victims went: nobody else was asked to go, ended, or moved. Empty when that holds."""
    accepted = {life.uid for life in victims(history)} | history.removed_on_purpose
    strays = [
        f"{life.name} ({'ended ' + life.pod.status.phase if life.ended and not life.deleting else 'asked to go'})"
        for life in history.pods
        if life.uid not in accepted
        and not life.stands_for  # it goes when a pod of its gang comes
        and (life.deleting or life.pod.status.phase == "Failed")
    ]
    return f"also disturbed: {', '.join(strays)}" if strays else ""


def nobody_preempted() -> Question:
    """No pod was asked to go by anybody."""

    def broken(history: History) -> str:
        left = [life for life in history.pods if (life.deleting or life.marked) and not life.stands_for]
        gone = [life for life in left if life.uid not in history.removed_on_purpose]
        return "; ".join(f"{life.name} was {_how(history, life)}" for life in gone)

    return always("nobody is preempted", broken)


def no_victim_could_stay(by: str) -> Question:
    """Inclusion-minimal: each victim's room was needed, given all the others that went from the same node."""
    wanted = f"every victim of {by} was necessary"

    def ask(history: History) -> Answer:
        preemptor = history.pod(by)
        if preemptor is None or preemptor.bound is None:
            return Answer(Verdict.OPEN, f"{by} is not bound yet")
        spared = [life.name for life in victims(history) if _could_stay(history, life, preemptor)]
        if spared:
            return Answer(Verdict.NO, f"{', '.join(spared)} went although {by} fits beside it on {preemptor.node}")
        return Answer(Verdict.YES, f"none of {_names(victims(history)) or 'no victims'} could have stayed")

    return Question(wanted, ask, (by,))


def _could_stay(history: History, victim: PodLife, preemptor: PodLife) -> bool:
    if victim.node != preemptor.node:
        return True
    room = free_on(history, preemptor.node, preemptor.bound or history.now)
    return all(room.get(name, 0) >= amount for name, amount in victim.asks.items())


def free_on(history: History, node: str, moment: Moment) -> dict[str, int]:
    """What is left on a node at a moment, the pod bound at that very moment counted as there."""
    life = history.nodes.get(node)
    free = dict(life.offers_at(history.surely_after(moment))) if life else {}
    for pod in history.pods_and_canaries:
        if pod.node == node and pod.holds_room_at(moment):
            for name, amount in pod.asks.items():
                free[name] = free.get(name, 0) - amount
    return free


def _names(lives: list[PodLife]) -> str:
    return ", ".join(life.name for life in lives)


def _how(history: History, life: PodLife) -> str:
    if life.mark and life.marked:
        return f"marked {life.mark.reason} at {history.seconds(life.marked):.1f} s"
    return f"asked to go at {history.seconds(life.deleting or life.created):.1f} s"


def _tell(history: History, gone: list[PodLife], by: str) -> str:
    if not gone:
        return "nobody was preempted"
    preemptor = history.pod(by)
    start = preemptor.created.at if preemptor else history.began
    told = [f"{life.name} {(life.marked or life.created).at - start:.1f} s" for life in gone]
    return f"{len(gone)} preempted ({', '.join(told)} after {by} was created)"


def _enough(history: History, gone: list[PodLife], by: str) -> str:
    """The first moment at which the room was already there and somebody was evicted all the same."""
    preemptor = history.pod(by)
    if preemptor is None:
        return ""
    for number in range(1, len(gone)):
        freed: dict[str, int] = {}
        for life in gone[:number]:
            for name, amount in life.asks.items():
                freed[name] = freed.get(name, 0) + amount
        short = {name: amount for name, amount in preemptor.asks.items() if freed.get(name, 0) < amount}
        if not short and len({life.node for life in gone[:number]}) == 1:
            asked = ", ".join(f"{readable(amount)} {name}" for name, amount in preemptor.asks.items() if name != "pods")
            return f"{number} victim(s) would have been enough: {_names(gone[:number])} made room for {asked}"
    return ""
