"""Errors of kind: one message, and nothing left behind."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from muster.assets.cache import file_lock
from muster.cluster.kind import KindCluster
from muster.errors import HarnessError, UsageError
from tests.support.kind_fakes import Fakes
from tests.support.processes_left import until

START = "from muster.cluster.kind import KindCluster; KindCluster().start()"


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fakes:
    return Fakes(tmp_path, monkeypatch)


def archive(path: Path, reference: str) -> Path:
    content = json.dumps([{"RepoTags": [reference], "Config": "x.json", "Layers": []}]).encode()
    with tarfile.open(path, "w") as tar:
        entry = tarfile.TarInfo("manifest.json")
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
    return path


@pytest.mark.parametrize(
    ("mood", "message"),
    [
        ("down", "kind needs a Docker engine, and none answers (Cannot connect to the Docker daemon at unix:///x.): "),
        ("forbidden", "Docker is installed, but you have no permission to use it: join its group"),
        (
            "",
            "is not present and cannot be loaded (Error response from daemon: dial tcp: lookup registry-1.docker.io: ",
        ),
    ],
)
def test_an_error_before_the_creation_is_one_message(fakes: Fakes, mood: str, message: str) -> None:
    fakes.mood(mood)
    with pytest.raises(HarnessError) as raised:
        KindCluster().start()
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "--cluster local" in str(raised.value)
    assert not fakes.calls("kind create")
    assert list(fakes.temporary.iterdir()) == []


def test_a_machine_without_docker(fakes: Fakes) -> None:
    (fakes.bin / "docker").unlink()
    fakes.set("PATH", str(fakes.bin))
    with pytest.raises(HarnessError, match="there is no `docker` on PATH: install it"):
        KindCluster().start()


@pytest.mark.parametrize(
    ("mood", "message"), [("fail", "could not find a log line"), ("full", "Docker keeps its data")]
)
def test_a_creation_that_fails_leaves_no_node_and_no_directory(fakes: Fakes, mood: str, message: str) -> None:
    fakes.has_image()
    fakes.mood(mood)
    with pytest.raises(HarnessError, match=message):
        KindCluster(keep=True).start()
    name = fakes.calls("kind create")[0].split("--name=")[1].split()[0]
    assert fakes.calls("docker rm") == [f"docker rm --force --volumes {name}-control-plane"]
    assert list(fakes.temporary.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_process_killed_during_the_creation_leaves_no_node(fakes: Fakes, number: signal.Signals) -> None:
    fakes.has_image()
    fakes.mood("hang")
    root = Path(__file__).resolve().parents[3]
    process = subprocess.Popen([sys.executable, "-c", START], cwd=root, env=os.environ, stderr=subprocess.DEVNULL)
    until(lambda: fakes.calls("kind create"))
    process.send_signal(number)
    process.wait()
    until(lambda: fakes.calls("docker rm"))
    until(lambda: list(fakes.temporary.iterdir()) == [])


def test_an_incomplete_reused_cluster_is_reported_and_not_changed(fakes: Fakes) -> None:
    fakes.set("CLUSTERS", "other\nmuster")
    with pytest.raises(HarnessError) as raised:
        KindCluster(reuse=True).start()
    assert "The kind cluster 'muster' of an earlier run is incomplete" in str(raised.value)
    assert "remove it with `docker rm -f -v muster-control-plane`" in str(raised.value)
    assert not fakes.calls("docker rm")
    assert not fakes.calls("kind create")


def test_a_reused_cluster_in_use_is_refused(fakes: Fakes) -> None:
    fakes.set("CLUSTERS", "muster")
    with file_lock("kind-muster", fail), pytest.raises(HarnessError) as raised:
        KindCluster(reuse=True).start()
    assert str(raised.value) == (
        f"The kind cluster 'muster' is in use by process {os.getpid()}: wait until that has ended, "
        "or leave out --reuse."
    )
    assert not fakes.calls("kind")
    with pytest.raises(HarnessError, match="is incomplete"):
        KindCluster(reuse=True).start()
    with file_lock("kind-muster", fail):  # a start that failed has given it back
        assert list(fakes.temporary.iterdir()) == []


def fail(holder: str) -> None:
    pytest.fail(f"the lock is held by process {holder}")


def test_a_reused_cluster_of_another_image_is_refused(fakes: Fakes) -> None:
    fakes.set("CLUSTERS", "muster")
    fakes.has_image()
    fakes.set("NODE_IMAGE", "node:old")
    with pytest.raises(UsageError) as raised:
        KindCluster(reuse=True, image="node:new").start()
    assert str(raised.value) == (
        "The kind cluster 'muster' of an earlier run was made from node:old: leave out --kind-image, "
        "or remove it with `docker rm -f -v muster-control-plane` and run again."
    )
    for image in ("node:old", ""):
        with pytest.raises(HarnessError, match="is incomplete"):  # it got past the image
            KindCluster(reuse=True, image=image).start()


def test_a_reused_cluster_without_workers_is_refused_for_real_nodes(fakes: Fakes) -> None:
    fakes.set("CLUSTERS", "muster")
    fakes.set("NODES", "muster-control-plane")
    with pytest.raises(UsageError, match=r"has no workers .*`docker rm -f -v muster-control-plane`"):
        KindCluster(reuse=True, real_nodes=True).start()


def test_the_workers_of_a_reused_cluster_are_removed_with_it(fakes: Fakes) -> None:
    fakes.set("CLUSTERS", "muster")
    fakes.set("NODES", "muster-worker2\nmuster-control-plane\nmuster-worker")
    fakes.has_image()
    with pytest.raises(UsageError, match="`docker rm -f -v muster-control-plane muster-worker muster-worker2`"):
        KindCluster(reuse=True, image="node:new").start()


def test_an_archive_is_loaded_once(fakes: Fakes, tmp_path: Path) -> None:
    fakes.mood("fail")
    image = archive(tmp_path / "node.tar", "muster/kind-node:v1")
    for _ in range(2):
        with pytest.raises(HarnessError):
            KindCluster(image=str(image)).start()
    assert fakes.calls("docker load") == [f"docker load --quiet --input {image}"]
    assert all("--image=muster/kind-node:v1 " in call for call in fakes.calls("kind create"))
    assert not fakes.calls("docker pull")


def test_a_full_disk_is_reported_when_an_archive_does_not_fit(fakes: Fakes, tmp_path: Path) -> None:
    fakes.mood("full")
    with pytest.raises(HarnessError, match="The disk that Docker keeps its data on is full"):
        KindCluster(image=str(archive(tmp_path / "node.tar", "muster/kind-node:v1"))).start()


def test_a_file_that_is_not_an_image_is_a_usage_error(fakes: Fakes, tmp_path: Path) -> None:
    (tmp_path / "node.tar").write_text("not an archive")
    for file in ("node.tar", "absent.tar"):
        with pytest.raises(UsageError, match="is not an image of `make kind-image`"):
            KindCluster(image=str(tmp_path / file)).start()
