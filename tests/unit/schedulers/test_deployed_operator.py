"""The reference operator in a cluster: a scenario's settings become arguments, and it is not killed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from muster.cluster.kind import KindCluster
from muster.cluster.kind.installation import DeploymentName
from muster.errors import NotStaged
from muster.operators.base import DECLARED_JOBS, TRAINING_OPERATOR, OperatorSettings
from muster.operators.deployed import DeployedReferenceOperator
from muster.schedulers import ProcessContext
from muster.schedulers.volcano import VolcanoDialect

SHIPPED = ["--gang=volcano", "--scheduler-name=volcano", "--leader-elect"]


class Cluster(KindCluster):
    """Only the arguments of a Deployment."""

    arguments = SHIPPED
    rollouts = 0

    def arguments_of(self, deployment: DeploymentName) -> list[str]:
        assert str(deployment) == "kube-system/operator"
        return list(self.arguments)

    def run_with_arguments(self, deployment: DeploymentName, arguments: Sequence[str]) -> None:
        self.arguments = list(arguments)
        self.rollouts += 1


def operator(cluster: Cluster) -> DeployedReferenceOperator:
    context = ProcessContext(Path(), Path("admin"), Path("scheduler"), {})
    return DeployedReferenceOperator(context, VolcanoDialect(), cluster, "kube-system/operator")


def test_settings_become_arguments_and_the_others_stay() -> None:
    cluster = Cluster()
    deployed = operator(cluster)
    deployed.start()
    assert set(cluster.arguments) == {*SHIPPED, "--profile=walkthroughs", f"--gang-jobs={DECLARED_JOBS}"}
    deployed.start()
    deployed.configure(OperatorSettings())
    assert cluster.rollouts == 1
    deployed.configure(OperatorSettings(profile=TRAINING_OPERATOR))
    assert "--profile=training-operator" in cluster.arguments
    assert "--profile=walkthroughs" not in cluster.arguments


def test_it_is_not_killed() -> None:
    with pytest.raises(NotStaged):
        operator(Cluster()).kill()
