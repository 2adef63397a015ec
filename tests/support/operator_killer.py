"""A pytest plugin: `pytest -p tests.support.operator_killer …` kills the operator every 300 ms.

The 300 ms count from the moment at which all its watches are synced: an operator that is killed while it starts does
nothing and proves nothing. The number of kills is written to the file that OPERATOR_KILLS names.

A scenario must not outrun an operator that is starting most of the time: missing pods cannot be scheduled, and a job
that ends between two starts is never seen Running. So a created job is waited for until it has its pods, and one that
is to end until it is Running.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import tenacity

from muster.assertions.jobs import job_is
from muster.assertions.operator_objects import created
from muster.environment import Environment, ScenarioContext
from muster.environment.training_jobs import TrainingJobs
from muster.operators.base import Operator, OperatorSettings
from muster.recording.questions import all_of, eventually

KILL_COUNT_FILE = "OPERATOR_KILLS"
_KILL_AFTER = 0.3  # seconds
_READY = "all watches synced"


class _NotReady(Exception):
    """The operator has not logged that it is ready."""


class Killer(threading.Thread):
    """Kills from the first start of an operator until the environment stops."""

    def __init__(self, operator: Operator) -> None:
        super().__init__(name="operator-killer", daemon=True)
        self._operator = operator
        self._stopped = threading.Event()
        self.kills = 0

    def run(self) -> None:
        log = self._operator.context.directory / "operator.log"
        ready = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_NotReady),
            wait=tenacity.wait_fixed(0.02),
            stop=tenacity.stop_when_event_set(self._stopped),
            reraise=True,
        )
        while not self._stopped.is_set():
            try:
                ready(_check_ready, log, times=self.kills + 1)
            except _NotReady:
                return
            if self._stopped.wait(_KILL_AFTER):
                return
            self._operator.kill()
            self._operator.start()
            self.kills += 1

    def stop(self) -> None:
        self._stopped.set()
        self.join()
        if KILL_COUNT_FILE in os.environ:
            Path(os.environ[KILL_COUNT_FILE]).write_text(str(self.kills))


def _check_ready(log: Path, times: int) -> None:
    if log.read_text(errors="replace").count(_READY) < times:
        raise _NotReady


def pytest_configure() -> None:
    need, stop = Environment.ensure_operator, Environment.stop
    create, finish = TrainingJobs.create_job, ScenarioContext.finish_pods
    killers: list[Killer] = []

    def ensure_operator(environment: Environment, settings: OperatorSettings) -> Operator:
        # It may have been killed just now: do not start a second one.
        operator = environment.operator or need(environment, settings)
        if not killers:
            killers.append(Killer(operator))
            killers[0].start()
        return operator

    def stop_killing(environment: Environment) -> None:
        while killers:
            killers.pop().stop()
        stop(environment)

    def create_and_wait(jobs: TrainingJobs, file: str, name: str, **options: Any) -> None:
        create(jobs, file, name, **options)
        scenario = jobs._scenario
        pods = [eventually(created(pod)) for pod in scenario.groups.members(name)]
        scenario.recording.set_up(all_of(f"the pods of job {name}", pods))

    def finish_when_running(scenario: ScenarioContext, *pods: str) -> None:
        for name in scenario.recording.history.aliases:
            if scenario.groups.members(name) == pods:
                scenario.recording.set_up(job_is(name, "Running"))
        finish(scenario, *pods)

    setattr(Environment, "ensure_operator", ensure_operator)  # noqa: B010 - mypy refuses an assignment to a method
    setattr(Environment, "stop", stop_killing)  # noqa: B010
    setattr(TrainingJobs, "create_job", create_and_wait)  # noqa: B010
    setattr(ScenarioContext, "finish_pods", finish_when_running)  # noqa: B010
