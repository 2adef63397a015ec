"""Operators that are installed in a kind cluster as a Deployment: a scenario's settings become its arguments."""

from __future__ import annotations

from collections.abc import Sequence

import tenacity

from muster import timeouts
from muster.cluster.api import Api
from muster.cluster.kind import KindCluster
from muster.cluster.kind.installation import DeploymentName
from muster.errors import HarnessError, NotStaged
from muster.operators.base import Operator, OperatorSettings, ReferenceOperator
from muster.operators.training_operator import TrainingOperator
from muster.processes import Process
from muster.schedulers.base import ProcessContext
from muster.schedulers.dialect import Dialect


class _Deployed(Operator):
    """A change of its settings is a rollout of its Deployment."""

    _options: tuple[str, ...]  # that Muster sets; all others stay as its manifests have them

    def __init__(self, context: ProcessContext, dialect: Dialect, cluster: KindCluster, deployment: str) -> None:
        super().__init__(context, dialect)
        self._cluster = cluster
        self._deployment = DeploymentName(*deployment.split("/", 1))
        self._api: Api

    def install(self, api: Api) -> None:
        self._api = api

    def configure(self, settings: OperatorSettings) -> None:
        if settings != self.settings:
            self.settings = settings
            self.start()

    def start(self) -> None:
        before = self._cluster.arguments_of(self._deployment)
        after = [*without_options(before, self._options), *self._arguments()]
        if set(after) != set(before):
            self._cluster.run_with_arguments(self._deployment, after)

    def stop(self) -> None:
        return

    def kill(self) -> None:
        raise NotStaged("Muster does not kill an operator that is installed in the cluster")

    def close(self) -> None:
        return

    def _arguments(self) -> list[str]:
        raise NotImplementedError

    def _prepare(self) -> Process:
        raise NotImplementedError("it runs in the cluster")


class DeployedReferenceOperator(_Deployed, ReferenceOperator):
    """With leader election: two replicas, as manifests/operator has them."""

    _options = ("--profile", "--gang", "--gang-jobs", "--scheduler-name", "--mpi-kubectl-delivery-image")

    def _arguments(self) -> list[str]:
        flags = self.flags()
        return [f"{option}={value}" for option, value in zip(flags[::2], flags[1::2], strict=True)]


class DeployedTrainingOperator(_Deployed, TrainingOperator):
    """With the webhook that the API server finds by its Service, and a certificate that it issues itself."""

    _options = ("--gang-scheduler-name",)

    def _arguments(self) -> list[str]:
        return [f"--gang-scheduler-name={self.dialect.gang_api}"] if self.creates_pod_groups else []

    def wait_until_ready(self) -> None:
        """It serves when the kubelet has mounted the certificate, which can take a minute or two."""
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_result(lambda denied: not denied),
            wait=tenacity.wait_fixed(0.5),
            stop=tenacity.stop_after_delay(timeouts.ROLLOUT),
            retry_error_callback=lambda _: False,
        )
        if not attempts(self.webhook_denies):
            raise HarnessError(
                f"the admission webhook of {self._deployment} does not answer after {timeouts.ROLLOUT:g} s"
            )


def deployed_operator(
    chosen: type[Operator], context: ProcessContext, dialect: Dialect, cluster: KindCluster, deployment: str
) -> Operator:
    """The operator under its usual name, as it is installed in the cluster."""
    deployed = {kind.name: kind for kind in (DeployedReferenceOperator, DeployedTrainingOperator)}
    if chosen.name not in deployed:
        raise HarnessError(f"the operator {chosen.name} cannot be installed in a cluster")
    return deployed[chosen.name](context, dialect, cluster, deployment)


def without_options(arguments: Sequence[str], options: Sequence[str]) -> list[str]:
    return [argument for argument in arguments if argument.partition("=")[0] not in options]
