"""How a history is questioned. A *fact* is something that happens at a moment; a *question* relates facts.

Each question answers yes, no (it can no longer become true) or open (it may still come), and always says what was
seen, so that a failure can be told as a story. Nothing here waits: see chronicle.py for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum

from muster.chronicle.history import History
from muster.chronicle.records import Moment


class Verdict(Enum):
    """What a history says to a question at this moment."""

    YES = "yes"
    NO = "no"
    OPEN = "open"


@dataclass(frozen=True)
class Answer:
    """The verdict, what was seen, and the moment that came closest to what was wanted."""

    verdict: Verdict
    seen: str = ""
    nearest: str = ""


@dataclass(frozen=True)
class Fact:
    """Something that happens: a text that completes "… " and the moment it first happened, if it did."""

    text: str
    moment: Callable[[History], Moment | None]
    about: tuple[str, ...] = ()
    detail: Callable[[History], str] = field(default=lambda _: "")


@dataclass(frozen=True)
class Question:
    """What is wanted, in a person's words, how to look for it, and which pods it is about."""

    wanted: str
    ask: Callable[[History], Answer]
    about: tuple[str, ...] = ()


def eventually(fact: Fact) -> Question:
    """The fact happens."""

    def ask(history: History) -> Answer:
        moment = fact.moment(history)
        if moment is not None:
            return Answer(Verdict.YES, f"{fact.text} at {history.seconds(moment):.1f} s")
        return Answer(Verdict.OPEN, f"it did not happen that {fact.text}", fact.detail(history))

    return Question(fact.text, ask, fact.about)


def never(fact: Fact) -> Question:
    """The fact does not happen; what is not there yet keeps the answer at yes."""

    def ask(history: History) -> Answer:
        moment = fact.moment(history)
        if moment is None:
            return Answer(Verdict.YES, f"at no time {fact.text}")
        return Answer(Verdict.NO, f"{fact.text} at {history.seconds(moment):.1f} s", fact.detail(history))

    return Question(f"at no time {fact.text}", ask, fact.about)


def always(text: str, holds: Callable[[History], str], about: tuple[str, ...] = ()) -> Question:
    """Nothing breaks the rule: `holds` returns what breaks it, or an empty text."""

    def ask(history: History) -> Answer:
        broken = holds(history)
        return Answer(Verdict.NO, broken) if broken else Answer(Verdict.YES, text)

    return Question(text, ask, about)


def before(first: Fact, second: Fact) -> Question:
    """Both happen, the first of them strictly earlier."""

    def ask(history: History) -> Answer:
        one, two = first.moment(history), second.moment(history)
        if one is None and two is not None:
            late = f"{second.text} at {history.seconds(two):.1f} s, and until then it did not happen that {first.text}"
            return Answer(Verdict.NO, late, first.detail(history))
        if one is None or two is None:
            missing = first if one is None else second
            return Answer(Verdict.OPEN, f"it did not happen that {missing.text}", missing.detail(history))
        order = f"{first.text} at {history.seconds(one):.2f} s, {second.text} at {history.seconds(two):.2f} s"
        return Answer(Verdict.YES if one < two else Verdict.NO, order)

    return Question(f"{first.text} before {second.text}", ask, first.about + second.about)


def at(fact: Fact, text: str, look: Callable[[History, Moment], str]) -> Question:
    """At the moment of the fact, the world is as it should be: `look` returns what is wrong, or an empty text."""

    def ask(history: History) -> Answer:
        moment = fact.moment(history)
        if moment is None:
            return Answer(Verdict.OPEN, f"it did not happen that {fact.text}", fact.detail(history))
        wrong = look(history, moment)
        if wrong:
            return Answer(Verdict.NO, f"when {fact.text} ({history.seconds(moment):.1f} s): {wrong}")
        return Answer(Verdict.YES, f"{text} when {fact.text}")

    return Question(f"{text} when {fact.text}", ask, fact.about)


def all_of(wanted: str, questions: Iterable[Question]) -> Question:
    """Every one of them; the first that is not yes speaks for all."""
    parts = tuple(questions)

    def ask(history: History) -> Answer:
        answers = [part.ask(history) for part in parts]
        for verdict in (Verdict.NO, Verdict.OPEN):
            for answer in answers:
                if answer.verdict is verdict:
                    return answer
        return Answer(Verdict.YES, "; ".join(answer.seen for answer in answers))

    return Question(wanted, ask, tuple(dict.fromkeys(name for part in parts for name in part.about)))
