"""The failure report is part of the product: these tests compare its whole text."""

import time
from textwrap import dedent

import pytest

from muster.assertions.evaluation import Recording
from muster.assertions.pods import runs
from muster.assertions.preemption import exactly_preempted, no_pod_preempted
from muster.errors import ConformanceFailure, HarnessError
from muster.recording.questions import Question, eventually
from muster.recording.records import Moment
from tests.support.history_builder import HistoryBuilder, full_node


def recording(builder: HistoryBuilder) -> Recording:
    def probe() -> Moment:
        return builder.history.now

    return Recording(
        builder.history,
        check_health=lambda: None,
        probe=probe,
        longest_backoff=0.0,
        reproduce="muster run --scheduler volcano --only PRE-01 --keep",
    )


def report(builder: HistoryBuilder, question: Question) -> str:
    with pytest.raises(ConformanceFailure) as violated:
        recording(builder).must(question, within=0)
    return str(violated.value)


def test_too_many_victims() -> None:
    builder = full_node().pod("urgent", 1, 100).preempt("left", by="urgent").preempt("right", by="urgent")
    assert report(builder, exactly_preempted(("left", "right"), 1, "urgent")) == dedent(
        """\
        wanted   exactly 1 of left, right preempted for urgent
        seen     2 preempted (left 0.1 s, right 0.4 s after urgent was created)
        nearest  1 victim(s) would have been enough: left freed 1 nvidia.com/gpu
        pod      left is terminating since 1.0 s (on gpu-1)
        pod      right is terminating since 1.3 s (on gpu-1)
        pod      urgent is pending (requests 1 GPU at priority 100)
        nodes    node             gpu free/total  taints  pods (priority)
                 gpu-1            0/2             -       left (10, terminating), right (10, terminating)
                 urgent requests  1                       priority 100
        repeat   muster run --scheduler volcano --only PRE-01 --keep"""
    )


def test_a_pending_pod_is_reported_with_free_resources_and_taints() -> None:
    taints = [{"key": "gpu", "effect": "NoSchedule"}]
    builder = (
        full_node().node("gpu-2", 4, taints).pod("urgent", 1, 100).unschedulable("urgent", "0/2 nodes are available")
    )
    assert report(builder, eventually(runs("urgent"))) == dedent(
        """\
        wanted   urgent runs
        seen     did not happen: urgent runs
        nearest  urgent is pending (requests 1 GPU at priority 100): 0/2 nodes are available
        nodes    node             gpu free/total  taints          pods (priority)
                 gpu-1            0/2             -               left (10), right (10)
                 gpu-2            4/4             gpu:NoSchedule  -
                 urgent requests  1                               priority 100
        repeat   muster run --scheduler volcano --only PRE-01 --keep"""
    )


def test_a_violated_invariant() -> None:
    builder = full_node().pod("urgent", 1, 100).run("urgent", "gpu-1")
    assert report(builder, eventually(runs("urgent"))) == dedent(
        """\
        wanted   the invariants hold at every moment
        seen     urgent was bound to gpu-1 at 0.9 s although it did not fit (1 nvidia.com/gpu too many)
        nodes    node   gpu free/total  taints  pods (priority)
                 gpu-1  -1/2            -       left (10), right (10), urgent (100)
        repeat   muster run --scheduler volcano --only PRE-01 --keep"""
    )


def test_a_long_list_of_nodes_is_cut() -> None:
    builder = HistoryBuilder().pod("urgent", 1)
    for number in range(40):
        builder.node(f"node-{number}", 0)
    assert "… and 28 more nodes" in report(builder, eventually(runs("urgent")))


def test_a_gap_is_an_error_and_not_a_verdict() -> None:
    builder = full_node()
    builder.history.mark_gap("Pod")
    with pytest.raises(HarnessError, match="was interrupted"):
        recording(builder).must(eventually(runs("left")))


def test_a_scheduler_that_is_not_live_is_an_error_and_not_a_verdict() -> None:
    def dead() -> Moment:
        raise HarnessError("the scheduler is not live")

    watched = recording(full_node().pod("urgent", 1))
    watched.probe = dead
    with pytest.raises(HarnessError, match="not live"):
        watched.must(eventually(runs("urgent")), within=0)


def test_a_dead_component_is_an_error_and_not_a_verdict() -> None:
    def dead() -> None:
        raise HarnessError("etcd was ended by SIGKILL")

    watched = recording(full_node())
    watched.check_health = dead
    with pytest.raises(HarnessError, match="etcd"):
        watched.must(eventually(runs("left")))


def test_what_cannot_be_set_up_is_an_error_and_not_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muster.timeouts.SETTING_UP", 0)
    with pytest.raises(HarnessError, match="could not be carried out"):
        recording(HistoryBuilder().pod("low", 1)).set_up(eventually(runs("low")))


def test_stays_fails_on_a_later_change() -> None:
    builder = full_node()
    builder.history.last_activity = time.monotonic()
    watched = recording(builder)
    probes: list[int] = []

    def probe_then_delete() -> Moment:
        probes.append(1)
        if len(probes) == 2:
            builder.delete("left")
        return builder.history.now

    watched.probe = probe_then_delete

    with pytest.raises(ConformanceFailure, match="left was deleted"):
        watched.stays(no_pod_preempted())
