"""PodGroup phases of both APIs."""

from __future__ import annotations

import pytest

from scheduler.core.actions import SetGroupPhase
from scheduler.core.policy import Policy
from scheduler.core.scheduling_types import GPU, Counts
from tests.support.cluster_builder import FakeCluster, key


def phase_of(cluster: FakeCluster, name: str = "train") -> str:
    return cluster.state.groups[key(name)].phase


def test_a_volcano_group_goes_from_inqueue_to_running_to_completed() -> None:
    cluster = FakeCluster()
    cluster.group("train", 2)
    cluster.step()
    assert phase_of(cluster) == "Inqueue"
    cluster.pod("train-0", 1, group=key("train"))
    cluster.pod("train-1", 1, group=key("train"))
    cluster.settle()
    assert phase_of(cluster) == "Inqueue"
    cluster.node("n", 2)
    cluster.settle()
    assert phase_of(cluster) == "Running"
    assert cluster.state.groups[key("train")].counts == Counts(running=2)
    cluster.finish("train-0", "train-1")
    cluster.settle()
    assert phase_of(cluster) == "Completed"
    assert cluster.state.groups[key("train")].counts == Counts(succeeded=2)


@pytest.mark.parametrize(("kind", "phase"), [("volcano", "Running"), ("koordinator", "Scheduled")])
def test_the_started_phase_is_part_of_the_plan_that_starts_the_gang(kind: str, phase: str) -> None:
    cluster = FakeCluster()
    cluster.node("n", 3)
    cluster.gang("train", 3, 1, kind=kind)
    decision = cluster.step()
    assert (len(decision.bound), decision.phases) == (3, {"train": phase})
    cluster.change("train-1", terminating=True)
    assert not cluster.step().released


def test_a_koordinator_group_goes_from_pending_to_finished() -> None:
    cluster = FakeCluster()
    cluster.group("train", 1, kind="koordinator")
    cluster.settle()
    assert phase_of(cluster) == "Pending"
    cluster.pod("train-0", 1, group=key("train"))
    cluster.settle()
    assert phase_of(cluster) == "Scheduling"
    cluster.change("train-0", node="n")
    cluster.step()
    assert phase_of(cluster) == "Scheduled"
    cluster.settle()
    assert phase_of(cluster) == "Running"
    cluster.finish("train-0")
    cluster.settle()
    assert phase_of(cluster) == "Finished"


def test_a_koordinator_group_with_a_failed_member_has_failed() -> None:
    cluster = FakeCluster()
    cluster.gang("train", 2, 1, on="n", kind="koordinator")
    cluster.finish("train-0")
    cluster.finish("train-1", failed=True)
    cluster.settle()
    assert phase_of(cluster) == "Failed"


def test_a_group_has_not_finished_while_a_member_is_left() -> None:
    cluster = FakeCluster()
    cluster.node("n", 2)
    cluster.gang("train", 2, 1, on="n")
    cluster.finish("train-0")
    cluster.settle()
    assert phase_of(cluster) == "Running"


@pytest.mark.parametrize("end", ["Completed", "Finished", "Failed"])
def test_a_terminal_phase_never_changes(end: str) -> None:
    cluster = FakeCluster()
    cluster.node("n", 4)
    cluster.gang("train", 2, 1, phase=end)
    cluster.settle()
    assert phase_of(cluster) == end


@pytest.mark.parametrize(
    ("queue", "reason"),
    [
        ({"is_open": False}, "queue research is closed"),
        ({"problem": "nonsense"}, "queue research: nonsense"),
        ({"capability": {GPU: 1}}, "minResources exceed the capability of queue research in nvidia.com/gpu"),
    ],
)
def test_a_group_that_is_not_admitted_is_pending_with_a_reason(queue: dict[str, object], reason: str) -> None:
    cluster = FakeCluster()
    cluster.queue("research", **queue)  # type: ignore[arg-type]
    cluster.group("train", 2, queue="research", min_resources={GPU: 2})
    (phase,) = cluster.step().actions
    assert isinstance(phase, SetGroupPhase)
    assert (phase.phase, phase.message) == ("Pending", reason)
    cluster.queue("research", 2)
    cluster.step()
    assert phase_of(cluster) == "Inqueue"


def test_an_invalid_group_is_pending_and_its_pods_report_the_problem() -> None:
    cluster = FakeCluster()
    cluster.node("n", 2)
    cluster.gang("train", 1, 1, problem="spec.minMember is not an integer")
    decision = cluster.step()
    assert decision.phases == {"train": "Pending"}
    assert decision.reasons == {"train-0": "PodGroup team/train: spec.minMember is not an integer"}


def test_a_phase_is_written_once() -> None:
    cluster = FakeCluster()
    cluster.group("train", 2)
    assert cluster.step().phases == {"train": "Inqueue"}
    cluster.change_group("train", created=7.0)
    assert cluster.step().phases == {}


def test_only_changed_groups_are_evaluated() -> None:
    cluster = FakeCluster()
    cluster.group("train", 2)
    cluster.state.clear_changes()
    assert cluster.plan().phases == {}


def test_an_admitted_gang_reserves_nothing() -> None:
    cluster = FakeCluster()
    cluster.node("n", 2)
    cluster.queue("research", 2)
    cluster.gang("train", 3, 1, 100, queue="research")
    cluster.pod("single", 2, queue="research")
    decision = cluster.step()
    assert decision.phases == {"train": "Inqueue"}
    assert decision.bound == {"single": "n"}


def test_a_running_gang_stays_running_when_min_member_is_raised() -> None:
    cluster = FakeCluster()
    cluster.node("n", 2)
    cluster.gang("train", 2, 1, on="n")
    cluster.change_group("train", min_member=5)
    cluster.settle()
    assert phase_of(cluster) == "Running"
    assert cluster.where() == {"train-0": "n", "train-1": "n"}


@pytest.mark.parametrize("kind", ["volcano", "koordinator"])
def test_the_running_members_of_a_group_in_phase_unknown_are_not_released(kind: str) -> None:
    """Volcano sets Unknown when a gang that has started loses members."""
    cluster = FakeCluster()
    cluster.node("n", 3)
    cluster.gang("train", 3, 1, on="n", min_member=4, kind=kind, phase="Unknown")
    cluster.pod("train-3", 1, group=key("train"))
    decision = cluster.step()
    assert decision.released == set()
    cluster.node("more", 1)
    assert cluster.step().bound == {"train-3": "more"}


@pytest.mark.parametrize(("kind", "owner"), [("volcano", "volcano"), ("koordinator", "koord-scheduler")])
def test_a_group_without_members_is_left_to_the_scheduler_of_its_api(kind: str, owner: str) -> None:
    """Beside Volcano, another scheduler that sets Inqueue would bypass Volcano's admission."""
    for names, served in (({"muster-scheduler"}, False), ({"muster-scheduler", owner}, True)):
        cluster = FakeCluster(Policy(schedulers=frozenset(names)))
        cluster.group("train", 1, kind=kind)
        assert bool(cluster.step().phases) is served
        cluster.pod("train-0", 1, group=key("train"))
        cluster.step()
        assert phase_of(cluster) == ("Inqueue" if kind == "volcano" else "Scheduling")
