"""Which scenarios real workers can hold, and how names of nodes become those of workers."""

from __future__ import annotations

import re

import pytest

from muster.environment import node_plan
from muster.environment.node_plan import NodePlan, StepText, Workers, declared_nodes, plan_nodes
from muster.suite import paths
from muster.suite.behaviours import Catalogue, read_features

WORKERS = Workers(("k-worker", "k-worker2", "k-worker3", "k-worker4"), cpus=4, memory="16Gi")
MASTERS = StepText(
    "nodes:",
    (
        ("node", "role", "GPUs", "taints"),
        ("master-1", "master", "0", "node-role.kubernetes.io/master:NoSchedule"),
        ("worker-10", "", "4", ""),
        ("worker-2", "", "1", "gpu_node=invalid:NoSchedule"),
    ),
)


def plan(*texts: str, behaviour: str = "PRE-01", asked: str = "real") -> NodePlan:
    return plan_nodes(behaviour, [StepText(text) for text in texts], WORKERS, asked=asked)


def test_nodes_are_mapped_in_the_order_of_their_names() -> None:
    assert plan_nodes("DOC-1", [MASTERS], WORKERS, asked="real").real == {
        "worker-2": "k-worker",
        "worker-10": "k-worker2",
    }


def test_masters_stay_node_objects() -> None:
    found = plan_nodes("DOC-1", [MASTERS], WORKERS, asked="real")
    assert found.objects == ("master-1",)
    assert "master-1 is a Node object without a kubelet" in found.describe()


def test_unnamed_nodes_have_the_names_that_steps_give_them() -> None:
    assert plan("a node with 2 GPUs", "a node with 1 GPU").real == {"gpu-1": "k-worker", "gpu-2": "k-worker2"}


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([f'a node "n-{number}" with 1 GPU' for number in range(5)], "5 nodes, and the cluster has 4 workers"),
        (['a node "a" with 1 GPU', 'node "a" becomes unreachable'], "a dead kubelet"),
        (['a node "a" with 8 CPUs and 16Gi of memory'], "a has 8 CPUs and 16Gi"),
        (["a node with 4 GPUs", 'a gang "g" of 3 pods with 1 GPU, 8 CPUs and 1Gi of memory each'], "requests 8 CPUs"),
        (['pod "p" requests 1 GPU'], "declares no node"),
    ],
)
def test_what_cannot_be_held_says_why(steps: list[str], reason: str) -> None:
    found = plan(*steps)
    assert not found.real
    assert reason in found.reason
    assert found.label.startswith("simulated: ")


def test_what_was_not_compared_runs_on_real_nodes_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_plan, "compared", lambda: {"PRE-01"})
    assert plan("a node with 1 GPU", behaviour="PRE-01", asked="").real
    assert "not compared" in plan("a node with 1 GPU", behaviour="PRE-02", asked="").reason
    assert plan("a node with 1 GPU", behaviour="PRE-02", asked="real").real


def test_simulated_nodes_can_be_asked_for() -> None:
    assert plan("a node with 1 GPU", asked="simulated").label == "simulated: as asked for"


def test_what_differs_on_workers_never_runs_there() -> None:
    assert "restarts the container" in plan("a node with 1 GPU", behaviour="JOB-03").reason


def test_names_are_translated_wherever_a_step_reads_them() -> None:
    names = NodePlan({"worker-1": "k-worker", "cn-beijing.1": "k-worker2"})
    assert names.translate("worker-1") == "k-worker"
    assert names.translate(("worker-1", "worker-10", "a-worker-1")) == ("k-worker", "worker-10", "a-worker-1")
    assert names.translate([["node"], ["worker-1"]]) == [["node"], ["k-worker"]]
    assert names.translate("<address:worker-1> to worker-1.") == "<address:k-worker> to k-worker."
    assert names.translate("Total GPUs In Node worker-1:  1") == "Total GPUs In Node k-worker:  1"
    assert names.translate("cn-beijing.1, cn-beijing.10") == "k-worker2, cn-beijing.10"
    assert names.translate(4) == 4


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return read_features(paths.suite_root() / "features")


def test_every_step_of_the_suite_that_declares_a_node_is_read(catalogue: Catalogue) -> None:
    for behaviour in catalogue.behaviours:
        for step in behaviour.steps:
            if re.match(r"a node\b|nodes:$", step.text) and "<" not in step.text:
                assert declared_nodes([StepText(step.text, step.table)]), step.text
