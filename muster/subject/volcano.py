"""Volcano: vc-scheduler, and the two controllers that it cannot do without (queues open, bare pods get groups)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import yaml

from muster.cluster.api import Api
from muster.cluster.local.ports import Port
from muster.processes import Process
from muster.subject.definitions import define
from muster.subject.dialect import Dialect
from muster.subject.subjects import Subject
from muster.subject.volcano_dialect import VolcanoDialect

_PERIOD = 0.2  # seconds between two sessions; every session looks at every waiting job
_QPS, _BURST = 2000, 4000
_DOCUMENTATION = "https://volcano.sh/en/docs/"
_CLAIMS = {
    "gangs": _DOCUMENTATION + "plugins/#gang",
    "queues": _DOCUMENTATION + "queue/",
    "taints": _DOCUMENTATION + "plugins/#predicates",
    "documents": _DOCUMENTATION + "queue/",
    "jobs": _DOCUMENTATION + "pytorch_on_volcano/",
}
_PREEMPTION = {
    "preemption": _DOCUMENTATION + "actions/#preempt",
    "job-preemption": _DOCUMENTATION + "actions/#preempt",
}


class Volcano(Subject):
    """`default` is the chart's configuration; `preempt` and `reclaim` add one action and take enqueue away."""

    name: ClassVar[str] = "volcano"
    configurations: ClassVar[tuple[str, ...]] = ("default", "preempt", "reclaim")
    assets: ClassVar[tuple[str, ...]] = (
        "vc-scheduler",
        "vc-controller-manager",
        "volcano-crds.yaml",
        "volcano-scheduler.conf",
    )

    @classmethod
    def claims(cls, configuration: str) -> Mapping[str, str]:
        return {**_CLAIMS, **(_PREEMPTION if configuration == "preempt" else {})}

    @property
    def dialect(self) -> Dialect:
        return VolcanoDialect(reclaims=self.configuration == "reclaim")

    @property
    def longest_backoff(self) -> float:
        return 5 * _PERIOD

    def settings(self) -> dict[str, str]:
        return {
            "scheduler": self.title,
            "scheduler client limits": f"{_QPS} requests/s, burst {_BURST}",
            "scheduler period": f"{_PERIOD:g} s instead of 1 s",
        }

    def install(self, api: Api) -> None:
        define(api, self.workplace.assets["volcano-crds.yaml"])

    def _prepare(self) -> list[Process]:
        directory = self.workplace.directory / "volcano"  # watched by the scheduler: nothing else may change in it
        directory.mkdir(exist_ok=True)
        conf = directory / "scheduler.conf"
        conf.write_text(yaml.safe_dump(self._conf(), sort_keys=False))
        self._ports = [Port(), Port()]
        limits = [f"--kube-api-qps={_QPS}", f"--kube-api-burst={_BURST}"]
        common = [f"--kubeconfig={self.workplace.admin}", "--leader-elect=false", "--enable-healthz=false", *limits]
        scheduler = [
            f"--scheduler-conf={conf}",
            "--scheduler-name=volcano",
            f"--schedule-period={_PERIOD:g}s",
            "--disable-default-scheduler-config=true",  # or a mistake in the configuration would pass in silence
            "--cache-dumper=false",
            f"--listen-address=127.0.0.1:{self._ports[0].number}",
        ]
        controllers = [
            "--scheduler-name=volcano",
            "--controllers=+queue-controller,+pg-controller",
            f"--listen-address=127.0.0.1:{self._ports[1].number}",
        ]
        return [
            self._process("vc-scheduler", [*common, *scheduler]),
            self._process("vc-controller-manager", [*common, *controllers]),
        ]

    def _conf(self) -> dict[str, object]:
        """The chart's own, read from the module. With enqueue a waiting job has no pods and could never preempt."""
        conf = yaml.safe_load(self.workplace.assets["volcano-scheduler.conf"].read_text())
        if self.configuration != "default":
            conf["actions"] = f"allocate, backfill, {self.configuration}"
            for plugin in (plugin for tier in conf["tiers"] for plugin in tier["plugins"]):
                if plugin["name"] == "gang":
                    plugin["enableJobStarving"] = False
        assert isinstance(conf, dict)
        return conf
