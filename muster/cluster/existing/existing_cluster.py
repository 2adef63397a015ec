"""One run on an existing cluster: its namespaces, its heartbeat lease, and KWOK and the simulator beside the cluster.

Muster owns only the objects that carry the run's id. `stop` deletes them on every exit; a run that was killed leaves
them to `muster cleanup`. Scheduler and control plane belong to the cluster: they are not started, paused or configured.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from muster import assets, timeouts
from muster.cluster.api import Api
from muster.cluster.existing import cleanup, rbac
from muster.cluster.existing.lease import HOLDER, Heartbeat, holder
from muster.cluster.existing.pool_check import POOL, require_unused
from muster.cluster.existing.preflight import check_namespace, namespace_manifest
from muster.cluster.interface import Connection
from muster.cluster.kubeconfig import write_single_context
from muster.cluster.kwok import KwokProcesses
from muster.cluster.node_pool import NodePool
from muster.cluster.run_scope import RUN_LABEL, RunScope, SchedulerObjects, ScopedApi, write_run_scope
from muster.errors import HarnessError
from muster.processes import Reaper

SCOPE = "MUSTER_SCOPE"  # limits what Muster's own scheduler and operator see to objects that contain a line of it
_LEASE_SECONDS = 40  # as a kubelet's: the node controller marks a node without a lease as down


class ExistingCluster:
    """Reached by `connection`; `scheduler` is the name of the scheduler that Muster runs itself, if it does.

    `objects` are the schedulers' own objects that the run may create; `pool` are real nodes that it may use.
    """

    capabilities: frozenset[str] = frozenset()

    def __init__(
        self,
        connection: Connection,
        *,
        run: str,
        scheduler: str = "",
        objects: SchedulerObjects | None = None,
        pool: NodePool | None = None,
        print_line: Callable[[str], None] | None = None,
    ) -> None:
        self.scope = RunScope(run, scheduler, objects or SchedulerObjects(), pool)
        self._kwok = KwokProcesses()
        self.left: list[str] = []  # objects that could not be deleted, by name
        self._source = connection
        self.keep = False  # set before `stop` to leave the objects for debugging
        self._print_line = print_line or (lambda _: None)
        self._directory: Path | None = None
        self._heartbeat: Heartbeat | None = None
        self._created_objects = False

    @property
    def directory(self) -> Path:
        if self._directory is None:
            raise HarnessError("not connected to the cluster: call start() first")
        return self._directory

    def start(self) -> Connection:
        try:
            return self._start()
        except BaseException:  # ctrl-C as well
            self.stop()
            raise

    def _start(self) -> Connection:
        binaries = assets.ensure(("kwok",), print_line=self._print_line)
        self._directory = Reaper.current().make_directory("muster-")
        source = self._source
        scoped = Connection(source.kubeconfig, source.context, self.scope)
        self._api: Api = scoped.api
        pool = self.scope.pool
        groups = rbac.served_groups(source.api)
        self._missing = rbac.missing_cluster_wide(source.api, groups=groups, real_nodes=pool is not None)
        self._write_kubeconfig()
        write_run_scope(self.client_kubeconfig("admin"), self.scope)
        self._created_objects = True
        named = {POOL: " ".join(pool.nodes)} if pool else {}
        self.add_namespace(self.scope.token, annotations={HOLDER: holder(), **named})
        self._heartbeat = Heartbeat(self._api, self.scope.token, self._write_kubeconfig)
        self._heartbeat.begin()
        if pool:
            require_unused(source.api, self.scope)
        self.add_namespace(self.scope.default_namespace)
        self.check_namespaces()
        selector = f"{RUN_LABEL}={self.scope.run}"
        texts = [self.scope.token, *(pool.texts() if pool else ())]
        os.environ[SCOPE] = "\n".join(texts)  # inherited by the processes that Muster starts beside the cluster
        self._kwok.start(
            self.client_kubeconfig("admin"),
            binaries["kwok"],
            nodes=selector,
            pods=selector,
            lease_seconds=_LEASE_SECONDS,
            simulator=pool is None,
        )
        return scoped

    def use_nodes(self, names: Sequence[str]) -> None:
        """From now on pods are confined to these nodes of the pool, also those that commands create."""
        if self.scope.pool is None:
            return
        self.scope = replace(self.scope, pool=replace(self.scope.pool, used=tuple(names)))
        assert isinstance(self._api, ScopedApi)
        self._api.scope = self.scope
        write_run_scope(self.client_kubeconfig("admin"), self.scope)

    def add_namespace(self, name: str, annotations: dict[str, str] | None = None) -> None:
        """Create a namespace of the run, with Muster's permissions in it and the service account of its pods."""
        self._api.create(namespace_manifest(name, annotations or {}))
        if self._missing:
            rbac.bind_scenario_role(self._api, name, self._missing[0])
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}
        self._api.ensure(account)

    def check_namespaces(self) -> None:
        """Raise if the cluster puts limits into new namespaces. Controllers may do so some time after the creation."""
        for namespace in (self.scope.token, self.scope.default_namespace):
            check_namespace(self._api, namespace)

    def stop(self) -> None:
        """Stop the processes, then delete every object of the run; what cannot be deleted is listed in `left`."""
        os.environ.pop(SCOPE, None)
        if self._heartbeat is not None:
            self._heartbeat.stop()
        self._kwok.stop()
        if self._directory is None:
            return
        if self._created_objects and not self.keep:
            self.left = cleanup.delete_run(
                self._source.api, self.scope.run, self.scope.objects, within=timeouts.CLEARING_AWAY
            )
        Reaper.current().remove_directory(self._directory)
        self._directory = None

    def check(self) -> None:
        self._kwok.check()

    def client_kubeconfig(self, _user: Literal["admin", "scheduler"]) -> Path:
        """One for all: processes beside the cluster have the user's permissions."""
        return self.directory / "run.kubeconfig"

    def logs(self) -> dict[str, Path]:
        return self._kwok.logs()

    def _write_kubeconfig(self) -> None:
        source = self._source
        write_single_context(self.client_kubeconfig("admin"), source.kubeconfig, source.context, source.api.token)
