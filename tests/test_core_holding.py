"""Nominate and hold: between the decision and the start the room is spoken for, and is not yet anybody's."""

from __future__ import annotations

from tests.core_worlds import World, key


def leaving(gpus: int = 4, offered: int = 4) -> World:
    """A node where a pod of this size is about to go."""
    world = World()
    world.node("n", offered)
    world.pod("old", gpus, 10, "n", leaving=True)
    return world


def test_who_will_fit_when_others_are_gone_is_promised_the_room_and_evicts_nobody() -> None:
    world = leaving(2)
    world.pod("stays", 2, 10, "n")
    world.pod("urgent", 2, 100)
    decision = world.step()
    assert decision.evicted == set()
    assert decision.nominated == {"urgent": "n"}
    assert decision.why["urgent"] == "team/urgent waits for pods that leave; its room is held on n"


def test_a_promise_is_made_once() -> None:
    world = leaving()
    world.pod("urgent", 4, 100)
    assert world.step().nominated == {"urgent": "n"}
    assert world.step().changes == []


def test_no_second_victim_goes_while_the_first_one_leaves() -> None:
    world = World()
    world.node("n", 2)
    world.pod("first", 1, 10, "n")
    world.pod("second", 1, 10, "n")
    world.pod("urgent", 1, 100)
    assert len(world.step().evicted) == 1
    assert world.step().changes == []


def test_room_that_is_spoken_for_is_not_given_to_anybody_less_important() -> None:
    world = leaving(3)
    world.pod("urgent", 4, 100)
    world.pod("sneaky", 1, 50)
    decision = world.step()
    assert decision.bound == {}
    assert decision.nominated == {"urgent": "n"}
    world.let_go()
    assert world.step().bound == {"urgent": "n"}


def test_room_beside_what_is_spoken_for_is_free() -> None:
    world = leaving(2)
    world.pod("urgent", 3, 100)
    world.pod("small", 1, 50)
    assert world.plan().bound == {"small": "n"}


def test_room_is_held_for_all_members_of_a_gang() -> None:
    world = World()
    world.node("n", 4)
    world.pod("early", 2, 10, "n")
    world.pod("late", 2, 10, "n")
    world.gang("train", 2, 2, 100)
    assert world.step().evicted == {"early", "late"}
    world.delete("early")
    world.pod("lesser", 2, 50)
    world.pod("equal", 2, 100)
    decision = world.step()
    assert decision.bound == {}
    assert decision.nominated == {}
    world.let_go()
    assert set(world.step().bound) == {"train-0", "train-1"}


def test_a_more_important_latecomer_takes_the_promised_place() -> None:
    world = leaving()
    world.pod("urgent", 4, 100)
    world.step()
    world.pod("critical", 4, 200)
    decision = world.step()
    assert decision.nominated == {"critical": "n", "urgent": ""}
    world.let_go()
    assert world.step().bound == {"critical": "n"}


def test_a_more_important_gang_takes_over_the_room_of_a_gang() -> None:
    world = leaving()
    world.gang("first", 2, 2, 100)
    world.step()
    world.gang("better", 2, 2, 200)
    decision = world.step()
    assert decision.nominated == {"better-0": "n", "better-1": "n", "first-0": "", "first-1": ""}
    assert decision.evicted == set()


def test_of_two_that_push_at_the_same_time_the_more_important_one_gets_the_room() -> None:
    world = World()
    world.node("n", 1)
    world.pod("victim", 1, 10, "n")
    world.pod("urgent", 1, 100)
    world.pod("critical", 1, 200)
    decision = world.step()
    assert decision.nominated == {"critical": "n"}
    assert [eviction.beneficiary for eviction in decision.evictions] == ["team/critical"]


def test_two_that_push_at_the_same_time_do_not_count_on_the_same_room() -> None:
    world = World()
    world.node("n", 2)
    world.pod("left", 1, 10, "n")
    world.pod("right", 1, 10, "n")
    world.pod("urgent", 1, 100)
    world.pod("pressing", 1, 100)
    assert world.step().evicted == {"left", "right"}


def test_who_is_promised_a_place_takes_it_rather_than_another() -> None:
    world = World()
    world.node("a", 4)
    world.node("b", 4)
    world.pod("urgent", 1, 100, nominated="b")
    assert world.plan().bound == {"urgent": "b"}


def test_who_is_promised_a_place_takes_another_that_is_free_before() -> None:
    world = leaving()
    world.pod("urgent", 4, 100)
    world.step()
    world.node("z-free", 4)
    assert world.step().bound == {"urgent": "z-free"}
    assert world["urgent"].nominated == ""


def test_a_promise_on_a_node_that_is_gone_is_taken_back() -> None:
    world = leaving()
    world.pod("urgent", 4, 100)
    world.step()
    world.cluster.remove_node("n")
    assert world.step().nominated == {"urgent": ""}


def test_a_promise_on_a_node_that_was_cordoned_is_taken_back() -> None:
    world = leaving()
    world.pod("urgent", 4, 100)
    world.step()
    world.node("n", 4, cordoned=True)
    assert world.step().nominated == {"urgent": ""}


def test_a_started_in_part_gang_that_is_promised_its_room_keeps_what_it_has() -> None:
    world = leaving(2)
    world.gang("train", 2, 2, 100)
    world.change("train-0", node="n")
    decision = world.step()
    assert decision.released == set()
    assert decision.nominated == {"train-1": "n"}


def test_a_promise_is_taken_back_from_members_that_need_not_start_any_more() -> None:
    world = leaving(3, 3)
    world.gang("train", 3, 1, 100)
    world.step()
    world.change_group("train", minimum=2)
    world.step()
    promised = [name for name in ("train-0", "train-1", "train-2") if world[name].nominated]
    assert promised == ["train-0", "train-1"]


def test_a_late_member_of_a_running_gang_is_promised_room_like_any_pod() -> None:
    world = leaving(2)
    world.gang("train", 2, 1, 100, on="n")
    world.pod("train-2", 2, 100, group=key("train"))
    assert world.step().nominated == {"train-2": "n"}
