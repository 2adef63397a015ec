"""SIGKILL at a random moment, again and again, while work comes and goes; then a look at how things stand.

The moment is counted in what is heard of the cluster, not in seconds; and most schedulers are doomed to die with one of
their own writes: then a gang is bound in part, or an eviction not followed by its nomination.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable

from muster import timeouts
from muster.chronicle.history import History
from muster.chronicle.invariants import (
    Invariant,
    no_eviction_is_in_vain,
    no_node_is_overcommitted,
    no_victim_is_as_important,
)
from muster.chronicle.lifelines import PodLife
from muster.chronicle.questions import Question, Verdict
from muster.stage.scene import Scene
from muster.stage.stage import Stage
from tests.chaos.judge import at_rest, no_share_is_exceeded, nobody_was_sent_back_in_vain, parted
from tests.chaos.load import Load

_RECORDS = (1, 60)  # heard of pods and groups until the kill comes from outside
_WRITES = (1, 20)  # granted to a scheduler that is doomed
_PATIENCE = 3.0  # seconds: nothing more happens, so the kill comes now
_RESTS_EVERY = 4  # kills
_FAULT = "the plan failed"
# Not the one about taints: nobody waits here until the scheduler has heard of a cordon.
_INVARIANTS: tuple[Invariant, ...] = (no_node_is_overcommitted, no_victim_is_as_important, no_eviction_is_in_vain)
_INSTEAD = "MUSTER_REFERENCE"


class Killer:
    """One scene of kills."""

    def __init__(self, stage: Stage, seed: int, say: Callable[[str], None] = lambda _: None) -> None:
        self._chance = random.Random(seed)
        self._stage, self._say = stage, say
        self._scene: Scene = stage.scene("chaos")
        self._load = Load(self._scene, self._chance)
        self._is_doomed = False
        self._parted = 0  # gangs that a kill left in part

    def run(self, kills: int) -> None:
        self._load.set_up()
        for number in range(1, kills + 1):
            self._load.stir()
            self._await_the_moment()
            self._scene.subject.kill()
            self._parted += parted(self._scene.chronicle.history, self._load.jobs)
            if self._chance.random() < 0.5:
                self._load.stir()  # the world does not wait for a dead scheduler
            rests = number % _RESTS_EVERY == 0 or number == kills
            self._start_again(doomed=not rests and self._chance.random() < 0.7)
            if rests:
                self._rest()
        log = self._scene.subject.processes[0].log.read_text()
        assert _FAULT not in log, f"a plan failed:\n{log[log.index(_FAULT) - 200 :][:4000]}"
        self._stage.strike(self._scene)

    def _await_the_moment(self) -> None:
        if self._is_doomed:
            self._scene.subject.processes[0].wait(_PATIENCE)
            return
        history = self._scene.chronicle.history
        wanted = _heard(history) + self._chance.randint(*_RECORDS)
        deadline = time.monotonic() + _PATIENCE
        with history.changed:
            while _heard(history) < wanted and (left := deadline - time.monotonic()) > 0:
                history.changed.wait(left)

    def _start_again(self, *, doomed: bool) -> None:
        subject, self._is_doomed = self._scene.subject, doomed
        subject.stop()  # what is dead still has descriptors
        if not doomed:
            subject.start()
            return
        when = self._chance.choice(("before", "after"))
        os.environ[_INSTEAD] = f"tests.chaos.doomed {self._chance.randint(*_WRITES)} {when}"
        try:
            subject.start()
        finally:
            del os.environ[_INSTEAD]

    def _settles(self, wanted: Question) -> None:
        """It comes to be so, and then stays so for a while: something that flaps does not."""
        history, since = self._scene.chronicle.history, 0.0
        deadline = time.monotonic() + timeouts.BEHAVIOUR
        with history.changed:
            while True:
                self._scene.chronicle.guard()
                answer, now = wanted.ask(history), time.monotonic()
                since = (since or now) if answer.verdict is Verdict.YES else 0.0
                if since and now - since >= timeouts.QUIET_MINIMUM:
                    return
                assert now < deadline, f"wanted {wanted.wanted}, seen: {answer.seen}"
                history.changed.wait(since + timeouts.QUIET_MINIMUM - now if since else deadline - now)

    def _rest(self) -> None:
        chronicle, jobs, limits = self._scene.chronicle, self._load.jobs, self._load.queues
        chronicle.prove_live()
        wanted = at_rest(jobs, limits, self._load.shut)
        self._settles(wanted)
        chronicle.hold(_INVARIANTS)
        with chronicle.history.changed:
            broken = no_share_is_exceeded(chronicle.history, jobs, limits)
            broken += nobody_was_sent_back_in_vain(chronicle.history, jobs)
            lives = chronicle.history.pods
        assert not broken, "; ".join(broken)
        self._say(self._told(len(jobs), lives))

    def _told(self, jobs: int, lives: list[PodLife]) -> str:
        marked = [life.mark.reason for life in lives if life.mark]
        bound = sum(1 for life in lives if life.bound)
        told = ", ".join(f"{marked.count(reason)} {reason}" for reason in sorted(set(marked)))
        return f"at rest: {jobs} jobs, {len(lives)} pods, {bound} bound, {told or 'nobody sent away'}" + (
            f"; {self._parted} times a gang was left in part" if self._parted else ""
        )


def _heard(history: History) -> int:
    return len(history.records["Pod"]) + len(history.records.get("PodGroup", ()))
