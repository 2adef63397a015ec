"""Which scenarios can be staged on nodes that belong to somebody else, and why others cannot."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from muster.environment.node_plan import NodePlan, StepText
from muster.environment.pool_nodes import Offer, describe_nodes, offers_of, plan_pool
from muster.recording.objects import Pod
from muster.suite import paths
from muster.suite.behaviours import read_features

GIB = 1000 * 2**30
OFFERS = [Offer(name, 4, 4000, 16 * GIB) for name in ("a-1", "a-2", "b-1")]
STEPS = {
    behaviour.id: [StepText(step.text, step.table, step.text_block or "") for step in behaviour.steps]
    for behaviour in read_features(paths.suite_root() / "features").behaviours
}


def plan(*texts: str, offers: list[Offer] = OFFERS, behaviour: str = "PRE-01") -> NodePlan:
    return plan_pool(behaviour, [StepText(text) for text in texts], offers)


def test_three_nodes_with_four_gpus_can_hold_a_walk_through() -> None:
    found = plan_pool("DOC-1", STEPS["DOC-1"], OFFERS)
    assert found.real == {"worker-1": "a-1", "worker-2": "a-2", "worker-3": "b-1"}
    assert found.objects == ("master-1", "master-2", "master-3")


def test_each_node_gets_one_with_its_number_of_gpus() -> None:
    offers = [Offer("a", 8, 4000, 0), Offer("b", 1, 4000, 0), Offer("c", 2, 4000, 0)]
    assert plan("a node with 2 GPUs", "a node with 1 GPU", offers=offers).real == {"gpu-1": "c", "gpu-2": "b"}


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("DOC-2", "which is that of --training-image"),
        ("DOC-4", "it changes a node"),
        ("TNT-15", "it changes a node"),
        ("JOB-01", "not tried on real nodes yet"),
    ],
)
def test_behaviours_that_no_pool_can_hold(behaviour: str, reason: str) -> None:
    assert reason in plan_pool(behaviour, STEPS[behaviour], OFFERS).reason


@pytest.mark.parametrize(
    "step",
    [
        'a node "a" with 4 GPUs and the taint "t:NoSchedule"',
        'a node "a" with 4 GPUs and the label "zone=west"',
        'node "a" gets the taint "t:NoSchedule"',
        'the taints of "a" are removed',
        'node "a" is cordoned',
        'node "a" is uncordoned',
        'node "a" becomes unreachable',
        'a node "b" with 4 GPUs joins',
    ],
)
def test_a_step_that_changes_a_node_is_not_staged(step: str) -> None:
    assert "it changes a node" in plan('a node "a" with 4 GPUs', step).reason


@pytest.mark.parametrize(
    ("texts", "offers", "reason"),
    [
        (["a node with 2 GPUs"], OFFERS, "stand for gpu-1 with 2 GPUs (a-1: 4 GPUs; a-2: 4 GPUs; b-1: 4 GPUs)"),
        (["a node with 4 GPUs"] * 2, OFFERS[:1], "and 1 of them stand for other nodes (no other node was given)"),
        (["a node with 4 GPUs"], [Offer("a", 4, 3900, 0)], "a: 3900m of 4 CPUs free"),
        (["a node with 4 GPUs", 'pod "p" requests 8 CPUs'], [Offer("a", 4, 4000, 0)], "a: 4 of 8 CPUs free"),
        (["a node with 4 GPUs"], [Offer("a", 4, 4000, 0, "", "t/x uses its GPUs")], "(a: t/x uses its GPUs)"),
        (['a node "n" with 4 CPUs and 16Gi of memory'], [Offer("a", 0, 64000, 99 * GIB)], "a: 64 CPUs free, not 4"),
        (['pod "p" requests 1 GPU'], OFFERS, "declares no node"),
    ],
)
def test_what_the_pool_does_not_have_is_said_of_each_node(texts: list[str], offers: list[Offer], reason: str) -> None:
    found = plan(*texts, offers=offers)
    assert not found.real
    assert reason in found.reason


def test_a_role_that_a_command_would_show_is_refused() -> None:
    offers = [Offer(offer.name, 4, 4000, 0, "worker") for offer in OFFERS]
    assert "the role worker" in plan_pool("DOC-1", STEPS["DOC-1"], offers).reason
    assert plan("a node with 4 GPUs", offers=offers).real


def pod(name: str, **requests: str) -> Pod:
    body = {
        "metadata": {"name": name, "namespace": "t"},
        "spec": {"containers": [{"resources": {"requests": requests}}]},
    }
    return msgspec.convert(body, Pod)


def test_what_others_request_is_not_offered() -> None:
    node: dict[str, Any] = {
        "metadata": {"name": "a", "labels": {"node-role.kubernetes.io/worker": ""}},
        "status": {
            "allocatable": {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "4"},
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kubeletVersion": "v1", "containerRuntimeVersion": "containerd://2", "kernelVersion": "6"},
        },
    }
    pods = {"a": [pod("agent", cpu="100m")]}
    assert offers_of([node], lambda name: pods[name]) == [Offer("a", 4, 3900, 16 * GIB, "worker")]
    pods["a"].append(pod("theirs", **{"nvidia.com/gpu": "1"}))
    assert offers_of([node], lambda name: pods[name])[0].unusable == "t/theirs uses its GPUs"
    node["spec"] = {"unschedulable": True}
    assert offers_of([node], lambda _: [])[0].unusable == "it is cordoned"
    assert describe_nodes([node, node], "p=m") == "2 with p=m, kubelet v1, containerd://2, 6"


def test_lines_of_nodes_are_expected_in_the_order_of_the_real_names() -> None:
    names = NodePlan({"worker-1": "z", "worker-2": "a"}, ("master-1",))
    block = "NAME\nmaster-1  ready\nworker-1  ready 1\nworker-2  ready 2\n---\n"
    assert names.translate(block) == "NAME\na  ready 2\nmaster-1  ready\nz  ready 1\n---\n"
