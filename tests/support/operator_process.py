"""The reference operator as a process, with exactly the permissions of manifests/operator/rbac.yaml."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from muster.cluster.local import LocalCluster
from tests.support.processes_left import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
_ACCOUNTS = "/api/v1/namespaces/kube-system/serviceaccounts"
_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_PATHS = {
    "ServiceAccount": _ACCOUNTS,
    "ClusterRole": f"{_RBAC}/clusterroles",
    "ClusterRoleBinding": f"{_RBAC}/clusterrolebindings",
    "Role": f"{_RBAC}/namespaces/kube-system/roles",
    "RoleBinding": f"{_RBAC}/namespaces/kube-system/rolebindings",
}


def operator_kubeconfig(cluster: LocalCluster, directory: Path) -> Path:
    """Create the operator's service account; returns a kubeconfig with its token."""
    api, asked = cluster.connection.api, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    _grant(cluster, "rbac")
    token = api.post(f"{_ACCOUNTS}/muster-operator/token", asked)["status"]["token"]
    config = yaml.safe_load(cluster.client_kubeconfig("admin").read_text())
    config["users"] = [{"name": one["name"], "user": {"token": token}} for one in config["users"]]
    path = directory / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


def grant_kubectl_delivery(cluster: LocalCluster) -> None:
    """What the operator needs in addition with --mpi-kubectl-delivery-image."""
    _grant(cluster, "rbac-mpi-kubectl-delivery")


def _grant(cluster: LocalCluster, name: str) -> None:
    for manifest in yaml.safe_load_all((ROOT / "manifests" / "operator" / f"{name}.yaml").read_text()):
        cluster.connection.api.post(_PATHS[manifest["kind"]], manifest)


@contextmanager
def operator(kubeconfig: Path, log: Path, *flags: str) -> Iterator[subprocess.Popen[bytes]]:
    argv = [sys.executable, "-m", "scheduler.operator", "--kubeconfig", str(kubeconfig), *flags]
    with log.open("ab") as output:
        process = subprocess.Popen(argv, cwd=ROOT, stderr=output, env={**os.environ, "PYTHONPATH": str(ROOT)})
    try:
        yield process
    finally:
        process.terminate()
        assert process.wait(PATIENCE) == 0, log.read_text()
