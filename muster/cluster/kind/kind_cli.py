"""What kind is asked for: one node, whose control plane is set as the embedded one is where scenarios depend on it.

kind's patches replace lists as a whole, so its own words are repeated. What only some machines need is added only
there: a kubelet that puts up with cgroup v1, a runtime that does not ask for what the machine forbids.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

# The stock image of this release of kind, for Kubernetes 1.37.
STOCK_IMAGE = "kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5"
_SYS_RESOURCE = 1 << 24  # among the capabilities of a process
_STATUS = Path("/proc/self/status")
_API_SERVER = {
    "runtime-config": "",
    "enable-admission-plugins": "NodeRestriction,ExtendedResourceToleration",  # GPUs bring their own toleration
}
_CONTROLLERS = {
    "enable-hostpath-provisioner": "true",
    # Simulated nodes have no kubelet: silence is no sign of trouble. A node is down when its condition says so.
    "node-monitor-grace-period": "24h",
    "node-startup-grace-period": "24h",
    "node-monitor-period": "1s",
    "node-eviction-rate": "10",
}
_SCHEDULER = {"leader-elect": "false"}  # alone: one that was paused must not find its lease lost


def configuration(*, cgroup_version: str, sys_resource: bool) -> str:
    """The configuration of a cluster of one node, for `kind create cluster --config`."""
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
    asked: dict[str, Any] = {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "networking": {"ipFamily": "ipv4", "apiServerAddress": "127.0.0.1"},
        "nodes": [{"role": "control-plane"}],
        "kubeadmConfigPatches": [yaml.safe_dump(patch, sort_keys=False) for patch in kubeadm],
    }
    if not sys_resource:
        asked["containerdConfigPatches"] = ['[plugins."io.containerd.grpc.v1.cri"]\n  restrict_oom_score_adj = true\n']
    return yaml.safe_dump(asked, sort_keys=False)


def may_have_sys_resource(status: Path = _STATUS) -> bool:
    """Whether a process of this machine may ask for a better treatment by the out-of-memory killer."""
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith("CapBnd:"):
            return bool(int(line.split()[1], 16) & _SYS_RESOURCE)
    return True


def _flags(values: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]
