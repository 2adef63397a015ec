"""A plugin for a run of the suite: `pytest -p tests.operator_killer …` kills the operator again and again.

Each of its lives lasts 300 ms from the moment at which it has seen everything: one that dies while it starts would do
nothing at all, and prove nothing. How often it was killed is written to the file that OPERATOR_KILLS names.

The scenario must not outrun an operator that is starting most of the time: what is not there cannot be scheduled, and
what is over before anybody looked was never seen to run. So a job that is created is waited for until it has its pods,
and one that is to end until it is Running.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import tenacity

from muster.chronicle.jobs import job_is
from muster.chronicle.operators import created
from muster.chronicle.questions import all_of, eventually
from muster.stage import Scene, Stage
from muster.stage.jobs import Jobs
from muster.subject.operators import Operator

LEDGER = "OPERATOR_KILLS"
_LIFE = 0.3  # seconds
_READY = "every watch is complete"


class _AtWork(Exception):
    """Not yet."""


class Killer(threading.Thread):
    """From the first start of an operator until the stage is struck."""

    def __init__(self, operator: Operator) -> None:
        super().__init__(name="operator-killer", daemon=True)
        self._operator = operator
        self._enough = threading.Event()
        self.kills = 0

    def run(self) -> None:
        log = self._operator.workplace.directory / "operator.log"
        ready = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_AtWork),
            wait=tenacity.wait_fixed(0.02),
            stop=tenacity.stop_when_event_set(self._enough),
            reraise=True,
        )
        while not self._enough.is_set():
            try:
                ready(_must_have_said, log, times=self.kills + 1)
            except _AtWork:
                return
            if self._enough.wait(_LIFE):
                return
            self._operator.kill()
            self._operator.start()
            self.kills += 1

    def stop(self) -> None:
        self._enough.set()
        self.join()
        if LEDGER in os.environ:
            Path(os.environ[LEDGER]).write_text(str(self.kills))


def _must_have_said(log: Path, times: int) -> None:
    if log.read_text(errors="replace").count(_READY) < times:
        raise _AtWork


def pytest_configure() -> None:
    need, stop, create, finish = Stage.need_operator, Stage.stop, Jobs.create, Scene.finish
    at_work: list[Killer] = []

    def need_operator(stage: Stage, profile: str) -> Operator:
        operator = stage.operator or need(stage, profile)  # it may be away just now: that is no reason to start one
        if not at_work:
            at_work.append(Killer(operator))
            at_work[0].start()
        return operator

    def stop_killing(stage: Stage) -> None:
        while at_work:
            at_work.pop().stop()
        stop(stage)

    def create_and_wait(jobs: Jobs, file: str, called: str, **options: Any) -> None:
        create(jobs, file, called, **options)
        scene = jobs._scene
        pods = [eventually(created(pod)) for pod in scene.groups.members(called)]
        scene.chronicle.staged(all_of(f"the pods of job {called}", pods))

    def finish_when_running(scene: Scene, *pods: str) -> None:
        for called in scene.chronicle.history.known_as:
            if scene.groups.members(called) == pods:
                scene.chronicle.staged(job_is(called, "Running"))
        finish(scene, *pods)

    setattr(Stage, "need_operator", need_operator)  # noqa: B010 - a method cannot be assigned, say the types
    setattr(Stage, "stop", stop_killing)  # noqa: B010
    setattr(Jobs, "create", create_and_wait)  # noqa: B010
    setattr(Scene, "finish", finish_when_running)  # noqa: B010
