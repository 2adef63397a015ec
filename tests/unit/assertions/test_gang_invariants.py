"""A started gang: what a scheduler may take from it, and what it may not."""

from dataclasses import replace

from muster.assertions.invariants import TAKEN_FROM_OUTSIDE, no_started_gang_below_min_member
from muster.recording.conventions import KUBERNETES
from muster.schedulers.native_gangs import NativeGangsDialect
from muster.schedulers.reference import ReferenceVolcanoDialect
from tests.support.history_builder import HistoryBuilder

MODE_ALL = {"scheduling.muster.dev/disruption-mode": "all"}
LABELS = {"group": "train"}


def gang(pods: int = 2, min_member: int = 2, annotations: dict[str, str] | None = None) -> HistoryBuilder:
    """A gang of which all pods run."""
    conventions = replace(ReferenceVolcanoDialect.conventions, group_name_keys=("group",))
    builder = HistoryBuilder(conventions).node("n", 8)
    builder.custom_object("PodGroup", "train", {}, {"minMember": min_member}, annotations=annotations)
    for number in range(pods):
        builder.pod(f"train-{number}", 1, labels=LABELS).run(f"train-{number}", "n")
    return builder


def preempted(builder: HistoryBuilder, *names: str, reason: str = "PreemptionByScheduler") -> HistoryBuilder:
    for name in names:
        builder.mark_disruption_target(name, reason).delete(name)
    return builder


def holds(builder: HistoryBuilder) -> bool:
    return no_started_gang_below_min_member(builder.history) == []


def test_a_started_gang_loses_no_pod() -> None:
    builder = gang()
    assert holds(builder)
    assert no_started_gang_below_min_member(builder.delete("train-1").history) == [
        "gang train had started with minMember 2, and then lost train-1 at 0.9 s"
    ]


def test_a_replacement_does_not_undo_the_loss() -> None:
    builder = gang().delete("train-1").gone("train-1")
    builder.pod("train-1", 1, uid="uid-again", labels=LABELS).run("train-1", "n")
    assert not holds(builder)


def test_members_that_finished_do_not_count_for_the_minimum() -> None:
    assert holds(gang(pods=3).finish("train-0"))
    assert not holds(gang(pods=3).finish("train-0").delete("train-1"))


def test_pods_above_min_member_may_go() -> None:
    builder = gang(pods=4).delete("train-3").delete("train-2")
    assert holds(builder)
    assert not holds(builder.delete("train-1"))


def test_a_gang_may_lose_pods_that_ended_or_were_taken_from_outside() -> None:
    assert holds(gang().finish("train-1").delete("train-1"))
    deleted = gang().delete("train-1")
    deleted.history.removed_on_purpose.add("uid-train-1")
    assert holds(deleted)
    for reason in TAKEN_FROM_OUTSIDE:
        assert holds(preempted(gang(), "train-1", reason=reason))


def test_what_a_gang_below_its_minimum_still_has_may_be_released() -> None:
    builder = gang(pods=3, min_member=3).finish("train-0", "Failed")
    assert holds(builder.delete("train-1").delete("train-2"))


def test_a_gang_that_never_reached_its_minimum_may_be_released() -> None:
    builder = gang(pods=1).pod("train-1", 1, labels=LABELS)
    assert holds(builder.delete("train-0"))


def test_single_members_may_be_preempted_by_default() -> None:
    assert holds(preempted(gang(), "train-1"))
    assert holds(preempted(gang(pods=3), "train-1", "train-2"))


def test_with_disruption_mode_all_the_whole_gang_is_preempted() -> None:
    builder = preempted(gang(pods=3, annotations=MODE_ALL), "train-0", "train-2")
    assert no_started_gang_below_min_member(builder.history) == [
        "gang train had started with minMember 2, and then lost train-2 at 1.5 s"
    ]
    assert holds(preempted(builder, "train-1"))
    ended = preempted(gang(pods=3, annotations=MODE_ALL).finish("train-1"), "train-0", "train-2")
    assert holds(ended)


def test_a_mark_with_an_unknown_reason_is_no_preemption() -> None:
    assert not holds(preempted(gang(), "train-1", reason="Rebalancing"))


def test_what_counts_is_the_minimum_in_force() -> None:
    lowered = gang().custom_object("PodGroup", "train", {}, {"minMember": 1})
    assert holds(lowered.delete("train-1"))
    lowered_later = gang().delete("train-1").custom_object("PodGroup", "train", {}, {"minMember": 1})
    assert not holds(lowered_later)
    assert holds(gang().custom_object("PodGroup", "train", {}, change="DELETED").delete("train-1"))


def test_a_gang_of_equal_name_in_another_namespace_is_another_gang() -> None:
    builder = gang()
    builder.pod("peer", 1, labels=LABELS, namespace="team-b").run("peer", "n").delete("train-1")
    assert no_started_gang_below_min_member(builder.history) == [
        "gang train had started with minMember 2, and then lost train-1 at 1.2 s"
    ]


def native_gang(**mode: dict[str, str]) -> HistoryBuilder:
    spec = {"schedulingPolicy": {"gang": {"minCount": 2}}, "disruptionMode": mode}
    builder = HistoryBuilder(NativeGangsDialect.conventions).custom_object("PodGroup", "train", {}, spec).node("n", 2)
    for name in ("train-0", "train-1"):
        builder.pod(name, 1, schedulingGroup={"podGroupName": "train"}).run(name, "n")
    return builder


def test_native_gangs_name_their_group_and_its_mode_in_the_spec() -> None:
    assert not holds(native_gang().delete("train-1"))
    assert holds(preempted(native_gang(single={}), "train-1"))
    assert not holds(preempted(native_gang(all={}), "train-1"))
    assert holds(preempted(native_gang(all={}), "train-1", "train-0"))


def test_without_a_disruption_mode_gangs_are_preempted_pod_by_pod() -> None:
    builder = HistoryBuilder(KUBERNETES).custom_object("PodGroup", "train", {}, annotations=MODE_ALL)
    group = builder.history.custom_objects("PodGroup", "train")[-1].object
    assert not builder.history.conventions.is_evicted_as_unit(group)  # type: ignore[arg-type]
