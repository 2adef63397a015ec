"""Who makes pods of jobs: an operator, as a process beside the scheduler."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from typing import ClassVar

from muster import suite, timeouts
from muster.cluster.api import Api
from muster.errors import NotSupported, UsageError
from muster.processes import Process
from muster.subject.definitions import define
from muster.subject.dialect import Dialect
from muster.subject.subjects import Workplace, died

DOCUMENTS, TRAINING_OPERATOR = "documents", "training-operator"  # what becomes of a job that loses a member
_MODULE = "MUSTER_OPERATOR"  # a module and its words to run instead: how scenarios are proven able to fail


class Operator(ABC):
    """Carries out PyTorchJobs and MPIJobs."""

    name: ClassVar[str]
    assets: ClassVar[tuple[str, ...]] = ()
    trainers: ClassVar[tuple[str, ...]] = ("pytorch", "mpi")  # the jobs that it carries out

    def __init__(self, workplace: Workplace, dialect: Dialect) -> None:
        self.workplace, self.dialect = workplace, dialect
        self.profile = DOCUMENTS
        self.process: Process | None = None

    @abstractmethod
    def install(self, api: Api) -> None:
        """The definitions of the jobs, served when this returns."""

    @abstractmethod
    def _prepare(self) -> Process:
        """Its process, not yet started."""

    def start(self) -> None:
        process = self._prepare()
        process.start()
        self.process = process

    def stop(self) -> None:
        if self.process is not None:
            self.process.stop(timeouts.COMPONENT_STOP)

    def kill(self) -> None:
        """SIGKILL, and nobody misses it: it is away until it is started again."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()

    def configure(self, profile: str) -> None:
        """Go on with this profile, by a restart; one that is away comes back."""
        if profile != self.profile or self.process is None:
            self.profile = profile
            self.stop()
            self.start()

    def must_carry_out(self, kind: str) -> None:
        """`mpi` and MPIJob are the same; a job that nobody looks at would only be waited for."""
        if not kind.lower().startswith(self.trainers):
            raise NotSupported(f"the operator {self.name} does not carry out {kind} in the version of the documents")

    def check(self) -> None:
        process = self.process
        if process is not None and not process.alive and process is self.process:  # else it was killed on purpose
            raise died(f"the operator {self.name}", process)


class ReferenceOperator(Operator):
    """The one that comes with this suite; a job that loses a member ends as the documents show it."""

    name: ClassVar[str] = "reference"

    def install(self, api: Api) -> None:
        for name in ("kubeflow-pytorchjobs", "kubeflow-mpijobs"):
            define(api, suite.manifests() / "crds" / f"{name}.yaml")

    def _prepare(self) -> Process:
        directory = self.workplace.directory
        flags = ["--kubeconfig", str(self.workplace.admin), "--profile", self.profile]
        flags += ["--gang", self.dialect.gang_words, "--scheduler-name", self.dialect.scheduler_name]
        argv = [sys.executable, "-m", *os.environ.get(_MODULE, "scheduler.operator").split(), *flags]
        environment = suite.scheduler_environment()
        return Process("operator", argv, directory=directory, log=directory / "operator.log", env=environment)


DEFAULT_OPERATOR = ReferenceOperator.name


def choose_operator(name: str) -> type[Operator]:
    from muster.subject.training_operator import TrainingOperator  # it is one of these, and needs to know what they are

    operators: dict[str, type[Operator]] = {one.name: one for one in (ReferenceOperator, TrainingOperator)}
    if name not in operators:
        raise UsageError(f"unknown operator {name!r}: choose from {', '.join(operators)}")
    return operators[name]
