"""Kubeflow's training-operator, unchanged: the reference operator's profile of that name is compared with it.

It has no profiles, so the settings of a scenario are ignored. The trap: with --gang-scheduler-name=volcano every job
gets a PodGroup, and no pods before that PodGroup is admitted.
"""

from __future__ import annotations

import base64
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import yaml

from muster import timeouts
from muster.cluster.api import Api, ApiRefused
from muster.cluster.job_kinds import JOB_KINDS, MPI, PYTORCH, JobKind
from muster.cluster.resources import job_resource
from muster.operators.base import ALL_JOBS, Operator, OperatorSettings
from muster.operators.webhook_certificate import CertificateFile, issue
from muster.processes import Process
from muster.processes.readiness import Port, wait_until
from muster.schedulers.crds import install_crds
from muster.schedulers.excuses import Excuse
from muster.suite import paths

_GANG_APIS = ("volcano",)  # the PodGroup APIs that it supports
_README = "https://github.com/kubeflow/trainer/blob/v1.9.4/README.md"
_JOB_SCHEDULING = "https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/job-scheduling/"
_ONE_FLAG = Excuse(("JOB-29",), "its flag for gangs is about all jobs, and there is no other", _JOB_SCHEDULING)
_NAMESPACE, _SERVICE, _SECRET = "kubeflow", "training-operator", "training-operator-webhook-cert"
_WEBHOOKS = "validator.training-operator.kubeflow.org"  # the name that its kustomization gives to the configuration
_NOT_A_NAME = "1"  # for the API server it is one, for the webhook it is not: a name has to begin with a letter


class TrainingOperator170(Operator):
    """The last release without admission webhooks. It does not support the version of the walk-throughs' MPIJobs."""

    name: ClassVar[str] = "training-operator@1.7.0"
    documentation: ClassVar[str] = (
        "https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/job-scheduling/"
    )
    assets: ClassVar[tuple[str, ...]] = ("training-operator-1.7.0", "training-operator-1.7.0-pytorchjobs.yaml")
    job_kinds: ClassVar[tuple[JobKind, ...]] = (PYTORCH,)
    job_versions: ClassVar[tuple[str, ...]] = ("v1",)
    gang_jobs: ClassVar[tuple[str, ...]] = (ALL_JOBS,)
    excuses: ClassVar[tuple[Excuse, ...]] = (_ONE_FLAG,)

    @property
    def creates_pod_groups(self) -> bool:
        return self.dialect.gang_api in _GANG_APIS

    def install(self, api: Api) -> None:
        install_crds(api, self._asset(1))
        for kind in JOB_KINDS:
            if kind not in self.job_kinds:
                install_crds(api, paths.manifests() / "crds" / f"{kind.crd}.yaml")

    def configure(self, settings: OperatorSettings) -> None:
        if self.process is None:
            self.start()

    def _asset(self, number: int) -> Path:
        return self.context.assets[self.assets[number]]

    def _flags(self) -> list[str]:
        """Without a gang scheduler it creates no PodGroups; metrics and health checks are not served."""
        gang = self.dialect.gang_api if self.creates_pod_groups else ""
        return [
            f"--kubeconfig={self.context.admin_kubeconfig}",
            *(f"--enable-scheme={kind.trainer}" for kind in self.job_kinds),
            "--metrics-bind-address=0",
            "--health-probe-bind-address=0",
            f"--gang-scheduler-name={gang}",
        ]

    def _environment(self) -> Mapping[str, str] | None:
        return None

    def _prepare(self) -> Process:
        directory, env = self.context.directory, self._environment()
        argv = [str(self._asset(0)), *self._flags()]
        return Process("training-operator", argv, directory=directory, log=directory / "training-operator.log", env=env)


class TrainingOperator(TrainingOperator170):
    """The current release, with its admission webhook for PyTorchJobs. It has none for MPIJobs, and serves them in v1.

    In a cluster the API server finds the webhook by a Service; here by a URL on the loopback address, so that it has to
    run on this machine. All else of the configuration is as shipped.
    """

    name: ClassVar[str] = "training-operator"
    assets: ClassVar[tuple[str, ...]] = (
        "training-operator",
        "training-operator-pytorchjobs.yaml",
        "training-operator-webhooks.yaml",
        "training-operator-mpijobs.yaml",
    )
    job_kinds: ClassVar[tuple[JobKind, ...]] = (PYTORCH, MPI)
    excuses: ClassVar[tuple[Excuse, ...]] = (
        _ONE_FLAG,
        Excuse(("JOB-07",), "it implements the V1 API of MPIJob, and this is about v1alpha1", _README),
        Excuse(
            ("JOB-21", "JOB-22", "JOB-23", "JOB-24", "JOB-25"),
            "it implements the V1 API of MPIJob, and this is about V2, for which it names the MPI Operator",
            _README,
        ),
    )
    needs_local_cluster: ClassVar[bool] = True
    _api: Api
    _port: Port
    _certificate_file: CertificateFile | None = None

    def install(self, api: Api) -> None:
        super().install(api)
        install_crds(api, self._asset(3))
        self._api, self._port, self._certificate_file = api, Port(), CertificateFile()
        secret = issue(f"{_SERVICE}.{_NAMESPACE}.svc", self._temporary / "k8s-webhook-server" / "serving-certs")
        data = {name: base64.b64encode(content).decode() for name, content in secret.items()}
        api.ensure({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}})
        metadata = {"name": _SECRET, "namespace": _NAMESPACE}
        api.ensure({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})
        api.ensure(self._webhook_configuration(data["ca.crt"]))

    def wait_until_ready(self) -> None:
        """Until then the API server refuses every job, since it cannot ask the webhook."""
        if self.process is not None:
            wait_until(self._webhook_answers, self.process, [self.process])

    def close(self) -> None:
        super().close()
        if self._certificate_file is not None:
            self._port.release()
            self._certificate_file.release()
            self._certificate_file = None

    @property
    def _temporary(self) -> Path:
        return self.context.directory / "training-operator"

    def _webhook_configuration(self, authority: str) -> dict[str, Any]:
        """Of the webhooks that it ships those for the kinds that it reconciles here."""
        shipped: dict[str, Any] = yaml.safe_load(self._asset(2).read_text())
        shipped["metadata"]["name"] = _WEBHOOKS
        served = [kind.plural for kind in self.job_kinds]
        shipped["webhooks"] = [one for one in shipped["webhooks"] if one["rules"][0]["resources"][0] in served]
        for webhook in shipped["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            url = f"https://127.0.0.1:{self._port.number}{path}"
            webhook["clientConfig"] = {"url": url, "caBundle": authority}
        return shipped

    def _flags(self) -> list[str]:
        return [*super()._flags(), f"--webhook-server-port={self._port.number}"]

    def _environment(self) -> Mapping[str, str]:
        """It reads its certificate from a directory below TMPDIR."""
        return {**os.environ, "TMPDIR": str(self._temporary)}

    def _webhook_answers(self) -> bool:
        """Whether a job that the webhook has to deny is denied by it, through the API server."""
        try:
            socket.create_connection(("127.0.0.1", self._port.number), timeouts.API_REQUEST).close()
        except OSError:
            return False
        resource = job_resource(PYTORCH)
        metadata = {"name": _NOT_A_NAME, "namespace": _NAMESPACE}
        manifest = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
        try:
            self._api.dry_run({**manifest, "spec": {"pytorchReplicaSpecs": {}}})
        except ApiRefused as refusal:
            return refusal.denied_by_webhook
        return False
