"""Real nodes without a cluster: whose fault a rejected pod is, what a worker gets, and how a container is ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from muster.environment.node_plan import NodePlan
from muster.environment.real_nodes import RealNodes, check_rejections
from muster.errors import ConformanceFailure, HarnessError
from muster.schedulers.requests import NodeRequest, PodRequest, Taint
from tests.support.history_builder import HistoryBuilder


def rejected(builder: HistoryBuilder, pod: str) -> HistoryBuilder:
    reason = {"reason": "UnexpectedAdmissionError", "message": "Requested: 1, Available: 0"}
    return builder._change(pod, "status", phase="Failed", **reason)


def test_a_rejection_is_a_failure_where_the_bindings_exceed_the_node() -> None:
    builder = HistoryBuilder().node("w", 1).running_pod("first", "w", 1).pod("second", 1).bind("second", "w")
    with pytest.raises(ConformanceFailure, match=r"second was bound to w .* rejected second: UnexpectedAdmissionError"):
        check_rejections(rejected(builder, "second").history)


def test_a_rejection_is_an_error_where_the_bindings_fit() -> None:
    builder = HistoryBuilder().node("w", 2).running_pod("first", "w", 1).pod("second", 1).bind("second", "w")
    with pytest.raises(HarnessError, match="everything that is bound there fits"):
        check_rejections(rejected(builder, "second").history)


def test_a_pod_that_fails_by_itself_is_not_rejected() -> None:
    builder = HistoryBuilder().node("w", 1).running_pod("first", "w", 1).finish("first", "Failed")
    check_rejections(builder.history)


class Recorded:
    """Takes the calls to the API and to the cluster."""

    def __init__(self, **pod: Any) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self._pod = pod

    def get(self, *_: Any) -> dict[str, Any]:
        return {"status": {"phase": "Running"}, "spec": {"restartPolicy": "Never"}} | self._pod

    def patch(self, _: Any, name: str, change: Mapping[str, Any], **__: Any) -> None:
        self.calls.append(("patch", name, change))

    def delete(self, _: Any, name: str, *__: Any, grace: int) -> None:
        self.calls.append(("delete", name, grace))

    def post(self, path: str, _: Any, **query: str) -> None:
        self.calls.append(("post", path, query))

    def set_gpus(self, counts: Mapping[str, int]) -> None:
        self.calls.append(("gpus", counts))


def real_nodes(recorded: Recorded) -> RealNodes:
    return RealNodes(recorded, {}, NodePlan({"a": "k-worker"}), recorded)  # type: ignore[arg-type]


def test_a_worker_is_opened_with_what_the_scenario_asks_and_closed_again() -> None:
    recorded = Recorded()
    nodes = real_nodes(recorded)
    request = NodeRequest("k-worker", 2, taints=(Taint("t", "", "NoSchedule"),), labels={"zone": "west"})
    nodes.add(request)
    nodes.open([request])
    nodes.remove()
    gpus, (_, _, prepared), (_, name, opened), (_, _, closed) = recorded.calls
    assert gpus == ("gpus", {"k-worker": 2})
    assert prepared["metadata"]["labels"] == {"zone": "west"}
    assert "unschedulable" not in prepared["spec"]  # it may still report the GPUs of another scenario
    assert (name, opened["spec"]["unschedulable"]) == ("k-worker", None)
    assert opened["spec"]["taints"] == [{"key": "t", "value": "", "effect": "NoSchedule"}]
    assert closed == {"metadata": {"labels": {"zone": None}}, "spec": {"unschedulable": True, "taints": None}}


def test_a_container_is_asked_to_end_with_its_exit_code() -> None:
    recorded = Recorded()
    real_nodes(recorded).end("n", "p", 3)
    assert recorded.calls == [("post", "/api/v1/namespaces/n/pods/p:8099/proxy/exit", {"code": "3"})]


def test_a_pod_that_would_start_again_is_deleted() -> None:
    recorded = Recorded(spec={"restartPolicy": "Always"})
    real_nodes(recorded).end("n", "p", 0)
    assert recorded.calls == [("delete", "p", 1)]


def test_a_long_grace_period_is_a_container_that_ignores_sigterm() -> None:
    manifest = {"spec": {"containers": [{"name": "main"}]}}
    adapted = real_nodes(Recorded()).adapt(manifest, PodRequest("p", long_grace_period=True))
    assert adapted["spec"]["restartPolicy"] == "Never"
    assert adapted["spec"]["containers"][0]["env"] == [{"name": "MUSTER_ON_SIGTERM", "value": "ignore"}]
