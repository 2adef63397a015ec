"""What makes the workers of a kind cluster: configuration, machine files, images, and the check before first use."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from muster.assets.image_archive import write
from muster.cluster.kind import training_images
from muster.cluster.kind.kind_cli import configuration, worker_names
from muster.cluster.kind.kind_cluster import FilteredApi
from muster.cluster.kind.machine_files import machine_files
from muster.cluster.kind.reset import first_problem
from muster.cluster.kind.training_images import KUBECTL_DELIVERY, VARIABLES, images
from muster.errors import HarnessError


def test_workers_get_mounts_and_report_changes_at_once() -> None:
    mount = {"hostPath": "/m", "containerPath": "/proc/meminfo", "readOnly": True}
    loaded = yaml.safe_load(configuration(cgroup_version="1", sys_resource=True, workers=[[mount], [mount]]))
    assert [node["role"] for node in loaded["nodes"]] == ["control-plane", "worker", "worker"]
    assert loaded["nodes"][2]["extraMounts"] == [mount]
    patches = {patch["kind"]: patch for patch in map(yaml.safe_load, loaded["kubeadmConfigPatches"])}
    assert patches["InitConfiguration"]["timeouts"] == patches["JoinConfiguration"]["timeouts"]
    kubelet = patches["KubeletConfiguration"]
    assert kubelet["nodeStatusUpdateFrequency"] == "1s"
    assert kubelet["nodeStatusReportFrequency"] == "5m"  # else every heartbeat would be a change of the node
    assert kubelet["failCgroupV1"] is False


def test_workers_are_named_as_kind_names_them() -> None:
    assert worker_names("c", 3) == ["c-worker", "c-worker2", "c-worker3"]


def test_every_cpu_of_a_machine_exists() -> None:
    files = machine_files(4, 16, real_cpus=2)
    cpus = sorted(place.split("/")[2] for place in files if place.endswith("core_id"))
    assert cpus == ["cpu0", "cpu00", "cpu01", "cpu1"]
    assert {int(cpu.removeprefix("cpu")) for cpu in cpus} == {0, 1}
    assert len({files[f"node/node0/{cpu}/topology/core_id"] for cpu in cpus}) == 4
    assert files["meminfo"].split()[:2] == ["MemTotal:", str(16 * 1024 * 1024)]


def test_images_share_one_layer_and_differ_in_variables(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("training")
    write(images(program, tmp_path), tmp_path / "images.tar")
    with tarfile.open(tmp_path / "images.tar") as tar:
        entries = json.load(tar.extractfile("manifest.json"))  # type: ignore[arg-type]
        settings = [json.load(tar.extractfile(entry["Config"]))["config"] for entry in entries]  # type: ignore[arg-type]
        assert len([name for name in tar.getnames() if name.endswith("layer.tar")]) == 1
        with tarfile.open(fileobj=tar.extractfile(entries[0]["Layers"][0])) as layer:
            assert layer.getmember("bin/sh").linkname == "/training"
    named = {
        reference: one["Env"][1:]
        for entry, one in zip(entries, settings, strict=True)
        for reference in entry["RepoTags"]
    }
    assert named[KUBECTL_DELIVERY] == ["MUSTER_TRAINING=init"]
    assert named["docker.io/library/busybox:latest"] == ["MUSTER_ON_SIGTERM=ignore"]
    assert len(named) == sum(map(len, VARIABLES))


def worker(name: str, *, ready: str = "True", gpus: str | None = "0") -> dict[str, Any]:
    allocatable = {} if gpus is None else {"nvidia.com/gpu": gpus}
    status = {"conditions": [{"type": "Ready", "status": ready}], "allocatable": allocatable}
    return {"metadata": {"name": name}, "status": status}


def test_workers_are_used_when_all_of_them_are_complete() -> None:
    names = ["a", "b"]
    assert first_problem([worker("a"), worker("b")], names) == ""
    assert "b has not joined" in first_problem([worker("a")], names)
    assert "b is not ready" in first_problem([worker("a"), worker("b", ready="False")], names)
    assert "device plugin of the worker a" in first_problem([worker("a", gpus=None), worker("b")], names)


def test_pods_of_the_cluster_itself_are_hidden_and_workers_are_seen() -> None:
    api = FilteredApi(None)
    api.hidden = "c-control-plane"
    assert api.visible(b'{"metadata":{"name":"kube-proxy-x"},"spec":{"nodeName":"c-worker"}}') is None
    assert api.visible(b'{"metadata":{"name":"p"},"spec":{"nodeName":"c-control-plane"}}') is None
    assert api.visible(b'{"metadata":{"name":"c-worker"}}') is not None


def test_an_archive_that_does_not_fit_on_the_disk_is_an_error_of_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of this machine: the archive is written into the cache before any node gets it."""

    def write_to_a_full_disk(*_: Any) -> None:
        (tmp_path / "full").symlink_to("/dev/full")
        with (tmp_path / "full").open("wb", buffering=0) as file:
            file.write(b"layer")

    program = tmp_path / "program"
    program.write_text("training")
    monkeypatch.setenv("MUSTER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("muster.assets.ensure", lambda *_, **__: {"training": program})
    monkeypatch.setattr(training_images, "write", write_to_a_full_disk)
    with pytest.raises(HarnessError, match=r"^The cache directory .* is full \(No space left on device\): free some"):
        training_images.training_archive(lambda _: None)
    assert not list((tmp_path / "cache").rglob("*.tar"))
    assert not list((tmp_path / "cache" / "tmp").iterdir())
