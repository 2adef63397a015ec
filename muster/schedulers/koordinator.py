"""Koordinator's scheduler with the full list of its plugins, as its chart configures them.

The chart turns job-level preemption on and takes DefaultPreemption out: left in, it would evict pod by pod after a
refused job-level attempt. The module's own configuration has neither, so both are done here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import yaml

from muster.cluster.api import Api
from muster.processes import Process
from muster.subject.definitions import define
from muster.subject.dialect import Dialect
from muster.subject.koordinator_dialect import KoordinatorDialect
from muster.subject.subjects import Subject

_QPS, _BURST = 2000, 4000
_BACKOFF = 1  # seconds
_NAMESPACE = "koordinator-system"  # its quotas live there
_DOCUMENTATION = "https://koordinator.sh/docs/"
_CLAIMS = {
    "gangs": _DOCUMENTATION + "user-manuals/gang-scheduling/",
    "taints": _DOCUMENTATION + "architecture/overview/",
    "documents": _DOCUMENTATION + "user-manuals/job-level-preemption/",
    "jobs": _DOCUMENTATION + "user-manuals/gang-scheduling/",
}
_PREEMPTION = {
    "preemption": _DOCUMENTATION + "user-manuals/job-level-preemption/",
    "job-preemption": _DOCUMENTATION + "user-manuals/job-level-preemption/",
}


class Koordinator(Subject):
    """`default` is what the chart installs; `preemption-off` is the same with job-level preemption off."""

    name: ClassVar[str] = "koordinator"
    configurations: ClassVar[tuple[str, ...]] = ("default", "preemption-off")
    assets: ClassVar[tuple[str, ...]] = (  # the scheduler, its definitions, its configuration
        "koord-scheduler",
        "koordinator-crds.yaml",
        "koordinator-scheduler-config.yaml",
    )

    @classmethod
    def claims(cls, configuration: str) -> Mapping[str, str]:
        return {**_CLAIMS, **(_PREEMPTION if configuration == "default" else {})}

    @property
    def dialect(self) -> Dialect:
        return KoordinatorDialect()

    @property
    def longest_backoff(self) -> float:
        return 2.0 * _BACKOFF  # a second of back-off, and finished back-offs are looked for once a second

    def settings(self) -> dict[str, str]:
        return {
            "scheduler": self.title,
            "scheduler client limits": f"{_QPS} requests/s, burst {_BURST}",
            "scheduler longest back-off": f"{_BACKOFF} s",
        }

    def configure(self, policy: Mapping[str, str]) -> None:
        self._restart_with(policy)

    def install(self, api: Api) -> None:
        define(api, self._asset(1))
        api.ensure({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}})

    def _prepare(self) -> list[Process]:
        directory = self.workplace.directory
        file = directory / "koord-scheduler.yaml"
        file.write_text(yaml.safe_dump(self._configuration()))
        flags = [f"--config={file}", "--secure-port=0", "--port=0", "--v=2"]
        argv = [str(self._asset(0)), *flags]
        return [Process("koord-scheduler", argv, directory=directory, log=directory / "koord-scheduler.log")]

    def _asset(self, number: int) -> Path:
        return self.workplace.assets[self.assets[number]]

    def _configuration(self) -> dict[str, Any]:
        shipped = yaml.safe_load(self._asset(2).read_text())
        loaded: dict[str, Any] = yaml.safe_load(shipped["data"]["koord-scheduler-config"])
        loaded["leaderElection"] = {"leaderElect": False}
        loaded["clientConnection"] = {"kubeconfig": str(self.workplace.admin), "qps": _QPS, "burst": _BURST}
        loaded["podInitialBackoffSeconds"] = loaded["podMaxBackoffSeconds"] = _BACKOFF
        profile = loaded["profiles"][0]
        after = profile["plugins"]["postFilter"]
        after["enabled"] = [plugin for plugin in after["enabled"] if plugin["name"] != "DefaultPreemption"]
        arguments = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "CoschedulingArgs",
            "enablePreemption": self.configuration == "default" and self.policy.get("preemption") != "off",
        }
        profile["pluginConfig"].append({"name": "Coscheduling", "args": arguments})
        return loaded


class Koordinator170(Koordinator):
    """The release before."""

    name: ClassVar[str] = "koordinator@1.7.0"
    assets: ClassVar[tuple[str, ...]] = (
        "koord-scheduler-1.7.0",
        "koordinator-1.7.0-crds.yaml",
        "koordinator-1.7.0-scheduler-config.yaml",
    )
