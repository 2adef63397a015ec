"""Questions that only the documents ask: what a command answered, and in which order a pod's events tell its story."""

from __future__ import annotations

from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from itertools import pairwise

from muster.chronicle.history import History
from muster.chronicle.objects import Event
from muster.chronicle.preemptions import preempted_event, victims
from muster.chronicle.questions import Answer, Question, Verdict, always
from muster.errors import BehaviourViolated

_APART = timedelta(seconds=1)


def answer_reads(answer: str, wanted: str) -> None:
    """Every wanted line is there, in this order, word by word; `*` stands for anything in a word."""
    given = iter(answer.splitlines())
    for line in filter(str.strip, wanted.splitlines()):
        if not any(_alike(one, line) for one in given):
            raise BehaviourViolated(f"wanted   the line: {line.strip()}\nseen     {answer.strip() or 'no answer'}")


def preempted_of(history: History, pods: tuple[str, ...]) -> list[str]:
    """Those of the pods that were preempted."""
    with history.changed:
        return [life.name for life in victims(history) if life.name in pods]


def victim_told(pods: tuple[str, ...], preemptor: str) -> Question:
    """A Normal event Preempted about the victim ties it to the preemptor and names the node that it was on."""

    def ask(history: History) -> Answer:
        other = history.pod(preemptor)
        for life in victims(history):
            found = preempted_event(history, life, other) if other and life.name in pods else None
            if found and found[1].type == "Normal" and life.node in found[1].message.split():
                return Answer(Verdict.YES, found[1].message)
        said = [f"{event.type}: {event.message}" for _, event in history.events("Preempted")]
        return Answer(Verdict.OPEN, "; ".join(said) or "no event Preempted")

    return Question(f"an event Preempted that names {preemptor} and the node", ask, (*pods, preemptor))


def events_in_order(pod: str, reasons: tuple[str, ...]) -> Question:
    """Each reason was told about the pod, none before the one that is wanted before it.

    Events have times of one second, and whoever writes them does so after the deed: of two that lie no more than a
    second apart neither is the earlier.
    """

    def ask(history: History) -> Answer:
        life = history.pod(pod)
        about = [event for _, event in history.events(about=life.uid)] if life else []
        seen = ", ".join(event.reason for event in about) or "no events"
        times = [_first(about, reason) for reason in reasons]
        if None in times:
            return Answer(Verdict.OPEN, seen)
        in_order = all(earlier <= later + _APART for earlier, later in pairwise(filter(None, times)))
        return Answer(Verdict.YES if in_order else Verdict.NO, seen)

    return Question(f"events about {pod}: {', '.join(reasons)}", ask, (pod,))


def nobody_else_evicted() -> Question:
    """Only preemption victims were asked to go; what became of their peers is their operator's business."""

    def broken(history: History) -> str:
        accepted = {life.uid for life in victims(history)} | history.removed_on_purpose
        strays = [life.name for life in history.pods if life.deleting and life.uid not in accepted]
        return f"also asked to go: {', '.join(strays)}" if strays else ""

    return always("nobody else is evicted", broken)


def _first(events: list[Event], reason: str) -> datetime | None:
    told = [event.when for event in events if event.reason == reason and event.when]
    return datetime.fromisoformat(min(told)).replace(microsecond=0) if told else None


def _alike(given: str, wanted: str) -> bool:
    words, patterns = given.split(), wanted.split()
    return len(words) == len(patterns) and all(map(fnmatchcase, words, patterns))
