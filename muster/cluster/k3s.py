"""k3s by testcontainers, and of k3s the control plane only: no agent, no scheduler, nothing that it packs along.

It is ours alone, like the embedded plane, whose KWOK and player run beside it; schedulers do so as well, with k3s's own
credentials of an administrator, for it gives out no others. Trap: its container does not end when we are killed;
testcontainers' own janitor (Ryuk) sees to that, and comes from the same registry as k3s.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tenacity

from muster import assets, suite, timeouts
from muster.cluster import container_engine
from muster.cluster.connections import Connection
from muster.cluster.kind.credentials import write_client
from muster.cluster.local import components
from muster.cluster.local.kubeconfigs import CONTEXT
from muster.cluster.local.plane import LocalCluster
from muster.cluster.local.ports import Port
from muster.cluster.local.readiness import Probe
from muster.errors import HarnessError
from muster.processes import Janitor

IMAGE = "rancher/k3s:v1.36.4-k3s1"
OTHER_IMAGE = "MUSTER_K3S_IMAGE"  # a variable that names another one
_PORT = 6443
_KUBECONFIG = "/etc/rancher/k3s/k3s.yaml"
_PACKED = "coredns,servicelb,traefik,local-storage,metrics-server,runtimes"
_PAUSE_SECONDS = 0.2
COMMAND = (
    "server",
    "--disable-agent",
    "--disable-scheduler",
    "--disable-cloud-controller",
    "--disable-helm-controller",
    "--disable-network-policy",
    f"--disable={_PACKED}",
    "--flannel-backend=none",
    # As on the embedded plane, where the reasons are.
    "--kube-apiserver-arg=enable-admission-plugins=NodeRestriction,ExtendedResourceToleration",
    "--kube-controller-manager-arg=node-monitor-grace-period=24h",
    "--kube-controller-manager-arg=node-startup-grace-period=24h",
    "--kube-controller-manager-arg=node-monitor-period=1s",
    "--kube-controller-manager-arg=node-eviction-rate=10",
)


class K3sCluster(LocalCluster):
    """The same as LocalCluster to those who use it."""

    _container: Any = None

    def start(self) -> Connection:
        container_engine.connect(reaper=True)
        return super().start()

    def stop(self) -> None:
        if self._container is not None:
            container, self._container = self._container, None
            with container_engine.explained("remove the container of k3s"):
                container.stop()
        super().stop()

    def versions(self) -> dict[str, str]:
        return {"k3s": self._image.rpartition(":")[2]}

    @property
    def _image(self) -> str:
        return os.environ.get(OTHER_IMAGE) or IMAGE

    def _binaries(self) -> Mapping[str, Path]:
        return assets.ensure(("kwok",), say=self._say)

    def _prepare_directory(self) -> None:
        self._directory = Janitor.current().make_directory("muster-", keep=self.keep)
        self._ports = [Port()]

    def _start_processes(self, binaries: Mapping[str, Path]) -> None:
        with container_engine.explained(f"start {self._image} (not here, and no registry to get it from?)"):
            self._start_container()
            address = f"https://127.0.0.1:{self._container.get_exposed_port(_PORT)}"
            kubeconfig = self._kubeconfig()
        for user in ("admin", "scheduler"):
            write_client(self.directory, user, kubeconfig, address)
        self._wait_for_api()
        stages, port = suite.manifests() / "kwok" / "kwok.yaml", self._ports[0].number
        self._run("kwok", [binaries["kwok"], *components.kwok(port, stages, kubeconfig="admin.kubeconfig")])
        self._run("player", components.player("admin.kubeconfig"))
        self._wait("kwok", lambda: Probe(port).answers("/healthz"))

    def _start_container(self) -> None:
        from testcontainers.community.k3s import K3SContainer

        self._container = container = K3SContainer(self._image)
        container.env.pop("K3S_URL", None)  # the address of a server to join: there is none
        container.volumes.clear()  # without an agent nobody cares about cgroups, or has to be privileged
        container.with_kwargs()
        container.with_command(list(COMMAND))
        container.ports = {f"{_PORT}/tcp": ("127.0.0.1",)}
        container._connect = lambda: None  # it would wait for a line that only an agent brings about
        container.start()

    def _kubeconfig(self) -> str:
        """Written by k3s as soon as it has made its certificates."""
        ended = self._patiently(lambda: self._container.exec(["cat", _KUBECONFIG]), lambda ended: ended.exit_code == 0)
        text: str = ended.output.decode()
        return text

    def _wait_for_api(self) -> None:
        api = Connection(self.client_kubeconfig("admin"), CONTEXT).api
        api.read("/readyz")
        accounts = "/api/v1/namespaces/default/serviceaccounts"  # the controller-manager's first work
        self._patiently(lambda: api.read(accounts), lambda listed: b'"default"' in listed.partition(b'"items"')[2])

    def _patiently(self, ask: Any, is_good: Any) -> Any:
        asking = tenacity.Retrying(
            retry=tenacity.retry_if_not_result(is_good),
            wait=tenacity.wait_fixed(_PAUSE_SECONDS),
            stop=tenacity.stop_after_delay(timeouts.COMPONENT_READY),
        )
        try:
            return asking(ask)
        except tenacity.RetryError:
            said = self._container.get_logs()[1].decode(errors="replace").splitlines()[-8:]
            raise HarnessError("\n".join(["k3s was not ready in time. Its last lines:", *said])) from None
