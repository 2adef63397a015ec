"""Kubeflow's training-operator, unchanged: the reference operator's profile of that name is compared with it.

Release 1.7.0 is the last without admission webhooks. It has no profiles, so a scenario's profile is ignored. The trap:
with --gang-scheduler-name=volcano every job gets a PodGroup, and no pods before that PodGroup is admitted.
"""

from __future__ import annotations

from typing import ClassVar

from muster.cluster.api import Api
from muster.cluster.job_kinds import JOB_KINDS, PYTORCH, JobKind
from muster.operators.base import Operator
from muster.processes import Process
from muster.schedulers.crds import install_crds
from muster.suite import paths

_PYTORCH_CRD = "training-operator-pytorchjobs.yaml"
_GANG_APIS = ("volcano",)  # the PodGroup APIs that it supports


class TrainingOperator(Operator):
    """Reconciles PyTorchJobs. The walk-throughs' MPIJobs are of a version that it does not support."""

    name: ClassVar[str] = "training-operator"
    assets: ClassVar[tuple[str, ...]] = ("training-operator", _PYTORCH_CRD)
    job_kinds: ClassVar[tuple[JobKind, ...]] = (PYTORCH,)

    def install(self, api: Api) -> None:
        install_crds(api, self.context.assets[_PYTORCH_CRD])
        for kind in JOB_KINDS:
            if kind not in self.job_kinds:
                install_crds(api, paths.manifests() / "crds" / f"{kind.crd}.yaml")

    def configure(self, profile: str) -> None:
        if self.process is None:
            self.start()

    def _flags(self) -> list[str]:
        """It serves nothing, so two of them never conflict; without a gang scheduler it creates no PodGroups."""
        gang = self.dialect.gang_api if self.dialect.gang_api in _GANG_APIS else ""
        return [
            f"--kubeconfig={self.context.admin_kubeconfig}",
            "--enable-scheme=pytorchjob",
            "--metrics-bind-address=0",
            "--health-probe-bind-address=0",
            f"--gang-scheduler-name={gang}",
        ]

    def _prepare(self) -> Process:
        directory = self.context.directory
        argv = [str(self.context.assets[self.name]), *self._flags()]
        return Process(self.name, argv, directory=directory, log=directory / f"{self.name}.log")
