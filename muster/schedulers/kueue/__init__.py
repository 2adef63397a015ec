"""Kueue, which decides what starts and when, and kube-scheduler, which puts that on nodes.

Kueue comes with a web server for webhooks that cannot be switched off, and it does not start before its certificate is
there. It may make its own (into a Secret that nothing mounts here); the files that its server reads are ours, and both
stay inside the subject's directory and cluster: the other way wants a certificate below /etc.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import yaml

from muster.cluster.api import Api
from muster.cluster.local.certificates import Authority
from muster.cluster.local.ports import Port
from muster.cluster.local.readiness import Probe, wait_until
from muster.processes import Process
from muster.subject.definitions import define_all, read
from muster.subject.dialect import Dialect
from muster.subject.kube_scheduler import KubeScheduler
from muster.subject.kueue_dialect import KueueDialect
from muster.subject.kueue_objects import environment
from muster.subject.subjects import Subject, Workplace

_QPS, _BURST = 2000, 4000
_NAMESPACE, _SECRET = "kueue-system", "kueue-webhook-server-cert"
_REQUEUING = 1.0  # seconds for which Kueue gathers what makes waiting work worth another try
_DOCUMENTATION = "https://kueue.sigs.k8s.io/docs/concepts/"
_CLAIMS = {
    "gangs": _DOCUMENTATION + "topology_aware_scheduling/",
    "queues": _DOCUMENTATION + "cluster_queue/",
}
_TAINTS = {"taints": "https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/"}
_PREEMPTION = {
    "preemption": _DOCUMENTATION + "preemption/",
    "job-preemption": _DOCUMENTATION + "preemption/",
}
_NEVER_ASKED = "https://127.0.0.1/convert"  # only the stored version of each kind is served


class Kueue(Subject):
    """`default`: queues that never preempt, as they come, and pods outside of them are none of Kueue's business.

    `preempt`: queues evict their less important work, and every pod is in one, as in a namespace with a default.
    """

    name: ClassVar[str] = "kueue"
    configurations: ClassVar[tuple[str, ...]] = ("default", "preempt")
    assets: ClassVar[tuple[str, ...]] = ("kueue", "kueue-crds.yaml", "kube-scheduler")

    def __init__(self, configuration: str, workplace: Workplace) -> None:
        super().__init__(configuration, workplace)
        self._placing = KubeScheduler("default", workplace)
        self._dialect = KueueDialect(preempts=configuration == "preempt")

    @classmethod
    def claims(cls, configuration: str) -> Mapping[str, str]:
        return {**_CLAIMS, **(_PREEMPTION if configuration == "preempt" else _TAINTS)}

    @property
    def dialect(self) -> Dialect:
        return self._dialect

    @property
    def longest_backoff(self) -> float:
        """What is admitted then waits for kube-scheduler."""
        return _REQUEUING + self._placing.longest_backoff

    def settings(self) -> dict[str, str]:
        return {
            **self._placing.settings(),
            "scheduler": self.title,
            "scheduler client limits": f"{_QPS} requests/s, burst {_BURST}",
            "placing": self._placing.title,
        }

    def install(self, api: Api) -> None:
        api.ensure({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}})
        api.ensure({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": _SECRET, "namespace": _NAMESPACE}})
        define_all(api, [_stored_version_only(one) for one in read(self.workplace.assets["kueue-crds.yaml"])])
        for manifest in environment(preempts=self._dialect.preempts):
            api.ensure(manifest)
        # The first Kueue writes its trust into the definitions, which ends all watches of them: nobody watches yet.
        self._start_kueue()
        self.stop()

    def start(self) -> None:
        kueue = self._start_kueue()
        self._placing.start()
        self.processes = [kueue, *self._placing.processes]

    def _start_kueue(self) -> Process:
        super().start()
        (kueue,) = self.processes
        wait_until(lambda: Probe(self._ports[0].number).answers("/readyz"), kueue, [kueue])
        return kueue

    def _prepare(self) -> list[Process]:
        directory = self.workplace.directory / self.name
        directory.mkdir(exist_ok=True)
        Authority(directory).server("tls")
        self._ports = [Port(), Port()]
        file = directory / "configuration.yaml"
        file.write_text(yaml.safe_dump(self._configuration(str(directory))))
        argv = [
            str(self.workplace.assets[self.name]),
            f"--config={file}",
            f"--kubeconfig={self.workplace.admin}",
            "--feature-gates=VisibilityOnDemand=false",  # a second API server, on a port that cannot be chosen
        ]
        return [Process(self.name, argv, directory=directory, log=self.workplace.directory / f"{self.name}.log")]

    def _configuration(self, certificates: str) -> dict[str, Any]:
        health, webhooks = (port.number for port in self._ports)
        return {
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "kind": "Configuration",
            "namespace": _NAMESPACE,
            "health": {"healthProbeBindAddress": f"127.0.0.1:{health}"},
            "metrics": {"bindAddress": "0"},
            "webhook": {"host": "127.0.0.1", "port": webhooks, "certDir": certificates},
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": {"enable": True, "webhookSecretName": _SECRET},
            "clientConnection": {"qps": _QPS, "burst": _BURST},
            "integrations": {"frameworks": ["pod"]},
        }


def _stored_version_only(definition: dict[str, Any]) -> dict[str, Any]:
    """So that nothing is ever converted. Kueue writes its trust into the webhook all the same: there has to be one."""
    spec = definition["spec"]
    spec["versions"] = [version for version in spec["versions"] if version["storage"]]
    webhook = {"clientConfig": {"url": _NEVER_ASKED}, "conversionReviewVersions": ["v1"]}
    spec["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    return definition
