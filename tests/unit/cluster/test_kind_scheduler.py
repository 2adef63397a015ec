"""Which scheduler is tested on a kind cluster, and how its own one is configured."""

from __future__ import annotations

from pathlib import Path

import pytest

from muster.cluster.kind import KindCluster
from muster.cluster.kind.static_pod import with_settings
from muster.cluster.local import LocalCluster
from muster.environment.in_cluster_scheduler import KindStaticPodScheduler
from muster.environment.own_clusters import comes_with_kind, own_cluster, own_scheduler
from muster.run_options import RunOptions
from muster.schedulers.kube_scheduler import KubeScheduler
from muster.schedulers.reference import Reference


def made(options: RunOptions) -> object:
    return own_cluster(options, lambda _: None)


def test_options_become_a_cluster_that_is_not_started() -> None:
    assert isinstance(made(RunOptions()), LocalCluster)
    assert isinstance(made(RunOptions(cluster="kind", kind_image="x")), KindCluster)


def test_options_can_be_typed_again() -> None:
    assert RunOptions().command == "muster run --scheduler reference"
    assert (
        RunOptions(cluster="kind", kind_image="node.tar", reuse=True).command
        == "muster run --scheduler reference --cluster kind --kind-image node.tar --reuse"
    )


@pytest.mark.parametrize(("scheduler", "comes"), [("kube-scheduler", True), ("reference", False), ("volcano", False)])
def test_only_kube_scheduler_comes_with_kind(scheduler: str, comes: bool) -> None:
    assert comes_with_kind(scheduler) is comes


def test_the_static_pod_scheduler_is_used_and_others_are_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    cluster = KindCluster()
    monkeypatch.setattr(KindCluster, "directory", tmp_path)
    monkeypatch.setattr(cluster, "signal_scheduler", sent.append)
    own = own_scheduler(cluster, "kube-scheduler", {})
    assert isinstance(own, KindStaticPodScheduler)
    assert own.longest_backoff == KubeScheduler("default", own.context).longest_backoff
    own.start()
    own.pause()
    own.resume()
    own.kill()
    assert sent == ["STOP", "CONT", "KILL"]
    assert isinstance(own_scheduler(cluster, "reference", {}), Reference)


def test_the_static_pod_gets_a_configuration_file() -> None:
    container = {"name": "kube-scheduler", "command": ["kube-scheduler", "--x"], "volumeMounts": [{"name": "a"}]}
    spec = {"hostNetwork": True, "containers": [container], "volumes": [{"name": "a"}]}
    raised = with_settings({"kind": "Pod", "spec": spec})
    (only,) = raised["spec"]["containers"]
    assert only["command"] == ["kube-scheduler", "--x", "--config=/etc/kubernetes/kube-scheduler-settings.yaml"]
    assert [mount["name"] for mount in only["volumeMounts"]] == ["a", "settings"]
    assert [volume["name"] for volume in raised["spec"]["volumes"]] == ["a", "settings"]
    assert raised["spec"]["hostNetwork"] is True
    assert spec["containers"] == [container]
