"""A scheduler installed in a kind cluster: an embedded control plane in its place, with fakes of kind and docker."""

# ruff: noqa: F811 - fixtures are taken from another module

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from muster import assets
from muster.cluster.kind import KindCluster
from muster.cluster.kind.installation import DeploymentName, Installation
from muster.cluster.local import LocalCluster
from muster.cluster.resources import DEPLOYMENT, NODE, POD
from muster.errors import HarnessError
from tests.integration.test_kind_reuse import REAL, fakes, plane  # noqa: F401
from tests.support.kind_fakes import Fakes
from tests.support.local_cluster import node, pod

pytestmark = pytest.mark.plane
ROOT = Path(__file__).resolve().parents[2]
NAME = DeploymentName("kube-system", "mine")
LABELS = {"app": "mine"}
DEPLOYED: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": NAME.name, "namespace": NAME.namespace},
    "spec": {
        "replicas": 0,  # the control plane would create its pods
        "selector": {"matchLabels": LABELS},
        "template": {
            "metadata": {"labels": LABELS},
            "spec": {"containers": [{"name": "c", "image": "mine:dev", "args": ["--old", "--kept"]}]},
        },
    },
}


@pytest.fixture
def installed(fakes: Fakes, plane: LocalCluster, tmp_path: Path) -> Any:
    """A cluster with an installation, and the Deployment that the fake of kubectl does not create."""
    api = plane.connection.api
    real = node(REAL)
    real["metadata"]["labels"] = {"kubernetes.io/os": "linux"}
    real["spec"] = {"taints": [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]}
    api.create(real)
    api.create(DEPLOYED)
    fakes.has_image()
    installation = Installation(title="mine.yaml", images=("mine:dev",), objects=(DEPLOYED,))
    cluster = KindCluster(reuse=True, installation=installation)
    cluster.start()
    yield cluster
    cluster.stop()
    api.delete(DEPLOYMENT, NAME.name, NAME.namespace)
    api.delete(NODE, REAL)


def test_it_is_installed_while_the_clusters_own_scheduler_runs(
    fakes: Fakes,
    plane: LocalCluster,
    installed: KindCluster,
) -> None:
    calls = fakes.calls("")
    (loaded,) = [line for line in calls if "kind load" in line]
    assert loaded.endswith(f"docker-image mine:dev --name=muster --nodes={REAL}")
    order = [line for line in calls if any(text in line for text in ("kubectl", "mv /etc/kubernetes/manifests"))]
    steps = ("delete --ignore-not-found", "apply --server-side", "rollout status deployment/mine", "mv /etc/kubernetes")
    found = [next(number for number, line in enumerate(order) if step in line) for step in steps[:3]]
    assert found == sorted(found)
    assert steps[3] in order[-1]
    spec = plane.connection.api.get(NODE, REAL)["spec"]
    assert spec["unschedulable"] is True
    assert "node-role.kubernetes.io/control-plane" not in json.dumps(spec)


def test_a_signal_reaches_the_processes_of_its_pods(
    fakes: Fakes,
    plane: LocalCluster,
    installed: KindCluster,
) -> None:
    one = pod("mine-1")
    one["metadata"] |= {"namespace": "kube-system", "labels": LABELS}
    uid = plane.connection.api.create(one)["metadata"]["uid"]
    installed.signal_scheduler("STOP")
    plane.connection.api.delete(POD, "mine-1", "kube-system", grace=0)
    last = fakes.calls("docker exec")[-1]
    assert "kill -STOP" in last
    assert uid.replace("-", "[-_]") in last


def test_an_operator_gets_other_arguments_on_the_control_plane(
    fakes: Fakes,
    plane: LocalCluster,
    installed: KindCluster,
) -> None:
    assert installed.arguments_of(NAME) == ["--old", "--kept"]
    installed.run_with_arguments(NAME, ["--kept", "--new"])
    spec = plane.connection.api.get(DEPLOYMENT, NAME.name, NAME.namespace)["spec"]
    assert spec["strategy"] == {"type": "Recreate"}
    assert spec["template"]["spec"]["nodeName"] == REAL
    assert spec["template"]["spec"]["containers"][0]["args"] == ["--kept", "--new"]
    assert spec["template"]["spec"]["containers"][0]["image"] == "mine:dev"


def test_an_image_that_docker_does_not_have_is_named_before_anything_is_made(fakes: Fakes) -> None:
    with pytest.raises(HarnessError, match="Docker does not have the image mine:dev, and cannot pull it"):
        KindCluster(installation=Installation(title="m", images=("mine:dev",), objects=(DEPLOYED,))).start()
    assert not fakes.calls("kind create")


def test_the_api_server_accepts_what_is_deployed(plane: LocalCluster, tmp_path: Path) -> None:
    installation = Installation(title="deploy", manifests=(ROOT / "manifests" / "deploy",))
    manifests = installation.render(assets.ensure(installation.assets, print_line=print), tmp_path)
    deployments = [one for one in manifests if one["kind"] == "Deployment"]
    assert len(deployments) == 2
    for deployment in deployments:
        template = deployment["spec"]["template"]["spec"]
        assert deployment["spec"]["replicas"] == 2
        assert template["nodeSelector"] == {"node-role.kubernetes.io/control-plane": ""}
        plane.connection.api.dry_run(deployment)
    assert {"CustomResourceDefinition", "ClusterRole", "PodDisruptionBudget"} <= {one["kind"] for one in manifests}
    assert yaml.safe_dump_all(manifests)
