"""The kind cluster of one run: created or reused, with KWOK and the simulator beside it, and removed on every exit.

No other process uses it, so that manifests need no run scope. Its real node is cordoned and hidden from scenarios,
whose nodes are simulated. Its own scheduler is stopped when another one is tested: pods without a schedulerName would
have two.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from muster import assets
from muster.assets.cache import file_lock
from muster.cluster.api import Api
from muster.cluster.interface import Connection
from muster.cluster.kind.docker_cli import Engine
from muster.cluster.kind.kind_cli import STOCK_IMAGE, Kind
from muster.cluster.kind.reset import SIMULATED, cordon_real_nodes, delete_leftovers
from muster.cluster.kind.static_pod import start_scheduler, stop_scheduler
from muster.cluster.kubeconfig import CONTEXT, write_client_kubeconfig
from muster.cluster.kwok import KwokProcesses
from muster.cluster.resources import Resource
from muster.errors import HarnessError, UsageError
from muster.processes import Reaper

REUSED = "muster"  # the name of the cluster that `--reuse` keeps from run to run
_NODE_FIELDS = ("name", "nodeName")  # an object with the real node's name in one of these is hidden
_COMPACT = (",", ":")  # as the API server sends it: no blanks


class FilteredApi(Api):
    """The API as scenarios see it: without the real node (`hidden`), its pods and its own events.

    Trap: the cluster's own scheduler signs its events with the node's name, and those must stay visible.
    """

    hidden = ""

    def visible(self, raw: bytes) -> bytes | None:
        return None if any(f'"{field}":"{self.hidden}"'.encode() in raw for field in _NODE_FIELDS) else raw

    def list(self, resource: Resource, namespace: str | None = None, **query: str) -> dict[str, Any]:
        response = super().list(resource, namespace, **query)
        items = [one for one in response["items"] if self.visible(json.dumps(one, separators=_COMPACT).encode())]
        response["items"] = items
        return response


@dataclass(frozen=True)
class KindConnection(Connection):
    """A connection for scenarios, which hides the real `node`."""

    node: str = ""

    @cached_property
    def api(self) -> Api:
        api = FilteredApi.connect(self.kubeconfig, self.context)
        assert isinstance(api, FilteredApi)
        api.hidden = self.node
        return api


class KindCluster:
    """`image` is a reference or an archive, stock if empty; `own_scheduler` lets the cluster's own scheduler run.

    `keep` may be changed until `stop`, which then leaves the cluster and says how to remove it.
    """

    capabilities = frozenset({"pause", "kill", "configure", "exclusive"})

    def __init__(
        self,
        *,
        image: str = "",
        reuse: bool = False,
        own_scheduler: bool = False,
        keep: bool = False,
        print_line: Callable[[str], None] | None = None,
    ) -> None:
        self._kwok = KwokProcesses()
        self._image, self._reuse, self._own_scheduler = image, reuse, own_scheduler
        self.keep = keep
        self._reuse_lock = ExitStack()
        self._print_line = print_line or (lambda _: None)
        self._directory: Path | None = None
        self._kind: Kind | None = None

    @property
    def directory(self) -> Path:
        if self._directory is None:
            raise HarnessError("the kind cluster was not started: call start() first")
        return self._directory

    def start(self) -> Connection:
        """Return when pods can be created; on failure nothing is left behind but what existed before."""
        self._engine = Engine(self._print_line)
        binaries = assets.ensure(("kind", "kwok"), print_line=self._print_line)
        try:
            if self._reuse:
                self._reuse_lock.enter_context(file_lock(f"kind-{REUSED}", _raise_in_use))
            return self._start(binaries["kind"], binaries["kwok"])
        except BaseException:  # ctrl-C as well
            self.keep = False
            self.stop()
            raise

    def _start(self, kind: Path, kwok: Path) -> Connection:
        self._directory = Reaper.current().make_directory("muster-", keep=self.keep)
        name = REUSED if self._reuse else f"muster-{secrets.token_hex(3)}"
        cluster = Kind(name, kind, self._engine, self._directory, self._print_line)
        if self._reuse and cluster.exists():
            self._require_image(cluster)
            api = _connect_to_reused(cluster, self._connect)
            delete_leftovers(api, cluster.node)
            self._kind = cluster
        else:
            cluster.create(self._engine.ensure_image(self._image or STOCK_IMAGE))
            self._kind = cluster
            api = self._connect(cluster)
        cordon_real_nodes(api)
        self._node = cluster.node
        (start_scheduler if self._own_scheduler else stop_scheduler)(self._engine, cluster.node)
        self._kwok.start(self.client_kubeconfig("admin"), kwok, nodes=SIMULATED)
        if self._reuse:
            cluster.release()
        return KindConnection(self.client_kubeconfig("admin"), CONTEXT, node=cluster.node)

    def stop(self) -> None:
        """Stop clients, then remove the cluster unless it is to be kept; may be called at any time, and again."""
        self._kwok.stop()
        try:
            if self._directory is not None:
                self._remove_or_keep(self._directory)
        finally:
            self._kind = self._directory = None
            self._reuse_lock.close()

    def _remove_or_keep(self, directory: Path) -> None:
        if not self.keep:
            if self._kind is not None and not self._reuse:
                self._kind.remove()
            Reaper.current().remove_directory(directory)
        elif self._kind is not None:
            self._kind.release()
            removal = f"docker rm -f -v {self._kind.node} && " if not self._reuse else ""
            self._print_line(
                f"kept: the kind cluster {self._kind.name}, see {self.client_kubeconfig('admin')}; "
                f"when you are done: {removal}rm -r {directory}"
            )

    def check(self) -> None:
        """Raise when KWOK or the simulator has died; a failing API server shows by its requests."""
        self._kwok.check()

    def client_kubeconfig(self, user: Literal["admin", "scheduler"]) -> Path:
        return self.directory / f"{user}.kubeconfig"

    def logs(self) -> dict[str, Path]:
        return self._kwok.logs()

    def signal_scheduler(self, name: Literal["STOP", "CONT", "KILL"]) -> None:
        """Send a signal to the cluster's own scheduler; the kubelet restarts one that was killed."""
        self._engine.run_in_node(self._node, f"pkill --signal {name} --exact kube-scheduler")

    def _require_image(self, reused: Kind) -> None:
        """Without --kind-image the reused cluster is taken as it is."""
        if self._image and (other := self._engine.image_of(reused.node, self._engine.ensure_image(self._image))):
            raise UsageError(
                f"The kind cluster {reused.name!r} of an earlier run was made from {other}: leave out --kind-image, "
                f"or remove it with `docker rm -f -v {reused.node}` and run again."
            )

    def _connect(self, cluster: Kind) -> Api:
        server = write_client_kubeconfig(self.directory, "admin", cluster.kubeconfig())
        own = self._engine.run_in_node(cluster.node, "cat /etc/kubernetes/scheduler.conf")
        write_client_kubeconfig(self.directory, "scheduler", own, server)
        api = Connection(self.client_kubeconfig("admin"), CONTEXT).api
        api.read("/readyz")
        return api


def _connect_to_reused(reused: Kind, connect: Callable[[Kind], Api]) -> Api:
    try:
        return connect(reused)
    except HarnessError as problem:
        raise HarnessError(
            f"The kind cluster {reused.name!r} of an earlier run is incomplete ({problem}): "
            f"remove it with `docker rm -f -v {reused.node}` and run again."
        ) from None


def _raise_in_use(holder: str) -> None:
    raise HarnessError(
        f"The kind cluster {REUSED!r} is in use by process {holder}: wait until that has ended, or leave out --reuse."
    )
