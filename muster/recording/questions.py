"""Questions about a history. A *milestone* is something that happens at a moment; a *question* relates milestones.

Each question is true, false (it can no longer become true) or pending (it may still become true), and always says what
was seen, for the failure report. Nothing here waits: see muster/assertions/evaluation.py for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum

from muster.recording.history import History
from muster.recording.records import Moment


class Outcome(Enum):
    """What a history says to a question at this moment."""

    TRUE = "true"
    FALSE = "false"
    PENDING = "pending"


@dataclass(frozen=True)
class Answer:
    """The outcome, what was seen, and what came closest to what was wanted."""

    outcome: Outcome
    seen: str = ""
    nearest: str = ""


@dataclass(frozen=True)
class Milestone:
    """Something that happens: a text that describes it, and the moment when it first happened, if it did."""

    text: str
    moment: Callable[[History], Moment | None]
    about: tuple[str, ...] = ()
    detail: Callable[[History], str] = field(default=lambda _: "")


@dataclass(frozen=True)
class Question:
    """What is wanted, as text for the reader, how to look for it, and which pods it is about."""

    wanted: str
    ask: Callable[[History], Answer]
    about: tuple[str, ...] = ()
    # The uids of the victims that a true answer counts: no other pod may have been preempted when the scenario ends.
    victims: Callable[[History], Iterable[str]] = field(default=lambda _: ())


def eventually(milestone: Milestone) -> Question:
    """The milestone is reached."""

    def ask(history: History) -> Answer:
        moment = milestone.moment(history)
        if moment is not None:
            return Answer(Outcome.TRUE, f"{milestone.text} at {history.seconds(moment):.1f} s")
        return Answer(Outcome.PENDING, f"did not happen: {milestone.text}", milestone.detail(history))

    return Question(milestone.text, ask, milestone.about)


def never(milestone: Milestone) -> Question:
    """The milestone is not reached. True until it is: wrap it in `stays` to give the scheduler time."""

    def ask(history: History) -> Answer:
        moment = milestone.moment(history)
        if moment is None:
            return Answer(Outcome.TRUE, f"at no time {milestone.text}")
        return Answer(Outcome.FALSE, f"{milestone.text} at {history.seconds(moment):.1f} s", milestone.detail(history))

    return Question(f"at no time {milestone.text}", ask, milestone.about)


def always(text: str, violation: Callable[[History], str], about: tuple[str, ...] = ()) -> Question:
    """Nothing violates the rule: `violation` returns what violates it, or an empty text."""

    def ask(history: History) -> Answer:
        violated = violation(history)
        return Answer(Outcome.FALSE, violated) if violated else Answer(Outcome.TRUE, text)

    return Question(text, ask, about)


def before(first: Milestone, second: Milestone) -> Question:
    """Both happen, the first of them strictly earlier."""

    def ask(history: History) -> Answer:
        one, two = first.moment(history), second.moment(history)
        if one is None and two is not None:
            late = f"{second.text} at {history.seconds(two):.1f} s, and until then this did not happen: {first.text}"
            return Answer(Outcome.FALSE, late, first.detail(history))
        if one is None or two is None:
            missing = first if one is None else second
            return Answer(Outcome.PENDING, f"did not happen: {missing.text}", missing.detail(history))
        order = f"{first.text} at {history.seconds(one):.2f} s, {second.text} at {history.seconds(two):.2f} s"
        return Answer(Outcome.TRUE if one < two else Outcome.FALSE, order)

    return Question(f"{first.text} before {second.text}", ask, first.about + second.about)


def all_of(wanted: str, questions: Iterable[Question]) -> Question:
    """All of them; the answer is the first that is not true."""
    parts = tuple(questions)

    def ask(history: History) -> Answer:
        answers = [part.ask(history) for part in parts]
        for outcome in (Outcome.FALSE, Outcome.PENDING):
            for answer in answers:
                if answer.outcome is outcome:
                    return answer
        return Answer(Outcome.TRUE, "; ".join(answer.seen for answer in answers))

    def victims(history: History) -> Iterable[str]:
        return [uid for part in parts for uid in part.victims(history)]

    return Question(wanted, ask, tuple(dict.fromkeys(name for part in parts for name in part.about)), victims)
