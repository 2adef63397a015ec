"""Apache YuniKorn: a scheduler in place of kube-scheduler, with no flags and no kinds of its own.

Its web port cannot be chosen. A second one on the same machine says in its log that the port is taken, and goes on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import ClassVar

from muster.cluster.api import Api
from muster.processes import Process
from muster.subject.dialect import Dialect, Manifest
from muster.subject.subjects import Subject, Workplace
from muster.subject.yunikorn_dialect import NAMESPACE, YuniKornDialect

_QPS = 2000
_INTERVAL = "100ms"
_DOCUMENTATION = "https://yunikorn.apache.org/docs/1.8.0/"
_CLAIMS = {
    "gangs": _DOCUMENTATION + "user_guide/gang_scheduling/",
    "queues": _DOCUMENTATION + "user_guide/queue_config/",
    "taints": _DOCUMENTATION + "performance/evaluate_perf_function_with_kwok/#taint--tolerations",
}


class YuniKorn(Subject):
    """Preemption is not claimed: it takes place between queues only, and never for the sake of priority alone."""

    name: ClassVar[str] = "yunikorn"
    assets: ClassVar[tuple[str, ...]] = ("yunikorn",)

    def __init__(self, configuration: str, workplace: Workplace) -> None:
        super().__init__(configuration, workplace)
        self._dialect = YuniKornDialect()

    @classmethod
    def claims(cls, configuration: str) -> Mapping[str, str]:
        return _CLAIMS

    @property
    def dialect(self) -> Dialect:
        return self._dialect

    @property
    def longest_backoff(self) -> float:
        """It has none: whoever waits is tried at least every 100 ms. What it says about them, it says once a second."""
        return 2.0

    def settings(self) -> dict[str, str]:
        return {
            "scheduler": self.title,
            "scheduler client limits": f"{_QPS} requests/s",
            "scheduler interval": f"{_INTERVAL} instead of 1 s",
        }

    def install(self, api: Api) -> None:
        api.ensure({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        api.ensure(_defaults())
        api.ensure(self._dialect.configuration())

    def _prepare(self) -> list[Process]:
        environment = {**os.environ, "KUBECONFIG": str(self.workplace.admin), "NAMESPACE": NAMESPACE}
        return [self._process(self.name, [], environment)]


def _defaults() -> Manifest:
    """What its chart would write, with settings that only make the harness wait less."""
    data = {
        "service.schedulingInterval": _INTERVAL,
        "kubernetes.qps": str(_QPS),
        "kubernetes.burst": str(_QPS),
    }
    metadata = {"name": "yunikorn-defaults", "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
