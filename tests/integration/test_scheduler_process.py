"""The reference scheduler as a process beside a real API server: it binds, evicts, nominates, and controls queues."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from muster.cluster.local import LocalCluster
from muster.cluster.resources import EVENT, NODE, POD, Resource
from muster.schedulers.crds import install_crds
from muster.schedulers.volcano import VOLCANO_COMMAND, VOLCANO_GROUP, VOLCANO_QUEUE
from scheduler.client import Access, Client, Reflector
from scheduler.runtime.api_types import CustomResource
from tests.support.local_cluster import Object, Watch, node, phase_is, pod
from tests.support.processes_left import PATIENCE

pytestmark = pytest.mark.plane

_CRDS = Path(__file__).parents[2] / "manifests" / "crds"
_CLAIM = Resource("v1", "PersistentVolumeClaim", "persistentvolumeclaims")
_VOLUMES, _CLASSES = "/api/v1/persistentvolumes", "/apis/storage.k8s.io/v1/storageclasses"
_SELECTED_NODE = "volume.kubernetes.io/selected-node"
_RIGHTS = {
    "ServiceAccount": "/api/v1/namespaces/kube-system/serviceaccounts",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/rolebindings",
}


class ClaimWatch(Watch):
    """Everything that happens to claims."""

    kinds = (_CLAIM,)


class Scheduler:
    """`python -m scheduler`, with the lines that it logs."""

    def __init__(self, kubeconfig: Path, *arguments: str) -> None:
        command = [sys.executable, "-m", "scheduler", "--kubeconfig", str(kubeconfig), *arguments]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.metrics_address = self.until("listening")["metrics"]
        self.until("ready")

    def until(self, message: str) -> dict[str, Any]:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            told: dict[str, Any] = json.loads(line)
            if told["message"] == message:
                return told
        raise AssertionError(f"the scheduler ended before it said {message!r}")

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode


@pytest.fixture(scope="module")
def plane() -> Iterator[tuple[LocalCluster, Watch]]:
    with LocalCluster() as cluster:
        api = cluster.connection.api
        for name in ("volcano-podgroups", "volcano-queues", "volcano-commands", "koordinator-podgroups"):
            install_crds(api, _CRDS / f"{name}.yaml")
        for name, value in (("low", 10), ("high", 100)):
            api.create(_priority(name, value))
        yield cluster, Watch(api)


@pytest.fixture(scope="module")
def account(plane: tuple[LocalCluster, Watch], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kubeconfig with exactly the RBAC rules of the scheduler's manifest."""
    api, admin = plane[0].connection.api, plane[0].client_kubeconfig("admin")
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    for manifest in yaml.safe_load_all((_CRDS.parent / "scheduler" / "rbac.yaml").read_text()):
        api.post(_RIGHTS[manifest["kind"]], manifest)
    token = api.post(f"{_RIGHTS['ServiceAccount']}/muster-scheduler/token", asked)["status"]["token"]
    config = yaml.safe_load(admin.read_text())
    config["users"] = [{"name": one["name"], "user": {"token": token}} for one in config["users"]]
    path = tmp_path_factory.mktemp("account") / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


@pytest.fixture
def scheduler(account: Path) -> Iterator[Scheduler]:
    running = Scheduler(account, "--leader-elect")  # so its rights to the Lease are tried, too
    yield running
    assert running.stop() == 0


def test_binds_evicts_and_nominates(plane: tuple[LocalCluster, Watch], scheduler: Scheduler) -> None:
    cluster, watch = plane
    api = cluster.connection.api
    api.create(node("n", gpus=1))
    api.create(_asking("low-pod", gpus=1, priority="low"))
    watch.until(POD, "low-pod", phase_is("Running"))
    api.create(_asking("high-pod", gpus=1, priority="high"))
    marked = watch.until(POD, "low-pod", _has("DisruptionTarget", "PreemptionByScheduler"))
    nominated = watch.until(POD, "high-pod", lambda _, found: found["status"].get("nominatedNodeName") == "n")
    gone = watch.until(POD, "low-pod", lambda event, _: event == "DELETED")
    runs = watch.until(POD, "high-pod", phase_is("Running"))
    assert marked < gone < runs
    assert nominated < runs

    api.create(_asking("hopeless", gpus=5, priority="low"))
    watch.until(POD, "hopeless", _has("PodScheduled", "Unschedulable"))
    assert "nvidia.com/gpu" in _explained(cluster, "hopeless")
    with urllib.request.urlopen(f"http://{scheduler.metrics_address}/metrics") as answer:
        text = answer.read().decode()
    assert 'muster_scheduler_actions_total{action="bind",result="success"} 2' in text
    assert 'muster_scheduler_actions_total{action="evict",result="success"} 1' in text
    assert scheduler.stop() == 0  # pending writes are finished before it exits
    watch.until(EVENT, "high-pod", _says("Scheduled"))
    watch.until(EVENT, "low-pod", _says("Preempted"))
    watch.until(EVENT, "hopeless", _says("FailedScheduling"))
    for name in ("high-pod", "hopeless"):
        api.delete(POD, name, "default")
    watch.until(POD, "high-pod", lambda event, _: event == "DELETED")
    api.delete(NODE, "n")


def test_a_gang_is_pending_until_its_queue_opens(plane: tuple[LocalCluster, Watch], scheduler: Scheduler) -> None:
    cluster, watch = plane
    api = cluster.connection.api
    api.create(node("g", gpus=2))
    metadata: Object = {"name": "gang", "namespace": "default"}
    spec = {"minMember": 2, "queue": "later"}
    api.create({"apiVersion": VOLCANO_GROUP.api_version, "kind": "PodGroup", "metadata": metadata, "spec": spec})
    for name in ("one", "two"):
        member = _asking(name, gpus=1, priority="low")
        member["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = "gang"
        api.create(member)
    watch.until(POD, "one", _has("PodScheduled", "Unschedulable"))
    queue = {"apiVersion": VOLCANO_QUEUE.api_version, "kind": "Queue", "metadata": {"name": "later"}, "spec": {}}
    api.create(queue)
    for name in ("one", "two"):
        watch.until(POD, name, phase_is("Running"))
    while scheduler.until("decision").get("phase") != "Running":
        pass
    asyncio.run(_until(cluster, "queues", lambda status: status.get("state") == "Open" and status.get("running") == 1))
    target = {"kind": "Queue", "name": "later"}
    command = {"metadata": {"name": "close", "namespace": "default"}, "action": "CloseQueue", "target": target}
    api.create({"apiVersion": VOLCANO_COMMAND.api_version, "kind": "Command", **command})
    asyncio.run(_until(cluster, "queues", lambda status: status["state"] == "Closing"))
    api.delete(VOLCANO_GROUP, "gang", "default")
    asyncio.run(_until(cluster, "queues", lambda status: status["state"] == "Closed"))
    assert not api.list(VOLCANO_COMMAND)["items"]


def test_a_pod_is_bound_where_its_volumes_are(plane: tuple[LocalCluster, Watch], scheduler: Scheduler) -> None:
    """The controller of volumes is a real one; the test is the provisioner."""
    cluster, watch = plane
    api, claims = cluster.connection.api, ClaimWatch(cluster.connection.api)
    for name in ("v-1", "v-2"):
        found = node(name)
        found["metadata"]["labels"] = {"kubernetes.io/hostname": name}
        api.create(found)
    api.create(_mounting("reader", "local-data"))
    watch.until(POD, "reader", _is_pending_for('persistentvolumeclaim "local-data" not found'))
    api.post(_CLASSES, _storage_class("local", "kubernetes.io/no-provisioner"))
    api.post(_CLAIM.path("default"), _claim("local-data", "local"))
    no_volume = "node(s) didn't find available persistent volumes to bind"
    watch.until(POD, "reader", _is_pending_for(no_volume))
    api.post(_VOLUMES, _volume("local-volume", "local", "v-2"))
    watch.until(POD, "reader", phase_is("Running"))
    claims.until(_CLAIM, "local-data", phase_is("Bound"))

    api.post(_CLASSES, _storage_class("provisioned", "example.com/by-hand"))
    api.post(_CLAIM.path("default"), _claim("made-data", "provisioned"))
    api.create(_mounting("writer", "made-data"))
    claims.until(_CLAIM, "made-data", lambda _, one: _SELECTED_NODE in one["metadata"].get("annotations", {}))
    claim = api.get(_CLAIM, "made-data", "default")
    selected = claim["metadata"]["annotations"][_SELECTED_NODE]
    reference = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "made-data"}
    made = _volume("made-volume", "provisioned", selected)
    made["spec"]["claimRef"] = {**reference, "uid": claim["metadata"]["uid"]}
    api.post(_VOLUMES, made)
    watch.until(POD, "writer", phase_is("Running"))
    nodes = {name: api.get(POD, name, "default")["spec"]["nodeName"] for name in ("reader", "writer")}
    assert nodes == {"reader": "v-2", "writer": selected}

    for name, claim_name in (("reader", "local-data"), ("writer", "made-data")):
        api.delete(POD, name, "default")
        api.delete(_CLAIM, claim_name, "default")
        claims.until(_CLAIM, claim_name, lambda event, _: event == "DELETED")  # the finalizer does not keep it


def _explained(cluster: LocalCluster, name: str) -> str:
    arguments = ["explain", name, "-n", "default", "--kubeconfig", str(cluster.client_kubeconfig("admin"))]
    return subprocess.run(
        [sys.executable, "-m", "scheduler", *arguments], capture_output=True, text=True, check=True
    ).stdout


async def _until(cluster: LocalCluster, plural: str, holds: Callable[[Object], bool]) -> None:
    """Wait until the status of an object matches."""
    reached = asyncio.Event()

    def look(_: str, found: CustomResource) -> None:
        if holds(found.status or {}):
            reached.set()

    async with Client(Access.from_kubeconfig(cluster.client_kubeconfig("admin"))) as client:
        path = f"/apis/{VOLCANO_GROUP.api_version}/{plural}"
        task = asyncio.create_task(Reflector(client, path, CustomResource, look).run())
        async with asyncio.timeout(30):
            await reached.wait()
        task.cancel()


def _asking(name: str, *, gpus: int, priority: str) -> Object:
    found = pod(name)
    found["spec"] |= {"schedulerName": "muster-scheduler", "priorityClassName": priority}
    found["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": str(gpus)}}
    return found


def _mounting(name: str, claim: str) -> Object:
    found = _asking(name, gpus=1, priority="low")
    found["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
    return found


def _claim(name: str, storage_class: str) -> Object:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {**spec, "storageClassName": storage_class},
    }


def _volume(name: str, storage_class: str, on: str) -> Object:
    hostname = {"key": "kubernetes.io/hostname", "operator": "In", "values": [on]}
    spec: Object = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "storageClassName": storage_class,
        "local": {"path": "/data"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [hostname]}]}},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def _storage_class(name: str, provisioner: str) -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def _is_pending_for(reason: str) -> Callable[[str, Object], bool]:
    def holds(_: str, found: Object) -> bool:
        conditions = found["status"].get("conditions", [])
        return any(one["type"] == "PodScheduled" and reason in one.get("message", "") for one in conditions)

    return holds


def _priority(name: str, value: int) -> Object:
    metadata = {"name": name}
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": metadata, "value": value}


def _has(kind: str, reason: str) -> Any:
    def holds(_: str, found: Object) -> bool:
        conditions = found["status"].get("conditions", [])
        return any((one["type"], one.get("reason")) == (kind, reason) for one in conditions)

    return holds


def _says(reason: str) -> Any:
    return lambda _, found: found["reason"] == reason
