"""Two replicas of the reference scheduler on a real API server: one decides, whatever happens to it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from muster.cluster.api import ApiRefused
from muster.cluster.local import LocalCluster
from muster.cluster.resources import NODE, POD
from muster.schedulers.crds import install_crds
from muster.schedulers.volcano import VOLCANO_GROUP
from tests.support.local_cluster import Object, Watch, is_gone, node, phase_is, pod
from tests.support.scheduler_replicas import ROOT, Replica

pytestmark = pytest.mark.plane

_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
_LAG = "6"  # seconds, of all watches


@pytest.fixture(scope="module")
def plane() -> Iterator[tuple[LocalCluster, Watch]]:
    with LocalCluster() as cluster:
        api = cluster.connection.api
        for name in ("volcano-podgroups", "volcano-queues", "volcano-commands", "koordinator-podgroups"):
            install_crds(api, ROOT / "manifests" / "crds" / f"{name}.yaml")
        yield cluster, Watch(api)


@pytest.fixture
def gpus(plane: tuple[LocalCluster, Watch]) -> Iterator[None]:
    """One node with two GPUs, and no pods afterwards."""
    cluster, watch = plane
    api = cluster.connection.api
    api.create(node("n", gpus=2))
    yield
    left = [found["metadata"]["name"] for found in api.list(POD, "default")["items"]]
    api.delete_all(POD, "default", gracePeriodSeconds="0")
    for name in left:
        watch.until(POD, name, is_gone)
    api.delete(NODE, "n")


def test_the_other_takes_over_after_a_kill(plane: tuple[LocalCluster, Watch], gpus: None, tmp_path: Path) -> None:
    cluster, watch = plane
    active = _replica(cluster, tmp_path / "a")
    active.until_leading()
    standby = _replica(cluster, tmp_path / "b")
    _create(cluster, "one")
    watch.until(POD, "one", phase_is("Running"))
    active.end(signal.SIGKILL)
    _create(cluster, "two")
    standby.until_leading()
    watch.until(POD, "two", phase_is("Running"))
    assert _lease(cluster)["leaseTransitions"] >= 1
    assert standby.end() == 0
    assert _lease(cluster)["holderIdentity"] == ""  # released
    assert _lease(cluster)["leaseDurationSeconds"] == 1


def test_a_stopped_leader_decides_nothing_when_it_resumes(
    plane: tuple[LocalCluster, Watch], gpus: None, tmp_path: Path
) -> None:
    cluster, watch = plane
    active = _replica(cluster, tmp_path / "a")
    active.until_leading()
    standby = _replica(cluster, tmp_path / "b")
    active.pause()
    for name in ("pod-0", "pod-1", "pod-2"):  # one more than fits
        _create(cluster, name)
    standby.until_leading()
    watch.until(POD, "pod-0", phase_is("Running"))
    watch.until(POD, "pod-1", phase_is("Running"))
    assert active.process.poll() is None
    assert active.end(signal.SIGCONT) == 1  # it notices by itself
    assert not active.decisions()
    assert any(line["message"].startswith("the lease was lost") for line in active.lines)
    _create(cluster, "pod-3")
    watch.until(POD, "pod-3", _is_pending)
    assert _bound(cluster) == ["pod-0", "pod-1"]
    assert standby.end() == 0


def test_a_leader_with_lagging_watches_does_not_overcommit(
    plane: tuple[LocalCluster, Watch], gpus: None, tmp_path: Path
) -> None:
    """The gang is bound by the first; the second has seen neither that nor the PodGroup when it is elected."""
    cluster, watch = plane
    module = ("tests.chaos.lagging_watches", _LAG)
    active = _replica(cluster, tmp_path / "a")
    active.until_leading()
    standby = _replica(cluster, tmp_path / "b", *module)
    active.pause()  # so that all pods exist before the first is bound
    metadata = {"name": "gang", "namespace": "default"}
    group = {"apiVersion": VOLCANO_GROUP.api_version, "kind": "PodGroup", "metadata": metadata}
    cluster.connection.api.create(group | {"spec": {"minMember": 2, "queue": ""}})
    for name in ("member-0", "member-1"):
        _create(cluster, name, gang="gang")
    for name in ("other-0", "other-1"):
        _create(cluster, name)
    active.resume()
    for name in ("member-0", "member-1"):
        watch.until(POD, name, phase_is("Running"))
    assert active.end() == 0  # the lease is released: the other takes it at once
    standby.until_leading()
    _create(cluster, "sentinel")  # shown to the new leader after all that it has not seen yet
    watch.until(POD, "sentinel", _is_pending)
    assert _bound(cluster) == ["member-0", "member-1"]
    assert standby.end() == 0


@pytest.mark.parametrize("component", ["scheduler", "operator"])
def test_the_deployment_satisfies_the_restricted_pod_security_standard(
    plane: tuple[LocalCluster, Watch], component: str
) -> None:
    api = plane[0].connection.api
    labels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn", "audit")}
    namespace = f"restricted-{component}"
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": labels}})
    documents = list(yaml.safe_load_all((ROOT / "manifests" / component / "deployment.yaml").read_text()))
    template = next(one for one in documents if one["kind"] == "Deployment")["spec"]["template"]
    template["spec"] |= {"serviceAccountName": "default", "automountServiceAccountToken": False}
    template["spec"].pop("priorityClassName", None)  # allowed in kube-system only
    created = {"apiVersion": "v1", "kind": "Pod", **template}
    created["metadata"] |= {"name": component, "namespace": namespace}
    api.dry_run(created)
    created["spec"]["securityContext"].pop("seccompProfile")
    with pytest.raises(ApiRefused, match="restricted"):
        api.dry_run(created)


def _replica(cluster: LocalCluster, directory: Path, *module: str) -> Replica:
    return Replica(cluster.client_kubeconfig("admin"), directory, *module)


def _create(cluster: LocalCluster, name: str, gang: str = "") -> None:
    found = pod(name)
    found["spec"] |= {"schedulerName": "muster-scheduler"}
    found["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
    if gang:
        found["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = gang
    cluster.connection.api.create(found)


def _lease(cluster: LocalCluster) -> Object:
    found: Object = yaml.safe_load(cluster.connection.api.read(f"{_LEASES}/muster-scheduler"))
    spec: Object = found["spec"]
    return spec


def _bound(cluster: LocalCluster) -> list[str]:
    found = cluster.connection.api.list(POD, "default")["items"]
    return sorted(one["metadata"]["name"] for one in found if one["spec"].get("nodeName"))


def _is_pending(_: str, found: Object) -> bool:
    return any(one["reason"] == "Unschedulable" for one in found["status"].get("conditions", []) if one.get("reason"))
