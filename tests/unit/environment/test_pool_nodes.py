"""Nodes of an owner in a scenario: they are used, and no request changes one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from muster.environment.node_plan import NodePlan
from muster.environment.pool_nodes import PoolNodes
from muster.recording.questions import Outcome
from muster.schedulers.requests import NodeRequest
from tests.support.history_builder import HistoryBuilder


class Requests:
    """Takes the calls to the API."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def create(self, manifest: dict[str, Any]) -> None:
        self.calls.append(("create", manifest["metadata"]["name"]))

    def delete(self, _: Any, name: str, *, grace: int) -> None:
        self.calls.append(("delete", name))


def test_only_nodes_that_take_no_pod_are_created_and_deleted() -> None:
    requests: Any = Requests()
    used: list[Sequence[str]] = []
    nodes = PoolNodes(requests, {}, NodePlan({"worker-1": "theirs"}, ("master-1",)), used.append)
    wanted = [NodeRequest("master-1"), NodeRequest("theirs", 4)]
    for request in wanted:
        nodes.add(request)
    nodes.open(wanted)
    nodes.remove()
    assert requests.calls == [("create", "master-1"), ("delete", "master-1")]
    assert used == [("theirs",), ()]
    assert [nodes.has_own_objects(one) for one in ("master-1", "theirs")] == [True, False]
    assert len(nodes) == 2


def test_a_node_whose_gpus_have_changed_is_not_ready() -> None:
    requests: Any = Requests()
    nodes = PoolNodes(requests, {}, NodePlan({"worker-1": "theirs"}), lambda _: None)
    request = NodeRequest("theirs", 4)
    nodes.add(request)
    answer = nodes.ready([request]).ask(HistoryBuilder().node("theirs", 3).history)
    assert (answer.outcome, answer.seen) == (Outcome.PENDING, "theirs reports 3 of 4 GPUs")
    assert nodes.ready([request]).ask(HistoryBuilder().node("theirs", 4).history).outcome is Outcome.TRUE
