"""The local cluster: real etcd, kube-apiserver, kube-controller-manager and KWOK in a private directory, on loopback.

Whatever happens, nothing stays: `stop` is called on every way out of `start`, works on dead and on paused parts, and
the janitor does the same when this process is killed. A plane that lost a part is not repaired: stop it, start another.
"""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from muster import assets, suite
from muster.cluster.connections import Connection
from muster.cluster.local import components
from muster.cluster.local.certificates import Authority
from muster.cluster.local.kubeconfigs import CONTEXT, write_kubeconfig
from muster.cluster.local.ports import Port
from muster.cluster.local.readiness import Probe, component_died, wait_until
from muster.errors import HarnessError
from muster.processes import Janitor, Process

BINARIES = ("etcd", "kube-apiserver", "kube-controller-manager", "kwok")
_STOP_ORDER = ("player", "kwok", "kube-controller-manager", "kube-apiserver", "etcd")
_SETTLED = "/api/v1/namespaces/default/serviceaccounts/default"  # the controller-manager's first work, done
# User and group of each client certificate. KWOK plays kubelets of all nodes, which no built-in role covers.
_CLIENTS = {
    "admin": ("muster-admin", "system:masters"),
    "kube-controller-manager": ("system:kube-controller-manager", None),
    "scheduler": ("system:kube-scheduler", None),
    "kwok": ("muster-kwok", "system:masters"),
    "player": ("muster-player", "system:masters"),
}


class LocalCluster:
    """`with LocalCluster() as cluster:` gives a running cluster that is ours alone."""

    capabilities = frozenset({"pause", "kill", "configure", "exclusive"})

    def __init__(
        self,
        *,
        keep: bool = False,
        feature_gates: Mapping[str, bool] | None = None,
        runtime_config: Sequence[str] = (),
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.processes: dict[str, Process] = {}
        self.keep = keep
        self._feature_gates = dict(feature_gates or {})
        self._runtime_config = tuple(runtime_config)
        self._say = say or (lambda _: None)
        self._directory: Path | None = None
        self._connection: Connection | None = None
        self._ports: list[Port] = []

    @property
    def directory(self) -> Path:
        if self._directory is None:
            raise HarnessError("the local cluster was not started: call start() first")
        return self._directory

    @property
    def connection(self) -> Connection:
        if self._connection is None:
            raise HarnessError("the local cluster is not running: call start() first")
        return self._connection

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> Connection:
        """Start everything and return when pods can be created; on any trouble nothing is left behind."""
        binaries = self._binaries()
        self.processes.clear()  # of an earlier start
        try:
            self._prepare_directory()
            self._start_processes(binaries)
        except OSError as problem:
            self.stop()
            raise _explained(problem) from None
        except BaseException:  # ctrl-C as well
            self.stop()
            raise
        self._connection = Connection(self.client_kubeconfig("admin"), CONTEXT)
        return self._connection

    def stop(self) -> None:
        """Stop what runs, clients before servers, and remove the directory; safe to call again and on broken parts."""
        self._connection = None
        for name in _STOP_ORDER:
            if name in self.processes:
                self.processes[name].kill()  # nothing of it is needed again: an orderly end would cost a second
        while self._ports:
            self._ports.pop().release()
        if self._directory is not None and not self.keep:
            Janitor.current().remove_directory(self._directory)

    def check(self) -> None:
        """Raise a HarnessError that names the component that died. Costs microseconds: ask often."""
        for process in self.processes.values():
            if not process.alive:
                raise component_died(process)

    def client_kubeconfig(self, user: Literal["admin", "scheduler"]) -> Path:
        return self.directory / f"{user}.kubeconfig"

    def versions(self) -> dict[str, str]:
        return {name: found.version for name in BINARIES if (found := assets.find(name))}

    def logs(self) -> dict[str, Path]:
        return {name: process.log for name, process in self.processes.items()}

    def _binaries(self) -> Mapping[str, Path]:
        return assets.ensure(BINARIES, say=self._say)

    def _prepare_directory(self) -> None:
        self._directory = Janitor.current().make_directory("muster-", keep=self.keep)
        certificates = self._directory / "certificates"
        certificates.mkdir()
        authority = Authority(certificates)
        authority.server("kube-apiserver")
        authority.signing_key("service-accounts")
        self._ports = [Port(), Port()]
        for file, (user, group) in _CLIENTS.items():
            authority.client(file, user, group)
            write_kubeconfig(
                self._directory / f"{file}.kubeconfig",
                server=f"https://127.0.0.1:{self._ports[0].number}",
                authority=authority.certificate,
                user=user,
                certificate=certificates / f"{file}.crt",
                key=certificates / f"{file}.key",
            )

    def _start_processes(self, binaries: Mapping[str, Path]) -> None:
        api_port, kwok_port = (port.number for port in self._ports)
        certificates = self.directory / "certificates"
        api = Probe(api_port, trust=certificates / "ca.crt", certificate=certificates / "admin.crt")
        self._run("etcd", [binaries["etcd"], *components.etcd()])
        flags = components.kube_apiserver(api_port, self._feature_gates, self._runtime_config)
        self._run("kube-apiserver", [binaries["kube-apiserver"], *flags])
        self._wait("kube-apiserver", lambda: api.answers("/livez/ping"))
        # It serves, but takes two more seconds to write its roles. Those who need no role start meanwhile.
        flags = components.kwok(kwok_port, suite.manifests() / "kwok" / "kwok.yaml")
        self._run("kwok", [binaries["kwok"], *flags])
        self._run("player", components.player())
        self._wait("kube-apiserver", lambda: api.answers("/readyz"))
        # Not earlier: it asks for the API server's health once a second only.
        flags = components.kube_controller_manager(self._feature_gates)
        self._run("kube-controller-manager", [binaries["kube-controller-manager"], *flags])
        self._wait("kwok", lambda: Probe(kwok_port).answers("/healthz"))
        self._wait("kube-controller-manager", lambda: api.answers(_SETTLED))

    def _run(self, name: str, argv: Sequence[str | Path]) -> None:
        process = Process(name, argv, directory=self.directory, log=self.directory / f"{name}.log")
        self.processes[name] = process
        process.start()

    def _wait(self, name: str, ready: Callable[[], bool]) -> None:
        wait_until(ready, self.processes[name], self.processes.values())


def _explained(problem: OSError) -> HarnessError:
    where = f"{tempfile.gettempdir()} (TMPDIR)"
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return HarnessError(f"no room left in {where}: free some, or set TMPDIR to a directory on another disk")
    return HarnessError(f"cannot prepare the local cluster in {where}: {problem.strerror or problem}")
