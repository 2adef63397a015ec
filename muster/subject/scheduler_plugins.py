"""kube-scheduler with the plugin Coscheduling of SIG Scheduling, and the controller that keeps the status of groups.

Members hold their places while the others are looked for; how long is cut to a second on each group, like the back-off.
It evicts pod by pod (KEP-42, known limitations), so that job-level preemption is not claimed. Nor are queues: the
ElasticQuota of the plugin CapacityScheduling is one per namespace (KEP-9), a pod cannot choose another, a namespace
without one is not limited, and the pods of a gang count one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import yaml

from muster.cluster.api import Api
from muster.processes import Process
from muster.subject.definitions import define
from muster.subject.dialect import Dialect
from muster.subject.scheduler_plugins_dialect import PLACES_HELD, SchedulerPluginsDialect
from muster.subject.subjects import Subject

_QPS, _BURST = 2000, 4000
_BACKOFF = 1  # seconds
_KUBERNETES = "https://kubernetes.io/docs/concepts/scheduling-eviction/"
_CLAIMS = {
    "gangs": "https://scheduler-plugins.sigs.k8s.io/docs/plugins/coscheduling/",
    "preemption": _KUBERNETES + "pod-priority-preemption/",
    "taints": _KUBERNETES + "taint-and-toleration/",
    "documents": _KUBERNETES + "pod-priority-preemption/",
}


class SchedulerPlugins(Subject):
    """`default` is the configuration that the project ships for Coscheduling."""

    name: ClassVar[str] = "scheduler-plugins"
    assets: ClassVar[tuple[str, ...]] = (
        "scheduler-plugins",
        "scheduler-plugins-controller",
        "scheduler-plugins-crds.yaml",
        "scheduler-plugins-config.yaml",
    )

    @classmethod
    def claims(cls, configuration: str) -> Mapping[str, str]:
        return _CLAIMS

    @property
    def dialect(self) -> Dialect:
        return SchedulerPluginsDialect()

    @property
    def longest_backoff(self) -> float:
        """A member that has held its place in vain backs off; others only back off."""
        return float(PLACES_HELD + _BACKOFF)

    def settings(self) -> dict[str, str]:
        return {
            "scheduler": self.title,
            "scheduler client limits": f"{_QPS} requests/s, burst {_BURST}",
            "scheduler longest back-off": f"{_BACKOFF} s",
            "places held for the rest of a gang": f"{PLACES_HELD} s",
        }

    def install(self, api: Api) -> None:
        define(api, self.workplace.assets["scheduler-plugins-crds.yaml"])

    def _prepare(self) -> list[Process]:
        file = self.workplace.directory / f"{self.name}.yaml"
        file.write_text(yaml.safe_dump(self._configuration()))
        silent = ["--metricsAddr=0", "--probeAddr=0"]  # they serve nothing, so that two of them never meet
        return [
            self._process(self.name, [f"--config={file}", "--secure-port=0", "--v=2"]),
            self._process(f"{self.name}-controller", [f"--kubeconfig={self.workplace.admin}", *silent]),
        ]

    def _configuration(self) -> dict[str, Any]:
        loaded: dict[str, Any] = yaml.safe_load(self.workplace.assets["scheduler-plugins-config.yaml"].read_text())
        loaded["clientConnection"] = {"kubeconfig": str(self.workplace.admin), "qps": _QPS, "burst": _BURST}
        loaded["podInitialBackoffSeconds"] = loaded["podMaxBackoffSeconds"] = _BACKOFF
        loaded["profiles"][0]["schedulerName"] = self.dialect.scheduler_name
        return loaded
