"""Kubeflow's training-operator, as it is: what the reference operator's profile of that name is held against.

It is 1.7.0, the last without admission webhooks. Its rules cannot be chosen, so a scenario's profile means nothing to
it. The trap: once it is told of Volcano, every job gets a PodGroup, and no pods before that is admitted.
"""

from __future__ import annotations

from typing import ClassVar

from muster import suite
from muster.cluster.api import Api
from muster.processes import Process
from muster.subject.definitions import define
from muster.subject.operators import Operator

_DEFINITION = "training-operator-pytorchjobs.yaml"
_KNOWS_GROUPS_OF = ("volcano",)


class TrainingOperator(Operator):
    """Carries out PyTorchJobs. The documents' MPIJobs are of a version that it never knew: they are only defined."""

    name: ClassVar[str] = "training-operator"
    assets: ClassVar[tuple[str, ...]] = ("training-operator", _DEFINITION)
    trainers: ClassVar[tuple[str, ...]] = ("pytorch",)

    def install(self, api: Api) -> None:
        define(api, self.workplace.assets[_DEFINITION])
        define(api, suite.manifests() / "crds" / "kubeflow-mpijobs.yaml")

    def configure(self, profile: str) -> None:
        if self.process is None:
            self.start()

    def flags(self) -> list[str]:
        """It serves nothing, so that two of them never meet; without a gang scheduler it makes no groups."""
        gang = self.dialect.gang_words if self.dialect.gang_words in _KNOWS_GROUPS_OF else ""
        return [
            f"--kubeconfig={self.workplace.admin}",
            "--enable-scheme=pytorchjob",
            "--metrics-bind-address=0",
            "--health-probe-bind-address=0",
            f"--gang-scheduler-name={gang}",
        ]

    def _prepare(self) -> Process:
        directory = self.workplace.directory
        argv = [str(self.workplace.assets[self.name]), *self.flags()]
        return Process(self.name, argv, directory=directory, log=directory / f"{self.name}.log")
