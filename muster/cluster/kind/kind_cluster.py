"""The kind cluster of one run: created or reused, with KWOK and the simulator beside it, and removed on every exit.

No other process uses it, so that manifests need no run scope. Its real node is cordoned and hidden from scenarios,
whose nodes are simulated. Its own scheduler is stopped when another one is tested: pods without a schedulerName would
have two.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
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
from muster.cluster.kind.reset import SIMULATED, cordon_real_nodes, delete_leftovers, prepare_workers
from muster.cluster.kind.static_pod import start_scheduler, stop_scheduler
from muster.cluster.kind.training_images import training_archive
from muster.cluster.kubeconfig import CONTEXT, write_client_kubeconfig
from muster.cluster.kwok import KwokProcesses
from muster.cluster.resources import NODE, Resource
from muster.errors import HarnessError, UsageError
from muster.processes import Reaper

REUSED = "muster"  # the name of the cluster that `--reuse` keeps from run to run
WORKERS = 4  # of a cluster with real nodes: as many as any walk-through uses, and one more
OUR_IMAGE = "muster/kind-node"  # of `make kind-image`: its nodes have a device plugin for GPUs
_NODE_FIELDS = ("name", "nodeName")  # an object with the control plane's name in one of these is hidden
_SYSTEM_POD = b'"name":"kube-proxy-'  # a pod of every worker, or an event about it
_GPUS = "/etc/muster/gpus"  # in a worker: where its device plugin reads the number of GPUs
_LOADED = "/etc/muster/images"  # in a worker: the name of the archive that was loaded into the nodes
_COMPACT = (",", ":")  # as the API server sends it: no blanks


class FilteredApi(Api):
    """The API as scenarios see it: without the control plane's node (`hidden`), its pods and its own events.

    Workers are seen as they change, because a scenario may use them, but are not listed among what it has created.
    Trap: the cluster's own scheduler signs its events with the node's name, and those must stay visible.
    """

    hidden = ""
    workers: tuple[str, ...] = ()

    def visible(self, raw: bytes) -> bytes | None:
        if any(f'"{field}":"{self.hidden}"'.encode() in raw for field in _NODE_FIELDS) or _SYSTEM_POD in raw:
            return None
        return raw

    def list(self, resource: Resource, namespace: str | None = None, **query: str) -> dict[str, Any]:
        response = super().list(resource, namespace, **query)
        items = [one for one in response["items"] if self.visible(json.dumps(one, separators=_COMPACT).encode())]
        response["items"] = [one for one in items if one["metadata"]["name"] not in self.workers]
        return response


@dataclass(frozen=True)
class KindConnection(Connection):
    """A connection for scenarios, which hides the control plane's `node`."""

    node: str = ""
    workers: tuple[str, ...] = ()

    @cached_property
    def api(self) -> Api:
        api = FilteredApi.connect(self.kubeconfig, self.context)
        assert isinstance(api, FilteredApi)
        api.hidden, api.workers = self.node, self.workers
        return api


class KindCluster:
    """`image` is a reference or an archive, stock if empty; `own_scheduler` lets the cluster's own scheduler run.

    `real_nodes` gives it workers for scenarios; None: if the image is one of Muster's, whose nodes have GPUs.

    `keep` may be changed until `stop`, which then leaves the cluster and says how to remove it.
    """

    capabilities = frozenset({"pause", "kill", "configure", "exclusive"})

    def __init__(
        self,
        *,
        image: str = "",
        reuse: bool = False,
        own_scheduler: bool = False,
        real_nodes: bool | None = False,
        keep: bool = False,
        print_line: Callable[[str], None] | None = None,
    ) -> None:
        self._kwok: KwokProcesses | None = None
        self._real_nodes = real_nodes
        self.workers: tuple[str, ...] = ()  # real nodes for scenarios
        self.nodes: tuple[str, ...] = ()  # all real nodes
        self._gpus: dict[str, int] = {}
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
        self._kwok_program = kwok
        image = self._engine.ensure_image(self._image or STOCK_IMAGE) if not self._reuse or self._image else ""
        real = image.startswith(OUR_IMAGE) if self._real_nodes is None else self._real_nodes
        name = REUSED if self._reuse else f"muster-{secrets.token_hex(3)}"
        cluster = Kind(name, kind, self._engine, self._directory, self._print_line, workers=WORKERS if real else 0)
        if self._reuse and cluster.exists():
            cluster.adopt_workers()
            self._require_image(cluster)
            self._require_workers(cluster)
            api = _connect_to_reused(cluster, self._connect)
            delete_leftovers(api, cluster.removal_command)
            self._kind = cluster
        else:
            cluster.create(image or self._engine.ensure_image(STOCK_IMAGE))
            self._kind = cluster
            api = self._connect(cluster)
        if cluster.workers:
            self._load_images(cluster)
            prepare_workers(api, cluster.workers)
        self.workers, self.nodes = tuple(cluster.workers), tuple(cluster.nodes)
        cordon_real_nodes(api)
        self._node = cluster.node
        (start_scheduler if self._own_scheduler else stop_scheduler)(self._engine, cluster.node)
        if not cluster.workers:
            self.simulate(on=True)
        if self._reuse:
            cluster.release()
        return KindConnection(self.client_kubeconfig("admin"), CONTEXT, node=cluster.node, workers=self.workers)

    def simulate(self, *, on: bool) -> None:
        """Start or stop what plays the pods of simulated nodes."""
        if on and self._kwok is None:
            self._kwok = KwokProcesses()
            self._kwok.start(self.client_kubeconfig("admin"), self._kwok_program, nodes=SIMULATED)
        elif not on and self._kwok is not None:
            self._kwok.stop()
            self._kwok = None

    def describe_workers(self) -> str:
        """Their number, and the versions of kubelet, container runtime and kernel that they report."""
        api = Connection(self.client_kubeconfig("admin"), CONTEXT).api
        info = api.get(NODE, self.workers[0])["status"]["nodeInfo"]
        versions = ", ".join(info[field] for field in ("containerRuntimeVersion", "kernelVersion"))
        return f"{len(self.workers)} workers, kubelet {info['kubeletVersion']}, {versions}"

    def set_gpus(self, counts: Mapping[str, int]) -> None:
        """Tell the device plugins of workers how many GPUs there are; the kubelets report it within a second or two."""
        for worker, count in counts.items():
            if self._gpus.get(worker) != count:
                self._engine.run_in_node(worker, f"mkdir -p /etc/muster && echo {count} > {_GPUS}")
                self._gpus[worker] = count

    def stop(self) -> None:
        """Stop clients, then remove the cluster unless it is to be kept; may be called at any time, and again."""
        self.simulate(on=False)
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
            removal = f"{self._kind.removal_command} && " if not self._reuse else ""
            self._print_line(
                f"kept: the kind cluster {self._kind.name}, see {self.client_kubeconfig('admin')}; "
                f"when you are done: {removal}rm -r {directory}"
            )

    def check(self) -> None:
        """Raise when KWOK or the simulator has died; a failing API server shows by its requests."""
        if self._kwok is not None:
            self._kwok.check()

    def client_kubeconfig(self, user: Literal["admin", "scheduler"]) -> Path:
        return self.directory / f"{user}.kubeconfig"

    def logs(self) -> dict[str, Path]:
        return self._kwok.logs() if self._kwok is not None else {}

    def signal_scheduler(self, name: Literal["STOP", "CONT", "KILL"]) -> None:
        """Send a signal to the cluster's own scheduler; the kubelet restarts one that was killed."""
        self._engine.run_in_node(self._node, f"pkill --signal {name} --exact kube-scheduler")

    def _require_image(self, reused: Kind) -> None:
        """Without --kind-image the reused cluster is taken as it is."""
        if self._image and (other := self._engine.image_of(reused.node, self._engine.ensure_image(self._image))):
            raise UsageError(
                f"The kind cluster {reused.name!r} of an earlier run was made from {other}: leave out --kind-image, "
                f"or remove it with `{reused.removal_command}` and run again."
            )

    def _require_workers(self, reused: Kind) -> None:
        if self._real_nodes and not reused.workers:
            raise UsageError(
                f"The kind cluster {reused.name!r} of an earlier run has no workers for real nodes: "
                f"remove it with `{reused.removal_command}` and run again."
            )

    def _load_images(self, cluster: Kind) -> None:
        """Unless a reused cluster has them: loading takes ten seconds. The last worker remembers which they are."""
        archive = training_archive(self._print_line)
        last = cluster.workers[-1]
        if self._engine.run_in_node(last, f"cat {_LOADED} || true").strip() != archive.name:
            cluster.load(archive)
            self._engine.run_in_node(last, f"mkdir -p /etc/muster && cat > {_LOADED}", text=archive.name)

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
            f"remove it with `{reused.removal_command}` and run again."
        ) from None


def _raise_in_use(holder: str) -> None:
    raise HarnessError(
        f"The kind cluster {REUSED!r} is in use by process {holder}: wait until that has ended, or leave out --reuse."
    )
