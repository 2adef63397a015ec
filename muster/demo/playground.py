"""What `muster up` runs: a control plane, nodes, a scheduler, an operator, and the documents' priority classes.

Whatever happens, `stop` leaves nothing: it works before `start`, in the middle of it, and on dead parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from muster import assets
from muster.cluster.local import LocalCluster
from muster.cluster.local.readiness import wait_until
from muster.cluster.resources import NODE
from muster.jobs.nodes import address_of
from muster.processes import Process, first_to_end
from muster.stage.jobs import documents
from muster.stage.nodes import node_manifest
from muster.subject import Subject, Workplace, choose
from muster.subject.dialect import Dialect
from muster.subject.operators import Operator, choose_operator
from muster.subject.requests import NodeRequest, Taint

_CLASSES = ("priority-classes", "high-priority")  # manifests of the documents that every API server takes
_MASTER = "node-role.kubernetes.io/master"
_NOBODYS = "default-scheduler"  # whose pods an operator makes where no scheduler was asked for


class Household:
    """A cluster that a person lives in. An empty name for scheduler or operator: there is none."""

    def __init__(self, *, scheduler: str, operator: str, say: Callable[[str], None]) -> None:
        self._scheduler = choose(scheduler) if scheduler else None
        self._operator = choose_operator(operator) if operator else None
        self._say = say
        self.cluster = LocalCluster(say=say)
        self.subject: Subject | None = None
        self.operator: Operator | None = None
        self.classes: list[str] = []

    def start(self, *, nodes: int, gpus: int, masters: int) -> None:
        """Returns when jobs can be submitted; on trouble the caller stops what there is."""
        api = self.cluster.start().api
        workers = [NodeRequest(f"gpu-{number}", gpus) for number in range(1, nodes + 1)]
        for request in (*_masters(masters), *workers):
            api.create(node_manifest(request))
        for manifest in (manifest for file in _CLASSES for manifest in documents(file)):
            api.create(manifest)
            self.classes.append(manifest["metadata"]["name"])
        self._start_scheduler(workers)
        self._start_operator()
        kwok = self.cluster.processes["kwok"]
        wait_until(lambda: all(map(_has_joined, api.list(NODE)["items"])), kwok, self._processes())

    def wait(self) -> None:
        """Until one of the processes ends, which none should: that one is named by the error."""
        first_to_end(self._processes(), None)
        self.cluster.check()
        for part in (self.subject, self.operator):
            if part is not None:
                part.check()

    def stop(self) -> None:
        for part in (self.operator, self.subject):
            if part is not None:
                part.kill()
        self.cluster.stop()

    def _start_scheduler(self, workers: Iterable[NodeRequest]) -> None:
        if self._scheduler is None:
            return
        kind, configuration = self._scheduler
        self.subject = kind(configuration, self._workplace(kind.assets))
        api = self.cluster.connection.api
        self.subject.install(api)
        for manifest in (manifest for node in workers for manifest in self.subject.dialect.beside(node)):
            api.ensure(manifest)
        self.subject.start()

    def _start_operator(self) -> None:
        if self._operator is None:
            return
        dialect = self.subject.dialect if self.subject else Dialect(_NOBODYS)
        self.operator = self._operator(self._workplace(self._operator.assets), dialect)
        self.operator.install(self.cluster.connection.api)
        self.operator.start()

    def _workplace(self, files: Iterable[str]) -> Workplace:
        return Workplace.on(self.cluster, assets.ensure(list(files), say=self._say))

    def _processes(self) -> list[Process]:
        schedulers = list(self.subject.processes) if self.subject else []
        operators = [self.operator.process] if self.operator and self.operator.process else []
        return [*self.cluster.processes.values(), *schedulers, *operators]


def _masters(number: int) -> list[NodeRequest]:
    taint = Taint(_MASTER, "", "NoSchedule")
    return [NodeRequest(f"master-{one}", taints=(taint,), labels={_MASTER: ""}) for one in range(1, number + 1)]


def _has_joined(node: Mapping[str, Any]) -> bool:
    """Ready and open to pods, with the address that KWOK gives it last."""
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in node["status"].get("conditions", []))
    closed = any("not-ready" in taint["key"] for taint in node["spec"].get("taints", []))
    return ready and not closed and address_of(node) is not None
