"""The control plane in a container: started, stopped, killed and used. `make test-container` runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from docker.errors import NotFound

from muster.cluster import container, docker_engine
from muster.cluster.container import ContainerCluster
from muster.cluster.resources import NODE, POD
from muster.cluster.run_scope import open_api
from muster.errors import HarnessError
from tests.support.local_cluster import node

SOON = 60.0  # seconds, on a machine that is busy with other things


def found() -> Any:
    try:
        return container.engine_with_image()
    except HarnessError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def engine() -> Any:
    return found()


@pytest.fixture(autouse=True)
def temporary(engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def cluster(engine: Any) -> Iterator[ContainerCluster]:
    with ContainerCluster() as running:
        yield running


def containers(engine: Any) -> list[str]:
    found = engine.client.containers.list(all=True, filters={"label": docker_engine.LABEL})
    return [one.id for one in found]


def gone(engine: Any, container: str) -> bool:
    """Waits for the engine to say so."""
    try:
        engine.client.api.wait(container, condition="removed", timeout=SOON)
    except NotFound:
        return True
    return container not in containers(engine)


def test_nodes_and_pods_run_there(cluster: ContainerCluster) -> None:
    api = cluster.connection.api
    api.create(node("gpu-1"))
    assert [one["metadata"]["name"] for one in api.list(NODE)["items"]] == ["gpu-1"]
    assert open_api(cluster.client_kubeconfig("scheduler")).list(POD)["items"] == []
    assert cluster.versions()["kube-apiserver"] in json.loads(api.read("/version"))["gitVersion"]
    api.delete(NODE, "gpu-1")


def test_every_component_has_its_log(cluster: ContainerCluster) -> None:
    assert set(cluster.logs()) == {"etcd", "kube-apiserver", "kube-controller-manager", "kwok", "simulator"}
    assert "kube-apiserver" in cluster.logs()["kube-apiserver"].read_text()
    cluster.check()


def test_up_and_down_leaves_nothing(engine: Any, temporary: Path) -> None:
    before, descriptors = containers(engine), 0
    for _ in range(2):
        cluster, began = ContainerCluster(), time.monotonic()
        cluster.start()
        up = time.monotonic()
        cluster.stop()
        cluster.stop()
        print(f"up in {up - began:.2f} s, down in {time.monotonic() - up:.2f} s")
        assert containers(engine) == before
        assert not list(temporary.iterdir())
        now = len(os.listdir("/proc/self/fd"))
        assert descriptors in (0, now), "a descriptor is left open"
        descriptors = now


def test_a_component_that_dies_is_reported_and_the_container_ends(engine: Any) -> None:
    before = containers(engine)
    with ContainerCluster() as cluster:
        (ours,) = set(containers(engine)) - set(before)
        processes = engine.client.containers.get(ours).top()["Processes"]
        etcd = next(int(one[1]) for one in processes if one[-1].startswith("/bin/etcd"))
        os.kill(etcd, signal.SIGKILL)
        assert cluster.processes["etcd"].wait(SOON)
        with pytest.raises(HarnessError, match=r"^etcd was ended by SIGKILL\. Its last lines:"):
            cluster.check()
        assert gone(engine, ours)


KILLED = """
import sys
from muster.cluster.container import ContainerCluster
with ContainerCluster() as cluster:
    print("up", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_harness_leaves_no_container(engine: Any, number: signal.Signals, temporary: Path) -> None:
    before = containers(engine)
    harness = subprocess.Popen([sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert harness.stdout is not None
    assert harness.stdout.readline() == b"up\n"
    ours = [each for each in containers(engine) if each not in before]
    assert len(ours) == 1
    harness.send_signal(number)
    harness.communicate(timeout=SOON)
    assert gone(engine, ours[0])
    deadline = time.monotonic() + SOON
    while list(temporary.iterdir()):
        assert time.monotonic() < deadline, "the directory is left behind"
        time.sleep(0.01)


def test_scenarios_pass_there(temporary: Path) -> None:
    command = [sys.executable, "-m", "muster", "run", "--cluster", "container", "--only", "PRE-01", "GNG-01"]
    ran = subprocess.run(
        [*command, "--results", str(temporary / "results")], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    environment = json.loads((temporary / "results" / "environment.json").read_text())
    assert environment["cluster"] == "container"
