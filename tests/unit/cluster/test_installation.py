"""What is installed in a kind cluster: the file that names it, its order, and what is said when it does not start."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from muster.cluster.kind.installation import DeploymentName, Installation, in_order, workloads
from muster.cluster.kind.installer import first_trouble, signal_script
from muster.errors import UsageError

ROOT = Path(__file__).resolve().parents[3]
UID = "0a1b-2c"


def manifest(kind: str, name: str, namespace: str = "") -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name, **({"namespace": namespace} if namespace else {})}}


def written(directory: Path, content: str) -> str:
    (directory / "rbac.yaml").write_text("kind: ServiceAccount\nmetadata: {name: a}\n---\n")
    (directory / "installation.yaml").write_text(content)
    return str(directory / "installation.yaml")


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "one.tar").touch()
    found = Installation.read(written(tmp_path, "{images: [one.tar, example.org/two:1], manifests: [rbac.yaml]}"))
    assert found.images == (str(tmp_path / "one.tar"), "example.org/two:1")
    assert found.manifests == (tmp_path / "rbac.yaml",)
    assert found.render({}, tmp_path) == [manifest("ServiceAccount", "a")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{image: x}", "unknown key 'image': choose from deployment, images, manifests, operator"),
        ("{images: x}", "'images' must be a list, not str"),
        ("{images: [missing.tar]}", "there is no archive .*missing.tar"),
        ("{manifests: [missing.yaml]}", "there is no .*missing.yaml"),
        ("[1]", "does not describe an installation"),
    ],
)
def test_a_mistake_is_reported_in_one_line(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        Installation.read(written(tmp_path, content))


def test_a_manifest_without_a_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "list.yaml").write_text("[1]")
    installation = Installation(title="x", manifests=(tmp_path / "list.yaml",))
    with pytest.raises(UsageError, match="without kind"):
        installation.render({}, tmp_path)


def test_the_deployment_that_schedules_is_the_only_one_or_named() -> None:
    one, two = manifest("Deployment", "scheduler", "kube-system"), manifest("Deployment", "webhook", "v")
    assert Installation(title="x").scheduler_deployment([one]) == DeploymentName("kube-system", "scheduler")
    named = Installation(title="x", deployment="v/webhook")
    assert named.scheduler_deployment([one, two]) == DeploymentName("v", "webhook")
    with pytest.raises(UsageError, match=r"which Deployment schedules.*kube-system/scheduler, v/webhook"):
        Installation(title="x").scheduler_deployment([one, two])


def test_namespaces_and_definitions_are_applied_first() -> None:
    objects = [manifest("Deployment", "d"), manifest("CustomResourceDefinition", "c"), manifest("Namespace", "n")]
    first, others = in_order(objects)
    assert [one["metadata"]["name"] for one in (*first, *others)] == ["c", "n", "d"]
    assert workloads(objects, "Deployment") == [DeploymentName("default", "d")]


@pytest.mark.parametrize("path", ["/kubepods/burstable/pod0a1b-2c/x", "/kubelet-kubepods-pod0a1b_2c.slice/x"])
def test_processes_of_a_pod_are_found_by_the_names_of_its_cgroups(path: str) -> None:
    script = signal_script([UID, "other"], "STOP")
    pattern = re.search(r"'(.*)'", script)
    assert pattern is not None
    assert re.search(pattern[1], path)
    assert not re.search(pattern[1], "/kubepods/pod0a1b-3d")
    assert script.startswith("kill -STOP ")


def test_the_reason_of_a_pod_that_does_not_run() -> None:
    waiting = {"state": {"waiting": {"reason": "ErrImagePull", "message": "no such host"}}}
    starting = {"state": {"waiting": {"reason": "ContainerCreating"}}}
    unscheduled = {"type": "PodScheduled", "status": "False", "message": "0/5 nodes are available"}

    def pod(name: str, **status: Any) -> dict[str, Any]:
        return {"metadata": {"name": name}, "status": status}

    pods = [pod("other-1", containerStatuses=[waiting]), pod("mine-1", containerStatuses=[starting])]
    assert first_trouble(pods, "mine") == ""
    pods.append(pod("mine-2", containerStatuses=[starting, waiting]))
    assert first_trouble(pods, "mine") == "mine-2: ErrImagePull: no such host"
    assert first_trouble([pod("mine-3", conditions=[unscheduled])], "mine") == "mine-3: 0/5 nodes are available"


def test_the_deployed_reference_has_every_definition_and_both_components() -> None:
    manifests = ROOT / "manifests"
    listed = yaml.safe_load((manifests / "crds" / "kustomization.yaml").read_text())["resources"]
    assert listed == sorted(file.name for file in (manifests / "crds").glob("*-*.yaml"))
    deployed = yaml.safe_load((manifests / "deploy" / "kustomization.yaml").read_text())
    assert deployed["resources"] == ["../crds", "../scheduler", "../operator"]
    for component in ("scheduler", "operator"):
        own = yaml.safe_load((manifests / component / "kustomization.yaml").read_text())["resources"]
        assert all((manifests / component / file).is_file() for file in own)


def test_the_installation_of_the_reference_can_be_read() -> None:
    found = Installation.read(str(ROOT / "ci" / "kind-schedulers" / "reference.yaml"))
    assert found.deployment.endswith("muster-scheduler")
    assert found.operator.endswith("muster-operator")
    assert (found.manifests[0] / "kustomization.yaml").is_file()
    assert found.assets == ("kubectl",)
