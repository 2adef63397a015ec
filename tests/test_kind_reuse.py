"""A kind cluster that is found again. An embedded plane plays it; kind and docker say what they would say of one."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from muster.cluster.kind import KindCluster
from muster.cluster.kind.views import ScenarioView
from muster.cluster.local import LocalCluster
from muster.cluster.resources import NAMESPACE, NODE, POD
from tests.kind_fakes import Fakes
from tests.local_scene import node

pytestmark = pytest.mark.plane
REAL = "muster-control-plane"


@pytest.fixture(scope="module")
def plane() -> Iterator[LocalCluster]:
    with LocalCluster() as running:
        yield running


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plane: LocalCluster) -> Fakes:
    fakes = Fakes(tmp_path, monkeypatch)
    monkeypatch.delenv("MUSTER_ASSET_KWOK")
    (fakes.bin / "kwok").unlink()  # the real one is needed
    handed_out = tmp_path / "kubeconfig"
    handed_out.write_text(with_included_credentials(plane.client_kubeconfig("admin")))
    fakes.set("HANDED_OUT", str(handed_out))
    fakes.set("CLUSTERS", "muster")
    return fakes


def with_included_credentials(kubeconfig: Path) -> str:
    config = yaml.safe_load(kubeconfig.read_text())
    for entry in (config["clusters"][0]["cluster"], config["users"][0]["user"]):
        for key in [key for key in entry if key.startswith(("certificate", "client"))]:
            entry[f"{key}-data"] = base64.b64encode(Path(entry.pop(key)).read_bytes()).decode()
    return yaml.safe_dump(config)


def test_what_is_found_is_cleared_closed_and_left_standing(fakes: Fakes, plane: LocalCluster) -> None:
    api = plane.connection.api
    real = node(REAL)
    real["metadata"]["labels"] = {"kubernetes.io/os": "linux"}
    api.create(real)
    api.create(node("gpu-9"))
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "muster-1-1"}})
    with KindCluster(reuse=True) as cluster:
        assert [one["metadata"]["name"] for one in api.list(NODE)["items"]] == [REAL]
        assert api.get(NODE, REAL)["spec"]["unschedulable"] is True
        assert "deletionTimestamp" in str(api.list(NAMESPACE, fieldSelector="metadata.name=muster-1-1")["items"]) or (
            api.list(NAMESPACE, fieldSelector="metadata.name=muster-1-1")["items"] == []
        )
        assert "mv /etc/kubernetes/manifests/kube-scheduler.yaml" in fakes.calls("docker exec")[-1]
        assert not fakes.calls("podMaxBackoffSeconds")
        assert cluster.client_kubeconfig("scheduler").is_file()
        cluster.check()
        directory = cluster.directory
    api.delete(NODE, REAL)
    assert not directory.exists()
    assert not fakes.calls("docker rm")
    assert not fakes.calls("kind create")


def test_scenarios_do_not_see_the_real_node(fakes: Fakes, plane: LocalCluster) -> None:
    real = node(REAL)
    real["metadata"]["labels"] = {"kubernetes.io/os": "linux"}
    plane.connection.api.create(real)
    cluster = KindCluster(reuse=True, own_scheduler=True)
    view = cluster.start().api
    try:
        view.create(node("gpu-1"))
        assert [one["metadata"]["name"] for one in view.list(NODE)["items"]] == ["gpu-1"]
        assert view.own(f'{{"spec":{{"nodeName":"{REAL}"}}}}'.encode()) is None
        assert view.own(b'{"spec":{"nodeName":"gpu-1"}}') is not None
        assert view.own(f'{{"reportingInstance":"default-scheduler-{REAL}"}}'.encode()) is not None
        cluster.signal_scheduler("STOP")
        assert fakes.calls("docker exec")[-1].endswith("pkill --signal STOP --exact kube-scheduler")
        assert fakes.calls("podMaxBackoffSeconds") == ["podMaxBackoffSeconds: 1"]
        assert fakes.calls("    - --config=") == ["    - --config=/etc/kubernetes/kube-scheduler-settings.yaml"]
    finally:
        cluster.stop()
        for name in ("gpu-1", REAL):
            plane.connection.api.delete(NODE, name)
    assert isinstance(view, ScenarioView)
    assert view.list(POD)["items"] == []
