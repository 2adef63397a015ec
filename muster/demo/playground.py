"""Playground cluster of `muster up`: control plane, nodes, scheduler, operator, PriorityClasses of the walk-throughs.

`stop` cleans up in any state: before `start`, in the middle of it, and after components have crashed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from muster import assets
from muster.cluster.local import LocalCluster
from muster.cluster.resources import NODE
from muster.cluster.run_scope import DEFAULT_NAMESPACE
from muster.environment.cluster_objects import node_manifest
from muster.environment.own_clusters import local_cluster, own_scheduler
from muster.environment.suite_manifests import load_manifests
from muster.operators import Operator, choose_operator
from muster.processes import Process, wait_for_first_exit
from muster.processes.readiness import wait_until
from muster.schedulers import ProcessContext, Scheduler, choose
from muster.schedulers.dialect import Dialect
from muster.schedulers.requests import NodeRequest, Taint

_CLASSES = ("priority-classes", "high-priority")  # manifests of the walk-throughs that every API server accepts
_MASTER = "node-role.kubernetes.io/master"
_NO_SCHEDULER = "default-scheduler"  # schedulerName of pods where no scheduler was requested


class Playground:
    """Playground cluster of `muster up`. An empty name for scheduler or operator: none is started."""

    def __init__(self, *, scheduler: str, operator: str, print_line: Callable[[str], None]) -> None:
        self._scheduler = scheduler
        self._operator = choose_operator(operator) if operator else None
        self._print_line = print_line
        self.cluster = local_cluster(scheduler, print_line) if scheduler else LocalCluster(print_line=print_line)
        self.scheduler: Scheduler | None = None
        self.operator: Operator | None = None
        self.classes: list[str] = []

    def start(self, *, nodes: int, gpus: int, masters: int) -> None:
        """Returns when jobs can be submitted; after an error the caller calls `stop`."""
        files = self._assets(choose(self._scheduler)[0].assets) if self._scheduler else {}
        api = self.cluster.start().api
        if self._scheduler:
            self.scheduler = own_scheduler(self.cluster, self._scheduler, files)
        workers = [NodeRequest(f"gpu-{number}", gpus) for number in range(1, nodes + 1)]
        for request in (*_masters(masters), *workers):
            api.create(node_manifest(request, self._dialect.node_labels))
        for manifest in (manifest for file in _CLASSES for manifest in load_manifests(file)):
            api.create(manifest)
            self.classes.append(manifest["metadata"]["name"])
        self._start_scheduler(workers)
        self._start_operator()
        kwok = self.cluster.processes["kwok"]
        wait_until(lambda: all(map(_has_joined, api.list(NODE)["items"])), kwok, self._processes())

    def wait(self) -> None:
        """Until one of the processes ends unexpectedly: the error names it."""
        wait_for_first_exit(self._processes(), None)
        self.cluster.check()
        for part in (self.scheduler, self.operator):
            if part is not None:
                part.check()

    def stop(self) -> None:
        if self.operator is not None:
            self.operator.close()
        if self.scheduler is not None:
            self.scheduler.kill()
        self.cluster.stop()

    def _start_scheduler(self, workers: Iterable[NodeRequest]) -> None:
        if self.scheduler is None:
            return
        api, dialect = self.cluster.connection.api, self.scheduler.dialect
        self.scheduler.install(api)
        for_nodes = (manifest for node in workers for manifest in dialect.node_objects(node))
        for manifest in (*dialect.namespace_objects(DEFAULT_NAMESPACE), *for_nodes):
            api.ensure(manifest)
        self.scheduler.start()

    def _start_operator(self) -> None:
        if self._operator is None:
            return
        context = ProcessContext.on(self.cluster, self._assets(self._operator.assets))
        self.operator = self._operator(context, self._dialect)
        self.operator.install(self.cluster.connection.api)
        self.operator.start()
        self.operator.wait_until_ready()

    @property
    def _dialect(self) -> Dialect:
        return self.scheduler.dialect if self.scheduler else Dialect(_NO_SCHEDULER)

    def _assets(self, names: Iterable[str]) -> Mapping[str, Path]:
        return assets.ensure(list(names), print_line=self._print_line)

    def _processes(self) -> list[Process]:
        schedulers = list(self.scheduler.processes) if self.scheduler else []
        operators = [self.operator.process] if self.operator and self.operator.process else []
        return [*self.cluster.processes.values(), *schedulers, *operators]


def _masters(number: int) -> list[NodeRequest]:
    taint = Taint(_MASTER, "", "NoSchedule")
    return [NodeRequest(f"master-{one}", taints=(taint,), labels={_MASTER: ""}) for one in range(1, number + 1)]


def _has_joined(node: Mapping[str, Any]) -> bool:
    """Ready and schedulable."""
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in node["status"].get("conditions", []))
    tainted = any("not-ready" in taint["key"] for taint in node["spec"].get("taints", []))
    return ready and not tainted
