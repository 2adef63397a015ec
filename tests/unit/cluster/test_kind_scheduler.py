"""Who is judged on a kind cluster, and how its own scheduler is told its settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from muster.cluster.kind import KindCluster
from muster.cluster.kind.scheduling import with_settings
from muster.cluster.local import LocalCluster
from muster.stage.own_clusters import InTheNode, Wish, comes_with_kind, own_cluster, own_subject
from muster.subject.kube_scheduler import KubeScheduler
from muster.subject.reference import Reference


def made(wish: Wish, scheduler: str) -> object:
    return own_cluster(wish, scheduler, keep=False, say=lambda _: None)


def test_a_wish_becomes_a_cluster_that_is_not_started() -> None:
    assert isinstance(made(Wish(), "reference"), LocalCluster)
    assert isinstance(made(Wish(cluster="kind", image="x"), "reference"), KindCluster)


def test_a_wish_can_be_typed_again() -> None:
    assert str(Wish()) == ""
    assert str(Wish(cluster="kind", image="node.tar", reuse=True)) == "--cluster kind --kind-image node.tar --reuse"


@pytest.mark.parametrize(("scheduler", "comes"), [("kube-scheduler", True), ("reference", False), ("volcano", False)])
def test_only_kube_scheduler_comes_with_kind(scheduler: str, comes: bool) -> None:
    assert comes_with_kind(scheduler) is comes


def test_the_scheduler_of_the_node_is_judged_there_and_others_are_brought(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    cluster = KindCluster()
    monkeypatch.setattr(KindCluster, "directory", tmp_path)
    monkeypatch.setattr(cluster, "signal_scheduler", sent.append)
    own = own_subject(cluster, "kube-scheduler", {})
    assert isinstance(own, InTheNode)
    assert own.longest_backoff == KubeScheduler("default", own.workplace).longest_backoff
    own.start()
    own.pause()
    own.resume()
    own.kill()
    assert sent == ["STOP", "CONT", "KILL"]
    assert isinstance(own_subject(cluster, "reference", {}), Reference)


def test_the_manifest_is_told_where_the_settings_are_and_keeps_the_rest() -> None:
    container = {"name": "kube-scheduler", "command": ["kube-scheduler", "--x"], "volumeMounts": [{"name": "a"}]}
    spec = {"hostNetwork": True, "containers": [container], "volumes": [{"name": "a"}]}
    told = with_settings({"kind": "Pod", "spec": spec})
    (only,) = told["spec"]["containers"]
    assert only["command"] == ["kube-scheduler", "--x", "--config=/etc/kubernetes/kube-scheduler-settings.yaml"]
    assert [mount["name"] for mount in only["volumeMounts"]] == ["a", "settings"]
    assert [volume["name"] for volume in told["spec"]["volumes"]] == ["a", "settings"]
    assert told["spec"]["hostNetwork"] is True
    assert spec["containers"] == [container]
