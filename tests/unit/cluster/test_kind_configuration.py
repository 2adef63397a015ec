"""The configuration of kind, and the credentials that it returns."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from muster.cluster.kind.kind_cli import STOCK_IMAGE, configuration, has_sys_resource
from muster.cluster.kubeconfig import write_client_kubeconfig
from muster.errors import HarnessError


def requested(**machine: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    loaded = yaml.safe_load(configuration(**machine))
    return loaded, [yaml.safe_load(patch) for patch in loaded["kubeadmConfigPatches"]]


def test_a_usual_machine_needs_no_patches() -> None:
    loaded, patches = requested(cgroup_version="2", sys_resource=True)
    assert [patch["kind"] for patch in patches] == ["ClusterConfiguration"]
    assert "containerdConfigPatches" not in loaded
    assert loaded["networking"]["apiServerAddress"] == "127.0.0.1"


def test_cgroup_v1_is_accepted_only_where_it_is_used() -> None:
    _, patches = requested(cgroup_version="1", sys_resource=True)
    assert {"kind": "KubeletConfiguration", "failCgroupV1": False} in patches


def test_oom_scores_are_restricted_without_the_capability() -> None:
    loaded, _ = requested(cgroup_version="2", sys_resource=False)
    assert "restrict_oom_score_adj = true" in loaded["containerdConfigPatches"][0]


def test_flags_of_kind_are_kept_where_lists_are_replaced() -> None:
    _, (patch, *_) = requested(cgroup_version="2", sys_resource=True)
    names = {flag["name"] for flag in patch["controllerManager"]["extraArgs"]}
    assert {"enable-hostpath-provisioner", "node-monitor-grace-period"} <= names


@pytest.mark.parametrize(("bits", "may"), [("000001ffffffffff", True), ("000001fffeffffff", False)])
def test_the_capability_is_read_from_the_bounding_set(tmp_path: Path, bits: str, may: bool) -> None:
    status = tmp_path / "status"
    status.write_text(f"Name:\tx\nCapBnd:\t{bits}\n")
    assert has_sys_resource(status) is may


def test_a_machine_without_the_status_file_has_the_capability(tmp_path: Path) -> None:
    assert has_sys_resource(tmp_path / "absent")


def test_the_stock_image_is_pinned_by_digest() -> None:
    assert re.fullmatch(r"kindest/node:v1\.\d+\.\d+@sha256:[0-9a-f]{64}", STOCK_IMAGE)


def kubeconfig() -> str:
    def encoded(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    cluster = {"server": "https://127.0.0.1:1234", "certificate-authority-data": encoded("authority")}
    user = {"client-certificate-data": encoded("certificate"), "client-key-data": encoded("key")}
    return yaml.safe_dump(
        {"clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "someone", "user": user}]}
    )


def test_credentials_become_private_files(tmp_path: Path) -> None:
    assert write_client_kubeconfig(tmp_path, "admin", kubeconfig()) == "https://127.0.0.1:1234"
    assert (tmp_path / "admin.key").read_text() == "key"
    assert (tmp_path / "admin.key").stat().st_mode & 0o077 == 0
    written = yaml.safe_load((tmp_path / "admin.kubeconfig").read_text())
    assert written["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:1234"
    assert "client-key-data" not in written["users"][0]["user"]


def test_the_server_address_can_be_replaced(tmp_path: Path) -> None:
    write_client_kubeconfig(tmp_path, "scheduler", kubeconfig(), "https://127.0.0.1:5")
    assert "https://127.0.0.1:5" in (tmp_path / "scheduler.kubeconfig").read_text()


@pytest.mark.parametrize("text", ["", "[]", "a: [", "clusters: []"])
def test_an_invalid_kubeconfig_is_reported(tmp_path: Path, text: str) -> None:
    with pytest.raises(HarnessError, match="is the cluster complete"):
        write_client_kubeconfig(tmp_path, "admin", text)
