"""What is judged: a scheduler as a process beside the cluster, with its configuration, its dialect and its claims."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from muster import timeouts
from muster.errors import HarnessError
from muster.processes import Process
from muster.subject.dialect import Dialect

_LOG_LINES_SHOWN = 12


class Subject(ABC):
    """A scheduler under test that runs out of cluster. `claims` maps a capability to the source of the claim."""

    name: ClassVar[str]
    binaries: ClassVar[tuple[str, ...]]
    claims: ClassVar[Mapping[str, str]]

    def __init__(self, configuration: str, directory: Path, kubeconfig: Path, binaries: Mapping[str, Path]) -> None:
        self.configuration = configuration
        self.directory = directory
        self.kubeconfig = kubeconfig
        self.paths = binaries
        self.process = self._process()

    @property
    @abstractmethod
    def longest_backoff(self) -> float:
        """Seconds until a pod that found no place is tried again, at the very most."""

    @property
    @abstractmethod
    def dialect(self) -> Dialect:
        """How to speak to it."""

    @classmethod
    @abstractmethod
    def resolve(cls, configuration: str) -> str:
        """The configuration's full name; a UsageError when there is none such."""

    @abstractmethod
    def _process(self) -> Process:
        """The process, not yet started, its configuration written."""

    @abstractmethod
    def settings(self) -> dict[str, str]:
        """What a reader of the report must know: version, client limits, back-off."""

    def start(self) -> None:
        self.process.start()

    def stop(self) -> None:
        self.process.stop(timeouts.COMPONENT_STOP)

    def pause(self) -> None:
        self.process.pause()

    def resume(self) -> None:
        self.process.resume()

    def kill(self) -> None:
        self.process.kill()

    def check(self) -> None:
        """Raise when the scheduler has died: then nothing that it failed to do is a verdict."""
        if not self.process.alive:
            last = self.process.log_tail(_LOG_LINES_SHOWN)
            raise HarnessError(f"the scheduler {self.name} {self.process.how_it_ended()}; its last words:\n{last}")

    @property
    def log(self) -> Path:
        return self.process.log
