"""Assumed pods and PodGroup statuses: the state between a decision and its confirmation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from scheduler.client import ADDED, DELETED, MODIFIED
from scheduler.core.cluster_state import ClusterState
from scheduler.core.scheduling_types import Counts, Pod, PodRequirements, Queue
from scheduler.runtime.api_types import ApiPod, CustomResource, PriorityClass
from scheduler.runtime.assumed_pods import AssumedPods
from scheduler.runtime.podgroup_cache import PodGroupCache
from scheduler.runtime.podgroups_and_queues import KOORDINATOR, VOLCANO

POD = Pod(("ns", "p"), "u", PodRequirements((("pods", 1),)), 1.0)


class Harness:
    def __init__(self) -> None:
        self.cluster = ClusterState()
        self.woken = 0
        self.assumed_pods = AssumedPods(self.cluster, self.wake)
        self.groups = PodGroupCache(self.cluster, self.wake)

    def wake(self) -> None:
        self.woken += 1

    @property
    def pod(self) -> Pod:
        return self.cluster.pods["u"]


@pytest.fixture
def harness() -> Harness:
    return Harness()


def test_an_assumed_binding_survives_older_watch_events(harness: Harness) -> None:
    harness.assumed_pods.observe(POD, 5)
    harness.assumed_pods.assume_bound("u", "n")
    assert harness.pod.node == "n"
    harness.assumed_pods.observe(replace(POD, labels={"late": "news"}), 6)
    assert (harness.pod.node, harness.pod.labels) == ("n", {"late": "news"})
    harness.assumed_pods.observe(replace(POD, node="n"), 7)
    assert harness.pod.node == "n"


def test_the_watch_overrides_an_assumed_node(harness: Harness) -> None:
    harness.assumed_pods.observe(POD, 5)
    harness.assumed_pods.assume_bound("u", "n")
    harness.assumed_pods.observe(replace(POD, node="elsewhere"), 6)
    harness.assumed_pods.forget_binding("u")
    assert harness.pod.node == "elsewhere"


def test_a_rejected_binding_restores_the_observed_pod(harness: Harness) -> None:
    harness.assumed_pods.observe(replace(POD, nominated="m"), 5)
    harness.assumed_pods.assume_bound("u", "n")
    assert harness.pod.nominated == ""
    harness.assumed_pods.forget_binding("u", "refused")
    assert (harness.pod.node, harness.pod.nominated, harness.pod.problem) == ("", "m", "refused")
    harness.assumed_pods.clear_problem("u")
    assert harness.pod == replace(POD, nominated="m")


def test_a_nomination_is_not_undone_by_older_events(harness: Harness) -> None:
    harness.assumed_pods.observe(POD, 5)
    generation = harness.assumed_pods.assume_nominated("u", "n")
    harness.assumed_pods.observe(POD, 6)
    assert harness.pod.nominated == "n"
    harness.assumed_pods.confirm_nomination("u", generation, 8)
    harness.assumed_pods.observe(POD, 7)
    assert harness.pod.nominated == "n"
    harness.assumed_pods.observe(POD, 9)  # newer than our write: cleared by another client
    assert harness.pod.nominated == ""


def test_a_response_may_arrive_after_its_event(harness: Harness) -> None:
    harness.assumed_pods.observe(POD, 5)
    generation = harness.assumed_pods.assume_nominated("u", "n")
    harness.assumed_pods.observe(replace(POD, nominated="n"), 8)
    harness.assumed_pods.observe(POD, 9)
    harness.assumed_pods.confirm_nomination("u", generation, 8)
    assert harness.pod.nominated == ""


def test_the_response_to_an_older_nomination_confirms_nothing(harness: Harness) -> None:
    harness.assumed_pods.observe(POD, 5)
    first, second = harness.assumed_pods.assume_nominated("u", "n"), harness.assumed_pods.assume_nominated("u", "m")
    harness.assumed_pods.confirm_nomination("u", first, 6)
    harness.assumed_pods.observe(replace(POD, nominated="n"), 6)
    harness.assumed_pods.forget_nomination("u", first)
    assert harness.pod.nominated == "m"
    harness.assumed_pods.confirm_nomination("u", second, 7)
    harness.assumed_pods.observe(replace(POD, nominated="m"), 7)
    harness.assumed_pods.observe(POD, 8)
    assert harness.pod.nominated == ""


def test_an_assumed_deletion_can_be_forgotten(harness: Harness) -> None:
    harness.assumed_pods.observe(replace(POD, node="n"), 5)
    harness.assumed_pods.assume_deleted("u")
    assert harness.pod.terminating
    harness.assumed_pods.forget_deletion("u")
    assert not harness.pod.terminating
    harness.assumed_pods.observe(replace(POD, node="n", terminating=True), 6)
    harness.assumed_pods.forget_deletion("u")
    assert harness.pod.terminating


def test_a_deleted_pod_is_not_assumed_again(harness: Harness) -> None:
    harness.assumed_pods.observe(POD, 5)
    harness.assumed_pods.remove("u")
    for late in (
        harness.assumed_pods.assume_deleted,
        harness.assumed_pods.clear_problem,
        harness.assumed_pods.forget_binding,
    ):
        late("u")
    harness.assumed_pods.forget_nomination("u", harness.assumed_pods.assume_nominated("u", "n"))
    assert not harness.cluster.pods


def test_events_without_a_change_do_not_wake_the_scheduler(harness: Harness) -> None:
    harness.assumed_pods.observe(POD, 5)
    woken = harness.woken
    harness.assumed_pods.observe(replace(POD), 6)
    assert harness.woken == woken


def group(version: int, created: str = "2026-01-01T00:00:00Z", **spec: Any) -> CustomResource:
    metadata = {"name": "g", "namespace": "ns", "resourceVersion": str(version), "creationTimestamp": created}
    return msgspec.convert({"metadata": metadata, "spec": {"minMember": 2, **spec}}, CustomResource)


def member(uid: str, phase: str) -> ApiPod:
    metadata = {"name": uid, "namespace": "ns", "uid": uid, "annotations": {"scheduling.k8s.io/group-name": "g"}}
    return msgspec.convert({"metadata": metadata, "spec": {"nodeName": "n"}, "status": {"phase": phase}}, ApiPod)


def test_a_phase_that_is_being_written_is_not_undone_by_older_events(harness: Harness) -> None:
    key = ("ns", "g")
    harness.groups.observe(VOLCANO, ADDED, group(5))
    wrote = harness.groups.assume_status(harness.cluster.groups[key], "Inqueue", Counts())
    harness.groups.observe(VOLCANO, MODIFIED, group(6))
    assert harness.cluster.groups[key].phase == "Inqueue"
    harness.groups.confirm_status(key, wrote, 8)
    harness.groups.observe(VOLCANO, MODIFIED, group(7))
    assert harness.cluster.groups[key].phase == "Inqueue"
    harness.groups.observe(VOLCANO, MODIFIED, group(9))
    assert harness.cluster.groups[key].phase == ""


def test_the_response_to_an_older_status_confirms_nothing(harness: Harness) -> None:
    key = ("ns", "g")
    harness.groups.observe(VOLCANO, ADDED, group(5))
    first = harness.groups.assume_status(harness.cluster.groups[key], "Inqueue", Counts())
    second = harness.groups.assume_status(harness.cluster.groups[key], "Running", Counts())
    harness.groups.confirm_status(key, first, 6)
    harness.groups.observe(VOLCANO, MODIFIED, group(6))
    harness.groups.forget_status(key, first)
    assert harness.cluster.groups[key].phase == "Running"
    harness.groups.forget_status(key, second)
    assert harness.cluster.groups[key].phase == ""


def test_members_are_counted_before_their_podgroup_exists(harness: Harness) -> None:
    key = ("ns", "g")
    for uid, phase in (("a", "Running"), ("b", "Succeeded"), ("c", "Failed")):
        harness.groups.observe_member(member(uid, phase))
    harness.groups.observe(VOLCANO, ADDED, group(5))
    assert harness.cluster.counts[key] == Counts(1, 1, 1)
    assert harness.groups.scheduled(key) == 3
    harness.groups.remove_member("c")
    assert harness.cluster.counts[key] == Counts(1, 1, 0)


def test_of_two_podgroups_of_one_name_the_older_counts(harness: Harness) -> None:
    key = ("ns", "g")
    harness.groups.observe(VOLCANO, ADDED, group(6, "2026-01-01T00:00:09Z"))
    harness.groups.observe(KOORDINATOR, ADDED, group(5))
    assert harness.cluster.groups[key].kind == KOORDINATOR
    harness.groups.observe(KOORDINATOR, DELETED, group(7))
    assert harness.cluster.groups[key].kind == VOLCANO
    harness.groups.observe(VOLCANO, DELETED, group(8))
    assert not harness.cluster.groups


def test_a_priority_class_created_later_resolves_the_problem(harness: Harness) -> None:
    key = ("ns", "g")
    harness.groups.observe(VOLCANO, ADDED, group(5, priorityClassName="late"))
    assert harness.cluster.groups[key].problem == "PriorityClass late does not exist"
    harness.groups.observe_priority_class(
        ADDED, msgspec.convert({"metadata": {"name": "late"}, "value": 9}, PriorityClass)
    )
    assert (harness.cluster.groups[key].problem, harness.cluster.groups[key].priority) == ("", 9)


@pytest.mark.parametrize(
    ("strict", "by_default", "replans"),
    [(None, False, False), (None, True, True), (False, True, False), (True, False, True)],
)
def test_a_confirmed_binding_causes_a_plan_only_in_a_strict_queue(
    strict: bool | None, by_default: bool, replans: bool
) -> None:
    woken: list[bool] = []
    cluster = ClusterState()
    cluster.set_queue(Queue("default", {}, strict=strict))
    assumed_pods = AssumedPods(cluster, lambda: woken.append(True), strict_queues=by_default)
    assumed_pods.observe(POD, 5)
    assumed_pods.assume_bound("u", "n")
    woken.clear()
    assumed_pods.observe(replace(POD, node="n"), 6)
    assert bool(woken) == replans
