"""Waiting for an answer. History first, then the condition variable: no polling, no sleep.

The order of suspicion when an answer does not come: a dead component, a gap in the recording, a scheduler that is
not live (all three are errors of the harness or the cluster), and only then the scheduler's behaviour.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from muster import timeouts
from muster.chronicle.history import History
from muster.chronicle.invariants import AT_EVERY_THEN, AT_THE_END, Invariant
from muster.chronicle.questions import Answer, Question, Verdict
from muster.chronicle.records import Moment
from muster.chronicle.stories import tell
from muster.errors import BehaviourViolated, HarnessError
from muster.progress import waiting

_HEALTH_EVERY = 0.5  # seconds; a dead process does not notify a condition variable


@dataclass
class Chronicle:
    """The history of one scenario, and how to ask it."""

    history: History
    guard: Callable[[], None]  # raises HarnessError when a component or the scheduler is dead
    prove_live: Callable[[], Moment]  # binds a canary; raises HarnessError when the scheduler does not
    longest_backoff: float  # seconds after which the scheduler has tried every pod again
    reproduce: str = ""

    def must(self, question: Question, *, within: float | None = None) -> Answer:
        """The question is answered yes in time, and no invariant is broken by then."""
        answer = self.wait(question, within=timeouts.BEHAVIOUR if within is None else within)
        if answer.verdict is Verdict.OPEN:
            self.prove_live()
            with self.history.changed:
                answer = question.ask(self.history)
        if answer.verdict is not Verdict.YES:
            raise self._violated(question, answer)
        self.hold(AT_EVERY_THEN)
        return answer

    def staged(self, question: Question) -> None:
        """The same in a Given: what does not come about is trouble in setting up, not misbehaviour."""
        answer = self.wait(question, within=timeouts.SETTING_UP)
        if answer.verdict is not Verdict.YES:
            story = self._violated(question, answer)
            raise HarnessError(f"the situation could not be set up\n{story}")

    def stays(self, question: Question) -> None:
        """It holds, and goes on to hold until the scheduler has had every chance to break it.

        Quiet is proven, not slept: counted from the last change of any pod or node, the scheduler's longest back-off
        has passed, so that it has tried every waiting pod again, and a canary before and after shows that it was live.
        """
        self.must(question)
        self.prove_live()
        self._watch_through_quiet(question)
        self.prove_live()
        self.must(question)

    def hold(self, invariants: tuple[Invariant, ...]) -> None:
        broken = self._broken(invariants)
        if broken:
            self.prove_live()  # the canary's record comes after all others: now nothing is missing from the history
            broken = self._broken(invariants)
        if broken:
            with self.history.changed:
                story = tell(
                    self.history,
                    wanted="the invariants hold at every moment",
                    seen="; ".join(broken),
                    reproduce=self.reproduce,
                )
            raise BehaviourViolated(story)

    def close(self) -> None:
        """The last word of a scenario: everything alive, nothing unseen, no invariant broken."""
        self._trustworthy()
        self.hold(AT_THE_END)

    def wait(self, question: Question, *, within: float) -> Answer:
        """The first answer that is not open, or the open one when the time is up."""
        deadline = time.monotonic() + within
        with waiting(question.wanted), self.history.changed:
            while True:
                self._trustworthy()
                answer = question.ask(self.history)
                left = deadline - time.monotonic()
                if answer.verdict is not Verdict.OPEN or left <= 0:
                    return answer
                self.history.changed.wait(min(left, _HEALTH_EVERY))

    def _watch_through_quiet(self, question: Question) -> None:
        needed = max(timeouts.QUIET_MINIMUM, self.longest_backoff)
        deadline = time.monotonic() + needed + timeouts.BEHAVIOUR
        with waiting(f"that it stays so: {question.wanted}"), self.history.changed:
            while (left := self.history.last_stir + needed - time.monotonic()) > 0:
                self._trustworthy()
                answer = question.ask(self.history)
                if answer.verdict is not Verdict.YES:
                    raise self._violated(question, answer)
                if time.monotonic() > deadline:
                    raise self._violated(
                        question, Answer(Verdict.NO, "pods come and go without end: it does not settle")
                    )
                self.history.changed.wait(min(left, _HEALTH_EVERY))

    def _broken(self, invariants: tuple[Invariant, ...]) -> list[str]:
        with self.history.changed:
            return [sentence for invariant in invariants for sentence in invariant(self.history)]

    def _trustworthy(self) -> None:
        self.guard()
        if self.history.gaps:
            kinds = ", ".join(sorted(set(self.history.gaps)))
            raise HarnessError(f"the recording has a gap ({kinds}): what happened meanwhile is unknown; run it again")

    def _violated(self, question: Question, answer: Answer) -> BehaviourViolated:
        with self.history.changed:
            story = tell(
                self.history,
                wanted=question.wanted,
                seen=answer.seen,
                nearest=answer.nearest,
                about=question.about,
                reproduce=self.reproduce,
            )
        return BehaviourViolated(story)
