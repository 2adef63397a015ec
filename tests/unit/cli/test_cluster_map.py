"""The map of the cluster: who has which cell, who waits, and how that is drawn with and without colours."""

from __future__ import annotations

from typing import Any

import pytest
from rich.text import Text

from muster.demo.maps import ClusterMap, NodeMap, Share, Waiting, cluster_map, job_of
from muster.demo.pictures import Legend, picture

Object = dict[str, Any]


def a_node(name: str, *, gpus: int = 0, cpus: int = 32, taints: tuple[Object, ...] = ()) -> Object:
    capacity = {"cpu": str(cpus)} | ({"nvidia.com/gpu": str(gpus)} if gpus else {})
    return {"metadata": {"name": name}, "spec": {"taints": list(taints)}, "status": {"capacity": capacity}}


def a_pod(name: str, node: str = "", *, job: str = "", asks: Object | None = None, **more: Any) -> Object:
    labels = {"training.kubeflow.org/job-name": job} if job else {}
    meta = {"name": name, "labels": labels, "creationTimestamp": "2026-01-01T00:00:00Z"} | more.get("meta", {})
    container = {"resources": {"limits": asks or {"nvidia.com/gpu": "1"}}}
    spec = {"containers": [container]} | ({"nodeName": node} if node else {})
    return {"metadata": meta, "spec": spec, "status": {"phase": more.get("phase", "Running")}}


def drawn(shown: ClusterMap) -> list[str]:
    return [line.plain for line in picture(shown, Legend())]


def test_a_cell_belongs_to_a_job_until_its_pod_has_ended() -> None:
    leaving = {"deletionTimestamp": "2026-01-01T00:00:01Z"}
    pods = [
        a_pod("a-master-0", "n10", job="a", asks={"nvidia.com/gpu": "2"}),
        a_pod("b-0", "n2", job="b", meta={"labels": {"training.kubeflow.org/job-name": "b"}, **leaving}),
        a_pod("old", "n2", phase="Failed"),
        a_pod("launcher", "n2", asks={"cpu": "1"}),
    ]
    found = cluster_map([a_node("n10", gpus=4), a_node("n2", gpus=1), a_node("m")], pods, {})
    assert found.unit == "GPU"
    assert found.nodes == (
        NodeMap("m", 0),
        NodeMap("n2", 1, (Share("b", 1, leaving=True),)),
        NodeMap("n10", 4, (Share("a", 2),)),
    )
    assert drawn(found) == ["n2   a", "n10  B B . .", "no GPUs: m", "A b", "B a"]


def test_where_no_node_has_gpus_a_cell_is_a_cpu() -> None:
    pods = [a_pod("p", "n", asks={"cpu": "2500m"})]
    found = cluster_map([a_node("n", cpus=4)], pods, {})
    assert (found.unit, drawn(found)[0]) == ("CPU", "n  A A A .")


def test_those_who_wait_are_counted_by_job_in_the_order_of_their_coming() -> None:
    early = {"creationTimestamp": "2025-01-01T00:00:00Z", "labels": {"training.kubeflow.org/job-name": "job-x"}}
    pods = [a_pod("late"), a_pod("x-10", meta=early), a_pod("x-2", meta=early)]
    found = cluster_map([a_node("n", gpus=1)], pods, {"B": "job-x"})
    assert found.waiting == (Waiting("B job-x", 2, "x-2"), Waiting("late", 1, "late"))
    assert drawn(found) == ["n  .", "B job-x  2 pods wait", "A late  waits"]


def test_taints_stand_beside_the_cells() -> None:
    taints = ({"key": "gpu_node", "value": "invalid", "effect": "NoSchedule"}, {"key": "k", "effect": "NoExecute"})
    found = cluster_map([a_node("n", gpus=2, taints=taints)], [], {})
    assert drawn(found) == ["n  . .  gpu_node=invalid:NoSchedule k:NoExecute"]


@pytest.mark.parametrize(
    ("words", "job"),
    [
        ({"labels": {"pytorch-job-name": "j"}}, "j"),
        ({"annotations": {"scheduling.k8s.io/group-name": "g"}}, "g"),
        ({"labels": {"pod-group.scheduling.sigs.k8s.io": "g"}}, "g"),
        ({}, "alone"),
    ],
)
def test_whose_a_pod_is(words: Object, job: str) -> None:
    assert job_of({"metadata": {"name": "alone", **words}}) == job


def test_letters_and_colours_stay_and_do_not_run_out() -> None:
    legend = Legend()
    first = legend.letter("big")
    assert [first, *(legend.letter(f"job-{number}") for number in range(26))][-2:] == ["Z", "#"]
    assert (legend.letter("big"), legend.style("big")) == ("A", "bold cyan")
    assert legend.style("job-0") != legend.style("big")


def test_an_empty_cluster_is_no_trouble() -> None:
    assert list(picture(cluster_map([], [], {}), Legend())) == []
    assert all(isinstance(line, Text) for line in picture(ClusterMap("GPU", (NodeMap("n", 1),)), Legend()))
