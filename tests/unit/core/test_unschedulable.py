"""Reasons of pending pods and gangs."""

from __future__ import annotations

from scheduler.core.scheduling_types import Taint
from tests.support.cluster_builder import FakeCluster, key


def test_every_node_is_counted_under_what_it_lacks() -> None:
    cluster = FakeCluster()
    cluster.node("cordoned", 8, cordoned=True)
    cluster.node("tainted", 8, taints=(Taint("gpu", "old", "NoSchedule"),))
    cluster.node("elsewhere", 8)
    cluster.node("small", 1, labels={"zone": "a"})
    cluster.node("full", 0, cpu=1, labels={"zone": "a"})
    cluster.pod("selective", 2, selector=(("zone", "a"),))
    reason = cluster.plan().reasons["selective"]
    assert reason.startswith(
        "0/5 nodes are available: 1 node(s) were unschedulable, 1 node(s) had untolerated taint(s), "
    )
    assert "1 node(s) didn't match Pod's node affinity/selector, 2 Insufficient nvidia.com/gpu" in reason


def test_without_nodes_the_reason_says_so() -> None:
    cluster = FakeCluster()
    cluster.pod("single", 1)
    cluster.gang("train", 2, 1)
    reason = cluster.plan().reasons
    assert reason["single"].startswith("no nodes are available")
    assert "0 of 2 required members fit; no nodes are available" in reason["train-0"]


def test_reserved_capacity_is_not_available() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.pod("old", 3, 10, "n", terminating=True)
    cluster.pod("urgent", 4, 100)
    cluster.pod("small", 1, 50)
    assert "1 Insufficient nvidia.com/gpu" in cluster.plan().reasons["small"]


def test_every_member_of_a_gang_has_a_reason() -> None:
    cluster = FakeCluster()
    cluster.node("n", 1)
    cluster.gang("train", 3, 1)
    assert set(cluster.plan().reasons) == {"train-0", "train-1", "train-2"}


def test_a_gang_that_does_not_fit_together_has_a_reason() -> None:
    cluster = FakeCluster()
    cluster.node("n", 1, cpu=1)
    cluster.node("m", 1, cpu=1)
    cluster.group("train", 3)
    cluster.pod("train-0", 1, group=key("train"))
    cluster.pod("train-1", 1, group=key("train"))
    cluster.pod("train-2", 1, group=key("train"), cpu=1)
    assert "2 of 3 required members fit" in cluster.plan().reasons["train-0"]


def test_an_invalid_pod_reports_its_problem() -> None:
    cluster = FakeCluster()
    cluster.node("n", 1)
    cluster.pod("broken", 1, problem="'many' is not a quantity of cpu")
    assert cluster.plan().reasons == {"broken": "'many' is not a quantity of cpu"}


def test_the_reason_of_a_gang_does_not_name_another() -> None:
    cluster = FakeCluster()
    cluster.node("n", 3)
    cluster.gang("first", 4, 1)
    cluster.gang("second", 4, 1)
    reason = cluster.plan().reasons
    assert "team/first" in reason["first-0"]
    assert "team/second" in reason["second-0"]


def test_the_reason_of_a_pod_over_quota_does_not_name_another() -> None:
    cluster = FakeCluster()
    cluster.node("n", 8)
    cluster.queue("research", 1)
    cluster.pod("first", 2, queue="research")
    cluster.pod("second", 2, queue="research")
    assert "first" not in cluster.plan().reasons["second"]
