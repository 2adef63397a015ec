"""An existing cluster with real nodes for tests: a kind cluster that no code of a run has made or may change.

Its API server keeps an audit log, its own kube-scheduler runs as kubeadm set it up, and a tenant's pod holds a GPU of
the one worker that is not given to runs. As in `existing_cluster`, the user of a run is a service account with exactly
the roles that `muster rbac` prints.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import tenacity
import yaml

from muster import assets
from muster.cluster.interface import Connection
from muster.cluster.kind.docker_cli import Engine
from muster.cluster.kind.kind_cli import Kind
from muster.cluster.kind.reset import first_problem
from muster.cluster.kind.training_images import training_archive
from muster.cluster.kubeconfig import CONTEXT, write_client_kubeconfig
from muster.cluster.resources import NODE, POD
from tests.support.existing_cluster import AUDIT_POLICY, PATIENCE, World, install_definitions

WORKERS, GIVEN = 4, 3
SELECTOR = "pool=muster"
_GPUS = 4
_THERE = "/etc/kubernetes/audit"
_OURS = ("controllerManager", "scheduler")  # of whose settings an existing cluster has none
_TAINT = {"key": "pool", "value": "muster", "effect": "NoSchedule"}


class AuditedKind(Kind):
    """As somebody else would make it: kubeadm's defaults, and an audit log that this machine can read."""

    audit: Path

    def configuration(self) -> str:
        cluster: dict[str, Any] = yaml.safe_load(super().configuration())
        cluster["nodes"][0]["extraMounts"] = [{"hostPath": str(self.audit), "containerPath": _THERE}]
        patches = [yaml.safe_load(patch) for patch in cluster["kubeadmConfigPatches"]]
        for patch in patches:
            if patch["kind"] == "ClusterConfiguration":
                for component in _OURS:
                    patch.pop(component, None)
                server = patch["apiServer"]
                server["extraArgs"] += _arguments(
                    {"audit-policy-file": f"{_THERE}/policy.yaml", "audit-log-path": f"{_THERE}/audit.log"}
                )
                server["extraVolumes"] = [{"name": "audit", "hostPath": _THERE, "mountPath": _THERE}]
        cluster["kubeadmConfigPatches"] = [yaml.safe_dump(patch, sort_keys=False) for patch in patches]
        return yaml.safe_dump(cluster, sort_keys=False)


class KindWorld(World):
    """The kind cluster with its tenants, and a kubeconfig for the user of the run."""

    environment: ClassVar[dict[str, str]] = {**os.environ, "MUSTER_TIMEOUT_SCALE": "2"}  # some waits are in vain

    def __init__(self, engine: Engine, kind: AuditedKind, directory: Path) -> None:
        self.engine, self.kind, self.directory = engine, kind, directory
        self.kubeconfig = directory / "run-user.kubeconfig"
        write_client_kubeconfig(directory, "admin", kind.kubeconfig())
        connection = Connection(directory / "admin.kubeconfig", CONTEXT)
        self.api = connection.api
        parts = {"audit_log": kind.audit / "audit.log", "client_kubeconfig": lambda _: connection.kubeconfig}
        self.cluster = cast(Any, SimpleNamespace(**parts))

    @property
    def given(self) -> list[str]:
        """The workers that the owner gives to runs."""
        return self.kind.workers[:GIVEN]

    def set_up(self) -> None:
        install_definitions(self.api)
        for worker in self.kind.workers:
            self.engine.run_in_node(worker, f"mkdir -p /etc/muster && echo {_GPUS} > /etc/muster/gpus")
        self.wait_until(lambda: not first_problem(self.api.list(NODE)["items"], self.kind.workers))
        self.wait_until(lambda: all(self.gpus(worker) == str(_GPUS) for worker in self.kind.workers))
        for worker in self.given:
            self.api.patch(NODE, worker, {"metadata": {"labels": {"pool": "muster"}}, "spec": {"taints": [_TAINT]}})
        self._move_name_servers()
        for manifest in tenant_objects():
            self.api.ensure(manifest)
        self.wait_until(lambda: self.api.get(POD, "theirs", "team-a")["status"]["phase"] == "Running")
        self.grant_roles("--node-selector")

    def _move_name_servers(self) -> None:
        """CoreDNS may be bound to any worker, and requests CPUs: now the taint keeps it off."""
        for pod in self.api.list(POD, "kube-system", labelSelector="k8s-app=kube-dns")["items"]:
            if pod["spec"].get("nodeName") in self.given:
                self.api.delete(POD, pod["metadata"]["name"], "kube-system")

    def wait_until(self, holds: Callable[[], bool]) -> None:
        """Polled: what is waited for is in different objects, and on nodes."""
        attempts = tenacity.Retrying(
            retry=tenacity.retry_if_not_result(bool),
            wait=tenacity.wait_fixed(0.5),
            stop=tenacity.stop_after_delay(PATIENCE),
        )
        attempts(holds)

    def theirs(self) -> dict[str, Any]:
        """Of pods and nodes without what changes when a kubelet is restarted."""
        found = super().theirs()
        for name, one in found.items():
            if name.startswith("Pod "):
                one["status"] = one["status"]["phase"]
            if name.startswith("Node "):
                for field in ("conditions", "images", "volumesInUse"):
                    one["status"].pop(field, None)
        return found

    def training_processes(self) -> int:
        """Containers of scenarios that still run on the given nodes."""
        count = r"ls -l /proc/[0-9]*/exe 2>/dev/null | grep -c '/training$' || true"
        counted = [self.engine.run_in_node(worker, count) for worker in self.given]
        return sum(map(int, counted))

    def gpus(self, worker: str) -> str:
        """What its kubelet reports."""
        found: str = self.api.get(NODE, worker)["status"]["allocatable"].get("nvidia.com/gpu", "")
        return found


def tenant_objects() -> list[dict[str, Any]]:
    """A tenant's pod on a GPU, and classes with the names that the walk-throughs use."""
    limits = {"nvidia.com/gpu": "1"}
    container = {"name": "main", "image": "muster.dev/training:1", "args": ["theirs"], "resources": {"limits": limits}}
    metadata = {"namespace": "team-a"}
    classes = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
        for name, value in (("critical", 5), ("medium", 3))
    ]
    accounts = [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {**metadata, "name": name}}
        for name in ("default", "muster")
    ]
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}},
        *accounts,
        *classes,
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {**metadata, "name": "theirs"},
            "spec": {"priorityClassName": "medium", "containers": [{**container, "imagePullPolicy": "IfNotPresent"}]},
        },
    ]


@contextlib.contextmanager
def existing_kind(image: str, directory: Path) -> Iterator[KindWorld]:
    """A cluster with an archive of `make kind-image`; gone, with its nodes, when the block ends."""
    audit = directory / "audit"
    audit.mkdir()
    (audit / "policy.yaml").write_text(json.dumps(AUDIT_POLICY))
    engine = Engine(print)
    reference = engine.ensure_image(image)
    program = assets.ensure(("kind",), print_line=print)["kind"]
    kind = AuditedKind("theirs", program, engine, directory, print, workers=WORKERS)
    kind.audit = audit
    kind.create(reference)
    try:
        kind.load(training_archive(print))
        world = KindWorld(engine, kind, directory)
        world.set_up()
        yield world
    finally:
        kind.remove()


def _arguments(values: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]
