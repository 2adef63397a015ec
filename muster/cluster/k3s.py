"""k3s by testcontainers, as a control plane only: no agent, no scheduler, no packaged components.

KWOK, the simulator and the schedulers run beside it, as with the embedded control plane; they use the administrator's
credentials of k3s, because it issues no others. Trap: its container does not end when Muster is killed; the reaper of
testcontainers (Ryuk) removes it, and comes from the same registry as k3s.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tenacity

from muster import assets, timeouts
from muster.cluster import docker_engine
from muster.cluster.interface import Connection
from muster.cluster.kubeconfig import CONTEXT, write_client_kubeconfig
from muster.cluster.kwok import kwok_flags, simulator_command
from muster.cluster.local.controlplane import LocalCluster
from muster.errors import HarnessError
from muster.processes import Reaper
from muster.processes.readiness import HealthCheck, Port

IMAGE = "rancher/k3s:v1.36.4-k3s1"
OTHER_IMAGE = "MUSTER_K3S_IMAGE"  # an environment variable that names another image
_PORT = 6443
_KUBECONFIG = "/etc/rancher/k3s/k3s.yaml"
_PACKAGED = "coredns,servicelb,traefik,local-storage,metrics-server,runtimes"
_PAUSE_SECONDS = 0.2
COMMAND = (
    "server",
    "--disable-agent",
    "--disable-scheduler",
    "--disable-cloud-controller",
    "--disable-helm-controller",
    "--disable-network-policy",
    f"--disable={_PACKAGED}",
    "--flannel-backend=none",
    # As on the embedded control plane: component_flags.py has the reasons.
    "--kube-apiserver-arg=enable-admission-plugins=NodeRestriction,ExtendedResourceToleration",
    "--kube-controller-manager-arg=node-monitor-grace-period=24h",
    "--kube-controller-manager-arg=node-startup-grace-period=24h",
    "--kube-controller-manager-arg=node-monitor-period=1s",
    "--kube-controller-manager-arg=node-eviction-rate=10",
)


class K3sCluster(LocalCluster):
    """The same interface as LocalCluster, with the control plane of k3s."""

    _container: Any = None

    def start(self) -> Connection:
        docker_engine.connect(reaper=True)
        return super().start()

    def stop(self) -> None:
        if self._container is not None:
            container, self._container = self._container, None
            with docker_engine.explain_errors("remove the container of k3s"):
                container.stop()
        super().stop()

    def versions(self) -> dict[str, str]:
        return {"k3s": self._image.rpartition(":")[2]}

    @property
    def _image(self) -> str:
        return os.environ.get(OTHER_IMAGE) or IMAGE

    def _binaries(self) -> Mapping[str, Path]:
        return assets.ensure(("kwok",), print_line=self._print_line)

    def _prepare_directory(self) -> None:
        self._directory = Reaper.current().make_directory("muster-", keep=self.keep)
        self._ports = [Port()]

    def _start_processes(self, binaries: Mapping[str, Path]) -> None:
        with docker_engine.explain_errors(f"start {self._image} (not present, and no registry to pull it from?)"):
            self._start_container()
            address = f"https://127.0.0.1:{self._container.get_exposed_port(_PORT)}"
            kubeconfig = self._kubeconfig()
        for user in ("admin", "scheduler"):
            write_client_kubeconfig(self.directory, user, kubeconfig, address)
        self._wait_for_api()
        port = self._ports[0].number
        self._run("kwok", [binaries["kwok"], *kwok_flags(port, kubeconfig="admin.kubeconfig")])
        self._run("simulator", simulator_command("admin.kubeconfig"))
        self._wait("kwok", lambda: HealthCheck(port).answers("/healthz"))

    def _start_container(self) -> None:
        from testcontainers.community.k3s import K3SContainer

        self._container = container = K3SContainer(self._image)
        container.env.pop("K3S_URL", None)  # the address of a server to join: there is none
        container.volumes.clear()  # cgroups and privileges are needed by the agent only
        container.with_kwargs()
        container.with_command(list(COMMAND))
        container.ports = {f"{_PORT}/tcp": ("127.0.0.1",)}
        container._connect = lambda: None  # it would wait for a log line of the agent
        container.start()

    def _kubeconfig(self) -> str:
        """Written by k3s as soon as it has created its certificates."""
        ended = self._retry(lambda: self._container.exec(["cat", _KUBECONFIG]), lambda ended: ended.exit_code == 0)
        text: str = ended.output.decode()
        return text

    def _wait_for_api(self) -> None:
        api = Connection(self.client_kubeconfig("admin"), CONTEXT).api
        api.read("/readyz")
        accounts = "/api/v1/namespaces/default/serviceaccounts"  # created by the controller-manager
        self._retry(lambda: api.read(accounts), lambda listed: b'"default"' in listed.partition(b'"items"')[2])

    def _retry(self, request: Any, is_ready: Any) -> Any:
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_not_result(is_ready),
            wait=tenacity.wait_fixed(_PAUSE_SECONDS),
            stop=tenacity.stop_after_delay(timeouts.COMPONENT_READY),
        )
        try:
            return attempts(request)
        except tenacity.RetryError:
            lines = self._container.get_logs()[1].decode(errors="replace").splitlines()[-8:]
            raise HarnessError("\n".join(["k3s was not ready in time. Its last lines:", *lines])) from None
