"""A reused kind cluster: an embedded control plane in its place, with fakes of kind and docker."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from muster import assets, timeouts
from muster.cluster.kind import KindCluster
from muster.cluster.kind.kind_cluster import FilteredApi
from muster.cluster.local import LocalCluster
from muster.cluster.resources import NAMESPACE, NODE, POD
from muster.errors import HarnessError
from muster.schedulers.crds import install_crds
from muster.schedulers.volcano import VOLCANO_QUEUE
from muster.suite import paths
from tests.support.kind_fakes import Fakes
from tests.support.local_cluster import node
from tests.support.processes_left import PATIENCE

pytestmark = pytest.mark.plane
REAL = "muster-control-plane"
PROBE_NAMESPACE: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "muster-probe"}}


@pytest.fixture(scope="module")
def plane() -> Iterator[LocalCluster]:
    with LocalCluster() as running:
        yield running


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plane: LocalCluster) -> Fakes:
    monkeypatch.setattr(timeouts, "CLEARING_AWAY", PATIENCE)  # a namespace takes its time on a busy machine
    kwok = assets.ensure(("kwok",), print_line=print)["kwok"]  # the real one is needed
    fakes = Fakes(tmp_path, monkeypatch)
    fakes.set("MUSTER_ASSET_KWOK", str(kwok))
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


def test_a_reused_cluster_is_reset_cordoned_and_kept(fakes: Fakes, plane: LocalCluster) -> None:
    api = plane.connection.api
    real = node(REAL)
    real["metadata"]["labels"] = {"kubernetes.io/os": "linux"}
    api.create(real)
    api.create(node("gpu-9"))
    api.create(PROBE_NAMESPACE)
    install_crds(api, paths.manifests() / "crds" / "volcano-queues.yaml")
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
    api.create({**queue, "metadata": {"name": "left", "finalizers": ["controller.example/is-gone"]}})
    cluster = KindCluster(reuse=True)
    cluster.start()
    try:
        assert [one["metadata"]["name"] for one in api.list(NODE)["items"]] == [REAL]
        assert api.get(NODE, REAL)["spec"]["unschedulable"] is True
        api.create(PROBE_NAMESPACE)  # as the environment does next: a terminating one would make this fail
        assert api.list(VOLCANO_QUEUE)["items"] == []
        assert "mv /etc/kubernetes/manifests/kube-scheduler.yaml" in fakes.calls("docker exec")[-1]
        assert not fakes.calls("podMaxBackoffSeconds")
        assert cluster.client_kubeconfig("scheduler").is_file()
        cluster.check()
        directory = cluster.directory
    finally:
        cluster.stop()
    api.delete(NODE, REAL)
    api.delete(NAMESPACE, PROBE_NAMESPACE["metadata"]["name"])
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
        assert view.visible(f'{{"spec":{{"nodeName":"{REAL}"}}}}'.encode()) is None
        assert view.visible(b'{"spec":{"nodeName":"gpu-1"}}') is not None
        assert view.visible(f'{{"reportingInstance":"default-scheduler-{REAL}"}}'.encode()) is not None
        cluster.signal_scheduler("STOP")
        assert fakes.calls("docker exec")[-1].endswith("pkill --signal STOP --exact kube-scheduler")
        assert fakes.calls("podMaxBackoffSeconds") == ["podMaxBackoffSeconds: 1"]
        assert fakes.calls("    - --config=") == ["    - --config=/etc/kubernetes/kube-scheduler-settings.yaml"]
    finally:
        cluster.stop()
        for name in ("gpu-1", REAL):
            plane.connection.api.delete(NODE, name)
    assert isinstance(view, FilteredApi)
    assert view.list(POD)["items"] == []


def test_a_second_run_is_refused_while_the_first_one_runs(fakes: Fakes, plane: LocalCluster) -> None:
    first, second = KindCluster(reuse=True), KindCluster(reuse=True)
    first.start()
    try:
        plane.connection.api.create(node("gpu-1"))
        with pytest.raises(HarnessError, match=f"'muster' is in use by process {os.getpid()}: wait until"):
            second.start()
        assert plane.connection.api.get(NODE, "gpu-1")
    finally:
        first.stop()
    second.start()
    second.stop()


@pytest.mark.parametrize(("reuse", "kept"), [(False, True), (False, False), (True, True)])
def test_keeping_is_decided_at_the_end_and_reported(fakes: Fakes, reuse: bool, kept: bool) -> None:
    fakes.has_image()
    printed: list[str] = []
    cluster = KindCluster(reuse=reuse, keep=True, print_line=printed.append)
    cluster.start()
    directory, name = cluster.directory, "muster" if reuse else fakes.calls("kind create")[0].split("--name=")[1][:13]
    cluster.keep = kept
    printed.clear()
    cluster.stop()
    cluster.stop()
    removal = "" if reuse else f"docker rm -f -v {name}-control-plane && "
    kubeconfig = directory / "admin.kubeconfig"
    raised = f"kept: the kind cluster {name}, see {kubeconfig}; when you are done: {removal}rm -r {directory}"
    assert printed == ([raised] if kept else [])
    assert kubeconfig.exists() == kept
    assert bool(fakes.calls("docker rm")) == (not kept)
