"""k3s by testcontainers, with a fake container: an embedded control plane takes the place of its API server.

Where there is no registry, nothing more can be tried; what k3s itself makes of its flags is not seen here.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import yaml
from docker.errors import APIError

from muster import assets, timeouts
from muster.cluster import docker_engine
from muster.cluster.k3s import COMMAND, IMAGE, K3sCluster
from muster.cluster.local import LocalCluster
from muster.cluster.resources import NODE
from muster.errors import HarnessError
from tests.support.local_cluster import node


class StandIn:
    """Remembers what it was asked to do, and answers with the kubeconfig of a plane, from the second time on."""

    plane: ClassVar[LocalCluster | None] = None
    trouble: ClassVar[Exception | None] = None
    did: ClassVar[list[str]] = []

    def __init__(self, image: str) -> None:
        self.env = {"K3S_URL": "https://nowhere"}
        self.volumes: dict[str, Any] = {"/sys/fs/cgroup": {}}
        self.ports: dict[str, Any] = {}
        self.requested = 0
        self.did.append(f"of {image}")

    def with_kwargs(self, **given: Any) -> None:
        assert given == {}, "privileged"

    def with_command(self, command: list[str]) -> None:
        self.did.append(" ".join(command))

    def start(self) -> None:
        self.did.append("start")
        assert (self.env, self.volumes, self.ports) == ({}, {}, {"6443/tcp": ("127.0.0.1",)})
        if self.trouble:
            raise self.trouble

    def stop(self) -> None:
        self.did.append("stop")

    def get_exposed_port(self, port: int) -> int:
        return self.plane._ports[0].number if self.plane else port

    def get_logs(self) -> tuple[bytes, bytes]:
        return b"", b"its last lines\n"

    def exec(self, command: list[str]) -> Any:
        assert command == ["cat", "/etc/rancher/k3s/k3s.yaml"]
        self.requested += 1
        if self.plane is None or self.requested == 1:
            return SimpleNamespace(exit_code=1, output=b"no such file")
        return SimpleNamespace(exit_code=0, output=self._kubeconfig().encode())

    def _kubeconfig(self) -> str:
        assert self.plane is not None
        files = {name: self.plane.directory / "certificates" / name for name in ("ca.crt", "admin.crt", "admin.key")}
        ca, certificate, key = (base64.b64encode(file.read_bytes()).decode() for file in files.values())
        cluster = {"server": "https://127.0.0.1:6443", "certificate-authority-data": ca}
        user = {"client-certificate-data": certificate, "client-key-data": key}
        return yaml.safe_dump(
            {"clusters": [{"name": "default", "cluster": cluster}], "users": [{"name": "default", "user": user}]}
        )


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def connect(**_: Any) -> None:
        return None

    monkeypatch.setattr(docker_engine, "connect", connect)
    monkeypatch.setattr("testcontainers.community.k3s.K3SContainer", StandIn)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(StandIn, "did", [])


@pytest.mark.plane
def test_kwok_and_the_simulator_work_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with LocalCluster() as plane:
        monkeypatch.setattr(StandIn, "plane", plane)
        plane.processes.pop("kwok").kill()
        before = set(tmp_path.iterdir())
        cluster = K3sCluster()
        api = cluster.start().api
        assert set(cluster.logs()) == {"kwok", "simulator"}
        api.create(node("gpu-1"))
        assert [one["metadata"]["name"] for one in api.list(NODE)["items"]] == ["gpu-1"]
        cluster.check()
        cluster.processes["kwok"].kill()
        with pytest.raises(HarnessError, match=r"^kwok was ended by SIGKILL"):
            cluster.check()
        cluster.stop()
        cluster.stop()
        assert set(tmp_path.iterdir()) == before
    assert StandIn.did == [f"of {IMAGE}", " ".join(COMMAND), "start", "stop"]


@pytest.mark.parametrize(
    ("trouble", "printed"),
    [
        (APIError("404", explanation="manifest unknown"), rf"cannot start {re.escape(IMAGE)} .*: manifest unknown$"),
        (None, "k3s was not ready in time. Its last lines:\nits last lines$"),
    ],
    ids=["no image", "too slow"],
)
def test_a_start_that_fails_is_explained_and_leaves_nothing(
    trouble: Exception | None, printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StandIn, "trouble", trouble)
    monkeypatch.setattr(timeouts, "COMPONENT_READY", 0.1)
    monkeypatch.setattr(assets, "ensure", lambda names, print_line: {"kwok": Path("kwok")})
    with pytest.raises(HarnessError, match=printed):
        K3sCluster().start()
    assert StandIn.did[-1] == "stop"
    assert not list(tmp_path.iterdir())


def test_another_image_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUSTER_K3S_IMAGE", "mine/k3s:1")
    assert K3sCluster().versions() == {"k3s": "1"}
