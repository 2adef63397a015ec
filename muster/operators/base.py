"""A training operator: a process beside the scheduler that creates the pods of PyTorchJobs and MPIJobs."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from muster import assets, timeouts
from muster.cluster.api import Api
from muster.cluster.job_kinds import JOB_KINDS, JobKind
from muster.errors import NotSupported
from muster.processes import Process
from muster.schedulers.base import ProcessContext, process_ended_error
from muster.schedulers.crds import install_crds
from muster.schedulers.dialect import Dialect
from muster.schedulers.excuses import Excuse
from muster.suite import paths

WALKTHROUGHS, TRAINING_OPERATOR = (
    "walkthroughs",
    "training-operator",
)  # profiles: what a lost replica does to its job
ALL_JOBS, DECLARED_JOBS = "all", "scheduling-policy"  # which jobs are gangs: all, or those with a schedulingPolicy
_REPLACEMENT = "MUSTER_OPERATOR"  # a module with its arguments to run instead: mutation tests start mutants so


@dataclass(frozen=True)
class OperatorSettings:
    """What a scenario chooses. Not all jobs are gangs: the walk-throughs preempt single pods of jobs."""

    profile: str = WALKTHROUGHS
    gang_jobs: str = DECLARED_JOBS


class Operator(ABC):
    """Reconciles PyTorchJobs and MPIJobs."""

    name: ClassVar[str]
    documentation: ClassVar[str]  # the page that says which jobs it reconciles, and for which schedulers it makes gangs
    assets: ClassVar[tuple[str, ...]] = ()
    job_kinds: ClassVar[tuple[JobKind, ...]] = JOB_KINDS  # those that it reconciles
    job_versions: ClassVar[tuple[str, ...]] = ()  # of those kinds; empty: all that Muster's CRDs serve
    gang_jobs: ClassVar[tuple[str, ...]] = (ALL_JOBS, DECLARED_JOBS)  # what it can be told to make gangs of
    # What it is not asked for, each with the text that excuses it.
    excuses: ClassVar[tuple[Excuse, ...]] = ()
    needs_local_cluster: ClassVar[bool] = False  # the API server has to reach it on the loopback address

    def __init__(self, context: ProcessContext, dialect: Dialect) -> None:
        self.context, self.dialect = context, dialect
        self.settings = OperatorSettings()
        self.kubectl_image = ""  # of an init container that lets launchers reach their workers, where containers run
        self.process: Process | None = None

    @classmethod
    def title(cls) -> str:
        """Name and release, for the reader of a report."""
        found = assets.find(cls.assets[0]) if cls.assets else None
        return f"{cls.name.partition('@')[0]} {found.version}" if found else cls.name

    @classmethod
    def excuse_for(cls, behaviour: str) -> Excuse | None:
        """Why it is not asked for this behaviour; None: it is."""
        return next((each for each in cls.excuses if behaviour in each.behaviours), None)

    @property
    def creates_pod_groups(self) -> bool:
        """For the gangs of the scheduler that it runs beside."""
        return self.dialect.gang_api != Dialect.gang_api

    @abstractmethod
    def install(self, api: Api) -> None:
        """Create the CustomResourceDefinitions of the jobs; they are served when this returns."""

    @abstractmethod
    def _prepare(self) -> Process:
        """Its process, not yet started."""

    def start(self) -> None:
        process = self._prepare()
        process.start()
        self.process = process

    def wait_until_ready(self) -> None:
        """Return when jobs can be created and changed."""
        return

    def stop(self) -> None:
        if self.process is not None:
            self.process.stop(timeouts.COMPONENT_STOP)

    def kill(self) -> None:
        """SIGKILL; `check` does not report it, and it stays stopped until it is started again."""
        process, self.process = self.process, None
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Kill it for good, and give up what it has reserved."""
        self.kill()

    def configure(self, settings: OperatorSettings) -> None:
        """Restart it with these settings if they are others, or if it is stopped."""
        if settings != self.settings or self.process is None:
            self.settings = settings
            self.stop()
            self.start()

    def check_job_kind(self, kind: str, version: str = "") -> None:
        """Raise NotSupported for a kind that it does not reconcile, or not in this version.

        `mpi` and MPIJob are the same; without a version it is that of the walk-throughs, which commands prefer.
        """
        found = next((one for one in self.job_kinds if kind.lower() in (one.framework, one.trainer)), None)
        if found is None:
            raise self._not_supported(f"does not reconcile the walk-throughs' {kind}")
        version = version or found.versions[0]
        if self.job_versions and version not in self.job_versions:
            raise self._not_supported(f"does not reconcile {kind} of {version}")

    def check_gangs(self, jobs: str) -> None:
        """Raise NotSupported unless it creates PodGroups for this scheduler, and for these jobs."""
        if not self.creates_pod_groups:
            raise self._not_supported(f"creates no PodGroups for {self.dialect.scheduler_name}")
        if jobs not in self.gang_jobs:
            raise self._not_supported("has no setting by which only some jobs are gangs")

    def _not_supported(self, what: str) -> NotSupported:
        return NotSupported(f"the operator {self.name} {what} ({self.documentation})")

    def check(self) -> None:
        process = self.process
        if process is not None and not process.alive and process is self.process:  # else it was killed on purpose
            raise process_ended_error(f"the operator {self.name}", process)


class ReferenceOperator(Operator):
    """The one that comes with this suite; a job that loses a replica ends as in the walk-throughs."""

    name: ClassVar[str] = "reference"
    documentation: ClassVar[str] = "docs/reference-operator.md"

    def install(self, api: Api) -> None:
        for kind in JOB_KINDS:
            install_crds(api, paths.manifests() / "crds" / f"{kind.crd}.yaml")

    def _prepare(self) -> Process:
        directory = self.context.directory
        flags = ["--kubeconfig", str(self.context.admin_kubeconfig), "--profile", self.settings.profile]
        flags += ["--gang", self.dialect.gang_api, "--gang-jobs", self.settings.gang_jobs]
        flags += ["--scheduler-name", self.dialect.scheduler_name]
        if self.kubectl_image:
            flags += ["--mpi-kubectl-delivery-image", self.kubectl_image]
        argv = [sys.executable, "-m", *os.environ.get(_REPLACEMENT, "scheduler.operator").split(), *flags]
        log, env = directory / "operator.log", paths.scheduler_environment()
        return Process("operator", argv, directory=directory, log=log, env=env)
