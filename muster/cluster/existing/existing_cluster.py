"""A run's place on somebody's cluster: a namespace of its own, a heartbeat, and KWOK and the player beside it.

Nothing there belongs to us but what carries the run's id. `stop` clears that away on every path; a run that was killed
leaves it to `muster sweep`. Scheduler and control plane are theirs: they are neither started, paused nor configured.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from muster import assets, timeouts
from muster.cluster.api import Api
from muster.cluster.companions import Companions
from muster.cluster.connections import Connection
from muster.cluster.fenced_api import write_fence
from muster.cluster.fences import RUN_LABEL, Fence
from muster.cluster.foreign import rights, sweeping
from muster.cluster.foreign.heartbeats import HOLDER, Heartbeat, holder
from muster.cluster.foreign.inspection import look_at_namespace
from muster.cluster.foreign.kubeconfigs import write_single
from muster.cluster.foreign.namespaces import namespace_manifest
from muster.errors import HarnessError
from muster.processes import Janitor

SCOPE = "MUSTER_SCOPE"  # what a scheduler or an operator of ours may see there: objects whose text has this in it
_LEASE_SECONDS = 40  # as a kubelet's: the node controller takes a silent node for dead


class ForeignCluster:
    """Reached by `connection`; `scheduler` is the name of one that we bring ourselves, if we do."""

    capabilities: frozenset[str] = frozenset()

    def __init__(
        self,
        connection: Connection,
        *,
        run: str,
        scheduler: str = "",
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.fence = Fence(run, scheduler)
        self._companions = Companions()
        self.left: list[str] = []  # what would not go, by name
        self._source = connection
        self.keep = False  # said before `stop`, when something there is worth a look
        self._say = say or (lambda _: None)
        self._directory: Path | None = None
        self._heartbeat: Heartbeat | None = None
        self._begun = False  # something of ours may be there

    @property
    def directory(self) -> Path:
        if self._directory is None:
            raise HarnessError("the cluster was not reached yet: call start() first")
        return self._directory

    def start(self) -> Connection:
        try:
            return self._start()
        except BaseException:  # ctrl-C as well
            self.stop()
            raise

    def _start(self) -> Connection:
        binaries = assets.ensure(("kwok",), say=self._say)
        self._directory = Janitor.current().make_directory("muster-")
        source = self._source
        fenced = Connection(source.kubeconfig, source.context, self.fence)
        self._api: Api = fenced.api
        self._lacking = rights.missing_everywhere(source.api, groups=rights.served_groups(source.api))
        self._write_kubeconfig()
        write_fence(self.client_kubeconfig("admin"), self.fence)
        self._begun = True
        self.add_namespace(self.fence.token, annotations={HOLDER: holder()})
        self._heartbeat = Heartbeat(self._api, self.fence.token, self._write_kubeconfig)
        self._heartbeat.begin()
        self.add_namespace(self.fence.home)
        self.look_for_limits()
        ours = f"{RUN_LABEL}={self.fence.run}"
        os.environ[SCOPE] = self.fence.token  # inherited by whatever we start beside the cluster
        self._companions.start(
            self.client_kubeconfig("admin"), binaries["kwok"], nodes=ours, pods=ours, lease_seconds=_LEASE_SECONDS
        )
        return fenced

    def add_namespace(self, name: str, annotations: dict[str, str] | None = None) -> None:
        """A namespace of the run, with our rights in it and the account that pods run under."""
        self._api.create(namespace_manifest(name, annotations or {}))
        if self._lacking:
            rights.bind_scene(self._api, name, self._lacking[0])
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": name}}
        self._api.ensure(account)

    def look_for_limits(self) -> None:
        """Done once more when a pod was placed: controllers that put limits into new namespaces take their time."""
        for namespace in (self.fence.token, self.fence.home):
            look_at_namespace(self._api, namespace)

    def stop(self) -> None:
        """Processes first, then everything that carries the run's id; what will not go is named in `left`."""
        os.environ.pop(SCOPE, None)
        if self._heartbeat is not None:
            self._heartbeat.stop()
        self._companions.stop()
        if self._directory is None:
            return
        if self._begun and not self.keep:
            self.left = sweeping.clear(self._source.api, self.fence.run, within=timeouts.CLEARING_AWAY)
        Janitor.current().remove_directory(self._directory)
        self._directory = None

    def check(self) -> None:
        self._companions.check()

    def client_kubeconfig(self, _user: Literal["admin", "scheduler"]) -> Path:
        """One for all: whoever works beside the cluster has our rights, and no more."""
        return self.directory / "run.kubeconfig"

    def logs(self) -> dict[str, Path]:
        return self._companions.logs()

    def _write_kubeconfig(self) -> None:
        source = self._source
        write_single(self.client_kubeconfig("admin"), source.kubeconfig, source.context, source.api.token)
