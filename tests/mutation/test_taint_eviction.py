"""The stand-in for taint eviction: right without a fault, and with each fault wrong in that one thing."""

from __future__ import annotations

from typing import Any, cast

import pytest

from muster.cluster.api import Api
from muster.recording.pod_history import PodHistory
from tests.mutation.taint_eviction import TAINT_FAULTS, TaintEviction, TaintFault
from tests.support.history_builder import HistoryBuilder

GPU = {"key": "gpu", "value": "true", "effect": "NoExecute"}
SSD = {"key": "ssd", "value": "true", "effect": "NoExecute"}
TOLERATIONS: dict[str, list[dict[str, Any]]] = {
    "intolerant": [],
    "tolerant": [GPU],
    "for-a-minute": [{**GPU, "tolerationSeconds": 60}],
    "for-both": [{**GPU, "tolerationSeconds": 60}, {**SSD, "tolerationSeconds": 30}],
}


class Bench:
    """A node with pods, a clock, and what the stand-in does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fault: TaintFault, *pods: str) -> None:
        self.now, self.evicted, self.messages = 1000.0, dict[str, bool](), list[str]()
        monkeypatch.setattr("time.monotonic", lambda: self.now)
        self.builder = HistoryBuilder().node("one").node("two")
        for name in pods:
            self.builder.pod(name).run(name, "one")
        self.controller = TaintEviction(cast(Api, self), self.builder.history, fault, self._evict)

    def get(self, _resource: object, name: str, _namespace: str) -> dict[str, Any]:
        return {"spec": {"tolerations": TOLERATIONS[name]}}

    def post(self, _path: str, body: dict[str, Any]) -> None:
        self.messages.append(body["message"].split(" Pod ")[0])

    def _evict(self, _api: Api, pod: PodHistory, *, without_condition: bool, reason: str) -> None:
        assert reason == "DeletionByTaintManager"
        self.evicted[pod.name] = not without_condition

    def taint(self, *taints: dict[str, str], after: float = 0.0) -> dict[str, bool]:
        self.builder.node("one", taints=list(taints))
        self.controller.step()
        return self.wait(after)

    def wait(self, seconds: float) -> dict[str, bool]:
        self.now += seconds
        self.controller.step()
        return self.evicted


def test_a_pod_is_evicted_at_once_or_after_its_seconds_or_never(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, TaintFault(), "intolerant", "tolerant", "for-a-minute")
    assert bench.taint(GPU) == {"intolerant": True}
    assert bench.wait(59) == {"intolerant": True}
    assert bench.wait(2) == {"intolerant": True, "for-a-minute": True}
    assert bench.messages == ["Marking for deletion", "Marking for deletion"]


def test_the_shortest_time_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Bench(monkeypatch, TaintFault(), "for-both").taint(GPU, SSD, after=31) == {"for-both": True}


def test_a_removed_taint_cancels_the_eviction(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, TaintFault(), "for-a-minute")
    bench.taint(GPU)
    assert bench.taint(after=120) == {}
    assert bench.messages == ["Cancelling deletion of"]


@pytest.mark.parametrize(
    ("name", "pods", "taints", "after", "evicted"),
    [
        ("taint-eviction-without-condition", ["intolerant"], [GPU], 0, {"intolerant": False}),
        ("first-eviction-evicts-the-whole-node", ["intolerant", "tolerant"], [GPU], 0, {"tolerant": True}),
        ("toleration-seconds-mean-forever", ["for-a-minute"], [GPU], 61, {}),
        ("longest-toleration-applies", ["for-both"], [GPU, SSD], 31, {}),
    ],
)
def test_each_fault_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    pods: list[str],
    taints: list[dict[str, str]],
    after: float,
    evicted: dict[str, bool],
) -> None:
    found = Bench(monkeypatch, TAINT_FAULTS[name], *pods).taint(*taints, after=after)
    assert found == {**({"intolerant": True} if "tolerant" in pods else {}), **evicted}


def test_an_eviction_without_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, TAINT_FAULTS["taint-eviction-without-event"], "intolerant")
    assert (bench.taint(GPU), bench.messages) == ({"intolerant": True}, [])


@pytest.mark.parametrize(
    ("name", "messages"),
    [
        ("removed-taints-evict", ["Marking for deletion"]),
        ("cancelled-evictions-evict", ["Cancelling deletion of", "Marking for deletion"]),
    ],
)
def test_evictions_after_the_taint_is_removed(monkeypatch: pytest.MonkeyPatch, name: str, messages: list[str]) -> None:
    bench = Bench(monkeypatch, TAINT_FAULTS[name], "for-a-minute")
    bench.taint(GPU)
    assert bench.taint(after=61) == {"for-a-minute": True}
    assert bench.messages == messages


def test_one_removed_taint_cancels_the_evictions_of_another_node(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, TAINT_FAULTS["one-removed-taint-cancels-all-evictions"], "for-a-minute")
    bench.builder.pod("for-both").run("for-both", "two").node("two", taints=[GPU, SSD])
    bench.taint(GPU)
    assert bench.taint(after=120) == {}
