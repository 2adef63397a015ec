"""The client that runs the commands of walk-throughs: Muster in this process, or Arena's own binary.

Arena reads its charts from HOME and its kubectl from PATH, and leaves a file in the temporary directory with every
submission. So it gets directories of its own inside the cluster's directory, which are deleted with the cluster.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from muster import timeouts
from muster.arena import in_process
from muster.arena.in_process import CommandResult, command_and_arguments, split
from muster.cluster.job_kinds import PYTORCH
from muster.errors import HarnessError, NotSupported, UsageError
from muster.run_options import DEFAULT_CLIENT

_DOCUMENTATION = "https://github.com/kubeflow/arena/tree/master/docs/cli"
_CHART = "arena-pytorchjob-"  # prefix of the chart's files in the cache
_CHART_FILES = ("Chart.yaml", "values.yaml")
_TEMPLATES = ("_helpers.tpl", "configmap.yaml", "ingress.yaml", "pytorchjob.yaml", "service.yaml", "tensorboard.yaml")


class Client(ABC):
    """A command line that understands `muster submit`, `get`, `list` and `top`."""

    name: ClassVar[str]
    assets: ClassVar[tuple[str, ...]] = ()

    def __init__(self, directory: Path, kubeconfig: Path, files: Mapping[str, Path]) -> None:
        """`directory` is the cluster's, `files` are the paths of the client's assets."""
        self.directory, self.kubeconfig, self.files = directory, kubeconfig, files

    def install(self) -> None:  # noqa: B027 - a client may need no files
        """Put the files in place that it needs."""

    @abstractmethod
    def run(self, command: str) -> CommandResult:
        """Run a command line that is written for `muster`."""


class MusterClient(Client):
    """Muster's own commands, in this process."""

    name: ClassVar[str] = DEFAULT_CLIENT

    def run(self, command: str) -> CommandResult:
        return in_process.run(command, self.kubeconfig)


class ArenaClient(Client):
    """Arena's own binary. Its log is mixed with its output, as on a terminal."""

    name: ClassVar[str] = "arena"
    assets: ClassVar[tuple[str, ...]] = (
        "arena",
        "kubectl",
        *(f"{_CHART}{name}" for name in (*_CHART_FILES, *_TEMPLATES)),
    )
    commands: ClassVar[tuple[str, ...]] = ("submit", "get", "list", "top", "delete")
    charts: ClassVar[tuple[str, ...]] = (PYTORCH.framework, PYTORCH.trainer)  # arguments of submit with a chart

    @property
    def home(self) -> Path:
        return self.directory / self.name

    def install(self) -> None:
        chart = self.home / "charts" / "pytorchjob"
        for directory in (chart / "templates", self.home / "bin", self.home / "tmp"):
            directory.mkdir(parents=True, exist_ok=True)
        for name in (*_CHART_FILES, *_TEMPLATES):
            place = chart if name in _CHART_FILES else chart / "templates"
            shutil.copyfile(self.files[f"{_CHART}{name}"], place / name)
        (self.home / "bin" / "arena-kubectl").symlink_to(self.files["kubectl"])

    def run(self, command: str) -> CommandResult:
        arguments = self.arguments(command)
        try:
            done = subprocess.run(
                [self.files["arena"], *arguments],
                cwd=self.home,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=timeouts.SETTING_UP,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise HarnessError(f"arena {' '.join(arguments)} did not end within {timeouts.SETTING_UP:.0f} s") from None
        return CommandResult(done.stdout.decode(errors="replace"), done.returncode)

    def arguments(self, command: str) -> list[str]:
        """The same arguments; NotSupported where Arena does not have the command."""
        name, *arguments = command_and_arguments(command)
        if name not in self.commands:
            raise NotSupported(f"Arena has no command {name!r} ({_DOCUMENTATION})")
        if name == "submit" and arguments[0] not in self.charts:
            kind = arguments[0]
            raise NotSupported(
                f"Arena submits {kind} jobs in a version that no operator here reconciles ({_DOCUMENTATION})"
            )
        return split(command)[1:]

    def _environment(self) -> dict[str, str]:
        path = os.pathsep.join((str(self.home / "bin"), os.environ.get("PATH", os.defpath)))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ARENA_", "KUBE"))}
        own = {
            "HOME": str(self.home),
            "KUBECONFIG": str(self.kubeconfig),
            "TMPDIR": str(self.home / "tmp"),
        }
        return kept | own | {"PATH": path}


_CLIENTS: dict[str, type[Client]] = {client.name: client for client in (MusterClient, ArenaClient)}


def choose_client(name: str) -> type[Client]:
    if name not in _CLIENTS:
        raise UsageError(f"unknown --client {name!r}: choose from {', '.join(_CLIENTS)}")
    return _CLIENTS[name]
