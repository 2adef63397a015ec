"""Queue order of pending pods and gangs."""

from __future__ import annotations

from tests.support.cluster_builder import FakeCluster


def one_gpu() -> FakeCluster:
    cluster = FakeCluster()
    cluster.node("n", 1)
    return cluster


def test_the_higher_priority_pod_is_first_although_newer() -> None:
    cluster = one_gpu()
    cluster.pod("modest", 1, 10)
    cluster.pod("urgent", 1, 100)
    assert cluster.plan().bound == {"urgent": "n"}


def test_at_equal_priority_the_older_pod_is_first() -> None:
    cluster = one_gpu()
    cluster.pod("z-older", 1, 10)
    cluster.pod("a-newer", 1, 10)
    assert cluster.plan().bound == {"z-older": "n"}


def test_at_equal_age_the_name_decides() -> None:
    cluster = one_gpu()
    cluster.pod("b", 1, created=5.0)
    cluster.pod("a", 1, created=5.0)
    assert cluster.plan().bound == {"a": "n"}


def test_at_equal_priority_nominated_pods_are_before_older_ones() -> None:
    cluster = one_gpu()
    cluster.pod("older", 1, 10)
    cluster.pod("nominee", 1, 10, nominated="n")
    assert cluster.plan().bound == {"nominee": "n"}


def test_a_higher_priority_pod_is_before_a_nominated_one() -> None:
    cluster = one_gpu()
    cluster.pod("nominee", 1, 10, nominated="n")
    cluster.pod("urgent", 1, 11)
    decision = cluster.plan()
    assert decision.bound == {"urgent": "n"}
    assert decision.nominated == {"nominee": ""}


def test_the_age_of_a_gang_is_that_of_its_podgroup() -> None:
    cluster = one_gpu()
    cluster.group("late", 1, created=50.0)
    cluster.pod("late-0", 1, group=("team", "late"), created=1.0)
    cluster.pod("single", 1, created=10.0)
    assert cluster.plan().bound == {"single": "n"}


def test_a_lost_member_is_before_older_pods_until_its_gang_has_min_member() -> None:
    cluster = FakeCluster()
    cluster.node("n", 2)
    cluster.gang("train", 2, 1)
    cluster.settle()
    cluster.pod("older", 1)
    cluster.delete("train-1")
    cluster.pod("train-2", 1, group=("team", "train"))
    cluster.pod("train-3", 1, group=("team", "train"))
    assert set(cluster.step().bound) == {"train-2"}
    cluster.node("more", 1)
    assert set(cluster.step().bound) == {"older"}


def test_a_member_that_has_finished_is_not_missing() -> None:
    cluster = FakeCluster()
    cluster.node("n", 2)
    cluster.gang("train", 2, 1)
    cluster.settle()
    cluster.finish("train-1")
    cluster.pod("older", 1)
    cluster.pod("train-2", 1, group=("team", "train"))
    assert set(cluster.plan().bound) == {"older"}


def test_the_priority_of_a_gang_is_that_of_its_lowest_priority_member() -> None:
    cluster = FakeCluster()
    cluster.node("n", 2)
    cluster.group("mixed", 2)
    cluster.pod("mixed-0", 1, 1000, group=("team", "mixed"))
    cluster.pod("mixed-1", 1, 10, group=("team", "mixed"))
    cluster.pod("single", 1, 11)
    assert cluster.plan().bound == {"single": "n"}


def test_the_priority_class_of_the_podgroup_overrides_those_of_its_pods() -> None:
    cluster = one_gpu()
    cluster.gang("raised", 1, 1, priority=0, created=99.0)
    cluster.change_group("raised", priority=100)
    cluster.pod("single", 1, 50)
    assert cluster.plan().bound == {"raised-0": "n"}


def test_a_pod_with_policy_never_keeps_its_place_in_the_queue() -> None:
    cluster = one_gpu()
    cluster.pod("ordinary", 1, 50)
    cluster.pod("never-preempts", 1, 100, preempts=False)
    assert cluster.plan().bound == {"never-preempts": "n"}


def test_a_gated_pod_is_not_scheduled() -> None:
    cluster = FakeCluster()
    cluster.node("n", 2)
    cluster.pod("low", 1, 10, "n")
    cluster.pod("gated", 2, 100, gated=True)
    assert cluster.plan().actions == ()
    cluster.change("gated", gated=False)
    assert cluster.plan().evicted == {"low"}


def test_the_order_of_observation_does_not_matter() -> None:
    cluster = FakeCluster()
    for name in ("b", "a"):
        cluster.node(name, 2)
    cluster.gang("train", 3, 1, 10)
    cluster.pod("single", 1, 5)
    cluster.pod("giant", 3, 5)
    assert cluster.copy().plan().actions == cluster.plan().actions
