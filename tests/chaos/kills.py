"""Repeated SIGKILLs at random moments under a changing load; then the final state is checked.

The moment is counted in recorded changes, not in seconds. Most restarts crash at one of their own writes: then a gang
is partially bound, or an eviction is not followed by its nomination.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import ClassVar

from muster import timeouts
from muster.assertions.invariants import Invariant, no_node_overcommitted
from muster.assertions.preemption_invariants import no_eviction_in_vain, no_victim_has_equal_or_higher_priority
from muster.environment.environment import Environment
from muster.environment.scenario import ScenarioContext
from muster.recording.history import History
from muster.recording.pod_history import PodHistory
from muster.recording.questions import Outcome, Question
from tests.chaos.final_state import capability_violations, is_stable, partially_bound, unjustified_releases
from tests.chaos.load import Load

_RECORDS_BEFORE_KILL = (1, 60)  # recorded changes of pods and PodGroups
_WRITES_BEFORE_CRASH = (1, 20)  # of a scheduler that crashes at a write
_CYCLE_FAILURE = "scheduling cycle failed"
# Not the one about taints: the load does not wait until the scheduler has observed a cordon.
_INVARIANTS: tuple[Invariant, ...] = (
    no_node_overcommitted,
    no_victim_has_equal_or_higher_priority,
    no_eviction_in_vain,
)
_REFERENCE_COMMAND = "MUSTER_REFERENCE"


class KillLoop:
    """Kills within one scenario."""

    invariants: ClassVar[tuple[Invariant, ...]] = _INVARIANTS
    check_every: ClassVar[int] = 4  # kills
    max_wait: ClassVar[float] = 3.0  # seconds: nothing changes any more, so kill it now

    def __init__(self, environment: Environment, seed: int, log: Callable[[str], None] = lambda _: None) -> None:
        self._rng = random.Random(seed)
        self._environment, self._log = environment, log
        self._scenario: ScenarioContext = environment.scenario("chaos")
        self._load = Load(self._scenario, self._rng)
        self._will_crash = False
        self._partially_bound = 0  # gangs that a kill left partially bound

    def run(self, kills: int) -> None:
        self._load.set_up()
        for number in range(1, kills + 1):
            self._load.apply_random_changes()
            self._await_kill_time()
            self._kill()
            self._partially_bound += partially_bound(self._scenario.recording.history, self._load.jobs)
            if self._rng.random() < 0.5:
                self._load.apply_random_changes()  # changes while no scheduler runs
            checks_state = number % self.check_every == 0 or number == kills
            self._restart(will_crash=not checks_state and self._may_crash(number) and self._rng.random() < 0.7)
            if checks_state:
                self._check_stable_state()
        for file in self._log_files():
            log = file.read_text()
            failure = log.find(_CYCLE_FAILURE)
            assert failure < 0, f"a scheduling cycle failed:\n{log[max(0, failure - 200) :][:4000]}"
        self._environment.cleanup(self._scenario)

    def _kill(self) -> None:
        self._scenario.scheduler.kill()

    def _may_crash(self, _number: int) -> bool:
        """Whether what is started after this kill may crash at a write."""
        return True

    def _log_files(self) -> list[Path]:
        return [self._scenario.scheduler.processes[0].log]

    def _await_kill_time(self) -> None:
        if self._will_crash:
            self._scenario.scheduler.processes[0].wait(self.max_wait)
            return
        self._await_changes()

    def _await_changes(self) -> None:
        history = self._scenario.recording.history
        target = _record_count(history) + self._rng.randint(*_RECORDS_BEFORE_KILL)
        deadline = time.monotonic() + self.max_wait
        with history.changed:
            while _record_count(history) < target and (left := deadline - time.monotonic()) > 0:
                history.changed.wait(left)

    def _restart(self, *, will_crash: bool) -> None:
        scheduler, self._will_crash = self._scenario.scheduler, will_crash
        scheduler.stop()  # closes the descriptors of the killed process
        with self._crashing() if will_crash else nullcontext():
            scheduler.start()

    @contextmanager
    def _crashing(self) -> Iterator[None]:
        """What is started in this block crashes at one of its writes."""
        when = self._rng.choice(("before", "after"))
        os.environ[_REFERENCE_COMMAND] = f"tests.chaos.crash_at_write {self._rng.randint(*_WRITES_BEFORE_CRASH)} {when}"
        try:
            yield
        finally:
            del os.environ[_REFERENCE_COMMAND]

    def _must_become_stable(self, question: Question) -> None:
        """Wait until the answer is TRUE and stays so: flapping does not count."""
        history, since = self._scenario.recording.history, 0.0
        deadline = time.monotonic() + timeouts.BEHAVIOUR
        with history.changed:
            while True:
                self._scenario.recording.check_health()
                answer, now = question.ask(history), time.monotonic()
                since = (since or now) if answer.outcome is Outcome.TRUE else 0.0
                if since and now - since >= timeouts.QUIET_MINIMUM:
                    return
                assert now < deadline, f"wanted {question.wanted}, seen: {answer.seen}"
                history.changed.wait(since + timeouts.QUIET_MINIMUM - now if since else deadline - now)

    def _check_stable_state(self) -> None:
        recording, jobs, limits = self._scenario.recording, self._load.jobs, self._load.queues
        recording.prove_live()
        question = is_stable(jobs, limits, self._load.cordoned)
        self._must_become_stable(question)
        recording.check_invariants(self.invariants)
        with recording.history.changed:
            violations = capability_violations(recording.history, jobs, limits)
            violations += unjustified_releases(recording.history, jobs)
            pods = recording.history.pods
        assert not violations, "; ".join(violations)
        self._log(self._summary(len(jobs), pods))

    def _summary(self, jobs: int, pods: list[PodHistory]) -> str:
        marked = [pod.disruption.reason for pod in pods if pod.disruption]
        bound = sum(1 for pod in pods if pod.bound)
        reasons = ", ".join(f"{marked.count(reason)} {reason}" for reason in sorted(set(marked)))
        return f"stable: {jobs} jobs, {len(pods)} pods, {bound} bound, {reasons or 'no evictions'}" + (
            f"; {self._partially_bound} partially bound gangs after a kill" if self._partially_bound else ""
        )


def _record_count(history: History) -> int:
    return len(history.records["Pod"]) + len(history.records.get("PodGroup", ()))
