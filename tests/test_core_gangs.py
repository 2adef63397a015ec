"""Gang: everybody starts, or nobody does."""

from __future__ import annotations

from scheduler.core.model import Counts
from scheduler.core.policy import Policy
from tests.core_worlds import World, key


def test_a_gang_waits_for_its_last_member() -> None:
    world = World()
    world.node("n", 4)
    world.group("train", 2)
    world.pod("train-0", 1, group=key("train"))
    decision = world.step()
    assert decision.bound == {}
    assert decision.why["train-0"] == "gang team/train waits for its members: 1 of 2 pods exist"
    world.pod("train-1", 1, group=key("train"))
    assert world.step().bound == {"train-0": "n", "train-1": "n"}


def test_room_for_a_part_of_a_gang_is_no_room_for_it() -> None:
    world = World()
    world.node("small", 3)
    world.gang("train", 4, 1)
    decision = world.step()
    assert decision.bound == {}
    assert "gang team/train: room for 3 of the 4 pods that start together" in decision.why["train-0"]
    world.node("more", 1)
    assert len(world.step().bound) == 4


def test_of_two_gangs_that_do_not_fit_together_one_runs_and_then_the_other() -> None:
    world = World()
    world.node("n", 4)
    world.gang("left", 3, 1)
    world.gang("right", 3, 1)
    assert set(world.step().bound) == {"left-0", "left-1", "left-2"}
    world.finish("left-0", "left-1", "left-2")
    assert set(world.step().bound) == {"right-0", "right-1", "right-2"}


def test_a_gang_that_waits_holds_nothing() -> None:
    world = World()
    world.node("n", 3)
    world.gang("train", 4, 1, 100)
    world.pod("small", 3, 0)
    assert world.plan().bound == {"small": "n"}


def test_members_above_the_minimum_follow_when_there_is_room() -> None:
    world = World()
    world.node("small", 4)
    world.gang("train", 5, 1, minimum=3)
    decision = world.step()
    assert len(decision.bound) == 4
    assert set(decision.why) == {"train-4"}
    world.node("more", 1)
    assert world.step().bound == {"train-4": "more"}


def test_the_smallest_members_make_up_the_minimum() -> None:
    world = World()
    world.node("n", 2)
    world.group("train", 2)
    for number, gpus in enumerate((2, 1, 1)):
        world.pod(f"train-{number}", gpus, group=key("train"))
    assert set(world.plan().bound) == {"train-1", "train-2"}


def test_pods_of_a_group_that_does_not_exist_wait_for_it() -> None:
    world = World()
    world.node("n", 4)
    world.pod("train-0", 1, group=key("train"))
    assert world.step().why == {"train-0": "group team/train does not exist"}
    world.group("train", 1)
    assert world.step().bound == {"train-0": "n"}


def test_a_master_that_finds_no_place_keeps_its_workers_waiting() -> None:
    world = World()
    world.node("small", 3)
    world.group("train", 4, roles={"master": 1, "worker": 3})
    world.pod("master", 4, group=key("train"), role="master")
    for number in range(3):
        world.pod(f"worker-{number}", 1, group=key("train"), role="worker")
    assert world.step().bound == {}
    world.node("large", 8)
    assert len(world.step().bound) == 4


def test_as_many_of_each_role_must_be_there() -> None:
    world = World()
    world.node("n", 8)
    world.group("train", 2, roles={"master": 1})
    for number in range(3):
        world.pod(f"worker-{number}", 1, group=key("train"), role="worker")
    decision = world.step()
    assert decision.bound == {}
    assert decision.why["worker-0"].endswith("0 of 1 master pods exist")
    world.pod("master", 1, group=key("train"), role="master")
    assert len(world.step().bound) == 4


def test_where_members_differ_a_corner_is_searched_a_way_out_of() -> None:
    """The largest first, on the fullest node: the four would take "b", and one of the threes would be left over."""
    world = World()
    world.node("a", 7)
    world.node("b", 6)
    world.group("train", 4)
    for number, gpus in enumerate((4, 3, 3, 3)):
        world.pod(f"train-{number}", gpus, group=key("train"))
    assert world.plan().bound["train-0"] == "a"


def test_a_picky_member_is_not_robbed_of_its_only_node() -> None:
    world = World()
    world.node("a", 2, labels={"zone": "a"})
    world.node("b", 2)
    world.group("train", 2)
    world.pod("anywhere", 2, group=key("train"))
    world.pod("picky", 1, group=key("train"), selector=(("zone", "a"),))
    assert world.plan().bound == {"anywhere": "b", "picky": "a"}


def test_gangs_that_start_together_start_together() -> None:
    world = World()
    world.node("n", 3)
    for name, partner in (("actors", "learners"), ("learners", "actors")):
        world.gang(name, 2, 1, partners=frozenset({key(partner)}))
    assert world.step().bound == {}
    world.node("more", 1)
    assert len(world.step().bound) == 4


def test_a_gang_waits_for_a_partner_that_does_not_exist() -> None:
    world = World()
    world.node("n", 3)
    world.gang("actors", 2, 1, partners=frozenset({key("learners")}))
    decision = world.plan()
    assert decision.bound == {}
    assert "team/learners, which starts together with this one, does not exist" in decision.why["actors-0"]


def test_a_gang_does_not_wait_because_a_stranger_names_it() -> None:
    world = World()
    world.node("n", 1)
    world.group("named", 1)
    world.pod("named-0", 1, group=key("named"))
    world.group("naming", 1, partners=frozenset({key("named")}))
    world.pod("naming-0", 1, group=key("naming"))
    decision = world.plan()
    assert decision.bound == {"named-0": "n"}
    told = "group team/named, which should start together with team/naming, does not name it"
    assert decision.why == {"naming-0": told}


def test_a_member_that_is_created_again_returns_to_its_running_gang() -> None:
    world = World()
    world.node("n", 3)
    world.gang("train", 3, 1, on="n")
    world.delete("train-1")
    world.pod("train-1", 1, group=key("train"))
    assert world.plan().bound == {"train-1": "n"}


def test_a_gang_that_lost_everybody_starts_whole_again() -> None:
    world = World()
    world.node("n", 3)
    world.gang("train", 3, 1, on="n")
    world.delete("train-0", "train-1", "train-2")
    world.pod("train-0", 1, group=key("train"))
    assert world.step().bound == {}


def test_where_running_members_must_suffice_a_loss_makes_it_wait_for_all_again() -> None:
    world = World()
    world.node("n", 3)
    world.gang("train", 3, 1, on="n", match="waiting-and-running")
    world.delete("train-1", "train-2")
    world.pod("train-1", 1, group=key("train"))
    assert world.step().bound == {}
    world.pod("train-2", 1, group=key("train"))
    assert set(world.step().bound) == {"train-1", "train-2"}


def test_where_only_waiting_members_count_those_who_run_do_not() -> None:
    world = World()
    world.node("n", 6)
    world.gang("train", 2, 1, on="n", match="only-waiting")
    world.pod("third", 1, group=key("train"))
    assert world.step().bound == {}
    world.pod("fourth", 1, group=key("train"))
    assert set(world.step().bound) == {"third", "fourth"}


def test_members_that_came_to_an_end_still_count_beside_those_who_run() -> None:
    world = World()
    world.node("n", 3)
    world.gang("train", 2, 1, on="n", phase="Inqueue")
    world.finish("train-0")
    assert world.plan().released == set()
    world.pod("train-2", 1, group=key("train"))
    assert world.plan().bound == {"train-2": "n"}


def test_a_lower_minimum_lets_a_waiting_gang_start_with_what_fits() -> None:
    world = World()
    world.node("n", 3)
    world.gang("train", 4, 1)
    assert world.step().bound == {}
    world.change_group("train", minimum=3)
    assert len(world.step().bound) == 3


def test_a_gang_that_a_dying_scheduler_left_in_part_is_completed() -> None:
    world = World()
    world.node("n", 3)
    world.gang("train", 3, 1)
    world.change("train-0", node="n")
    assert set(world.plan().bound) == {"train-1", "train-2"}


def test_what_was_started_in_part_and_cannot_be_completed_gives_its_room_back() -> None:
    world = World()
    world.node("n", 2)
    world.gang("train", 3, 1)
    world.change("train-0", node="n")
    decision = world.step()
    assert decision.released == {"train-0"}
    assert decision.bound == {}


def test_the_rest_of_a_gang_that_nobody_is_left_to_complete_gives_its_room_back() -> None:
    world = World()
    world.node("n", 2)
    world.gang("train", 3, 1)
    world.change("train-0", node="n")
    world.delete("train-1", "train-2")
    assert world.step().released == {"train-0"}


def test_a_gang_with_a_gated_member_is_not_given_up() -> None:
    world = World()
    world.node("n", 2)
    world.gang("train", 2, 1)
    world.change("train-0", node="n")
    world.change("train-1", gated=True)
    assert world.step().released == set()


def test_a_member_that_goes_in_this_plan_does_not_count() -> None:
    world = World()
    world.node("contested", 1, labels={"zone": "a"})
    world.node("other", 2)
    world.gang("train", 3, 1, 10)
    world.change("train-0", node="contested")
    world.pod("urgent", 1, 100, selector=(("zone", "a"),))
    decision = world.plan()
    assert decision.evicted == {"train-0"}
    assert decision.bound == {}


def test_a_partner_that_has_started_is_not_released_because_the_other_waits() -> None:
    world = World()
    world.node("n", 1)
    world.group("left", 2, partners=frozenset({key("right")}), phase="Inqueue")
    world.pod("left-1", 1, on="n", group=key("left"))
    world.cluster.set_counts(key("left"), Counts(running=1, succeeded=1))
    world.gang("right", 2, 1, partners=frozenset({key("left")}))
    assert world.plan().released == set()


def test_a_running_gang_that_loses_a_member_keeps_the_others_whatever_counts_towards_its_minimum() -> None:
    world = World()
    world.node("n", 4)
    world.gang("train", 4, 1, on="n", match="waiting-and-running")
    world.step()
    world.delete("train-3")
    for _ in range(3):
        decision = world.step()
        assert decision.released == set()
        assert decision.phases.get("train", "Running") == "Running"


def test_roles_count_when_a_gang_was_started_in_part() -> None:
    world = World()
    world.node("n", 3)
    world.group("train", 2, roles={"master": 1, "worker": 1}, phase="Inqueue")
    for name in ("w1", "w2"):
        world.pod(name, 1, on="n", group=key("train"), role="worker")
    world.pod("master", 1, group=key("train"), role="master")
    world.pod("vip", 1, priority=1000, on="n")
    world.count()
    assert world.step().released == {"w1", "w2"}


def test_members_that_find_no_place_do_not_keep_the_others_waiting() -> None:
    world = World()
    world.node("gpus", 2, cpu=2)
    world.node("cpus", cpu=8)
    world.pod("busy", cpu=8, priority=9, on="cpus")
    world.group("train", 2)
    world.pod("large", cpu=8, group=key("train"))
    for name in ("w1", "w2"):
        world.pod(name, 1, cpu=1, group=key("train"))
    assert set(world.step().bound) == {"w1", "w2"}


def test_groups_of_other_schedulers_are_left_alone() -> None:
    world = World(Policy(schedulers=frozenset({"muster-scheduler"})))
    world.node("n", 2)
    world.group("theirs", 2, phase="Pending")
    world.pod("theirs-0", 1, on="n", group=key("theirs"), scheduler="volcano")
    assert world.step().changes == []
    world.finish("theirs-0")
    assert world.step().changes == []
    world.pod("theirs-1", 1, group=key("theirs"), scheduler="volcano")
    assert world.step().changes == []
