"""API objects as the nouns of a decision: quantities, requests, and objects that nobody has checked."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.core.model import Requirement, Toleration
from scheduler.runtime.customs import KOORDINATOR, VOLCANO, read_group, read_queue
from scheduler.runtime.objects import ApiBudget, ApiNode, ApiPod, Custom, PriorityClass
from scheduler.runtime.quantities import NotAQuantity, amount
from scheduler.runtime.reading import read_budget, read_node, read_pod


def pod_from(spec: dict[str, Any], status: dict[str, Any] | None = None, **meta: Any) -> ApiPod:
    metadata = {"name": "p", "namespace": "ns", "uid": "u", "creationTimestamp": "2026-01-01T00:00:10Z", **meta}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status or {}}, ApiPod)


def custom(spec: object, status: object = None, **meta: Any) -> Custom:
    metadata = {"name": "g", "namespace": "ns", "uid": "u", **meta}
    return msgspec.json.decode(msgspec.json.encode({"metadata": metadata, "spec": spec, "status": status}), type=Custom)


def container(restart: str = "", **requests: str) -> dict[str, Any]:
    return {"resources": {"requests": requests}, **({"restartPolicy": restart} if restart else {})}


@pytest.mark.parametrize(
    ("resource", "quantity", "wanted"),
    [
        ("cpu", "1", 1000),
        ("cpu", "100m", 100),
        ("cpu", "0.1", 100),
        ("cpu", "1n", 1),
        ("cpu", "1500u", 2),
        ("memory", "1Ki", 1024),
        ("memory", "1k", 1000),
        ("memory", "1.5Gi", 3 * 2**29),
        ("memory", "9007199254740993", 2**53 + 1),
        ("memory", "100m", 1),
        ("memory", "1e3", 1000),
        ("memory", "1E3", 1000),
        ("memory", "1E", 10**18),
        ("memory", "2Ei", 2**61),
        ("nvidia.com/gpu", 8, 8),
        ("memory", ".5Ki", 512),
    ],
)
def test_quantities_are_exact(resource: str, quantity: str | int, wanted: int) -> None:
    assert amount(resource, quantity) == wanted


@pytest.mark.parametrize("quantity", ["-1", "1e999", "9Ei", "", "x", "1 Gi", "1Kii", True, 1.5, None, [], 10**50])
def test_what_is_no_quantity_is_told_in_a_sentence(quantity: object) -> None:
    with pytest.raises(NotAQuantity, match=r"quantity|negative|more than any machine"):
        amount("memory", quantity)


@settings(deadline=None)  # a busy machine is no finding
@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(NotAQuantity):
        assert 0 <= amount("cpu", text) <= 2**62


def test_requests_are_the_larger_of_running_and_initialising() -> None:
    spec = {
        "containers": [container(cpu="1"), container(cpu="500m", memory="1Gi")],
        "initContainers": [
            container(cpu="3"),
            container("Always", cpu="200m"),
            container(memory="3Gi", cpu="100m"),
        ],
        "overhead": {"cpu": "50m"},
    }
    # Running: 1500 + sidecar 200; initialising: 3000 at its peak. Memory: the last init container.
    assert dict(read_pod(pod_from(spec)).requests) == {"cpu": 3050, "memory": 3 * 2**30, "pods": 1}


def test_limits_count_where_requests_are_missing_and_zeros_do_not() -> None:
    asked = {"resources": {"limits": {"nvidia.com/gpu": "2", "cpu": "4"}, "requests": {"cpu": "1", "memory": "0"}}}
    assert dict(read_pod(pod_from({"containers": [asked]})).requests) == {"cpu": 1000, "nvidia.com/gpu": 2, "pods": 1}


def test_the_pod_as_a_whole_replaces_the_sum() -> None:
    spec = {"containers": [container(cpu="1")], "resources": {"requests": {"cpu": "4"}}}
    assert dict(read_pod(pod_from(spec)).requests) == {"cpu": 4000, "pods": 1}


def test_an_absurd_request_is_a_problem_of_that_pod() -> None:
    huge = read_pod(pod_from({"containers": [container(memory="3Ei")] * 3}))
    assert huge.problem == "the pod's containers ask for more memory than any machine has"
    assert huge.requests == (("pods", 1),)


def test_where_a_pod_can_be() -> None:
    term = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
    field = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
    affinity = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term, {}, field]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "preference": term}],
    }
    spec = {"nodeSelector": {"z": "1", "a": "2"}, "affinity": {"nodeAffinity": affinity}, "tolerations": [{"key": "k"}]}
    shape = read_pod(pod_from(spec)).shape
    line = Requirement("a", "In", ("b",))
    assert shape.selector == (("a", "2"), ("z", "1"))
    assert shape.affinity == ((line,), (Requirement("metadata.name", "In", ("n",)),))
    assert shape.preferred == ((5, (line,)),)
    assert shape.tolerations == (Toleration("k", "Equal"),)
    assert read_pod(pod_from(spec, uid="other")).shape is shape


def test_a_required_term_without_lines_matches_no_node() -> None:
    nothing: dict[str, Any] = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}]}}
    shape = read_pod(pod_from({"affinity": {"nodeAffinity": nothing}})).shape
    assert shape.affinity == ((Requirement("metadata.name", "In", ()),),)


def test_marks_of_both_families() -> None:
    volcano = {
        "scheduling.k8s.io/group-name": "g",
        "volcano.sh/task-spec": "worker",
        "scheduling.volcano.sh/queue-name": "q",
        "volcano.sh/preemptable": "false",
    }
    found = read_pod(pod_from({}, {"startTime": "2026-01-01T00:00:20Z"}, annotations=volcano))
    assert (found.group, found.role, found.queue, found.protected) == (("ns", "g"), "worker", "q", True)
    assert found.started - found.created == 10
    labels = {"pod-group.scheduling.sigs.k8s.io": "k", "scheduling.koordinator.sh/disable-preemptible": "true"}
    other = read_pod(
        pod_from({"schedulingGates": [{"name": "x"}]}, labels=labels, deletionTimestamp="2026-01-01T00:00:30Z")
    )
    assert (other.group, other.protected, other.gated, other.leaving) == (("ns", "k"), True, True, True)
    assert other.started == other.created


def test_a_node_offers_what_makes_sense() -> None:
    found = {
        "metadata": {"name": "n"},
        "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}], "unschedulable": True},
        "status": {"allocatable": {"cpu": "4", "bad": "-1"}},
    }
    node = read_node(msgspec.convert(found, ApiNode))
    assert (dict(node.allocatable), node.cordoned, node.taints[0].effect) == ({"cpu": 4000}, True, "NoSchedule")


def test_a_budget_without_a_selector_covers_nobody() -> None:
    assert read_budget(msgspec.convert({"metadata": {}, "spec": {"selector": {}}}, ApiBudget)) is None


def test_groups_of_both_families() -> None:
    classes = {"high": PriorityClass(msgspec.convert({"name": "high"}, type(custom({}).metadata)), 7, "Never")}
    spec = {"minMember": 3, "minTaskMember": {"master": 1}, "queue": "q", "priorityClassName": "high"}
    group = read_group(custom(spec, {"phase": "Inqueue", "running": 2}), VOLCANO, classes)
    assert (group.minimum, group.roles, group.queue, group.priority, group.preempts) == (
        3,
        {"master": 1},
        "q",
        7,
        False,
    )
    assert (group.phase, group.counts.running, group.problem) == ("Inqueue", 2, "")
    annotations = {
        "gang.scheduling.koordinator.sh/groups": '["ns/g", "other/h"]',
        "gang.scheduling.koordinator.sh/match-policy": "only-waiting",
        "scheduling.muster.dev/disruption-mode": "all",
    }
    other = read_group(custom({"minMember": 0}, annotations=annotations), KOORDINATOR, {})
    assert (other.minimum, other.match, other.leaves_whole) == (1, "only-waiting", True)
    assert other.partners == {("other", "h")}


@pytest.mark.parametrize(
    ("spec", "annotations", "told"),
    [
        ({"minMember": "three"}, {}, "spec.minMember is no whole number"),
        ({"minMember": 1.5}, {}, "spec.minMember is no whole number"),
        ({"minTaskMember": {"w": None}}, {}, "spec.minTaskMember.w"),
        ({"priorityClassName": "gone"}, {}, "PriorityClass gone does not exist"),
        ({}, {"gang.scheduling.koordinator.sh/groups": "[["}, "no JSON list"),
        ({}, {"gang.scheduling.koordinator.sh/groups": '["nameless"]'}, "no list of namespace/name"),
        ({}, {"gang.scheduling.koordinator.sh/groups": "[" * 100_000}, "no JSON list"),
        ({}, {"gang.scheduling.koordinator.sh/match-policy": "maybe"}, "is none of"),
        ({}, {"gang.scheduling.koordinator.sh/mode": "Lenient"}, "is none of NonStrict, Strict"),
        ({"minResources": {"cpu": "many"}}, {}, "spec.minResources: 'many' is no quantity of cpu"),
    ],
)
def test_hostile_groups_are_told_what_is_wrong(spec: Any, annotations: dict[str, str], told: str) -> None:
    assert told in read_group(custom(spec, annotations=annotations), VOLCANO, {}).problem


@pytest.mark.parametrize("spec", [None, [], "text", 7, {"minMember": None, "queue": 5, "minTaskMember": []}])
@pytest.mark.parametrize("status", [None, [], "text", {"phase": 5, "running": "many", "conditions": "none"}])
def test_anything_can_be_a_group_or_a_queue(spec: Any, status: Any) -> None:
    assert read_group(custom(spec, status), VOLCANO, {}).minimum == 1
    assert read_queue(custom(spec, status)).opened


@pytest.mark.parametrize(("strategy", "strict"), [("fifo", True), ("traverse", False), ("", None), (7, None)])
def test_a_queue_that_does_not_say_how_it_is_served_leaves_it_to_the_configuration(
    strategy: object, strict: bool | None
) -> None:
    assert read_queue(custom({"dequeueStrategy": strategy})).strict is strict


def test_queues() -> None:
    spec = {"capability": {"cpu": "8", "nvidia.com/gpu": 4}, "dequeueStrategy": "fifo"}
    queue = read_queue(custom(spec, {"state": "Closing"}))
    assert (dict(queue.capability), queue.opened, queue.strict) == ({"cpu": 8000, "nvidia.com/gpu": 4}, False, True)
    assert "spec.capability" in read_queue(custom({"capability": {"cpu": {}}})).problem


def test_what_cannot_be_read_takes_nothing_of_the_rest_away() -> None:
    spec = {"minMember": 2, "queue": "q", "priorityClassName": "gone", "minResources": {"nvidia.com/gpu": "2"}}
    group = read_group(custom(spec, annotations={"scheduling.muster.dev/disruption-mode": "all"}), VOLCANO, {})
    assert group.problem == "PriorityClass gone does not exist"
    assert (group.minimum, group.queue, group.leaves_whole) == (2, "q", True)
    assert group.least == {"nvidia.com/gpu": 2}
    queue = read_queue(custom({"capability": {"nvidia.com/gpu": "2", "example.com/x": "abc"}}))
    assert queue.capability == {"nvidia.com/gpu": 2}
    assert "'abc' is no quantity of example.com/x" in queue.problem
