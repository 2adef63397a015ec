"""NVIDIA's KAI: a scheduler that decides, a binder that carries it out, and what looks after groups and queues.

Bare pods get a group of their own from the pod-grouper. Its admission webhooks do not run here, nor the controller that
counts what groups use: in 0.12.0 that one always listens on port 8080 of all addresses, whatever it is told. (The
scheduler's server for snapshots listens on all addresses as well; its port can be chosen.)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import ClassVar

from muster.cluster.api import Api
from muster.cluster.local.ports import Port
from muster.processes import Process
from muster.subject.definitions import define
from muster.subject.dialect import Dialect
from muster.subject.kai_dialect import KaiDialect, environment
from muster.subject.subjects import Subject

_PERIOD = 0.2  # seconds between two cycles; every cycle looks at every waiting job
_QPS, _BURST = 2000, 4000
_PROJECT = "https://github.com/NVIDIA/KAI-Scheduler/tree/v0.12.0/"
_DOCUMENTATION = _PROJECT + "docs/"
_CLAIMS = {
    "gangs": _DOCUMENTATION + "batch",
    "queues": _DOCUMENTATION + "queues",
    "taints": _PROJECT + "pkg/scheduler/k8s_internal/predicates/predicates.go",  # no document speaks of them
    "preemption": _DOCUMENTATION + "priority",
    "job-preemption": _DOCUMENTATION + "priority",
}


class Kai(Subject):
    """`default` is what the scheduler does without a configuration file, as its operator writes it as well."""

    name: ClassVar[str] = "kai"
    assets: ClassVar[tuple[str, ...]] = (
        "kai-scheduler",
        "kai-binder",
        "kai-podgrouper",
        "kai-queuecontroller",
        "kai-crds.yaml",
    )

    @classmethod
    def claims(cls, configuration: str) -> Mapping[str, str]:
        return _CLAIMS

    @property
    def dialect(self) -> Dialect:
        return KaiDialect()

    @property
    def longest_backoff(self) -> float:
        return 5 * _PERIOD

    def settings(self) -> dict[str, str]:
        return {
            "scheduler": self.title,
            "scheduler client limits": f"{_QPS} requests/s, burst {_BURST}",
            "scheduler period": f"{_PERIOD:g} s instead of 1 s",
            "marks of victims": "switched on (--update-pod-eviction-condition)",
        }

    def install(self, api: Api) -> None:
        define(api, self.workplace.assets["kai-crds.yaml"])
        for manifest in environment():
            api.ensure(manifest)

    def _prepare(self) -> list[Process]:
        self._ports = [Port(), Port()]
        metrics, plugins = (port.number for port in self._ports)
        scheduler = [
            f"--schedule-period={round(_PERIOD * 1000)}ms",
            f"--listen-address=127.0.0.1:{metrics}",
            f"--plugin-server-port={plugins}",
            "--update-pod-eviction-condition=true",
        ]
        silent = ["--metrics-bind-address=0", "--health-probe-bind-address=0"]
        flags = {
            "kai-scheduler": scheduler,
            "kai-binder": silent,
            "kai-podgrouper": silent,
            "kai-queuecontroller": ["--metrics-listen-address=0", "--enable-webhook=false"],
        }
        limits = [f"--qps={_QPS}", f"--burst={_BURST}"]
        env = {**os.environ, "KUBECONFIG": str(self.workplace.admin)}  # not all of them know --kubeconfig
        return [self._process(name, [*limits, *its], env) for name, its in flags.items()]
