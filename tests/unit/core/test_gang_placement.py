"""Gang placement: all members start, or none."""

from __future__ import annotations

from scheduler.core.actions import WAITING_FOR_MEMBERS, Report
from scheduler.core.policy import Policy
from scheduler.core.scheduling_types import Counts
from tests.support.cluster_builder import FakeCluster, key


def test_a_gang_is_pending_below_min_member() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.group("train", 2)
    cluster.pod("train-0", 1, group=key("train"))
    decision = cluster.step()
    assert decision.bound == {}
    assert decision.reasons["train-0"] == "gang team/train is below minMember: 1 of 2 pods exist"
    cluster.pod("train-1", 1, group=key("train"))
    assert cluster.step().bound == {"train-0": "n", "train-1": "n"}


def test_an_incomplete_gang_is_not_reported_unschedulable() -> None:
    """No node would help: an autoscaler must not add one for it."""
    cluster = FakeCluster()
    cluster.group("train", 2)
    cluster.pod("train-0", 1, group=key("train"))
    (report,) = (action for action in cluster.step().actions if isinstance(action, Report))
    assert report.reason == WAITING_FOR_MEMBERS


def test_no_member_is_bound_when_only_part_of_the_gang_fits() -> None:
    cluster = FakeCluster()
    cluster.node("small", 3)
    cluster.gang("train", 4, 1)
    decision = cluster.step()
    assert decision.bound == {}
    assert "gang team/train: 3 of 4 required members fit" in decision.reasons["train-0"]
    cluster.node("more", 1)
    assert len(cluster.step().bound) == 4


def test_two_competing_gangs_do_not_deadlock() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.gang("left", 3, 1)
    cluster.gang("right", 3, 1)
    assert set(cluster.step().bound) == {"left-0", "left-1", "left-2"}
    cluster.finish("left-0", "left-1", "left-2")
    assert set(cluster.step().bound) == {"right-0", "right-1", "right-2"}


def test_a_pending_gang_reserves_nothing() -> None:
    cluster = FakeCluster()
    cluster.node("n", 3)
    cluster.gang("train", 4, 1, 100)
    cluster.pod("small", 3, 0)
    assert cluster.plan().bound == {"small": "n"}


def test_members_above_min_member_are_bound_when_they_fit() -> None:
    cluster = FakeCluster()
    cluster.node("small", 4)
    cluster.gang("train", 5, 1, min_member=3)
    decision = cluster.step()
    assert len(decision.bound) == 4
    assert set(decision.reasons) == {"train-4"}
    cluster.node("more", 1)
    assert cluster.step().bound == {"train-4": "more"}


def test_the_smallest_members_satisfy_min_member() -> None:
    cluster = FakeCluster()
    cluster.node("n", 2)
    cluster.group("train", 2)
    for number, gpus in enumerate((2, 1, 1)):
        cluster.pod(f"train-{number}", gpus, group=key("train"))
    assert set(cluster.plan().bound) == {"train-1", "train-2"}


def test_pods_are_pending_until_their_podgroup_exists() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.pod("train-0", 1, group=key("train"))
    assert cluster.step().reasons == {"train-0": "PodGroup team/train does not exist"}
    cluster.group("train", 1)
    assert cluster.step().bound == {"train-0": "n"}


def test_workers_are_pending_while_the_master_does_not_fit() -> None:
    cluster = FakeCluster()
    cluster.node("small", 3)
    cluster.group("train", 4, roles={"master": 1, "worker": 3})
    cluster.pod("master", 4, group=key("train"), role="master")
    for number in range(3):
        cluster.pod(f"worker-{number}", 1, group=key("train"), role="worker")
    assert cluster.step().bound == {}
    cluster.node("large", 8)
    assert len(cluster.step().bound) == 4


def test_every_role_must_reach_its_minimum() -> None:
    cluster = FakeCluster()
    cluster.node("n", 8)
    cluster.group("train", 2, roles={"master": 1})
    for number in range(3):
        cluster.pod(f"worker-{number}", 1, group=key("train"), role="worker")
    decision = cluster.step()
    assert decision.bound == {}
    assert decision.reasons["worker-0"].endswith("0 of 1 master pods exist")
    cluster.pod("master", 1, group=key("train"), role="master")
    assert len(cluster.step().bound) == 4


def test_a_heterogeneous_gang_is_placed_by_search() -> None:
    """Greedy placement would put the 4-GPU member on "b", and one of the 3-GPU members would not fit."""
    cluster = FakeCluster()
    cluster.node("a", 7)
    cluster.node("b", 6)
    cluster.group("train", 4)
    for number, gpus in enumerate((4, 3, 3, 3)):
        cluster.pod(f"train-{number}", gpus, group=key("train"))
    assert cluster.plan().bound["train-0"] == "a"


def test_a_member_keeps_the_only_node_that_matches_its_selector() -> None:
    cluster = FakeCluster()
    cluster.node("a", 2, labels={"zone": "a"})
    cluster.node("b", 2)
    cluster.group("train", 2)
    cluster.pod("anywhere", 2, group=key("train"))
    cluster.pod("selective", 1, group=key("train"), selector=(("zone", "a"),))
    assert cluster.plan().bound == {"anywhere": "b", "selective": "a"}


def test_linked_gangs_start_together() -> None:
    cluster = FakeCluster()
    cluster.node("n", 3)
    for name, partner in (("actors", "learners"), ("learners", "actors")):
        cluster.gang(name, 2, 1, linked_groups=frozenset({key(partner)}))
    assert cluster.step().bound == {}
    cluster.node("more", 1)
    assert len(cluster.step().bound) == 4


def test_a_gang_is_pending_while_a_linked_podgroup_is_missing() -> None:
    cluster = FakeCluster()
    cluster.node("n", 3)
    cluster.gang("actors", 2, 1, linked_groups=frozenset({key("learners")}))
    decision = cluster.plan()
    assert decision.bound == {}
    assert "linked PodGroup team/learners does not exist" in decision.reasons["actors-0"]


def test_a_one_sided_link_does_not_block_the_named_gang() -> None:
    cluster = FakeCluster()
    cluster.node("n", 1)
    cluster.group("named", 1)
    cluster.pod("named-0", 1, group=key("named"))
    cluster.group("naming", 1, linked_groups=frozenset({key("named")}))
    cluster.pod("naming-0", 1, group=key("naming"))
    decision = cluster.plan()
    assert decision.bound == {"named-0": "n"}
    reason = "linked PodGroup team/named does not list team/naming"
    assert decision.reasons == {"naming-0": reason}


def test_a_recreated_member_rejoins_its_running_gang() -> None:
    cluster = FakeCluster()
    cluster.node("n", 3)
    cluster.gang("train", 3, 1, on="n")
    cluster.delete("train-1")
    cluster.pod("train-1", 1, group=key("train"))
    assert cluster.plan().bound == {"train-1": "n"}


def test_a_gang_that_lost_all_members_starts_as_a_whole() -> None:
    cluster = FakeCluster()
    cluster.node("n", 3)
    cluster.gang("train", 3, 1, on="n")
    cluster.delete("train-0", "train-1", "train-2")
    cluster.pod("train-0", 1, group=key("train"))
    assert cluster.step().bound == {}


def test_with_waiting_and_running_a_lost_member_makes_the_gang_incomplete() -> None:
    cluster = FakeCluster()
    cluster.node("n", 3)
    cluster.gang("train", 3, 1, on="n", match_policy="waiting-and-running")
    cluster.delete("train-1", "train-2")
    cluster.pod("train-1", 1, group=key("train"))
    assert cluster.step().bound == {}
    cluster.pod("train-2", 1, group=key("train"))
    assert set(cluster.step().bound) == {"train-1", "train-2"}


def test_with_only_waiting_bound_members_do_not_count() -> None:
    cluster = FakeCluster()
    cluster.node("n", 6)
    cluster.gang("train", 2, 1, on="n", match_policy="only-waiting")
    cluster.pod("third", 1, group=key("train"))
    assert cluster.step().bound == {}
    cluster.pod("fourth", 1, group=key("train"))
    assert set(cluster.step().bound) == {"third", "fourth"}


def test_ended_members_count_beside_bound_ones() -> None:
    cluster = FakeCluster()
    cluster.node("n", 3)
    cluster.gang("train", 2, 1, on="n", phase="Inqueue")
    cluster.finish("train-0")
    assert cluster.plan().released == set()
    cluster.pod("train-2", 1, group=key("train"))
    assert cluster.plan().bound == {"train-2": "n"}


def test_lowering_min_member_lets_a_pending_gang_start() -> None:
    cluster = FakeCluster()
    cluster.node("n", 3)
    cluster.gang("train", 4, 1)
    assert cluster.step().bound == {}
    cluster.change_group("train", min_member=3)
    assert len(cluster.step().bound) == 3


def test_a_gang_partially_bound_before_a_crash_is_completed() -> None:
    cluster = FakeCluster()
    cluster.node("n", 3)
    cluster.gang("train", 3, 1)
    cluster.change("train-0", node="n")
    assert set(cluster.plan().bound) == {"train-1", "train-2"}


def test_a_partially_started_gang_that_cannot_be_completed_is_released() -> None:
    cluster = FakeCluster()
    cluster.node("n", 2)
    cluster.gang("train", 3, 1)
    cluster.change("train-0", node="n")
    decision = cluster.step()
    assert decision.released == {"train-0"}
    assert decision.bound == {}


def test_a_partially_started_gang_without_pending_members_is_released() -> None:
    cluster = FakeCluster()
    cluster.node("n", 2)
    cluster.gang("train", 3, 1)
    cluster.change("train-0", node="n")
    cluster.delete("train-1", "train-2")
    assert cluster.step().released == {"train-0"}


def test_a_gang_with_a_gated_member_is_not_released() -> None:
    cluster = FakeCluster()
    cluster.node("n", 2)
    cluster.gang("train", 2, 1)
    cluster.change("train-0", node="n")
    cluster.change("train-1", gated=True)
    assert cluster.step().released == set()


def test_a_member_evicted_in_this_plan_does_not_count() -> None:
    cluster = FakeCluster()
    cluster.node("contested", 1, labels={"zone": "a"})
    cluster.node("other", 2)
    cluster.gang("train", 3, 1, 10)
    cluster.change("train-0", node="contested")
    cluster.pod("urgent", 1, 100, selector=(("zone", "a"),))
    decision = cluster.plan()
    assert decision.evicted == {"train-0"}
    assert decision.bound == {}


def test_a_started_gang_is_not_released_while_a_linked_one_is_pending() -> None:
    cluster = FakeCluster()
    cluster.node("n", 1)
    cluster.group("left", 2, linked_groups=frozenset({key("right")}), phase="Inqueue")
    cluster.pod("left-1", 1, on="n", group=key("left"))
    cluster.state.set_counts(key("left"), Counts(running=1, succeeded=1))
    cluster.gang("right", 2, 1, linked_groups=frozenset({key("left")}))
    assert cluster.plan().released == set()


def test_a_running_gang_that_loses_a_member_keeps_the_others() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.gang("train", 4, 1, on="n", match_policy="waiting-and-running")
    cluster.step()
    cluster.delete("train-3")
    for _ in range(3):
        decision = cluster.step()
        assert decision.released == set()
        assert decision.phases.get("train", "Running") == "Running"


def test_roles_count_in_a_partially_started_gang() -> None:
    cluster = FakeCluster()
    cluster.node("n", 3)
    cluster.group("train", 2, roles={"master": 1, "worker": 1}, phase="Inqueue")
    for name in ("w1", "w2"):
        cluster.pod(name, 1, on="n", group=key("train"), role="worker")
    cluster.pod("master", 1, group=key("train"), role="master")
    cluster.pod("vip", 1, priority=1000, on="n")
    cluster.count()
    assert cluster.step().released == {"w1", "w2"}


def test_members_that_do_not_fit_do_not_block_the_others() -> None:
    cluster = FakeCluster()
    cluster.node("gpus", 2, cpu=2)
    cluster.node("cpus", cpu=8)
    cluster.pod("busy", cpu=8, priority=9, on="cpus")
    cluster.group("train", 2)
    cluster.pod("large", cpu=8, group=key("train"))
    for name in ("w1", "w2"):
        cluster.pod(name, 1, cpu=1, group=key("train"))
    assert set(cluster.step().bound) == {"w1", "w2"}


def test_podgroups_of_other_schedulers_are_ignored() -> None:
    cluster = FakeCluster(Policy(schedulers=frozenset({"muster-scheduler"})))
    cluster.node("n", 2)
    cluster.group("theirs", 2, phase="Pending")
    cluster.pod("theirs-0", 1, on="n", group=key("theirs"), scheduler="volcano")
    assert cluster.step().changes == []
    cluster.finish("theirs-0")
    assert cluster.step().changes == []
    cluster.pod("theirs-1", 1, group=key("theirs"), scheduler="volcano")
    assert cluster.step().changes == []


def test_a_gang_that_fits_with_other_members_starts_behind_a_similar_one_that_does_not() -> None:
    """Both need two small pods, which do not fit; but two larger members of the second gang do."""
    cluster = FakeCluster()
    cluster.node("full", 4, labels={"pool": "s"})
    cluster.pod("running", 4, 100, "full")
    cluster.node("free", 4, labels={"pool": "t"})
    cluster.group("first", 2)
    cluster.group("second", 2)
    for group, pools in (("first", "ss"), ("second", "sstt")):
        for number, pool in enumerate(pools):
            gpus = 1 if pool == "s" else 2
            cluster.pod(f"{group}-{number}", gpus, group=key(group), selector=(("pool", pool),))
    assert cluster.plan().bound == {"second-2": "free", "second-3": "free"}


def test_like_gangs_that_do_not_fit_are_tried_once() -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    for number in range(3):
        cluster.gang(f"large-{number}", 3, 2)
    decision = cluster.plan()
    assert decision.bound == {}
    assert len({reason.partition(": ")[2] for reason in decision.reasons.values()}) == 1
