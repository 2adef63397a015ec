"""Who carries out the commands that a person types: Muster itself, or Arena's own command line in its place.

Arena finds its charts in the directory of its user and its kubectl on PATH, and leaves a file in the temporary
directory with every submission. So it gets a home of its own, in the cluster's directory, that goes with the cluster.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from muster import timeouts
from muster.errors import HarnessError, NotSupported, UsageError
from muster.subject.subjects import Workplace

DEFAULT_CLIENT = "muster"
_CHART = "arena-pytorchjob-"  # what the files of the chart are called in the cache, before their own names
_AT_THE_TOP = ("Chart.yaml", "values.yaml")
_TEMPLATES = ("_helpers.tpl", "configmap.yaml", "ingress.yaml", "pytorchjob.yaml", "service.yaml", "tensorboard.yaml")


@dataclass(frozen=True)
class Answer:
    """What a person reads, and the exit code."""

    text: str
    code: int


class Client(ABC):
    """A foreign command line that understands the words of `muster submit`, `get`, `list` and `top`."""

    name: ClassVar[str]
    assets: ClassVar[tuple[str, ...]]

    def __init__(self, workplace: Workplace) -> None:
        self.workplace = workplace

    @abstractmethod
    def install(self) -> None:
        """Whatever it needs on disk."""

    @abstractmethod
    def typed(self, command: str) -> Answer:
        """A command that is written for `muster`, carried out by this one."""


class Arena(Client):
    """Arena's own binary. Its log goes between its answers, as a person at a terminal would see it."""

    name: ClassVar[str] = "arena"
    assets: ClassVar[tuple[str, ...]] = (
        "arena",
        "kubectl",
        *(f"{_CHART}{name}" for name in (*_AT_THE_TOP, *_TEMPLATES)),
    )
    commands: ClassVar[tuple[str, ...]] = ("submit", "get", "list", "top", "delete")
    trainers: ClassVar[tuple[str, ...]] = ("pytorch", "pytorchjob")  # what there are charts for

    @property
    def home(self) -> Path:
        return self.workplace.directory / self.name

    def install(self) -> None:
        chart = self.home / "charts" / "pytorchjob"
        for directory in (chart / "templates", self.home / "bin", self.home / "tmp"):
            directory.mkdir(parents=True, exist_ok=True)
        for name in (*_AT_THE_TOP, *_TEMPLATES):
            place = chart if name in _AT_THE_TOP else chart / "templates"
            shutil.copyfile(self.workplace.assets[f"{_CHART}{name}"], place / name)
        (self.home / "bin" / "arena-kubectl").symlink_to(self.workplace.assets["kubectl"])

    def typed(self, command: str) -> Answer:
        words = self.words(command)
        try:
            done = subprocess.run(
                [self.workplace.assets["arena"], *words],
                cwd=self.home,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=timeouts.SETTING_UP,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise HarnessError(f"arena {' '.join(words)} does not come back") from None
        return Answer(done.stdout.decode(errors="replace"), done.returncode)

    def words(self, command: str) -> list[str]:
        """The same words, where Arena has them: it was here first."""
        _, *words = shlex.split(command.replace("\\\n", " "))
        if words[0] not in self.commands:
            raise NotSupported(f"Arena has no command {words[0]!r}")
        if words[0] == "submit" and words[1] not in self.trainers:
            raise NotSupported(f"Arena submits {words[1]} jobs in a version that no operator here carries out")
        return words

    def _environment(self) -> dict[str, str]:
        path = os.pathsep.join((str(self.home / "bin"), os.environ.get("PATH", os.defpath)))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ARENA_", "KUBE"))}
        own = {"HOME": str(self.home), "KUBECONFIG": str(self.workplace.admin), "TMPDIR": str(self.home / "tmp")}
        return kept | own | {"PATH": path}


_CLIENTS: dict[str, type[Client]] = {client.name: client for client in (Arena,)}


def choose_client(name: str) -> type[Client] | None:
    """None stands for Muster itself, which needs no other process."""
    if name == DEFAULT_CLIENT:
        return None
    if name not in _CLIENTS:
        raise UsageError(f"unknown client {name!r}: choose from {', '.join((DEFAULT_CLIENT, *_CLIENTS))}")
    return _CLIENTS[name]
