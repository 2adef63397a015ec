"""kube-scheduler with the plugins of SIG Scheduling, and the controller that keeps the status of groups.

Where a gang is not complete, its members hold their places until a timeout; that timeout, and the back-off, are cut to
seconds. Both are printed in the report; neither changes a decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import yaml

from muster.cluster.api import Api
from muster.processes import Process
from muster.subject.definitions import define
from muster.subject.dialect import Dialect
from muster.subject.scheduler_plugins_dialect import PERMITTED, SchedulerPluginsDialect
from muster.subject.subjects import Subject

_QPS, _BURST = 2000, 4000
_BACKOFF = 1  # seconds
_DOCUMENTATION = "https://scheduler-plugins.sigs.k8s.io/docs/plugins/"
_KUBERNETES = "https://kubernetes.io/docs/concepts/scheduling-eviction/"


class SchedulerPlugins(Subject):
    """`default` is Coscheduling as its tutorial has it; `capacity` is CapacityScheduling beside it."""

    name: ClassVar[str] = "scheduler-plugins"
    configurations: ClassVar[tuple[str, ...]] = ("default", "capacity")
    assets: ClassVar[tuple[str, ...]] = (
        "scheduler-plugins",
        "scheduler-plugins-controller",
        "scheduler-plugins-crds.yaml",
        "scheduler-plugins-config.yaml",
    )

    @classmethod
    def claims(cls, configuration: str) -> Mapping[str, str]:
        preemption = _DOCUMENTATION + "capacityscheduling/" if configuration == "capacity" else ""
        return {
            "gangs": _DOCUMENTATION + "coscheduling/",
            "taints": _KUBERNETES + "taint-and-toleration/",
            "preemption": preemption or _KUBERNETES + "pod-priority-preemption/",
            "documents": _DOCUMENTATION + "coscheduling/",
        }

    @property
    def dialect(self) -> Dialect:
        return SchedulerPluginsDialect()

    @property
    def longest_backoff(self) -> float:
        return float(_BACKOFF + PERMITTED)

    def settings(self) -> dict[str, str]:
        return {
            "scheduler": f"{self.name} 0.34.7 ({self.configuration})",
            "scheduler client limits": f"{_QPS} requests/s, burst {_BURST}",
            "scheduler longest back-off": f"{_BACKOFF} s",
            "gangs hold places for": f"{PERMITTED} s",
        }

    def install(self, api: Api) -> None:
        define(api, self.workplace.assets["scheduler-plugins-crds.yaml"])

    def _prepare(self) -> list[Process]:
        directory = self.workplace.directory
        file = directory / f"{self.name}.yaml"
        file.write_text(yaml.safe_dump(self._configuration()))
        scheduler = [str(self.workplace.assets[self.name]), f"--config={file}", "--secure-port=0", "--v=2"]
        controller = [
            str(self.workplace.assets[f"{self.name}-controller"]),
            f"--kubeconfig={self.workplace.admin}",
            *("--metricsAddr=0", "--probeAddr=0", f"--qps={_QPS}", f"--burst={_BURST}"),
        ]
        return [
            Process(argv_name, argv, directory=directory, log=directory / f"{argv_name}.log")
            for argv_name, argv in ((self.name, scheduler), (f"{self.name}-controller", controller))
        ]

    def _configuration(self) -> dict[str, Any]:
        loaded: dict[str, Any] = yaml.safe_load(self.workplace.assets["scheduler-plugins-config.yaml"].read_text())
        loaded["clientConnection"] = {"kubeconfig": str(self.workplace.admin), "qps": _QPS, "burst": _BURST}
        loaded["podInitialBackoffSeconds"] = loaded["podMaxBackoffSeconds"] = _BACKOFF
        profile = loaded["profiles"][0]
        profile["schedulerName"] = self.dialect.scheduler_name
        profile["pluginConfig"] = [{"name": "Coscheduling", "args": {"permitWaitingTimeSeconds": PERMITTED}}]
        if self.configuration == "capacity":
            profile["plugins"]["multiPoint"]["enabled"].append({"name": "CapacityScheduling"})
            profile["plugins"]["postFilter"] = {
                "enabled": [{"name": "Coscheduling"}, {"name": "CapacityScheduling"}],
                "disabled": [{"name": "*"}],
            }
        return loaded
