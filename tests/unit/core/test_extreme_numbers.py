"""Numbers that nobody should write: they neither vanish nor wrap around to free room."""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.core.cluster import Cluster
from scheduler.core.draft import Draft
from scheduler.core.model import MEMORY
from scheduler.runtime.events import shortened
from scheduler.runtime.objects import ApiNode, ApiPod
from scheduler.runtime.quantities import LARGEST_HELD
from scheduler.runtime.reading import read_node, read_pod


def a_pod(name: str, memory: str, node: str = "") -> ApiPod:
    container = {"resources": {"requests": {MEMORY: memory}}}
    found: dict[str, Any] = {"metadata": {"name": name, "namespace": "ns", "uid": name}}
    return msgspec.convert(found | {"spec": {"containers": [container], "nodeName": node}}, ApiPod)


def a_node(memory: str) -> ApiNode:
    status = {"allocatable": {MEMORY: memory, "pods": "110"}}
    return msgspec.convert({"metadata": {"name": "n"}, "status": status}, ApiNode)


def test_absurd_pods_that_were_put_on_a_node_by_hand_fill_it() -> None:
    cluster = Cluster()
    cluster.set_node(read_node(a_node("256Gi")))
    for number, memory in enumerate(("4Ei", "4Ei", "4Ei", "7Ei", "1e30")):
        cluster.set_pod(read_pod(a_pod(str(number), memory, node="n")))
        assert not Draft(cluster).now.fitting(read_pod(a_pod("next", "1")).shape).any()


def test_an_absurd_pod_that_waits_asks_for_nothing_and_says_why() -> None:
    found = read_pod(a_pod("absurd", "1e30"))
    assert found.problem == "the pod's containers ask for more memory than any machine has"
    assert dict(found.requests) == {"pods": 1}


def test_a_node_offers_no_more_than_can_be_added_up() -> None:
    assert read_node(a_node("1e30")).allocatable[MEMORY] == LARGEST_HELD


def test_a_sentence_about_a_very_long_name_keeps_both_its_ends() -> None:
    said = shortened(f"queue {'q' * (1 << 20)} does not exist")
    assert len(said) == 1024
    assert said.startswith("queue qqq")
    assert said.endswith("qqq does not exist")
    assert shortened("short") == "short"
