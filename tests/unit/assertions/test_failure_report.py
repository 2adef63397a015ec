"""A failure story is part of the product: these are its words, to the letter."""

import time
from textwrap import dedent

import pytest

from muster.chronicle.chronicle import Chronicle
from muster.chronicle.facts import runs
from muster.chronicle.preemptions import exactly_preempted
from muster.chronicle.questions import Question, eventually
from muster.chronicle.records import Moment
from muster.errors import BehaviourViolated, HarnessError
from tests.tales import Tale


def chronicle(tale: Tale) -> Chronicle:
    def sing() -> Moment:
        return tale.history.now

    return Chronicle(
        tale.history,
        guard=lambda: None,
        prove_live=sing,
        longest_backoff=0.0,
        reproduce="muster run --scheduler volcano --only PRE-01 --keep",
    )


def story(tale: Tale, question: Question) -> str:
    with pytest.raises(BehaviourViolated) as violated:
        chronicle(tale).must(question, within=0)
    return str(violated.value)


def full_node() -> Tale:
    return Tale().node("gpu-1", 2).settled("left", "gpu-1", 1, 10).settled("right", "gpu-1", 1, 10)


def test_too_many_victims() -> None:
    tale = full_node().pod("urgent", 1, 100).preempted("left", by="urgent").preempted("right", by="urgent")
    assert story(tale, exactly_preempted(("left", "right"), 1, "urgent")) == dedent(
        """\
        wanted   exactly 1 of left, right preempted for urgent
        seen     2 preempted (left 0.1 s, right 0.4 s after urgent was created)
        nearest  1 victim(s) would have been enough: left made room for 1 nvidia.com/gpu
        pod      left is being deleted since 1.0 s (on gpu-1)
        pod      right is being deleted since 1.3 s (on gpu-1)
        pod      urgent waits (asks 1 GPU at priority 100)
        nodes    node         gpu free/all  taints  held by
                 gpu-1        0/2           -       left (10, leaving), right (10, leaving)
                 urgent asks  1                     priority 100
        repeat   muster run --scheduler volcano --only PRE-01 --keep"""
    )


def test_a_pod_that_does_not_run_says_who_blocks_it() -> None:
    taints = [{"key": "gpu", "effect": "NoSchedule"}]
    tale = full_node().node("gpu-2", 4, taints).pod("urgent", 1, 100).refuse("urgent", "no place for it")
    assert story(tale, eventually(runs("urgent"))) == dedent(
        """\
        wanted   urgent runs
        seen     it did not happen that urgent runs
        nearest  urgent waits (asks 1 GPU at priority 100): no place for it
        nodes    node         gpu free/all  taints          held by
                 gpu-1        0/2           -               left (10), right (10)
                 gpu-2        4/4           gpu:NoSchedule  -
                 urgent asks  1                             priority 100
        repeat   muster run --scheduler volcano --only PRE-01 --keep"""
    )


def test_a_broken_invariant() -> None:
    tale = full_node().pod("urgent", 1, 100).run("urgent", "gpu-1")
    assert story(tale, eventually(runs("urgent"))) == dedent(
        """\
        wanted   the invariants hold at every moment
        seen     urgent was bound to gpu-1 at 0.9 s although the node had no room for it (1 nvidia.com/gpu too many)
        nodes    node   gpu free/all  taints  held by
                 gpu-1  -1/2          -       left (10), right (10), urgent (100)
        repeat   muster run --scheduler volcano --only PRE-01 --keep"""
    )


def test_a_long_list_of_nodes_is_cut() -> None:
    tale = Tale().pod("urgent", 1)
    for number in range(40):
        tale.node(f"node-{number}", 0)
    assert "… and 28 more nodes" in story(tale, eventually(runs("urgent")))


def test_a_gap_is_an_error_and_not_a_verdict() -> None:
    tale = full_node()
    tale.history.miss("Pod")
    with pytest.raises(HarnessError, match="the recording has a gap"):
        chronicle(tale).must(eventually(runs("left")))


def test_a_scheduler_that_is_not_live_is_an_error_and_not_a_verdict() -> None:
    def dead() -> Moment:
        raise HarnessError("the scheduler is not live")

    watched = chronicle(full_node().pod("urgent", 1))
    watched.prove_live = dead
    with pytest.raises(HarnessError, match="not live"):
        watched.must(eventually(runs("urgent")), within=0)


def test_a_dead_component_is_an_error_and_not_a_verdict() -> None:
    def dead() -> None:
        raise HarnessError("etcd was ended by SIGKILL")

    watched = chronicle(full_node())
    watched.guard = dead
    with pytest.raises(HarnessError, match="etcd"):
        watched.must(eventually(runs("left")))


def test_what_cannot_be_set_up_is_an_error_and_not_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muster.timeouts.SETTING_UP", 0)
    with pytest.raises(HarnessError, match="could not be set up"):
        chronicle(Tale().pod("low", 1)).staged(eventually(runs("low")))


def test_stays_is_broken_by_what_comes_later() -> None:
    tale = full_node()
    tale.history.last_stir = time.monotonic()
    watched = chronicle(tale)
    songs: list[int] = []

    def sing_then_break() -> Moment:
        songs.append(1)
        if len(songs) == 2:
            tale.delete("left")
        return tale.history.now

    watched.prove_live = sing_then_break
    from muster.chronicle.preemptions import nobody_preempted

    with pytest.raises(BehaviourViolated, match="left was asked to go"):
        watched.stays(nobody_preempted())
