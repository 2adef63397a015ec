"""The user's own scheduler as an image: the Deployment that Muster writes, and where such a description can be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from muster.assets.image_archive import Image, write
from muster.environment.own_clusters import installation_of, installs_scheduler, operator_assets, scheduler_assets
from muster.errors import UsageError
from muster.run_options import RunOptions
from muster.schedulers.deployment_manifests import deployment_manifests

CLAIMS = "scheduler-name: s\nclaims: {taints: doc}\n"


def options(directory: Path, content: str, cluster: str = "kind") -> RunOptions:
    (directory / "mine.yaml").write_text(CLAIMS + content)
    return RunOptions(scheduler=f"mine={directory / 'mine.yaml'}", cluster=cluster)


def by_kind(manifests: tuple[dict[str, Any], ...]) -> dict[str, dict[str, Any]]:
    return {one["kind"]: one for one in manifests}


def test_an_image_with_a_command_and_files_becomes_a_deployment(tmp_path: Path) -> None:
    content = (
        "images: [example.org/s:1]\ncommand: [/s, '--config={directory}/c.yaml']\nfiles: {c.yaml: 'k: {kubeconfig}'}"
    )
    found = installation_of(options(tmp_path, content))
    assert found is not None
    assert found.images == ("example.org/s:1",)
    made = by_kind(found.objects)
    spec = made["Deployment"]["spec"]["template"]["spec"]
    container = spec["containers"][0]
    assert container["image"] == "example.org/s:1"
    assert container["command"] == ["/s", "--config=/etc/scheduler/c.yaml"]
    assert made["ConfigMap"]["data"]["c.yaml"] == "k: /etc/scheduler/kubeconfig"
    kubeconfig = yaml.safe_load(made["ConfigMap"]["data"]["kubeconfig"])
    assert kubeconfig["users"][0]["user"]["tokenFile"].startswith("/var/run/secrets")
    assert made["ClusterRoleBinding"]["subjects"][0]["name"] == spec["serviceAccountName"]
    assert str(found.scheduler_deployment(found.objects)) == "kube-system/s"


def test_without_a_command_the_image_has_its_own() -> None:
    made = by_kind(tuple(deployment_manifests("s", "i", [], {})))
    assert "command" not in made["Deployment"]["spec"]["template"]["spec"]["containers"][0]


def test_an_archive_is_named_by_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "program").write_text("x")
    image = Image(references=["docker.io/library/s:dev"], files={"s": tmp_path / "program"})
    write([image], tmp_path / "s.tar")
    found = installation_of(options(tmp_path, "images: [s.tar]"))
    assert found is not None
    assert by_kind(found.objects)["Deployment"]["spec"]["template"]["spec"]["containers"][0]["image"].endswith("/s:dev")
    (tmp_path / "s.tar").write_text("no archive")
    with pytest.raises(UsageError, match="is no archive of an image"):
        installation_of(options(tmp_path, "images: [s.tar]"))


def test_the_users_manifests_are_taken_as_they_are(tmp_path: Path) -> None:
    for name in ("deployment.yaml", "crd.yaml"):
        (tmp_path / name).write_text("{}")
    found = installation_of(options(tmp_path, "manifests: [deployment.yaml]\ndefinitions: [crd.yaml]"))
    assert found is not None
    assert not found.objects
    assert [file.name for file in found.manifests] == ["crd.yaml", "deployment.yaml"]


def test_several_images_need_manifests(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="several images"):
        installation_of(options(tmp_path, "images: [a, b]"))


def test_on_other_clusters_the_command_is_started_beside_them(tmp_path: Path) -> None:
    assert installation_of(options(tmp_path, "images: [a]\ncommand: [s]", "local")) is None
    with pytest.raises(UsageError, match="has no command, only images and manifests: use --cluster kind"):
        installation_of(options(tmp_path, "images: [a]", "local"))


def test_a_built_in_scheduler_is_installed_by_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "volcano.yaml").write_text("images: [v]")
    chosen = RunOptions(scheduler="volcano", cluster="kind", installation=tmp_path / "volcano.yaml")
    assert installation_of(chosen) is not None
    assert scheduler_assets(chosen) == ()
    assert scheduler_assets(RunOptions(scheduler="volcano"))[0] == "vc-scheduler"
    with pytest.raises(UsageError, match="are for --cluster kind"):
        RunOptions(installation=tmp_path)


def test_an_operator_alone_is_installed_and_the_scheduler_runs_as_always(tmp_path: Path) -> None:
    (tmp_path / "operator.yaml").write_text("operator: kubeflow/training-operator")
    chosen = RunOptions(
        scheduler="volcano", operator="training-operator", cluster="kind", installation=tmp_path / "operator.yaml"
    )
    found = installation_of(chosen)
    assert found is not None
    assert not installs_scheduler(found)
    assert found.scheduler_deployment([]) is None
    assert scheduler_assets(chosen) == scheduler_assets(RunOptions(scheduler="volcano"))
    assert operator_assets(chosen) == ()
    assert operator_assets(RunOptions(operator="training-operator")) != ()
