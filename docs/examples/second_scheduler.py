"""Example of a built-in scheduler: kube-scheduler as a second scheduler, under a scheduler name of its own.

To build one in, copy this file to muster/schedulers/ and add its class to SCHEDULERS in muster/schedulers/__init__.py.
Then run `python docs/generate.py`: the docstring of the class becomes its paragraph in docs/schedulers.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import yaml

from muster.processes import Process
from muster.schedulers.base import Scheduler
from muster.schedulers.dialect import Dialect
from muster.schedulers.differences import Difference

_BACKOFF = 1  # seconds
_QPS, _BURST = 2000, 4000
_DOCUMENTATION = "https://kubernetes.io/docs/concepts/scheduling-eviction/"


class SecondSchedulerDialect(Dialect):
    """Plain Kubernetes objects. With gangs or queues, override `gang_manifest`, `queue_manifest`, `phase` …"""

    scheduler_name = "second-scheduler"  # spec.schedulerName of the pods


class SecondScheduler(Scheduler):
    """kube-scheduler beside the one that the cluster has, under another scheduler name."""

    name: ClassVar[str] = "second-scheduler"
    assets: ClassVar[tuple[str, ...]] = ("kube-scheduler",)  # binaries that it needs, of ci/toolchain
    dialect_class: ClassVar[type[Dialect]] = SecondSchedulerDialect
    capabilities: ClassVar[Mapping[str, str]] = {  # what it is tested on, each with the page that documents it
        "preemption": _DOCUMENTATION + "pod-priority-preemption/",
        "taints": _DOCUMENTATION + "taint-and-toleration/",
    }
    longest_backoff = float(_BACKOFF)
    differences: ClassVar[tuple[Difference, ...]] = (  # from what the project ships
        Difference("scheduler client limits", "50 requests/s", f"{_QPS} requests/s, burst {_BURST}", "shorter waits"),
        Difference("scheduler longest back-off", "10 s", f"{_BACKOFF} s", "shorter waits"),
    )

    def _prepare(self) -> list[Process]:
        configuration = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "clientConnection": {
                "kubeconfig": str(self.context.scheduler_kubeconfig),
                "qps": _QPS,
                "burst": _BURST,
            },
            "podInitialBackoffSeconds": _BACKOFF,
            "podMaxBackoffSeconds": _BACKOFF,
            "profiles": [{"schedulerName": self.dialect.scheduler_name}],
        }
        file = self.context.directory / "second-scheduler.yaml"
        file.write_text(yaml.safe_dump(configuration))
        return [self._process("kube-scheduler", [f"--config={file}", "--secure-port=0"])]
