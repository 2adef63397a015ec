"""Conversion of API objects: quantities, requests, and objects that the API server does not validate."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.core.pod_constraints import NODE_NAME, SelectorRequirement
from scheduler.core.scheduling_types import Toleration
from scheduler.runtime.api_types import ApiBudget, ApiNode, ApiPod, CustomResource, PriorityClass
from scheduler.runtime.convert import convert_budget, convert_node, convert_pod
from scheduler.runtime.podgroups_and_queues import KOORDINATOR, VOLCANO, convert_podgroup, convert_queue
from scheduler.runtime.quantities import InvalidQuantity, amount


def pod_from(spec: dict[str, Any], status: dict[str, Any] | None = None, **meta: Any) -> ApiPod:
    metadata = {"name": "p", "namespace": "ns", "uid": "u", "creationTimestamp": "2026-01-01T00:00:10Z", **meta}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": status or {}}, ApiPod)


def custom(spec: object, status: object = None, **meta: Any) -> CustomResource:
    metadata = {"name": "g", "namespace": "ns", "uid": "u", **meta}
    return msgspec.json.decode(
        msgspec.json.encode({"metadata": metadata, "spec": spec, "status": status}), type=CustomResource
    )


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
def test_an_invalid_quantity_is_reported(quantity: object) -> None:
    with pytest.raises(InvalidQuantity, match=r"quantity|negative|more than any node"):
        amount("memory", quantity)


@settings(deadline=None)  # the machine may be busy
@given(st.text())
def test_any_text_is_parsed_or_rejected(text: str) -> None:
    with suppress(InvalidQuantity):
        assert 0 <= amount("cpu", text) <= 2**62


def test_requests_are_the_maximum_of_containers_and_init_containers() -> None:
    spec = {
        "containers": [container(cpu="1"), container(cpu="500m", memory="1Gi")],
        "initContainers": [
            container(cpu="3"),
            container("Always", cpu="200m"),
            container(memory="3Gi", cpu="100m"),
        ],
        "overhead": {"cpu": "50m"},
    }
    # Running: 1500 + sidecar 200; initialization: 3000 at its peak. Memory: the last init container.
    assert dict(convert_pod(pod_from(spec)).requests) == {"cpu": 3050, "memory": 3 * 2**30, "pods": 1}


def test_limits_count_where_requests_are_missing_and_zeros_do_not() -> None:
    requested = {"resources": {"limits": {"nvidia.com/gpu": "2", "cpu": "4"}, "requests": {"cpu": "1", "memory": "0"}}}
    assert dict(convert_pod(pod_from({"containers": [requested]})).requests) == {
        "cpu": 1000,
        "nvidia.com/gpu": 2,
        "pods": 1,
    }


def resized(spec_cpu: str, allocated: str, actual: str, **condition: str) -> int:
    """The CPU that counts for a bound pod while its container is resized in place."""
    statuses = [
        {"name": "m", "allocatedResources": {"cpu": allocated}, "resources": {"requests": {"cpu": actual}}},
        {"name": "o", "allocatedResources": {"cpu": "1"}},
    ]
    conditions = [{"type": "PodResizePending", "status": "True", **condition}] if condition else []
    spec = {
        "nodeName": "n",
        "containers": [{"name": "m", **container(cpu=spec_cpu)}, {"name": "o", **container(cpu="1")}],
    }
    found = convert_pod(pod_from(spec, {"containerStatuses": statuses, "conditions": conditions}))
    return dict(found.requests)["cpu"] - 1000


def test_the_largest_amount_counts_while_a_pod_is_resized() -> None:
    assert resized("4", allocated="2", actual="2") == 4000  # grows
    assert resized("1", allocated="1", actual="3") == 3000  # shrinks: the node still uses it
    assert resized("1", allocated="2", actual="1") == 2000
    assert resized("1", allocated="1", actual="1") == 1000
    assert resized("9", allocated="2", actual="2", reason="Deferred") == 9000
    assert resized("9", allocated="2", actual="2", reason="Infeasible") == 2000  # it will never get it


def test_sidecars_and_pod_level_resources_are_resized_alike() -> None:
    sidecar = {"name": "s", **container("Always", cpu="1")}
    main = {"name": "m", **container(cpu="1")}
    spec: dict[str, Any] = {"nodeName": "n", "initContainers": [sidecar], "containers": [main]}
    status: dict[str, Any] = {"initContainerStatuses": [{"name": "s", "allocatedResources": {"cpu": "3"}}]}
    assert dict(convert_pod(pod_from(spec, status)).requests)["cpu"] == 4000
    spec["resources"] = {"requests": {"cpu": "2"}}
    status |= {"resources": {"requests": {"cpu": "5"}}, "allocatedResources": {"cpu": "4"}}
    assert dict(convert_pod(pod_from(spec, status)).requests)["cpu"] == 5000


def test_pod_level_resources_replace_the_sum() -> None:
    spec = {"containers": [container(cpu="1")], "resources": {"requests": {"cpu": "4"}}}
    assert dict(convert_pod(pod_from(spec)).requests) == {"cpu": 4000, "pods": 1}


def test_a_pod_with_resource_claims_is_refused_by_the_name_of_the_field() -> None:
    claims = [{"name": "device", "resourceClaimName": "gpu"}]
    found = convert_pod(pod_from({"containers": [container(cpu="1")], "resourceClaims": claims}))
    assert found.problem == "spec.resourceClaims is not supported by this scheduler"
    user = container(cpu="1")
    user["resources"]["claims"] = [{"name": "device"}]
    both = convert_pod(pod_from({"containers": [user], "resourceClaims": claims})).problem
    assert both == f"{found.problem}, nor is spec.containers.resources.claims"
    assert dict(found.requests)["cpu"] == 1000  # it still counts where another scheduler has bound it


def test_an_excessive_request_is_a_problem_of_that_pod() -> None:
    huge = convert_pod(pod_from({"containers": [container(memory="3Ei")] * 3}))
    assert huge.problem == "the pod requests more memory than any node can have"
    assert huge.requests == (("pods", 1),)


def test_selector_affinity_and_tolerations_are_converted() -> None:
    term = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
    field = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
    label = {"matchExpressions": field["matchFields"]}
    affinity = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term, {}, field, label]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "preference": term}],
    }
    spec = {"nodeSelector": {"z": "1", "a": "2"}, "affinity": {"nodeAffinity": affinity}, "tolerations": [{"key": "k"}]}
    requirements = convert_pod(pod_from(spec)).requirements
    line = SelectorRequirement("a", "In", ("b",))
    assert requirements.selector == (("a", "2"), ("z", "1"))
    of_name, of_label = (SelectorRequirement(key, "In", ("n",)) for key in (NODE_NAME, "metadata.name"))
    assert requirements.affinity == ((line,), (of_name,), (of_label,))
    assert requirements.preferred == ((5, (line,)),)
    assert requirements.tolerations == (Toleration("k", "Equal"),)
    assert convert_pod(pod_from(spec, uid="other")).requirements is requirements


def test_an_empty_required_term_matches_no_node() -> None:
    nothing: dict[str, Any] = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}]}}
    requirements = convert_pod(pod_from({"affinity": {"nodeAffinity": nothing}})).requirements
    assert requirements.affinity == ((SelectorRequirement(NODE_NAME, "In", ()),),)


def test_labels_and_annotations_of_both_apis() -> None:
    volcano = {
        "scheduling.k8s.io/group-name": "g",
        "volcano.sh/task-spec": "worker",
        "scheduling.volcano.sh/queue-name": "q",
        "volcano.sh/preemptable": "false",
    }
    found = convert_pod(pod_from({}, {"startTime": "2026-01-01T00:00:20Z"}, annotations=volcano))
    assert (found.group, found.role, found.queue, found.non_preemptible) == (("ns", "g"), "worker", "q", True)
    assert found.started - found.created == 10
    labels = {"pod-group.scheduling.sigs.k8s.io": "k", "scheduling.koordinator.sh/disable-preemptible": "true"}
    other = convert_pod(
        pod_from({"schedulingGates": [{"name": "x"}]}, labels=labels, deletionTimestamp="2026-01-01T00:00:30Z")
    )
    assert (other.group, other.non_preemptible, other.gated, other.terminating) == (("ns", "k"), True, True, True)
    assert other.started == other.created


def test_invalid_allocatable_resources_are_left_out() -> None:
    found = {
        "metadata": {"name": "n"},
        "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}], "unschedulable": True},
        "status": {"allocatable": {"cpu": "4", "bad": "-1"}},
    }
    node = convert_node(msgspec.convert(found, ApiNode))
    assert (dict(node.allocatable), node.cordoned, node.taints[0].effect) == ({"cpu": 4000}, True, "NoSchedule")


def test_a_budget_without_a_selector_matches_no_pod() -> None:
    assert convert_budget(msgspec.convert({"metadata": {}, "spec": {"selector": {}}}, ApiBudget)) is None


def test_podgroups_of_both_apis() -> None:
    classes = {"high": PriorityClass(msgspec.convert({"name": "high"}, type(custom({}).metadata)), 7, "Never")}
    spec = {"minMember": 3, "minTaskMember": {"master": 1}, "queue": "q", "priorityClassName": "high"}
    group = convert_podgroup(custom(spec, {"phase": "Inqueue", "running": 2}), VOLCANO, classes)
    assert (group.min_member, group.roles, group.queue, group.priority, group.preempts) == (
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
    other = convert_podgroup(custom({"minMember": 0}, annotations=annotations), KOORDINATOR, {})
    assert (other.min_member, other.match_policy, other.disruption_mode_all) == (1, "only-waiting", True)
    assert other.linked_groups == {("other", "h")}


@pytest.mark.parametrize(
    ("spec", "annotations", "message"),
    [
        ({"minMember": "three"}, {}, "spec.minMember is not an integer"),
        ({"minMember": 1.5}, {}, "spec.minMember is not an integer"),
        ({"minTaskMember": {"w": None}}, {}, "spec.minTaskMember.w"),
        ({"priorityClassName": "gone"}, {}, "PriorityClass gone does not exist"),
        ({}, {"gang.scheduling.koordinator.sh/groups": "[["}, "not a JSON list"),
        ({}, {"gang.scheduling.koordinator.sh/groups": '["nameless"]'}, "not a list of namespace/name"),
        ({}, {"gang.scheduling.koordinator.sh/groups": "[" * 100_000}, "not a JSON list"),
        ({}, {"gang.scheduling.koordinator.sh/match-policy": "maybe"}, "must be one of"),
        ({}, {"gang.scheduling.koordinator.sh/mode": "Lenient"}, "must be one of NonStrict, Strict"),
        ({"minResources": {"cpu": "many"}}, {}, "spec.minResources: 'many' is not a quantity of cpu"),
    ],
)
def test_an_invalid_podgroup_field_is_reported(spec: Any, annotations: dict[str, str], message: str) -> None:
    assert message in convert_podgroup(custom(spec, annotations=annotations), VOLCANO, {}).problem


@pytest.mark.parametrize("spec", [None, [], "text", 7, {"minMember": None, "queue": 5, "minTaskMember": []}])
@pytest.mark.parametrize("status", [None, [], "text", {"phase": 5, "running": "many", "conditions": "none"}])
def test_any_value_converts_to_a_group_or_queue(spec: Any, status: Any) -> None:
    assert convert_podgroup(custom(spec, status), VOLCANO, {}).min_member == 1
    assert convert_queue(custom(spec, status)).is_open


@pytest.mark.parametrize(("strategy", "strict"), [("fifo", True), ("traverse", False), ("", None), (7, None)])
def test_an_unknown_dequeue_strategy_means_as_configured(strategy: object, strict: bool | None) -> None:
    assert convert_queue(custom({"dequeueStrategy": strategy})).strict is strict


def test_queues() -> None:
    spec = {"capability": {"cpu": "8", "nvidia.com/gpu": 4}, "dequeueStrategy": "fifo"}
    queue = convert_queue(custom(spec, {"state": "Closing"}))
    assert (dict(queue.capability), queue.is_open, queue.strict) == ({"cpu": 8000, "nvidia.com/gpu": 4}, False, True)
    assert "spec.capability" in convert_queue(custom({"capability": {"cpu": {}}})).problem


def test_an_invalid_field_does_not_invalidate_the_rest() -> None:
    spec = {"minMember": 2, "queue": "q", "priorityClassName": "gone", "minResources": {"nvidia.com/gpu": "2"}}
    group = convert_podgroup(custom(spec, annotations={"scheduling.muster.dev/disruption-mode": "all"}), VOLCANO, {})
    assert group.problem == "PriorityClass gone does not exist"
    assert (group.min_member, group.queue, group.disruption_mode_all) == (2, "q", True)
    assert group.min_resources == {"nvidia.com/gpu": 2}
    queue = convert_queue(custom({"capability": {"nvidia.com/gpu": "2", "example.com/x": "abc"}}))
    assert queue.capability == {"nvidia.com/gpu": 2}
    assert "'abc' is not a quantity of example.com/x" in queue.problem
