"""KWOK's behaviour with Muster's stages, with bindings by hand instead of a scheduler."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from muster.cluster.api import Api, ApiRefused
from muster.cluster.local import LocalCluster
from muster.cluster.resources import EVENT, NODE, POD
from tests.support.local_cluster import Watch, bind, is_gone, mark, node, phase_is, pod
from tests.support.processes_left import PATIENCE

pytestmark = pytest.mark.plane
SLACK = 20.0  # seconds that a busy machine may add; what would go wrong here takes 30 or more


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with LocalCluster() as cluster:
        yield cluster.connection.api


@pytest.fixture(scope="module")
def watch(api: Api) -> Watch:
    watching = Watch(api)
    api.create(node("n"))
    watching.until(NODE, "n", is_schedulable)
    return watching


def is_schedulable(_event: str, found: dict[str, Any]) -> bool:
    ready = {one["type"]: one["status"] for one in found["status"].get("conditions", [])}.get("Ready")
    return ready == "True" and not found["spec"].get("taints")


def is_leaving(_event: str, found: dict[str, Any]) -> bool:
    return "muster.dev/gone-at" in found["metadata"].get("annotations", {})


def touch(api: Api, name: str) -> None:
    """A change that means nothing, to a pod that on a busy machine may be gone by now."""
    try:
        mark(api, name, touched="yes")
    except ApiRefused as refusal:
        if refusal.status != 404:
            raise


def run_pod(api: Api, watch: Watch, manifest: dict[str, Any], where: str = "n") -> float:
    name = manifest["metadata"]["name"]
    api.create(manifest)
    bind(api, name, where)
    return watch.until(POD, name, phase_is("Running"))


def test_a_node_becomes_schedulable_with_its_gpus_and_an_address(api: Api, watch: Watch) -> None:
    began = time.monotonic()
    api.create(node("fresh", gpus=8))
    took = watch.until(NODE, "fresh", is_schedulable) - began
    status = api.get(NODE, "fresh")["status"]
    assert status["allocatable"]["nvidia.com/gpu"] == "8"
    assert {one["type"] for one in status["addresses"]} == {"InternalIP", "Hostname"}
    assert took < 0.15 + SLACK
    print(f"node schedulable after {took * 1000:.0f} ms")


def test_a_node_that_is_not_ready_stays_so(api: Api, watch: Watch) -> None:
    api.create(node("down"))
    watch.until(NODE, "down", is_schedulable)
    down = {"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "KubeletNotReady"}]}}
    content = "application/strategic-merge-patch+json"
    api.patch(NODE, "down", down, subresource="status", content_type=content)
    watch.until(
        NODE, "down", lambda _, found: {one["effect"] for one in found["spec"].get("taints", [])} >= {"NoExecute"}
    )
    assert not is_schedulable("", api.get(NODE, "down"))


def test_a_bound_pod_runs_with_everything_a_kubelet_reports(api: Api, watch: Watch) -> None:
    manifest = pod("full")
    manifest["spec"]["initContainers"] = [{"name": "prepare", "image": "tools"}]
    manifest["spec"]["containers"].append({"name": "sidecar", "image": "logs"})
    run_pod(api, watch, manifest)
    watch.until(EVENT, "full", lambda _, found: found["reason"] == "Started")
    status = api.get(POD, "full", "default")["status"]
    assert {one["type"] for one in status["conditions"] if one["status"] == "True"} >= {
        "PodScheduled",
        "Initialized",
        "ContainersReady",
        "Ready",
    }
    assert [one["name"] for one in status["containerStatuses"]] == ["main", "sidecar"]
    assert all(one["state"]["running"]["startedAt"] and one["ready"] for one in status["containerStatuses"])
    assert status["initContainerStatuses"][0]["state"]["terminated"]["reason"] == "Completed"
    addresses = api.get(NODE, "n")["status"]["addresses"]
    assert status["hostIP"] == next(one["address"] for one in addresses if one["type"] == "InternalIP")
    assert status["podIP"].startswith("10.")
    assert status["startTime"]
    assert watch.reasons("full") == ["Pulled", "Created", "Started"]


def test_two_pods_never_share_an_address(api: Api, watch: Watch) -> None:
    for name in ("address-1", "address-2"):
        run_pod(api, watch, pod(name))
    assert len({api.get(POD, name, "default")["status"]["podIP"] for name in ("address-1", "address-2")}) == 2


def test_pods_on_a_node_created_a_moment_ago_run_at_once(api: Api, watch: Watch) -> None:
    for number in range(5):
        api.create(node(f"new-{number}"))
        began = time.monotonic()
        took = run_pod(api, watch, pod(f"on-new-{number}"), f"new-{number}") - began
        assert took < 0.3 + SLACK


@pytest.mark.parametrize(
    ("code", "reason", "phase", "expected"),
    [("0", "", "Succeeded", "Completed"), ("1", "", "Failed", "Error"), ("137", "OOMKilled", "Failed", "OOMKilled")],
)
def test_an_annotation_ends_a_pod(api: Api, watch: Watch, code: str, reason: str, phase: str, expected: str) -> None:
    name = f"ends-{code}"
    run_pod(api, watch, pod(name))
    mark(api, name, exit_code=code, **({"exit_reason": reason} if reason else {}))
    watch.until(POD, name, phase_is(phase))
    status = api.get(POD, name, "default")["status"]
    ended = status["containerStatuses"][0]["state"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (int(code), expected)
    assert ended["startedAt"] <= ended["finishedAt"]
    assert {one["type"]: one["status"] for one in status["conditions"]}["Ready"] == "False"


@pytest.mark.parametrize(("ends_with", "phase"), [("", "Succeeded"), ("3", "Failed")])
def test_a_pod_ends_after_its_declared_time_whatever_happens_to_it_meanwhile(
    api: Api, watch: Watch, ends_with: str, phase: str
) -> None:
    name = f"timed-{ends_with or 0}"
    marks = {"runs_for": "800ms"} | ({"ends_with": ends_with} if ends_with else {})
    before = time.monotonic()
    run_pod(api, watch, pod(name, **marks))
    while api.get(POD, name, "default")["status"]["phase"] == "Running":
        assert time.monotonic() - before < PATIENCE, "it never ends"
        time.sleep(0.15)
        mark(api, name, touched=str(time.monotonic()))  # every change makes KWOK match again: the end must not move
    assert watch.until(POD, name, phase_is(phase)) - before >= 0.8  # of its start the watch may tell late
    status = api.get(POD, name, "default")["status"]
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == int(ends_with or 0)


@pytest.mark.parametrize(("declared", "seconds"), [("", 1.0), ("200ms", 0.2), ("2500ms", 2.5)])
def test_a_deleted_pod_terminates_for_its_termination_time(
    api: Api, watch: Watch, declared: str, seconds: float
) -> None:
    name = f"leaves-{declared or 'default'}"
    run_pod(api, watch, pod(name, **({"termination": declared} if declared else {})))
    began = time.monotonic()
    api.delete(POD, name, "default")
    if seconds >= 1:  # a shorter one may be over before it is touched
        watch.until(POD, name, is_leaving)
        touch(api, name)
    took = watch.until(POD, name, is_gone) - began
    killing = watch.until(EVENT, name, lambda _, found: found["reason"] == "Killing") - began
    assert seconds <= took < seconds + SLACK
    assert killing < took or seconds < 1  # a short one may be over before the event is there
    print(f"gone after {took * 1000:.0f} ms, Killing after {killing * 1000:.0f} ms")


def test_a_pod_that_has_ended_is_deleted_at_once(api: Api, watch: Watch) -> None:
    run_pod(api, watch, pod("done", termination="30s"))
    mark(api, "done", exit_code="0")
    watch.until(POD, "done", phase_is("Succeeded"))
    began = time.monotonic()
    api.delete(POD, "done", "default")
    assert watch.until(POD, "done", is_gone) - began < SLACK


def test_a_node_can_be_deleted_and_created_again_under_its_name(api: Api, watch: Watch) -> None:
    api.create(node("twice"))
    run_pod(api, watch, pod("first-life"), "twice")
    api.delete(POD, "first-life", "default", grace=0)
    api.delete(NODE, "twice")
    watch.until(NODE, "twice", is_gone)
    again = time.monotonic()
    api.create(node("twice"))
    assert watch.until(NODE, "twice", is_schedulable, since=again) - again < 0.15 + SLACK
    run_pod(api, watch, pod("second-life"), "twice")


def test_a_deleted_pod_with_a_finalizer_ends_and_stays(api: Api, watch: Watch) -> None:
    manifest = pod("held")
    manifest["metadata"]["finalizers"] = ["muster.dev/held"]
    run_pod(api, watch, manifest)
    api.delete(POD, "held", "default")
    watch.until(POD, "held", phase_is("Failed"))
    api.patch(POD, "held", {"metadata": {"finalizers": None}}, namespace="default")
    watch.until(POD, "held", is_gone)
