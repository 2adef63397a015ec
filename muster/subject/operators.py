"""Who makes pods of jobs: an operator, as a process beside the scheduler."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from typing import ClassVar

from muster import suite, timeouts
from muster.cluster.api import Api
from muster.errors import HarnessError, UsageError
from muster.processes import Process
from muster.subject.definitions import define
from muster.subject.dialect import Dialect
from muster.subject.subjects import Workplace

_LOG_LINES_SHOWN = 12


class Operator(ABC):
    """Carries out PyTorchJobs and MPIJobs."""

    name: ClassVar[str]
    assets: ClassVar[tuple[str, ...]] = ()

    def __init__(self, workplace: Workplace, dialect: Dialect) -> None:
        self.workplace, self.dialect = workplace, dialect
        self.process: Process | None = None

    @abstractmethod
    def install(self, api: Api) -> None:
        """The definitions of the jobs, served when this returns."""

    @abstractmethod
    def _prepare(self) -> Process:
        """Its process, not yet started."""

    def start(self) -> None:
        self.process = self._prepare()
        self.process.start()

    def stop(self) -> None:
        if self.process is not None:
            self.process.stop(timeouts.COMPONENT_STOP)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()

    def check(self) -> None:
        if self.process is not None and not self.process.alive:
            last = self.process.log_tail(_LOG_LINES_SHOWN)
            raise HarnessError(f"the operator {self.name} {self.process.how_it_ended()}; its last words:\n{last}")


class ReferenceOperator(Operator):
    """The one that comes with this suite; a job that loses a member ends as the documents show it."""

    name: ClassVar[str] = "reference"

    def install(self, api: Api) -> None:
        for name in ("kubeflow-pytorchjobs", "kubeflow-mpijobs"):
            define(api, suite.manifests() / "crds" / f"{name}.yaml")

    def _prepare(self) -> Process:
        directory = self.workplace.directory
        flags = ["--kubeconfig", str(self.workplace.admin), "--profile", "documents", "--gang", self.dialect.gang_words]
        argv = [sys.executable, "-m", "scheduler.operator", *flags, "--scheduler-name", self.dialect.scheduler_name]
        environment = {**os.environ, "PYTHONPATH": str(suite.scheduler_home())}
        return Process("operator", argv, directory=directory, log=directory / "operator.log", env=environment)


_OPERATORS: dict[str, type[Operator]] = {operator.name: operator for operator in (ReferenceOperator,)}
DEFAULT_OPERATOR = ReferenceOperator.name


def choose_operator(name: str) -> type[Operator]:
    if name not in _OPERATORS:
        raise UsageError(f"unknown operator {name!r}: choose from {', '.join(_OPERATORS)}")
    return _OPERATORS[name]
