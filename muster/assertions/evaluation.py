"""Evaluation of questions: wait for an answer, prove that it stays, check the invariants, raise the failure report.

The history is asked first, then the condition variable is waited on: no polling, no sleep. When an answer does not
come, causes are ruled out in this order: a dead component, a gap in the recording, a scheduler that never served (all
three are errors of the harness or the cluster), and only then it is a failure of the scheduler.

An answer is not the end of it: what a *lasting* question found must still hold when the scenario next changes
something, and when it ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from muster import timeouts
from muster.assertions.failure_report import failure_report
from muster.assertions.invariants import AT_EVERY_THEN, AT_THE_END, Invariant
from muster.errors import ConformanceFailure, HarnessError, SchedulerNotServing
from muster.progress import waiting
from muster.recording.history import History
from muster.recording.questions import Answer, Outcome, Question
from muster.recording.records import Moment


@dataclass
class Recording:
    """The history of one scenario, and how to evaluate questions on it."""

    history: History
    check_health: Callable[[], None]  # raises HarnessError when a component or the scheduler is dead
    probe: Callable[[], Moment]  # waits for a probe pod to be bound; raises HarnessError when it is not
    longest_backoff: float  # seconds after which the scheduler has tried every pod again
    reproduce: str = ""
    prove_nodes: Callable[[], None] = lambda: None  # raises HarnessError when a kubelet is silent
    _lasting: list[Question] = field(default_factory=list)
    _has_served: bool = False
    _last_probe: float = float("-inf")

    def prove_live(self) -> Moment:
        """Wait until a probe pod is bound.

        A scheduler that is alive, has served this scenario and serves no more has failed it: whatever the scenario is
        about made it stop.
        """
        try:
            moment = self.probe()
        except SchedulerNotServing as stopped:
            if not self._has_served:
                raise
            wanted = "the scheduler going on to bind pods that fit"
            raise self._failure(wanted, Answer(Outcome.FALSE, str(stopped))) from None
        self._has_served, self._last_probe = True, time.monotonic()
        return moment

    def must(self, question: Question, *, within: float | None = None, lasting: bool = False) -> Answer:
        """The question becomes true in time, and no invariant is violated by then. `lasting`: see `confirm`."""
        answer = self._answer(question, timeouts.BEHAVIOUR if within is None else within)
        if answer.outcome is not Outcome.TRUE:
            raise self._failure(question.wanted, answer, question.about)
        with self.history.changed:
            self.history.expected_victims |= set(question.victims(self.history))
        if lasting:
            self._lasting.append(question)
        self.check_invariants(AT_EVERY_THEN)
        return answer

    def set_up(self, question: Question) -> None:
        """The same for a Given: what does not become true is an error of the set-up, not a failure of the scheduler."""
        answer = self._answer(question, timeouts.SETTING_UP)
        if answer.outcome is not Outcome.TRUE:
            raise HarnessError(
                f"the Given steps could not be carried out\n{self._failure(question.wanted, answer, question.about)}"
            )

    def stays(self, question: Question) -> None:
        """It is true, and stays true until the scheduler has had every chance to change it.

        This is proven, not slept: counted from the last change of any pod or node, the scheduler's longest back-off has
        passed, so that it has tried every pending pod again, and a probe pod before and after shows that it was live.
        """
        self.must(question)
        self.prove_live()
        self._watch_through_quiet(question)
        self.prove_live()
        self.must(question, lasting=True)

    def confirm(self) -> None:
        """What the lasting questions found since the scenario last changed something still holds."""
        questions, self._lasting = self._lasting, []
        with self.history.changed:
            answers = [(question, question.ask(self.history)) for question in questions]
        for question, answer in answers:
            if answer.outcome is not Outcome.TRUE:
                seen = f"this was so, and is no longer: {answer.seen}"
                raise self._failure(question.wanted, Answer(answer.outcome, seen, answer.nearest), question.about)

    def check_invariants(self, invariants: tuple[Invariant, ...]) -> None:
        violations = self._violations(invariants)
        if violations:
            self.prove_live()  # the probe's record comes after all others: now nothing is missing from the history
            violations = self._violations(invariants)
        if violations:
            raise self._failure("the invariants hold at every moment", Answer(Outcome.FALSE, "; ".join(violations)))

    def close(self) -> None:
        """The last check of a scenario: all components alive, no gap in the recording, and everything still holds.

        By then the scheduler has had one more chance to act: a probe pod was bound after the last change.
        """
        self._check_recording()
        if self.history.last_activity >= self._last_probe:
            self.prove_live()
        self.confirm()
        self.check_invariants(AT_THE_END)

    def _answer(self, question: Question, within: float) -> Answer:
        """The answer in time; before one that is still pending counts, scheduler and nodes are proven live."""
        answer = self.wait(question, within=within)
        if answer.outcome is Outcome.PENDING:
            self.prove_live()
            with self.history.changed:
                answer = question.ask(self.history)
        if answer.outcome is Outcome.PENDING:
            self.prove_nodes()
        return answer

    def wait(self, question: Question, *, within: float) -> Answer:
        """The first answer that is not pending, or the pending one when the time is up."""
        deadline = time.monotonic() + within
        with waiting(question.wanted), self.history.changed:
            while True:
                self._check_recording()
                answer = question.ask(self.history)
                left = deadline - time.monotonic()
                if answer.outcome is not Outcome.PENDING or left <= 0:
                    return answer
                self.history.changed.wait(min(left, timeouts.HEALTH_CHECK))

    def _watch_through_quiet(self, question: Question) -> None:
        needed = max(timeouts.QUIET_MINIMUM, self.longest_backoff)
        deadline = time.monotonic() + needed + timeouts.BEHAVIOUR
        with waiting(f"that it stays so: {question.wanted}"), self.history.changed:
            while (left := self.history.last_activity + needed - time.monotonic()) > 0:
                self._check_recording()
                answer = question.ask(self.history)
                if answer.outcome is not Outcome.TRUE:
                    raise self._failure(question.wanted, answer, question.about)
                if time.monotonic() > deadline:
                    endless = Answer(Outcome.FALSE, "pods are created and deleted without end: it does not settle")
                    raise self._failure(question.wanted, endless, question.about)
                self.history.changed.wait(min(left, timeouts.HEALTH_CHECK))

    def _violations(self, invariants: tuple[Invariant, ...]) -> list[str]:
        with self.history.changed:
            return [message for invariant in invariants for message in invariant(self.history)]

    def _check_recording(self) -> None:
        self.check_health()
        if self.history.gaps:
            kinds = ", ".join(sorted(set(self.history.gaps)))
            raise HarnessError(
                f"the watch of {kinds} was interrupted and changes may be missing from the recording; run it again"
            )

    def _failure(self, wanted: str, answer: Answer, about: tuple[str, ...] = ()) -> ConformanceFailure:
        with self.history.changed:
            report = failure_report(
                self.history,
                wanted=wanted,
                seen=answer.seen,
                nearest=answer.nearest,
                about=about,
                reproduce=self.reproduce,
            )
        return ConformanceFailure(report)
