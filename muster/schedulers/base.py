"""What is judged: a scheduler as processes beside the cluster, with its configuration, its dialect and its claims."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from muster import assets, timeouts
from muster.cluster.api import Api
from muster.cluster.local.ports import Port
from muster.errors import HarnessError, NotSupported, UsageError
from muster.processes import Process
from muster.subject.dialect import Dialect

if TYPE_CHECKING:
    from muster.cluster.clusters import Cluster

_LOG_LINES_SHOWN = 12


@dataclass(frozen=True)
class Workplace:
    """What a scheduler is given: a directory, kubeconfigs, and the files it asked for."""

    directory: Path
    admin: Path  # a kubeconfig that may do everything
    scheduler: Path  # a kubeconfig that may do what kube-scheduler may
    assets: Mapping[str, Path]

    @classmethod
    def on(cls, cluster: Cluster, assets: Mapping[str, Path], directory: Path | None = None) -> Workplace:
        """Beside a cluster, in its own directory unless another is named."""
        kubeconfigs = (cluster.client_kubeconfig("admin"), cluster.client_kubeconfig("scheduler"))
        return cls(directory or cluster.directory, *kubeconfigs, assets)


class Subject(ABC):
    """A scheduler under test that runs out of cluster. The first of its processes is the one that decides."""

    name: ClassVar[str]
    assets: ClassVar[tuple[str, ...]]  # binaries, and files that come with them
    configurations: ClassVar[tuple[str, ...]] = ("default",)
    feature_gates: ClassVar[Mapping[str, bool]] = {}  # that its cluster must have on, and APIs that must be served
    runtime_config: ClassVar[tuple[str, ...]] = ()

    def __init__(self, configuration: str, workplace: Workplace) -> None:
        self.configuration = configuration
        self.workplace = workplace
        self.processes: Sequence[Process] = ()
        self._ports: list[Port] = []  # held while it runs
        self.policy: dict[str, str] = {}  # what a scenario has asked to be different

    @property
    def title(self) -> str:
        """Who it is, for the reader of a report: name, release and configuration."""
        return f"{self.name.partition('@')[0]} {self._release()} ({self.configuration})"

    def _release(self) -> str:
        found = assets.find(self.assets[0])
        return found.version if found else "of an unknown release"

    @classmethod
    @abstractmethod
    def claims(cls, configuration: str) -> Mapping[str, str]:
        """Capabilities, each with the source of the claim."""

    @classmethod
    def resolve(cls, configuration: str) -> str:
        """The configuration's full name; a UsageError when there is none such."""
        if configuration not in cls.configurations:
            choices = ", ".join(cls.configurations)
            raise UsageError(f"{cls.name} has no configuration {configuration!r}: choose from {choices}")
        return configuration

    @property
    @abstractmethod
    def dialect(self) -> Dialect:
        """How to speak to it."""

    @property
    @abstractmethod
    def longest_backoff(self) -> float:
        """Seconds until a pod that found no place is tried again, at the very most."""

    @abstractmethod
    def settings(self) -> dict[str, str]:
        """What a reader of the report must know: version, client limits, back-off."""

    @abstractmethod
    def _prepare(self) -> Sequence[Process]:
        """Its processes, not yet started, with their configuration written."""

    def _process(self, name: str, flags: Sequence[str], env: Mapping[str, str] | None = None) -> Process:
        """One of its processes: the asset of that name, beside the cluster."""
        directory = self.workplace.directory
        argv = [str(self.workplace.assets[name]), *flags]
        return Process(name, argv, directory=directory, log=directory / f"{name}.log", env=env)

    def install(self, api: Api) -> None:
        """Whatever must be in the cluster before it starts: definitions of its own kinds, namespaces."""
        return

    def configure(self, policy: Mapping[str, str]) -> None:
        """Go on with these settings; an empty policy is what the configuration says."""
        raise NotSupported(f"{self.name}:{self.configuration} cannot be told {', '.join(policy)} while it runs")

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
        """Raise when the scheduler has died: then nothing that it failed to do is a verdict."""
        for process in self.processes:
            if not process.alive:
                raise died(f"the scheduler {process.name}", process)


def died(who: str, process: Process) -> HarnessError:
    """The error that tells how somebody beside the cluster ended, and what it said last."""
    last = process.log_tail(_LOG_LINES_SHOWN)
    return HarnessError(f"{who} {process.how_it_ended()}; its last words:\n{last}")
