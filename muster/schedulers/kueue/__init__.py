"""Kueue, which decides what starts and when, and kube-scheduler, which binds the admitted pods.

Kueue has a web server for webhooks that cannot be switched off, and does not start before its certificate exists. It
may create its own (in a Secret that nothing mounts here); the files that its server reads are Muster's, and both stay
inside the scheduler's directory and cluster: the other way needs a certificate below /etc.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import yaml

from muster.cluster.api import Api
from muster.cluster.local.certificates import CertificateAuthority
from muster.processes import Process
from muster.processes.readiness import HealthCheck, Port, wait_until
from muster.schedulers.base import ProcessContext, Scheduler
from muster.schedulers.crds import install_crd_manifests, read_crds
from muster.schedulers.dialect import Dialect
from muster.schedulers.differences import Difference, client_limits
from muster.schedulers.excuses import Excuse
from muster.schedulers.kube_scheduler import KubeScheduler
from muster.schedulers.kueue.dialect import KueueDialect
from muster.schedulers.kueue.objects import default_objects

_QPS, _BURST = 2000, 4000
_NAMESPACE, _SECRET = "kueue-system", "kueue-webhook-server-cert"
_REQUEUE_PERIOD = 1.0  # seconds for which Kueue collects events that make a pending workload worth another attempt
_DOCUMENTATION = "https://kueue.sigs.k8s.io/docs/concepts/"
_TROUBLESHOOTING = "https://kueue.sigs.k8s.io/docs/tasks/troubleshooting/troubleshooting_jobs/"
_UNUSED_WEBHOOK = "https://127.0.0.1/convert"  # never called: only the stored version of each kind is served


class Kueue(Scheduler):
    """`default`: queues never preempt, as Kueue creates them, and pods without a queue are left to kube-scheduler.

    `preempt`: queues preempt their lower-priority workloads, and every pod is in a queue, as in a namespace
    with a default.
    """

    name: ClassVar[str] = "kueue"
    configurations: ClassVar[tuple[str, ...]] = ("default", "preempt")
    assets: ClassVar[tuple[str, ...]] = ("kueue", "kueue-crds.yaml", "kube-scheduler")
    dialect_class: ClassVar[type[Dialect]] = KueueDialect
    dialect: KueueDialect
    capabilities: ClassVar[Mapping[str, str]] = {
        "gangs": _DOCUMENTATION + "topology_aware_scheduling/",
        "queues": _DOCUMENTATION + "cluster_queue/",
        "taints": "https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/",
        "volumes": "https://kubernetes.io/docs/concepts/storage/persistent-volumes/",
    }
    capabilities_by_configuration: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "preempt": {
            "preemption": _DOCUMENTATION + "preemption/",
            "own-victims": _DOCUMENTATION + "preemption/",  # Workloads preempt Workloads
            "job-preemption": _DOCUMENTATION + "preemption/",
        },
    }

    excuses: ClassVar[tuple[Excuse, ...]] = (
        Excuse(
            ("QUE-18", "PRE-26"),
            "it documents that a pod with gates of other controllers counts as admitted",
            "https://github.com/kubernetes-sigs/kueue/pull/9541",
        ),
        Excuse(
            ("QUE-20",),
            "the Workload reports the queue; a pod reports only that it is gated",
            _DOCUMENTATION + "workload/",
        ),
        Excuse(
            ("PRE-25", "TEN-06", "TNT-01"),
            "a pod that is not admitted reports only that it is gated; its Workload says why, in its own wording",
            _TROUBLESHOOTING,
            part="where the pod is in a queue: that it reports why it is pending, and not its Workload",
        ),
        Excuse(
            ("ASC-01", "ASC-02"),
            "the pods of a pending gang are gated, and an autoscaler is asked for nodes by ProvisioningRequests",
            _DOCUMENTATION + "topology_aware_scheduling/#clusterautoscaler-support",
        ),
        Excuse(
            ("JPR-18",),
            "its event Stopped names the owner of a Workload, and no node",
            _DOCUMENTATION + "preemption/",
            part="that the event names the preemptor and the node",
        ),
    )

    differences: ClassVar[tuple[Difference, ...]] = (
        client_limits("50 requests/s, burst 100", _QPS, _BURST),
        *KubeScheduler.differences[1:],
        Difference(
            "withinClusterQueue",
            "Never",
            "LowerPriority",
            "without it no workload is preempted",
            only=("preempt",),
        ),
        Difference(
            "integrations",
            "batch/Job and others",
            "pod only",
            "the scenarios create pods, and no jobs that Kueue would suspend",
        ),
        Difference(
            "webhooks",
            "on",
            "off; Muster writes on a pod what they would write",
            "a paused Kueue would refuse every pod",
        ),
    )

    def __init__(self, configuration: str, context: ProcessContext) -> None:
        super().__init__(configuration, context)
        self._kube_scheduler = KubeScheduler("default", context)
        # An admitted pod is then pending at kube-scheduler.
        self.longest_backoff = _REQUEUE_PERIOD + self._kube_scheduler.longest_backoff

    def _make_dialect(self) -> KueueDialect:
        return KueueDialect(preempts=self.configuration == "preempt")

    def settings(self) -> dict[str, str]:
        return {
            **self._kube_scheduler.settings(),
            "scheduler": self.title,
            "scheduler client limits": f"{_QPS} requests/s, burst {_BURST}",
            "placement": self._kube_scheduler.title,
        }

    def install(self, api: Api) -> None:
        api.ensure({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}})
        api.ensure({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": _SECRET, "namespace": _NAMESPACE}})
        install_crd_manifests(
            api, [_stored_version_only(crd) for crd in read_crds(self.context.assets["kueue-crds.yaml"])]
        )
        for manifest in default_objects(preempts=self.dialect.preempts):
            api.ensure(manifest)
        # Kueue's first start writes its CA into the CRDs, which ends all watches of their kinds: none is open yet.
        self._start_kueue()
        self.stop()

    def start(self) -> None:
        kueue = self._start_kueue()
        self._kube_scheduler.start()
        self.processes = [kueue, *self._kube_scheduler.processes]

    def _start_kueue(self) -> Process:
        super().start()
        (kueue,) = self.processes
        wait_until(lambda: HealthCheck(self._ports[0].number).answers("/readyz"), kueue, [kueue])
        return kueue

    def _prepare(self) -> list[Process]:
        directory = self.context.directory / self.name
        directory.mkdir(exist_ok=True)
        CertificateAuthority(directory).server("tls")
        self._ports = [Port(), Port()]
        file = directory / "configuration.yaml"
        file.write_text(yaml.safe_dump(self._configuration(str(directory))))
        argv = [
            str(self.context.assets[self.name]),
            f"--config={file}",
            f"--kubeconfig={self.context.admin_kubeconfig}",
            "--feature-gates=VisibilityOnDemand=false",  # a second API server, on a port that cannot be chosen
        ]
        return [Process(self.name, argv, directory=directory, log=self.context.directory / f"{self.name}.log")]

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
    """Without other versions nothing is ever converted. Kueue writes its CA into the webhook, so there must be one."""
    spec = definition["spec"]
    spec["versions"] = [version for version in spec["versions"] if version["storage"]]
    webhook = {"clientConfig": {"url": _UNUSED_WEBHOOK}, "conversionReviewVersions": ["v1"]}
    spec["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    return definition
