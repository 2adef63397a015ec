"""Nodes that an owner gives to a run: what must be so before it starts, and that no two runs use the same."""

from __future__ import annotations

from typing import Any

import pytest

from muster.cluster.existing import pool_check
from muster.cluster.existing.pool_check import POOL, pool_nodes, pool_problems, require_unused
from muster.cluster.node_pool import NodePool
from muster.cluster.run_scope import RUN_LABEL, RunScope
from muster.errors import HarnessError

SELECTOR = {"pool": "muster"}
TAINT = {"key": "pool", "value": "muster", "effect": "NoSchedule"}


def node(name: str = "one", *, gpus: str = "4", ready: str = "True", hostname: str = "", **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": hostname or name}},
        "spec": {"taints": [TAINT], **spec},
        "status": {"allocatable": {"nvidia.com/gpu": gpus}, "conditions": [{"type": "Ready", "status": ready}]},
    }


def test_a_node_that_is_kept_for_the_run_has_no_problem() -> None:
    assert pool_problems([node()], SELECTOR) == []


@pytest.mark.parametrize(
    ("nodes", "problem"),
    [
        ([], "no node has the labels of --node-selector pool=muster: kubectl label nodes NAME pool=muster"),
        ([node(gpus="0")], "the node one advertises no nvidia.com/gpu: has its device plugin registered"),
        ([node(ready="Unknown")], "the node one is not ready: kubectl describe node one"),
        ([node(unschedulable=True)], "the node one is cordoned: kubectl uncordon one"),
        ([node(taints=[])], "could preempt them: kubectl taint nodes one pool=muster:NoSchedule"),
        ([node(taints=[{**TAINT, "value": "x"}])], "could preempt them: kubectl taint"),
        ([node(taints=[TAINT, {"key": "a", "effect": "NoExecute"}])], "has the taint a, which pods of a run do not"),
        ([node(hostname="other")], "the label kubernetes.io/hostname of the node one is not its name"),
    ],
)
def test_each_problem_says_what_to_do(nodes: list[dict[str, Any]], problem: str) -> None:
    assert problem in pool_problems(nodes, SELECTOR)[0]


class Runs:
    """A cluster with these namespaces of runs, and with nodes."""

    def __init__(self, *namespaces: dict[str, Any]) -> None:
        self.namespaces = namespaces

    def list(self, kind: Any, **query: str) -> dict[str, Any]:
        if kind.kind == "Node":
            assert query == {"labelSelector": "pool=muster"}
            return {"items": [node("two"), node("one")]}
        return {"items": list(self.namespaces)}


def run(run_id: str, at: str, *nodes: str) -> dict[str, Any]:
    metadata = {"name": f"muster-{run_id}", "labels": {RUN_LABEL: run_id}, "creationTimestamp": at}
    return {"metadata": {**metadata, "annotations": {POOL: " ".join(nodes)}}}


OWN = run("kbcd240", "12:00", "one", "two")
SCOPE = RunScope("kbcd240", pool=NodePool(SELECTOR, "i", nodes=("one", "two")))


def test_nodes_come_in_the_order_of_their_names() -> None:
    api: Any = Runs()
    assert [one["metadata"]["name"] for one in pool_nodes(api, SELECTOR)] == ["one", "two"]


@pytest.mark.parametrize("other", [run("zzzzzz0", "11:00", "three"), run("zzzzzz0", "12:01", "one"), run("x", "11:00")])
def test_runs_on_other_nodes_and_younger_ones_do_not_matter(other: dict[str, Any]) -> None:
    api: Any = Runs(OWN, other)
    require_unused(api, SCOPE)


@pytest.mark.parametrize("at", ["11:59", "12:00"])
def test_nodes_that_another_run_uses_are_refused(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    api: Any = Runs(OWN, run("bbbbbb0", at, "two"))
    monkeypatch.setattr(pool_check, "alive_because", lambda *_: "it is process 7 here")
    with pytest.raises(HarnessError, match=r"run bbbbbb0 uses two \(it is process 7 here\): wait"):
        require_unused(api, SCOPE)
    monkeypatch.setattr(pool_check, "alive_because", lambda *_: "")
    with pytest.raises(HarnessError, match="was killed and may have pods on two: muster cleanup --run bbbbbb0"):
        require_unused(api, SCOPE)
