"""A refused field keeps its pod, the members of its PodGroup or the units of its queue pending, and is named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from scheduler.core.actions import Report
from scheduler.core.cluster_state import ClusterState
from scheduler.core.plan import plan
from scheduler.core.policy import Policy
from scheduler.core.scheduling_types import Node
from scheduler.runtime.convert import convert_pod
from scheduler.runtime.field_table import KOORDINATOR_PODGROUP, PARTS, POD, QUEUE, VOLCANO_PODGROUP, Part, Row, Support
from scheduler.runtime.podgroups_and_queues import KOORDINATOR, VOLCANO, convert_podgroup, convert_queue
from tests.unit.runtime.test_convert import container, custom, pod_from

SAMPLE = {"name": "sample"}
PLURAL = {"containers", "initContainers", "volumes", "restartPolicyRules", "volumeMounts", "tolerations"}


def refused_rows(part: Part) -> Iterator[tuple[str, Row]]:
    yield from ((field, row) for row in part if row.support is Support.REFUSED for field in row.fields)


def refused_pod_fields(part: str, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for row in PARTS[part]:
        for field in row.fields:
            if row.support is Support.REFUSED:
                yield (*path, field)
            elif row.support is Support.NESTED:
                yield from refused_pod_fields(row.part, (*path, field))


def spec_with(path: tuple[str, ...]) -> dict[str, Any]:
    field, *rest = path
    value: Any = spec_with(tuple(rest)) if rest else "RestartAllContainers" if field == "action" else [SAMPLE]
    return {field: [value] if rest and field in PLURAL else value}


@pytest.mark.parametrize("path", [*refused_pod_fields("PodSpec")], ids=".".join)
def test_a_refused_field_of_a_pod_is_named(path: tuple[str, ...]) -> None:
    name = ".".join(("spec", *path))
    assert convert_pod(pod_from(spec_with(path))).problem.startswith(f"{name} is not supported by this scheduler")
    assert convert_pod(pod_from({**spec_with(path), "nodeName": "n"})).problem == ""  # another scheduler has bound it


@pytest.mark.parametrize(("key", "row"), [*refused_rows(POD.annotations)])
def test_a_refused_annotation_of_a_pod_is_named(key: str, row: Row) -> None:
    problem = f"annotation {key} is not supported by this scheduler"
    assert convert_pod(pod_from({}, annotations={key: "x"})).problem.startswith(problem)


@pytest.mark.parametrize(("key", "row"), [*refused_rows(POD.labels)])
def test_a_refused_label_of_a_pod_is_named(key: str, row: Row) -> None:
    problem = f"label {key} is not supported by this scheduler"
    assert convert_pod(pod_from({}, labels={key: "x"})).problem.startswith(problem)
    assert [convert_pod(pod_from({}, labels={key: str(value)})).problem for value in row.met] == [""] * len(row.met)


@pytest.mark.parametrize(("kind", "api"), [(VOLCANO_PODGROUP, VOLCANO), (KOORDINATOR_PODGROUP, KOORDINATOR)])
def test_a_refused_field_of_a_podgroup_is_named(kind: Any, api: str) -> None:
    for field, _ in refused_rows(PARTS[kind.spec]):
        group = convert_podgroup(custom({"minMember": 2, field: [SAMPLE]}), api, {})
        assert group.problem == f"spec.{field} is not supported by this scheduler"
        assert group.min_member == 2  # the rest still counts
    for key, _ in refused_rows(kind.annotations):
        group = convert_podgroup(custom({}, annotations={key: "x"}), api, {})
        assert group.problem == f"annotation {key} is not supported by this scheduler"


@pytest.mark.parametrize(("field", "row"), [*refused_rows(PARTS[QUEUE.spec])])
def test_a_refused_field_of_a_queue_is_named(field: str, row: Row) -> None:
    queue = convert_queue(custom({"capability": {"cpu": "2"}, field: 7}))
    assert queue.problem.startswith(f"spec.{field} is not supported by this scheduler")
    assert queue.capability == {"cpu": 2000}


def test_several_fields_are_named_together() -> None:
    problem = convert_queue(custom({"weight": 3, "deserved": {"cpu": 1}, "priority": 1})).problem
    assert problem == (
        "spec.deserved is not supported by this scheduler, nor is spec.priority (only 0), nor is spec.weight (only 1)"
    )


@pytest.mark.parametrize(
    "spec",
    [
        {"weight": 1, "reclaimable": False},
        {"weight": 1, "reclaimable": True},
        {"parent": "root", "priority": 0},
        {"guarantee": {}, "deserved": {}, "extendClusters": [], "affinity": {"nodeGroupAffinity": {}}},
        {"guarantee": {"resource": {}}, "weight": None, "type": "x"},
    ],
)
def test_values_of_a_queue_that_are_met_anyway_are_not_refused(spec: dict[str, Any]) -> None:
    assert convert_queue(custom(spec)).problem == ""


def test_values_of_podgroups_and_pods_that_are_met_anyway_are_not_refused() -> None:
    assert convert_podgroup(custom({"networkTopology": {}, "subGroupPolicy": []}), VOLCANO, {}).problem == ""
    rules = [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}]
    volumes = [{"name": "v", "emptyDir": {}}, {"name": "p", "persistentVolumeClaim": {"claimName": "c"}}]
    spec = {
        "containers": [{**container(cpu="1"), "restartPolicyRules": rules, "volumeMounts": [{"name": "v"}]}],
        "resourceClaims": [],
        "schedulingGroup": {},
        "volumes": volumes,
    }
    assert convert_pod(pod_from(spec)).problem == ""


@pytest.mark.parametrize("key", ["scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"])
def test_both_annotations_name_the_podgroup(key: str) -> None:
    assert convert_pod(pod_from({}, annotations={key: "g"})).group == ("ns", "g")


def test_the_pods_of_a_refused_queue_and_of_a_refused_podgroup_stay_pending() -> None:
    cluster = ClusterState()
    cluster.set_node(Node("n", {"cpu": 9000, "pods": 9}))
    cluster.set_queue(convert_queue(custom({"weight": 2}, name="q")))
    cluster.set_group(convert_podgroup(custom({"minMember": 2, "networkTopology": {"mode": "hard"}}), VOLCANO, {}))
    spec = {"schedulerName": "muster-scheduler", "containers": [container(cpu="1")]}
    queued = {"scheduling.volcano.sh/queue-name": "q"}
    cluster.set_pod(convert_pod(pod_from(spec, name="queued", uid="queued", annotations=queued)))
    for name in ("one", "two"):
        member = {"scheduling.k8s.io/group-name": "g"}
        cluster.set_pod(convert_pod(pod_from(spec, name=name, uid=name, annotations=member)))
    found = {action.pod.key[1]: action.message for action in plan(cluster, Policy()) if isinstance(action, Report)}
    group = "PodGroup ns/g: spec.networkTopology is not supported by this scheduler"
    queue = "queue q: spec.weight is not supported by this scheduler (only 1)"
    assert found == {"queued": queue, "one": group, "two": group}


def test_the_other_members_of_a_gang_name_the_pod_with_the_refused_field() -> None:
    cluster = ClusterState()
    cluster.set_node(Node("n", {"cpu": 9000, "pods": 9}))
    cluster.set_group(convert_podgroup(custom({"minMember": 2}), VOLCANO, {}))
    member = {"scheduling.k8s.io/group-name": "g"}
    for name, more in (("one", {}), ("two", {"resourceClaims": [SAMPLE]})):
        spec = {"schedulerName": "volcano", "containers": [container(cpu="1")], **more}
        cluster.set_pod(convert_pod(pod_from(spec, name=name, uid=name, annotations=member)))
    found = {action.pod.key[1]: action.message for action in plan(cluster, Policy()) if isinstance(action, Report)}
    problem = "spec.resourceClaims is not supported by this scheduler"
    assert found == {"one": f"gang ns/g is below minMember: 1 of 2 pods exist; two: {problem}", "two": problem}
