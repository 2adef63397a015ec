"""What is believed between a decision and its confirmation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from scheduler.client import ADDED, DELETED, MODIFIED
from scheduler.core.cluster import Cluster
from scheduler.core.model import Counts, Pod, Shape
from scheduler.runtime.beliefs import Beliefs
from scheduler.runtime.customs import KOORDINATOR, VOLCANO
from scheduler.runtime.groups import Groups
from scheduler.runtime.objects import ApiPod, Custom, PriorityClass

POD = Pod(("ns", "p"), "u", Shape((("pods", 1),)), 1.0)


class Scene:
    def __init__(self) -> None:
        self.cluster = Cluster()
        self.woken = 0
        self.beliefs = Beliefs(self.cluster, self.wake)
        self.groups = Groups(self.cluster, self.wake)

    def wake(self) -> None:
        self.woken += 1

    @property
    def pod(self) -> Pod:
        return self.cluster.pods["u"]


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_a_binding_counts_at_once_and_stays_when_the_watch_lags(scene: Scene) -> None:
    scene.beliefs.saw(POD, 5)
    scene.beliefs.bound("u", "n")
    assert scene.pod.node == "n"
    scene.beliefs.saw(replace(POD, labels={"late": "news"}), 6)
    assert (scene.pod.node, scene.pod.labels) == ("n", {"late": "news"})
    scene.beliefs.saw(replace(POD, node="n"), 7)
    assert scene.pod.node == "n"


def test_the_watch_has_the_last_word_on_where_a_pod_is(scene: Scene) -> None:
    scene.beliefs.saw(POD, 5)
    scene.beliefs.bound("u", "n")
    scene.beliefs.saw(replace(POD, node="elsewhere"), 6)
    scene.beliefs.not_bound("u")
    assert scene.pod.node == "elsewhere"


def test_a_refused_binding_goes_back_to_what_was_seen_and_waits(scene: Scene) -> None:
    scene.beliefs.saw(replace(POD, nominated="m"), 5)
    scene.beliefs.bound("u", "n")
    assert scene.pod.nominated == ""
    scene.beliefs.not_bound("u", "refused")
    assert (scene.pod.node, scene.pod.nominated, scene.pod.problem) == ("", "m", "refused")
    scene.beliefs.forgiven("u")
    assert scene.pod == replace(POD, nominated="m")


def test_a_nomination_is_not_undone_by_older_events(scene: Scene) -> None:
    scene.beliefs.saw(POD, 5)
    turn = scene.beliefs.nominated("u", "n")
    scene.beliefs.saw(POD, 6)
    assert scene.pod.nominated == "n"
    scene.beliefs.nomination_written("u", turn, 8)
    scene.beliefs.saw(POD, 7)
    assert scene.pod.nominated == "n"
    scene.beliefs.saw(POD, 9)  # newer than ours, and somebody has cleared it
    assert scene.pod.nominated == ""


def test_an_answer_may_come_after_its_event(scene: Scene) -> None:
    scene.beliefs.saw(POD, 5)
    turn = scene.beliefs.nominated("u", "n")
    scene.beliefs.saw(replace(POD, nominated="n"), 8)
    scene.beliefs.saw(POD, 9)
    scene.beliefs.nomination_written("u", turn, 8)
    assert scene.pod.nominated == ""


def test_the_answer_to_an_older_nomination_confirms_nothing(scene: Scene) -> None:
    scene.beliefs.saw(POD, 5)
    first, second = scene.beliefs.nominated("u", "n"), scene.beliefs.nominated("u", "m")
    scene.beliefs.nomination_written("u", first, 6)
    scene.beliefs.saw(replace(POD, nominated="n"), 6)
    scene.beliefs.not_nominated("u", first)
    assert scene.pod.nominated == "m"
    scene.beliefs.nomination_written("u", second, 7)
    scene.beliefs.saw(replace(POD, nominated="m"), 7)
    scene.beliefs.saw(POD, 8)
    assert scene.pod.nominated == ""


def test_leaving_counts_at_once_and_can_be_taken_back(scene: Scene) -> None:
    scene.beliefs.saw(replace(POD, node="n"), 5)
    scene.beliefs.leaving("u")
    assert scene.pod.leaving
    scene.beliefs.not_leaving("u")
    assert not scene.pod.leaving
    scene.beliefs.saw(replace(POD, node="n", leaving=True), 6)
    scene.beliefs.not_leaving("u")
    assert scene.pod.leaving


def test_what_is_gone_stays_gone(scene: Scene) -> None:
    scene.beliefs.saw(POD, 5)
    scene.beliefs.lost("u")
    for late in (scene.beliefs.leaving, scene.beliefs.forgiven, scene.beliefs.not_bound):
        late("u")
    scene.beliefs.not_nominated("u", scene.beliefs.nominated("u", "n"))
    assert not scene.cluster.pods


def test_news_that_change_nothing_wake_nobody(scene: Scene) -> None:
    scene.beliefs.saw(POD, 5)
    woken = scene.woken
    scene.beliefs.saw(replace(POD), 6)
    assert scene.woken == woken


def group(version: int, created: str = "2026-01-01T00:00:00Z", **spec: Any) -> Custom:
    metadata = {"name": "g", "namespace": "ns", "resourceVersion": str(version), "creationTimestamp": created}
    return msgspec.convert({"metadata": metadata, "spec": {"minMember": 2, **spec}}, Custom)


def member(uid: str, phase: str) -> ApiPod:
    metadata = {"name": uid, "namespace": "ns", "uid": uid, "annotations": {"scheduling.k8s.io/group-name": "g"}}
    return msgspec.convert({"metadata": metadata, "spec": {"nodeName": "n"}, "status": {"phase": phase}}, ApiPod)


def test_a_phase_that_is_being_written_is_not_undone_by_older_events(scene: Scene) -> None:
    key = ("ns", "g")
    scene.groups.saw(VOLCANO, ADDED, group(5))
    wrote = scene.groups.writing(scene.cluster.groups[key], "Inqueue", Counts())
    scene.groups.saw(VOLCANO, MODIFIED, group(6))
    assert scene.cluster.groups[key].phase == "Inqueue"
    scene.groups.written(key, wrote, 8)
    scene.groups.saw(VOLCANO, MODIFIED, group(7))
    assert scene.cluster.groups[key].phase == "Inqueue"
    scene.groups.saw(VOLCANO, MODIFIED, group(9))
    assert scene.cluster.groups[key].phase == ""


def test_the_answer_to_an_older_status_confirms_nothing(scene: Scene) -> None:
    key = ("ns", "g")
    scene.groups.saw(VOLCANO, ADDED, group(5))
    first = scene.groups.writing(scene.cluster.groups[key], "Inqueue", Counts())
    second = scene.groups.writing(scene.cluster.groups[key], "Running", Counts())
    scene.groups.written(key, first, 6)
    scene.groups.saw(VOLCANO, MODIFIED, group(6))
    scene.groups.not_written(key, first)
    assert scene.cluster.groups[key].phase == "Running"
    scene.groups.not_written(key, second)
    assert scene.cluster.groups[key].phase == ""


def test_members_are_counted_even_before_their_group_is_there(scene: Scene) -> None:
    key = ("ns", "g")
    for uid, phase in (("a", "Running"), ("b", "Succeeded"), ("c", "Failed")):
        scene.groups.saw_member(member(uid, phase))
    scene.groups.saw(VOLCANO, ADDED, group(5))
    assert scene.cluster.counts[key] == Counts(1, 1, 1)
    assert scene.groups.scheduled(key) == 3
    scene.groups.lost_member("c")
    assert scene.cluster.counts[key] == Counts(1, 1, 0)


def test_of_two_namesakes_the_older_counts(scene: Scene) -> None:
    key = ("ns", "g")
    scene.groups.saw(VOLCANO, ADDED, group(6, "2026-01-01T00:00:09Z"))
    scene.groups.saw(KOORDINATOR, ADDED, group(5))
    assert scene.cluster.groups[key].kind == KOORDINATOR
    scene.groups.saw(KOORDINATOR, DELETED, group(7))
    assert scene.cluster.groups[key].kind == VOLCANO
    scene.groups.saw(VOLCANO, DELETED, group(8))
    assert not scene.cluster.groups


def test_a_class_that_comes_later_heals_the_group(scene: Scene) -> None:
    key = ("ns", "g")
    scene.groups.saw(VOLCANO, ADDED, group(5, priorityClassName="late"))
    assert scene.cluster.groups[key].problem == "PriorityClass late does not exist"
    scene.groups.saw_class(ADDED, msgspec.convert({"metadata": {"name": "late"}, "value": 9}, PriorityClass))
    assert (scene.cluster.groups[key].problem, scene.cluster.groups[key].priority) == ("", 9)
