"""The kind cluster of one run: made, or found again; KWOK and the player beside it; gone on every way out.

It is ours alone, so that manifests stay as they are. Its real node is closed to scenarios, whose nodes are simulated.
Its own scheduler stands aside when another one is judged, for pods that name no scheduler would have two.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from muster import assets
from muster.assets.locks import held
from muster.cluster.api import Api
from muster.cluster.companions import Companions
from muster.cluster.connections import Connection
from muster.cluster.kind.configuration import STOCK_IMAGE
from muster.cluster.kind.credentials import write_client
from muster.cluster.kind.engine import Engine
from muster.cluster.kind.making import Kind
from muster.cluster.kind.scheduling import come_forward, stand_aside
from muster.cluster.kind.tidying import SIMULATED, clear_remains, close_real_nodes
from muster.cluster.kind.views import KindConnection
from muster.cluster.local.kubeconfigs import CONTEXT
from muster.errors import HarnessError, UsageError
from muster.processes import Janitor

REUSED = "muster"  # the name of the cluster that `--reuse` keeps from run to run


class KindCluster:
    """`image` is a reference or an archive, stock if empty; `own_scheduler` lets the cluster's own one work.

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
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._companions = Companions()
        self._image, self._reuse, self._own_scheduler = image, reuse, own_scheduler
        self.keep = keep
        self._claim = ExitStack()  # on the cluster that is reused
        self._say = say or (lambda _: None)
        self._directory: Path | None = None
        self._kind: Kind | None = None

    @property
    def directory(self) -> Path:
        if self._directory is None:
            raise HarnessError("the kind cluster was not started: call start() first")
        return self._directory

    def start(self) -> Connection:
        """A cluster that takes pods; on any trouble nothing is left behind but what was there before."""
        self._engine = Engine(self._say)
        binaries = assets.ensure(("kind", "kwok"), say=self._say)
        try:
            if self._reuse:
                self._claim.enter_context(held(f"kind-{REUSED}", _refuse))
            return self._start(binaries["kind"], binaries["kwok"])
        except BaseException:  # ctrl-C as well
            self.keep = False
            self.stop()
            raise

    def _start(self, kind: Path, kwok: Path) -> Connection:
        self._directory = Janitor.current().make_directory("muster-", keep=self.keep)
        name = REUSED if self._reuse else f"muster-{secrets.token_hex(3)}"
        made = Kind(name, kind, self._engine, self._directory, self._say)
        if self._reuse and made.exists():
            self._must_be_of_the_image(made)
            api = _whole(made, self._connect)
            clear_remains(api, made.node)
            self._kind = made
        else:
            made.create(self._engine.have_image(self._image or STOCK_IMAGE))
            self._kind = made
            api = self._connect(made)
        close_real_nodes(api)
        self._node = made.node
        (come_forward if self._own_scheduler else stand_aside)(self._engine, made.node)
        self._companions.start(self.client_kubeconfig("admin"), kwok, nodes=SIMULATED)
        if self._reuse:
            made.release()
        return KindConnection(self.client_kubeconfig("admin"), CONTEXT, node=made.node)

    def stop(self) -> None:
        """Clients first, then the cluster, unless it is to be kept; safe to call again and on a half-made one."""
        self._companions.stop()
        try:
            if self._directory is not None:
                self._clear_away(self._directory)
        finally:
            self._kind = self._directory = None
            self._claim.close()

    def _clear_away(self, directory: Path) -> None:
        if not self.keep:
            if self._kind is not None and not self._reuse:
                self._kind.remove()
            Janitor.current().remove_directory(directory)
        elif self._kind is not None:
            self._kind.release()
            removal = f"docker rm -f -v {self._kind.node} && " if not self._reuse else ""
            self._say(
                f"kept: the kind cluster {self._kind.name}, see {self.client_kubeconfig('admin')}; "
                f"when you are done: {removal}rm -r {directory}"
            )

    def check(self) -> None:
        """Raise when KWOK or the player has died; the API server's own silence shows by itself."""
        self._companions.check()

    def client_kubeconfig(self, user: Literal["admin", "scheduler"]) -> Path:
        return self.directory / f"{user}.kubeconfig"

    def logs(self) -> dict[str, Path]:
        return self._companions.logs()

    def signal_scheduler(self, name: Literal["STOP", "CONT", "KILL"]) -> None:
        """A signal to the cluster's own scheduler; the kubelet starts one that was killed again."""
        self._engine.inside(self._node, f"pkill --signal {name} --exact kube-scheduler")

    def _must_be_of_the_image(self, found: Kind) -> None:
        """Who names no image takes the cluster as it is."""
        if self._image and (other := self._engine.made_from(found.node, self._engine.have_image(self._image))):
            raise UsageError(
                f"The kind cluster {found.name!r} of an earlier run was made from {other}: leave out --kind-image, "
                f"or remove it with `docker rm -f -v {found.node}` and run again."
            )

    def _connect(self, made: Kind) -> Api:
        server = write_client(self.directory, "admin", made.kubeconfig())
        own = self._engine.inside(made.node, "cat /etc/kubernetes/scheduler.conf")
        write_client(self.directory, "scheduler", own, server)
        api = Connection(self.client_kubeconfig("admin"), CONTEXT).api
        api.read("/readyz")
        return api


def _whole(found: Kind, connect: Callable[[Kind], Api]) -> Api:
    try:
        return connect(found)
    except HarnessError as problem:
        raise HarnessError(
            f"The kind cluster {found.name!r} of an earlier run is only half there ({problem}): "
            f"remove it with `docker rm -f -v {found.node}` and run again."
        ) from None


def _refuse(holder: str) -> None:
    raise HarnessError(
        f"The kind cluster {REUSED!r} is in use by process {holder}: wait until that has ended, or leave out --reuse."
    )
