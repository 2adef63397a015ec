"""Excessive quantities: they neither vanish nor overflow to free capacity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from scheduler.core.cluster_state import ClusterState
from scheduler.core.scheduling_types import MEMORY
from scheduler.core.snapshot import Snapshot
from scheduler.runtime.api_types import ApiNode, ApiPod
from scheduler.runtime.convert import convert_node, convert_pod
from scheduler.runtime.event_recorder import truncate_message
from scheduler.runtime.quantities import MAX_AMOUNT


def a_pod(name: str, memory: str, node: str = "") -> ApiPod:
    container = {"resources": {"requests": {MEMORY: memory}}}
    found: dict[str, Any] = {"metadata": {"name": name, "namespace": "ns", "uid": name}}
    return msgspec.convert(found | {"spec": {"containers": [container], "nodeName": node}}, ApiPod)


def a_node(memory: str) -> ApiNode:
    status = {"allocatable": {MEMORY: memory, "pods": "110"}}
    return msgspec.convert({"metadata": {"name": "n"}, "status": status}, ApiNode)


def test_excessive_pods_with_a_node_name_fill_the_node() -> None:
    state = ClusterState()
    state.set_node(convert_node(a_node("256Gi")))
    for number, memory in enumerate(("4Ei", "4Ei", "4Ei", "7Ei", "1e30")):
        state.set_pod(convert_pod(a_pod(str(number), memory, node="n")))
        assert not Snapshot(state).free_now.fitting(convert_pod(a_pod("next", "1")).requirements).any()


def test_the_sum_of_many_large_pods_does_not_overflow() -> None:
    """They fill the node until the last of those that are too many is gone, terminating ones included."""
    state = ClusterState()
    state.set_node(convert_node(a_node("1e30")))
    pods = [convert_pod(a_pod(str(number), str(MAX_AMOUNT), node="n")) for number in range(2_100)]
    small = convert_pod(a_pod("next", "1")).requirements
    assert state.table
    for number, pod in enumerate(pods):
        state.set_pod(replace(pod, terminating=number < 1_100))
    snapshot = Snapshot(state)
    assert not snapshot.free_now.fitting(small).any()
    assert not snapshot.free_later.fitting(small).any()
    for pod in pods[1:]:
        assert not Snapshot(state).free_now.fitting(small).any()
        state.remove_pod(pod.uid)
    state.remove_pod(pods[0].uid)
    assert Snapshot(state).free_now.fitting(small).all()
    assert not state.table.used.any()
    assert not state.table.terminating.any()


def test_an_excessive_pending_pod_counts_as_nothing_and_has_a_reason() -> None:
    found = convert_pod(a_pod("absurd", "1e30"))
    assert found.problem == "the pod requests more memory than any node can have"
    assert dict(found.requests) == {"pods": 1}


def test_allocatable_is_capped() -> None:
    assert convert_node(a_node("1e30")).allocatable[MEMORY] == MAX_AMOUNT


def test_a_message_about_a_very_long_name_is_truncated_in_the_middle() -> None:
    message = truncate_message(f"queue {'q' * (1 << 20)} does not exist")
    assert 1020 < len(message.encode()) <= 1024  # the API counts bytes
    assert message.startswith("queue qqq")
    assert message.endswith("qqq does not exist")
    assert truncate_message("short") == "short"


def test_a_message_is_not_truncated_within_a_character() -> None:
    message = truncate_message("ö" * 513)
    assert 1020 < len(message.encode()) <= 1024
    assert set(message) == {"ö", "…"}
    assert truncate_message("ö" * 512) == "ö" * 512
