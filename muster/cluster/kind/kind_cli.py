"""One kind cluster, by its name, through the `kind` command: its configuration, creation, kubeconfig and removal.

Removal is `docker rm` of its one node: `kind delete` would do the same and then edit the user's kubeconfig, where
Muster never wrote. The reaper runs the same command, and needs no `kind` for it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from muster import timeouts
from muster.cluster.kind.docker_cli import Engine, disk_full_error
from muster.errors import HarnessError
from muster.processes import Process, Reaper

# The stock image of this release of kind, for Kubernetes 1.37.
STOCK_IMAGE = "kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5"
_MANY_LINES, _FEW_LINES = 500, 12
_SYS_RESOURCE = 1 << 24  # among the capabilities of a process
_STATUS = Path("/proc/self/status")
# kind's patches replace lists as a whole, so its own flags are repeated here.
_API_SERVER = {
    "runtime-config": "",
    "enable-admission-plugins": "NodeRestriction,ExtendedResourceToleration",  # pods with GPUs tolerate their taint
}
_CONTROLLERS = {
    "enable-hostpath-provisioner": "true",
    # Simulated nodes have no kubelet: a missing heartbeat means nothing. A node is down when its condition says so.
    "node-monitor-grace-period": "24h",
    "node-startup-grace-period": "24h",
    "node-monitor-period": "1s",
    "node-eviction-rate": "10",
}
_SCHEDULER = {"leader-elect": "false"}  # one instance: one that was paused must not find its lease lost


class Kind:
    """`program` is the binary; everything that it writes goes to `directory`."""

    def __init__(
        self, name: str, program: Path, engine: Engine, directory: Path, print_line: Callable[[str], None]
    ) -> None:
        self.name = name
        self._program, self._engine, self._directory, self._print_line = program, engine, directory, print_line

    @property
    def node(self) -> str:
        """The name of the cluster's one container."""
        return f"{self.name}-control-plane"

    def exists(self) -> bool:
        return self.name in self._run("get", "clusters").split()

    def kubeconfig(self) -> str:
        return self._run("get", "kubeconfig", f"--name={self.name}")

    def create(self, image: str) -> None:
        """Create the cluster and wait until its node is ready; an incomplete cluster is removed on every exit."""
        file = self._directory / "kind.yaml"
        version = self._engine.cgroup_version
        file.write_text(configuration(cgroup_version=version, sys_resource=has_sys_resource()))
        self._print_line(f"kind: making the cluster {self.name} (about a minute)")
        Reaper.current().remember_command(self._removal)
        options = [f"--image={image}", f"--config={file}", f"--kubeconfig={self._directory / 'kind.kubeconfig'}"]
        try:
            self._run("create", "cluster", f"--name={self.name}", *options, f"--wait={timeouts.KIND_READY}s")
        except BaseException:  # ctrl-C as well
            self.remove()
            raise

    def remove(self) -> None:
        outcome = self._engine.run(*self._engine.removal(self.node))
        if outcome.returncode and "no such container" not in outcome.stderr.lower():
            self._print_line(f"the kind cluster {self.name} still exists, remove it with: docker rm -f -v {self.node}")
        else:
            self.release()

    def release(self) -> None:
        """Let the cluster outlive this process."""
        Reaper.current().forget_command(self._removal)

    @property
    def _removal(self) -> list[str]:
        return self._engine.command_for_reaper(*self._engine.removal(self.node))

    def _run(self, *arguments: str) -> str:
        log = self._directory / f"kind-{arguments[0]}-{arguments[1]}.log"
        process = Process("kind", [self._program, *arguments], directory=self._directory, log=log)
        if process.run_to_end():
            output = process.log_tail(_MANY_LINES)
            raise disk_full_error(output) or HarnessError(
                f"`kind {arguments[0]} {arguments[1]}` failed:\n{_errors_in(output)}"
            )
        return log.read_text()


def _errors_in(output: str) -> str:
    """The error lines of kind and kubeadm, without the stack that follows."""
    lines = output.splitlines()
    return "\n".join([line for line in lines if line.lower().startswith("error")] or lines[-_FEW_LINES:])


def configuration(*, cgroup_version: str, sys_resource: bool) -> str:
    """The configuration for `kind create cluster --config`: one node, with the embedded control plane's settings.

    What only some machines need is added only there: a kubelet that accepts cgroup v1, a container runtime that does
    not lower OOM scores where that is forbidden.
    """
    kubeadm: list[dict[str, Any]] = [
        {
            "apiVersion": "kubeadm.k8s.io/v1beta4",
            "kind": "ClusterConfiguration",
            "apiServer": {"extraArgs": _flags(_API_SERVER)},
            "controllerManager": {"extraArgs": _flags(_CONTROLLERS)},
            "scheduler": {"extraArgs": _flags(_SCHEDULER)},
        }
    ]
    if cgroup_version == "1":
        kubeadm.append({"kind": "KubeletConfiguration", "failCgroupV1": False})
    cluster: dict[str, Any] = {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "networking": {"ipFamily": "ipv4", "apiServerAddress": "127.0.0.1"},
        "nodes": [{"role": "control-plane"}],
        "kubeadmConfigPatches": [yaml.safe_dump(patch, sort_keys=False) for patch in kubeadm],
    }
    if not sys_resource:
        patch = '[plugins."io.containerd.grpc.v1.cri"]\n  restrict_oom_score_adj = true\n'
        cluster["containerdConfigPatches"] = [patch]
    return yaml.safe_dump(cluster, sort_keys=False)


def has_sys_resource(status: Path = _STATUS) -> bool:
    """Whether a process of this machine may lower its OOM score (CAP_SYS_RESOURCE)."""
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("CapBnd:"):
            return bool(int(line.split()[1], 16) & _SYS_RESOURCE)
    return True


def _flags(values: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]
