"""Every invariant about preemption is violated once, and holds in the nearest history that does not violate it."""

from dataclasses import replace

from muster.assertions.preemption_invariants import (
    no_eviction_in_vain,
    no_repeated_eviction,
    no_uncounted_victim,
    no_victim_for_bound_preemptor,
    no_victim_has_equal_or_higher_priority,
)
from muster.recording.conventions import KUBERNETES
from tests.support.history_builder import HistoryBuilder, full_node


def evicted_without_event(victim_priority: int, pending_priority: int) -> HistoryBuilder:
    """By a scheduler that writes no event Preempted."""
    builder = HistoryBuilder().node("gpu-1", 1).running_pod("victim", "gpu-1", 1, victim_priority)
    return builder.pod("waiter", 1, pending_priority).mark_disruption_target("victim").delete("victim")


def test_a_victim_must_have_lower_priority() -> None:
    def violations(priority: int) -> list[str]:
        builder = HistoryBuilder().node("gpu-1", 1).running_pod("victim", "gpu-1", 1, priority).pod("preemptor", 1, 100)
        return no_victim_has_equal_or_higher_priority(builder.preempt("victim", by="preemptor").history)

    assert violations(99) == []
    assert violations(100) == ["victim (priority 100) was preempted for preemptor (priority 100)"]


def test_without_an_event_one_of_the_pending_pods_must_have_a_higher_priority() -> None:
    assert no_victim_has_equal_or_higher_priority(evicted_without_event(10, 100).history) == []
    assert no_victim_has_equal_or_higher_priority(evicted_without_event(100, 10).history) == [
        "victim (priority 100) was preempted while no pending pod had a higher priority: waiter (10)"
    ]


def test_the_priority_of_a_gang_may_be_that_of_its_podgroup() -> None:
    builder = HistoryBuilder(replace(KUBERNETES, group_name_keys=("group",))).node("gpu-1", 1)
    builder.running_pod("low", "gpu-1", 1).pod("train-0", 1, labels={"group": "train"})
    builder.custom_object("PodGroup", "train", {}, {"minMember": 1}).preempt("low", by="train-0")
    assert len(no_victim_has_equal_or_higher_priority(builder.history)) == 1
    builder.custom_object("PodGroup", "train", {}, {"minMember": 1, "priorityClassName": "high"})
    assert no_victim_has_equal_or_higher_priority(builder.history) == []


def test_what_the_scenario_itself_evicts_needs_no_preemptor() -> None:
    builder = evicted_without_event(100, 10).gone("victim")
    builder.history.removed_on_purpose.add("uid-victim")
    assert no_victim_has_equal_or_higher_priority(builder.history) == no_eviction_in_vain(builder.history) == []


def test_what_a_queue_reclaims_may_have_any_priority() -> None:
    builder = evicted_without_event(100, 10)
    builder.history.conventions = replace(KUBERNETES, reclaims=True)
    assert no_victim_has_equal_or_higher_priority(builder.history) == []


def test_no_pod_is_preempted_for_a_bound_pod() -> None:
    builder = full_node().pod("urgent", 1, 100).preempt("left", by="urgent").gone("left")
    builder.run("urgent", "gpu-1")
    assert no_victim_for_bound_preemptor(builder.history) == []
    assert no_victim_for_bound_preemptor(builder.preempt("right", by="urgent").history) == [
        "right was preempted for urgent, which was bound already"
    ]


def test_no_pod_is_preempted_while_no_pod_is_pending() -> None:
    builder = full_node().mark_disruption_target("right").delete("right")
    assert no_victim_for_bound_preemptor(builder.history) == ["right was preempted at 0.8 s while no pod was pending"]
    builder.history.removed_on_purpose.add("uid-right")
    assert no_victim_for_bound_preemptor(builder.history) == []


def gang_with_one_bound(min_member: int) -> HistoryBuilder:
    builder = HistoryBuilder(replace(KUBERNETES, group_name_keys=("group",))).node("gpu-1", 2)
    builder.custom_object("PodGroup", "train", {}, {"minMember": min_member}).running_pod("low", "gpu-1", 1, 1)
    for name in ("train-0", "train-1"):
        builder.pod(name, 1, 100, labels={"group": "train"})
    return builder.run("train-0", "gpu-1").preempt("low", by="train-0")


def test_a_gang_may_preempt_until_min_member_pods_are_bound() -> None:
    assert no_victim_for_bound_preemptor(gang_with_one_bound(min_member=2).history) == []
    assert no_victim_for_bound_preemptor(gang_with_one_bound(min_member=1).history) == [
        "low was preempted for train-0, which was bound already"
    ]


def test_an_eviction_in_vain_is_reported() -> None:
    builder = full_node().pod("urgent", 1, 100).preempt("left", by="urgent")
    assert no_eviction_in_vain(builder.history) == []  # the victim is still terminating
    builder.gone("left")
    assert no_eviction_in_vain(builder.history) == ["left was evicted for urgent, which is still not bound"]
    builder.bind("urgent", "gpu-1")
    assert no_eviction_in_vain(builder.history) == []


def test_an_eviction_in_vain_is_reported_without_an_event() -> None:
    builder = evicted_without_event(10, 100).gone("victim")
    assert no_eviction_in_vain(builder.history) == ["victim was evicted for waiter, which is still not bound"]
    assert no_eviction_in_vain(builder.bind("waiter", "gpu-1").history) == []


def test_only_a_pod_on_the_victims_node_overtakes_the_preemptor() -> None:
    builder = full_node().node("gpu-2", 1).pod("urgent", 1, 100).preempt("left", by="urgent").gone("left")
    builder.pod("critical", 1, 200).bind("critical", "gpu-2")
    assert len(no_eviction_in_vain(builder.history)) == 1
    builder.pod("system", 1, 300).bind("system", "gpu-1")
    assert no_eviction_in_vain(builder.history) == []


def test_a_victim_that_no_step_has_counted_is_reported() -> None:
    builder = full_node().pod("urgent", 1, 100).preempt("left", by="urgent")
    builder.history.expected_victims.add("uid-left")
    assert no_uncounted_victim(builder.history) == []
    assert no_uncounted_victim(builder.preempt("right", by="urgent").history) == [
        "right was preempted at 1.2 s, which no step of the scenario expects"
    ]


def evicted_twice() -> HistoryBuilder:
    """`left` is created again by its controller, bound, and evicted again."""
    builder = full_node().pod("urgent", 1, 100).preempt("left", by="urgent").gone("left")
    builder.pod("left", 1, 10, uid="uid-left-2").run("left", "gpu-1")
    return builder.mark_disruption_target("left").delete("left")


def test_a_workload_is_not_evicted_again_without_a_change_from_outside() -> None:
    (violation,) = no_repeated_eviction(evicted_twice().history)
    assert violation.startswith(
        "left was preempted at 0.9 s, bound again as left at 1.4 s and preempted again at 1.6 s"
    )


def test_a_change_from_outside_may_lead_to_another_eviction() -> None:
    builder = evicted_twice()
    builder.history.outside_changes.append(1.5)
    assert no_repeated_eviction(builder.history) == []
