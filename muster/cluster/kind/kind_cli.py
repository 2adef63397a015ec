"""One kind cluster, by its name, through the `kind` command: its configuration, creation, kubeconfig and removal.

Removal is `docker rm` of its nodes: `kind delete` would do the same and then edit the user's kubeconfig, where
Muster never wrote. The reaper runs the same command, and needs no `kind` for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from muster import timeouts
from muster.cluster.kind.docker_cli import Engine, disk_full_error
from muster.cluster.kind.installation import is_archive
from muster.cluster.kind.machine_files import machine_mounts
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
# A change of GPUs is reported within a second; without one a kubelet reports every 5 minutes, as by default.
_KUBELET = {"nodeStatusUpdateFrequency": "1s", "nodeStatusReportFrequency": "5m"}
_KUBEADM = "kubeadm.k8s.io/v1beta4"
# Five nodes start at once: on a busy machine a minute is not enough for kubeadm's first requests.
_KUBEADM_TIMEOUTS = {"kubernetesAPICall": "5m0s", "controlPlaneComponentHealthCheck": "5m0s"}
_SCHEDULER = {"leader-elect": "false"}  # one instance: one that was paused must not find its lease lost


class Kind:
    """`program` is the binary; everything that it writes goes to `directory`."""

    def __init__(
        self,
        name: str,
        program: Path,
        engine: Engine,
        directory: Path,
        print_line: Callable[[str], None],
        *,
        workers: int = 0,
    ) -> None:
        self.name = name
        self.workers = worker_names(name, workers)
        self._program, self._engine, self._directory, self._print_line = program, engine, directory, print_line

    @property
    def node(self) -> str:
        """The container of its control plane; the cluster's only one unless it has workers."""
        return f"{self.name}-control-plane"

    @property
    def nodes(self) -> list[str]:
        """All containers of the cluster."""
        return [self.node, *self.workers]

    @property
    def removal_command(self) -> str:
        """For the user."""
        return f"docker rm -f -v {' '.join(self.nodes)}"

    def exists(self) -> bool:
        return self.name in self._run("get", "clusters").split()

    def adopt_workers(self) -> None:
        """Take the workers that the existing cluster has."""
        workers = set(self._run("get", "nodes", f"--name={self.name}").split()) - {self.node}
        self.workers = worker_names(self.name, len(workers))

    def kubeconfig(self) -> str:
        return self._run("get", "kubeconfig", f"--name={self.name}")

    def create(self, image: str) -> None:
        """Create the cluster and wait until its node is ready; an incomplete cluster is removed on every exit."""
        file = self._directory / "kind.yaml"
        file.write_text(self.configuration())
        size = f" with {len(self.workers)} workers" if self.workers else ""
        self._print_line(f"kind: making the cluster {self.name}{size} (about a minute)")
        Reaper.current().remember_command(self._removal)
        options = [f"--image={image}", f"--config={file}", f"--kubeconfig={self._directory / 'kind.kubeconfig'}"]
        try:
            self._run("create", "cluster", f"--name={self.name}", *options, f"--wait={timeouts.KIND_READY}s")
        except BaseException:  # ctrl-C as well
            self.remove()
            raise

    def configuration(self) -> str:
        """Of the cluster, for this machine."""
        version, mounts = self._engine.cgroup_version, machine_mounts() if self.workers else []
        workers = [mounts for _ in self.workers]
        return configuration(cgroup_version=version, sys_resource=has_sys_resource(), workers=workers)

    def remove(self) -> None:
        outcome = self._engine.run(*self._engine.removal(*self.nodes))
        problems = [line for line in outcome.stderr.lower().splitlines() if line and "no such container" not in line]
        if outcome.returncode and problems:
            self._print_line(f"the kind cluster {self.name} still exists, remove it with: {self.removal_command}")
        else:
            self.release()

    def load(self, archive: Path) -> None:
        """Give the images of an archive to every node."""
        self._run("load", "image-archive", str(archive), f"--name={self.name}")

    def load_to_control_plane(self, image: str) -> None:
        """Give it an image that the engine has, or all images of an archive."""
        what = "image-archive" if is_archive(image) else "docker-image"
        self._run("load", what, image, f"--name={self.name}", f"--nodes={self.node}")

    def release(self) -> None:
        """Let the cluster outlive this process."""
        Reaper.current().forget_command(self._removal)

    @property
    def _removal(self) -> list[str]:
        return self._engine.command_for_reaper(*self._engine.removal(*self.nodes))

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


def worker_names(cluster: str, number: int) -> list[str]:
    """As kind names them: worker, worker2, worker3."""
    return [f"{cluster}-worker{'' if index == 1 else index}" for index in range(1, number + 1)]


def configuration(
    *, cgroup_version: str, sys_resource: bool, workers: Sequence[Sequence[Mapping[str, object]]] = ()
) -> str:
    """The configuration for `kind create cluster --config`, with the embedded control plane's settings.

    Each of `workers` is a further node with these mounts. What only some machines need is added only there: a kubelet
    that accepts cgroup v1, a container runtime that does not lower OOM scores where that is forbidden.
    """
    kubeadm: list[dict[str, Any]] = [
        {
            "apiVersion": _KUBEADM,
            "kind": "ClusterConfiguration",
            "apiServer": {"extraArgs": _flags(_API_SERVER)},
            "controllerManager": {"extraArgs": _flags(_CONTROLLERS)},
            "scheduler": {"extraArgs": _flags(_SCHEDULER)},
        }
    ]
    if workers:
        for kind in ("InitConfiguration", "JoinConfiguration"):
            kubeadm.append({"apiVersion": _KUBEADM, "kind": kind, "timeouts": _KUBEADM_TIMEOUTS})
    kubelet = {**(_KUBELET if workers else {}), **({"failCgroupV1": False} if cgroup_version == "1" else {})}
    if kubelet:
        kubeadm.append({"kind": "KubeletConfiguration", **kubelet})
    cluster: dict[str, Any] = {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "networking": {"ipFamily": "ipv4", "apiServerAddress": "127.0.0.1"},
        "nodes": [
            {"role": "control-plane"},
            *({"role": "worker", "extraMounts": [dict(one) for one in mounts]} for mounts in workers),
        ],
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
