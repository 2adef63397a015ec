"""The local cluster: real etcd, kube-apiserver, kube-controller-manager and KWOK in a private directory, on loopback.

Nothing is left behind: `stop` is called whenever `start` fails, works on dead and on paused processes, and the reaper
does the same when this process is killed. A control plane whose component died is not repaired: start another one.
"""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from muster import assets
from muster.cluster.interface import Connection
from muster.cluster.kubeconfig import CONTEXT, write_kubeconfig
from muster.cluster.kwok import kwok_flags, simulator_command
from muster.cluster.local import component_flags
from muster.cluster.local.certificates import CertificateAuthority
from muster.errors import HarnessError
from muster.processes import Process, Reaper
from muster.processes.readiness import HealthCheck, Port, component_died, wait_until

BINARIES = ("etcd", "kube-apiserver", "kube-controller-manager", "kwok")
_STOP_ORDER = ("simulator", "kwok", "kube-controller-manager", "kube-apiserver", "etcd")
_SETTLED = "/api/v1/namespaces/default/serviceaccounts/default"  # created by the controller-manager
# User and group of each client certificate. KWOK acts as the kubelet of every node, which no built-in role allows.
_CLIENTS = {
    "admin": ("muster-admin", "system:masters"),
    "kube-controller-manager": ("system:kube-controller-manager", None),
    "scheduler": ("system:kube-scheduler", None),
    "kwok": ("muster-kwok", "system:masters"),
    "simulator": ("muster-simulator", "system:masters"),
}


class LocalCluster:
    """`with LocalCluster() as cluster:` is a running cluster that no other process uses."""

    capabilities = frozenset({"pause", "kill", "configure", "exclusive"})

    def __init__(
        self,
        *,
        keep: bool = False,
        feature_gates: Mapping[str, bool] | None = None,
        runtime_config: Sequence[str] = (),
        controllers: Sequence[str] = (),
        print_line: Callable[[str], None] | None = None,
    ) -> None:
        self.processes: dict[str, Process] = {}
        self.keep = keep
        self._feature_gates = dict(feature_gates or {})
        self._runtime_config = tuple(runtime_config)
        self._controllers = tuple(controllers)
        self._print_line = print_line or (lambda _: None)
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
        """Start everything and return when pods can be created; on failure nothing is left behind."""
        binaries = self._binaries()
        self.processes.clear()  # from an earlier start
        try:
            self._prepare_directory()
            self._start_processes(binaries)
        except OSError as problem:
            self.stop()
            raise _preparation_error(problem) from None
        except BaseException:  # ctrl-C as well
            self.stop()
            raise
        self._connection = Connection(self.client_kubeconfig("admin"), CONTEXT)
        return self._connection

    def stop(self) -> None:
        """Stop all processes, clients before servers, and remove the directory; may be called again."""
        self._connection = None
        for name in _STOP_ORDER:
            if name in self.processes:
                self.processes[name].kill()  # its data is not needed again: an orderly end would take a second
        while self._ports:
            self._ports.pop().release()
        if self._directory is not None and not self.keep:
            Reaper.current().remove_directory(self._directory)

    def check(self) -> None:
        """Raise a HarnessError that names the component that died. Takes microseconds: call it often."""
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
        return assets.ensure(BINARIES, print_line=self._print_line)

    def _prepare_directory(self) -> None:
        self._directory = Reaper.current().make_directory("muster-", keep=self.keep)
        certificates = self._directory / "certificates"
        certificates.mkdir()
        authority = CertificateAuthority(certificates)
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
        api = HealthCheck(api_port, trust=certificates / "ca.crt", certificate=certificates / "admin.crt")
        self._run("etcd", [binaries["etcd"], *component_flags.etcd()])
        flags = component_flags.kube_apiserver(api_port, self._feature_gates, self._runtime_config)
        self._run("kube-apiserver", [binaries["kube-apiserver"], *flags])
        self._wait("kube-apiserver", lambda: api.answers("/livez/ping"))
        # It serves, but takes two more seconds to create its roles. Clients in system:masters start meanwhile.
        self._run("kwok", [binaries["kwok"], *kwok_flags(kwok_port)])
        self._run("simulator", simulator_command())
        self._wait("kube-apiserver", lambda: api.answers("/readyz"))
        # Not earlier: it checks the API server's health only once a second.
        flags = component_flags.kube_controller_manager(self._feature_gates, self._controllers)
        self._run("kube-controller-manager", [binaries["kube-controller-manager"], *flags])
        self._wait("kwok", lambda: HealthCheck(kwok_port).answers("/healthz"))
        self._wait("kube-controller-manager", lambda: api.answers(_SETTLED))

    def _run(self, name: str, argv: Sequence[str | Path]) -> None:
        process = Process(name, argv, directory=self.directory, log=self.directory / f"{name}.log")
        self.processes[name] = process
        process.start()

    def _wait(self, name: str, ready: Callable[[], bool]) -> None:
        wait_until(ready, self.processes[name], self.processes.values())


def _preparation_error(problem: OSError) -> HarnessError:
    where = f"{tempfile.gettempdir()} (TMPDIR)"
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return HarnessError(f"no space left in {where}: free some, or set TMPDIR to a directory on another disk")
    return HarnessError(f"cannot prepare the local cluster in {where}: {problem.strerror or problem}")
