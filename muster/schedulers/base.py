"""A scheduler under test: its processes beside the cluster, its configuration, its dialect and its claims."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from muster import assets, timeouts
from muster.cluster.api import Api
from muster.errors import HarnessError, SchedulerCrashed, UsageError
from muster.processes import Process
from muster.processes.readiness import Port
from muster.schedulers.dialect import Dialect
from muster.schedulers.differences import AS_SHIPPED, Difference
from muster.schedulers.excuses import Excuse
from muster.schedulers.unsupported import Feature

if TYPE_CHECKING:
    from muster.cluster.interface import Cluster

LOG_LINES_SHOWN = 12
# Promised by the documentation of the Pod API itself, whichever scheduler serves the pod.
CLAIMS_OF_EVERY_SCHEDULER = {
    "pods": "https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#scheduling"
}


@dataclass(frozen=True)
class ProcessContext:
    """What a process beside a cluster gets: a directory, kubeconfigs, and the files that it needs."""

    directory: Path
    admin_kubeconfig: Path  # with all rights
    scheduler_kubeconfig: Path  # with the rights of kube-scheduler
    assets: Mapping[str, Path]

    @classmethod
    def on(cls, cluster: Cluster, assets: Mapping[str, Path], directory: Path | None = None) -> ProcessContext:
        """For a cluster, in the cluster's own directory unless another is given."""
        kubeconfigs = (cluster.client_kubeconfig("admin"), cluster.client_kubeconfig("scheduler"))
        return cls(directory or cluster.directory, *kubeconfigs, assets)


class Scheduler(ABC):
    """A scheduler under test that runs out of cluster. The first of its processes is the one that makes decisions.

    A subclass is one module (or folder) of this package and is listed in `muster.schedulers.SCHEDULERS`; everything
    that Muster knows about the scheduler is in it or in its Dialect. docs/your-scheduler.md has an example.
    """

    name: ClassVar[str]
    assets: ClassVar[tuple[str, ...]]  # binaries, and files that come with them
    configurations: ClassVar[tuple[str, ...]] = ("default",)
    # Those that `muster matrix --all` runs; empty: all of them.
    matrix_configurations: ClassVar[tuple[str, ...]] = ()
    dialect_class: ClassVar[type[Dialect]] = Dialect
    # Claimed capabilities, each with the source of the claim: in every configuration, and in single ones only.
    capabilities: ClassVar[Mapping[str, str]] = {}
    capabilities_by_configuration: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    # What it is not asked for although it claims the capability, each with the text that excuses it.
    excuses: ClassVar[tuple[Excuse, ...]] = ()
    # Where its configuration differs from what the project ships: client limits, back-off, periods.
    differences: ClassVar[tuple[Difference, ...]] = ()
    longest_backoff: float  # seconds until an unschedulable pod is tried again, at most
    # What the control plane of its cluster must have: feature gates, and API versions that are off by default.
    feature_gates: ClassVar[Mapping[str, bool]] = {}
    runtime_config: ClassVar[tuple[str, ...]] = ()
    controllers: ClassVar[tuple[str, ...]] = ()  # of kube-controller-manager, beside those that Muster always starts
    # On an existing cluster: the longest back-off with the settings of its usual installation there. None: it cannot
    # be tested there, because it needs queues or rights that a run does not have.
    existing_cluster_backoff: ClassVar[float | None] = None
    # There, the Lease by which its usual installation leads, as `namespace/name`; empty: not known.
    leader_lease: ClassVar[str] = ""
    # The scheduler name of a scheduler that Muster starts beside an existing cluster; empty: it must run there.
    name_beside_existing_cluster: ClassVar[str] = ""

    def __init__(self, configuration: str, context: ProcessContext) -> None:
        self.configuration = configuration
        self.context = context
        self.dialect = self._make_dialect()  # one for the lifetime of the scheduler: it may remember gangs and queues
        self.processes: Sequence[Process] = ()
        self._ports: list[Port] = []  # reserved while it runs
        self.policy: dict[str, str] = {}  # settings that a scenario has changed

    @property
    def title(self) -> str:
        """Name, release and configuration, for the reader of a report."""
        return f"{self.name.partition('@')[0]} {self._release()} ({self.configuration})"

    def _release(self) -> str:
        found = assets.find(self.assets[0])
        return found.version if found else "of an unknown release"

    @classmethod
    def claims(cls, configuration: str) -> Mapping[str, str]:
        """The claimed capabilities, each with the source of the claim."""
        by_configuration = cls.capabilities_by_configuration.get(configuration, {})
        return {**CLAIMS_OF_EVERY_SCHEDULER, **cls.capabilities, **by_configuration}

    @classmethod
    def excuse_for(cls, behaviour: str) -> Excuse | None:
        """Why it is not asked for this behaviour at all; None: it is, where it claims the capability."""
        return next((each for each in cls.excuses if behaviour in each.behaviours and not each.part), None)

    @classmethod
    def resolve(cls, configuration: str) -> str:
        """The configuration's full name; a UsageError if there is no such configuration."""
        if configuration not in cls.configurations:
            choices = ", ".join(cls.configurations)
            raise UsageError(f"{cls.name} has no configuration {configuration!r}: choose from {choices}")
        return configuration

    @classmethod
    def beside_existing_cluster(
        cls, configuration: str, context: ProcessContext, rename: Callable[[str], str]
    ) -> Scheduler | None:
        """The scheduler as processes beside an existing cluster, under renamed scheduler names; None: it runs there."""
        return None

    def settings(self) -> dict[str, str]:
        """What a reader of the report must know: version, client limits, back-off."""
        different = [each for each in self.differences if each.applies(self.configuration)]
        return {"scheduler": self.title, **{each.setting: each.here for each in different}}

    @property
    def as_shipped(self) -> bool:
        """Whether this configuration leaves the project's settings alone."""
        return self.configuration.endswith(AS_SHIPPED)

    def _make_dialect(self) -> Dialect:
        return self.dialect_class()

    @abstractmethod
    def _prepare(self) -> Sequence[Process]:
        """Its processes, not yet started, with their configuration written."""

    def _process(self, name: str, flags: Sequence[str], env: Mapping[str, str] | None = None) -> Process:
        """One of its processes: the asset of that name, in the context's directory."""
        directory = self.context.directory
        argv = [str(self.context.assets[name]), *flags]
        return Process(name, argv, directory=directory, log=directory / f"{name}.log", env=env)

    def install(self, api: Api) -> None:
        """Create what must be in the cluster before it starts: CustomResourceDefinitions, namespaces."""
        return

    def configure(self, policy: Mapping[str, str]) -> None:
        """Continue with these settings; an empty policy means the configuration's own."""
        raise self.dialect.not_supported(Feature.PREEMPTION_SWITCH)

    def start(self) -> None:
        self.processes = self._prepare()
        for process in self.processes:
            process.start()

    def _restart_with(self, policy: Mapping[str, str]) -> None:
        self.policy = dict(policy)
        self.stop()
        self.start()

    def stop(self) -> None:
        for process in self.processes:
            process.stop(timeouts.COMPONENT_STOP)
        while self._ports:
            self._ports.pop().release()

    def pause(self) -> None:
        self.processes[0].pause()

    def resume(self) -> None:
        self.processes[0].resume()

    def kill(self) -> None:
        for process in self.processes:
            process.kill()

    def check(self) -> None:
        """Raise if a process has ended: then nothing that the scheduler failed to do counts as a verdict."""
        for process in self.processes:
            if not process.alive:
                error = process_ended_error(f"the scheduler {process.name}", process)
                raise error if process.was_killed else SchedulerCrashed(str(error))


def process_ended_error(title: str, process: Process) -> HarnessError:
    """The error that says how a process beside the cluster ended, with the end of its log."""
    last = process.log_tail(LOG_LINES_SHOWN)
    return HarnessError(f"{title} {process.how_it_ended()}; last log lines:\n{last}")
