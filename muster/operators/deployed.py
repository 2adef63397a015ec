"""The reference operator as a Deployment in a kind cluster: a scenario's settings become its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from muster.cluster.api import Api
from muster.cluster.kind import KindCluster
from muster.cluster.kind.installation import DeploymentName
from muster.errors import NotStaged
from muster.operators.base import OperatorSettings, ReferenceOperator
from muster.processes import Process
from muster.schedulers.base import ProcessContext
from muster.schedulers.dialect import Dialect

_SET_HERE = ("--profile", "--gang", "--gang-jobs", "--scheduler-name", "--mpi-kubectl-delivery-image")


class DeployedOperator(ReferenceOperator):
    """Two replicas with leader election, installed with the scheduler; a change of its settings is a rollout."""

    name: ClassVar[str] = "reference"

    def __init__(self, context: ProcessContext, dialect: Dialect, cluster: KindCluster, deployment: str) -> None:
        super().__init__(context, dialect)
        self._cluster = cluster
        self._deployment = DeploymentName(*deployment.split("/", 1))

    def install(self, api: Api) -> None:
        return

    def configure(self, settings: OperatorSettings) -> None:
        if settings != self.settings:
            self.settings = settings
            self.start()

    def start(self) -> None:
        before = self._cluster.arguments_of(self._deployment)
        after = [*without_options(before, _SET_HERE), *joined(self.flags())]
        if set(after) != set(before):
            self._cluster.run_with_arguments(self._deployment, after)

    def stop(self) -> None:
        return

    def kill(self) -> None:
        raise NotStaged("Muster does not kill an operator that is installed in the cluster")

    def close(self) -> None:
        return

    def _prepare(self) -> Process:
        raise NotImplementedError("it runs in the cluster")


def joined(flags: Sequence[str]) -> list[str]:
    """Pairs of an option and its value as one argument each."""
    return [f"{option}={value}" for option, value in zip(flags[::2], flags[1::2], strict=True)]


def without_options(arguments: Sequence[str], options: Sequence[str]) -> list[str]:
    return [argument for argument in arguments if argument.partition("=")[0] not in options]
