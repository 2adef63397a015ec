"""The map of the cluster: allocations, pending jobs, and the text with and without colours."""

from __future__ import annotations

from typing import Any

import pytest
from rich.text import Text

from muster.demo.cluster_map import (
    Allocation,
    ClusterMap,
    Legend,
    NodeMap,
    PendingJob,
    cluster_map,
    draw_map,
    job_of,
)

Object = dict[str, Any]


def a_node(name: str, *, gpus: int = 0, cpus: int = 32, taints: tuple[Object, ...] = ()) -> Object:
    capacity = {"cpu": str(cpus)} | ({"nvidia.com/gpu": str(gpus)} if gpus else {})
    return {"metadata": {"name": name}, "spec": {"taints": list(taints)}, "status": {"capacity": capacity}}


def a_pod(name: str, node: str = "", *, job: str = "", requests: Object | None = None, **more: Any) -> Object:
    labels = {"training.kubeflow.org/job-name": job} if job else {}
    meta = {"name": name, "labels": labels, "creationTimestamp": "2026-01-01T00:00:00Z"} | more.get("meta", {})
    container = {"resources": {"limits": requests or {"nvidia.com/gpu": "1"}}}
    spec = {"containers": [container]} | ({"nodeName": node} if node else {})
    return {"metadata": meta, "spec": spec, "status": {"phase": more.get("phase", "Running")}}


def drawn(cluster: ClusterMap) -> list[str]:
    return [line.plain for line in draw_map(cluster, Legend())]


def test_a_cell_is_allocated_until_its_pod_has_finished() -> None:
    terminating = {"deletionTimestamp": "2026-01-01T00:00:01Z"}
    pods = [
        a_pod("a-master-0", "n10", job="a", requests={"nvidia.com/gpu": "2"}),
        a_pod("b-0", "n2", job="b", meta={"labels": {"training.kubeflow.org/job-name": "b"}, **terminating}),
        a_pod("old", "n2", phase="Failed"),
        a_pod("launcher", "n2", requests={"cpu": "1"}),
    ]
    found = cluster_map([a_node("n10", gpus=4), a_node("n2", gpus=1), a_node("m")], pods, {})
    assert found.unit == "GPU"
    assert found.nodes == (
        NodeMap("m", 0),
        NodeMap("n2", 1, (Allocation("b", 1, terminating=True),)),
        NodeMap("n10", 4, (Allocation("a", 2),)),
    )
    assert drawn(found) == ["n2   a", "n10  B B . .", "no GPUs: m", "A b", "B a"]


def test_where_no_node_has_gpus_a_cell_is_a_cpu() -> None:
    pods = [a_pod("p", "n", requests={"cpu": "2500m"})]
    found = cluster_map([a_node("n", cpus=4)], pods, {})
    assert (found.unit, drawn(found)[0]) == ("CPU", "n  A A A .")


def test_pending_pods_are_counted_by_job_in_order_of_creation() -> None:
    early = {"creationTimestamp": "2025-01-01T00:00:00Z", "labels": {"training.kubeflow.org/job-name": "job-x"}}
    pods = [a_pod("late"), a_pod("x-10", meta=early), a_pod("x-2", meta=early)]
    found = cluster_map([a_node("n", gpus=1)], pods, {"B": "job-x"})
    assert found.pending == (PendingJob("B job-x", 2, "x-2"), PendingJob("late", 1, "late"))
    assert drawn(found) == ["n  .", "B job-x  2 pods pending", "A late  pending"]


def test_taints_are_shown_after_the_cells() -> None:
    taints = ({"key": "gpu_node", "value": "invalid", "effect": "NoSchedule"}, {"key": "k", "effect": "NoExecute"})
    found = cluster_map([a_node("n", gpus=2, taints=taints)], [], {})
    assert drawn(found) == ["n  . .  gpu_node=invalid:NoSchedule k:NoExecute"]


@pytest.mark.parametrize(
    ("metadata", "job"),
    [
        ({"labels": {"pytorch-job-name": "j"}}, "j"),
        ({"annotations": {"scheduling.k8s.io/group-name": "g"}}, "g"),
        ({"labels": {"pod-group.scheduling.sigs.k8s.io": "g"}}, "g"),
        ({}, "alone"),
    ],
)
def test_job_of_a_pod(metadata: Object, job: str) -> None:
    assert job_of({"metadata": {"name": "alone", **metadata}}) == job


def test_letters_and_colours_stay_and_do_not_run_out() -> None:
    legend = Legend()
    first = legend.letter("big")
    assert [first, *(legend.letter(f"job-{number}") for number in range(26))][-2:] == ["Z", "#"]
    assert (legend.letter("big"), legend.style("big")) == ("A", "bold cyan")
    assert legend.style("job-0") != legend.style("big")


def test_an_empty_cluster_can_be_drawn() -> None:
    assert list(draw_map(cluster_map([], [], {}), Legend())) == []
    assert all(isinstance(line, Text) for line in draw_map(ClusterMap("GPU", (NodeMap("n", 1),)), Legend()))
