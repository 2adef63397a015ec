"""The invariant about gangs that have started: the scheduler takes none of them below its minimum.

What is legal for a correct scheduler: a gang that lost members for another reason (one ended or failed, its owner, a
taint or the eviction API removed it) may be below its minimum, and may then be released or evicted as a whole. Members
above the minimum may go. Preemption may take single members, unless the gang is a unit by its disruption mode: then all
of it goes or none. Native PodGroups have the mode Single by default; Koordinator, Volcano (its chart sets
enablePreemptable: false for the plugin gang) and Coscheduling preempt pod by pod, whatever is left of the gang.

What counts is the moment of each loss: a replacement that is bound later does not undo it.
"""

from __future__ import annotations

from muster.assertions.gangs import podgroup_records
from muster.recording.history import History
from muster.recording.objects import CustomObject
from muster.recording.pod_history import PodHistory
from muster.recording.records import Moment, Record

# Reasons of DisruptionTarget that Kubernetes documents for components other than a scheduler.
TAKEN_FROM_OUTSIDE = frozenset(
    {
        "DeletionByTaintManager",
        "DeletionByDeviceTaintManager",
        "EvictionByEvictionAPI",
        "DeletionByPodGC",
        "TerminationByKubelet",
    }
)


def no_started_gang_below_min_member(history: History) -> list[str]:
    """No gang of which minMember pods are bound loses one of these by its scheduler.

    Pods with a controller are left out: it deletes them as it sees fit.
    """
    violations = []
    gangs: dict[str, list[PodHistory]] = {}
    for pod in history.pods:
        if pod.bound and pod.namespace == history.namespace and (gang := history.group_of(pod)):
            gangs.setdefault(gang, []).append(pod)
    for gang, members in gangs.items():
        lost = [pod for pod in members if _is_below_minimum_without(history, gang, members, pod)]
        if lost:
            needed = _min_member_at(history, gang, lost[0].deleting or lost[0].created)
            names = ", ".join(f"{pod.name} at {history.seconds(pod.deleting or pod.created):.1f} s" for pod in lost)
            violations.append(f"gang {gang} had started with minMember {needed}, and then lost {names}")
    return violations


def _is_below_minimum_without(history: History, gang: str, members: list[PodHistory], pod: PodHistory) -> bool:
    """Its deletion took the gang from at least minMember bound pods to fewer, and was the scheduler's doing."""
    moment = pod.deleting
    if moment is None or pod.uid in history.removed_on_purpose or (pod.ended and pod.ended < moment):
        return False
    if any(owner.controller for owner in pod.latest.metadata.owner_references):
        return False
    others = [other for other in members if other is not pod and _is_present(other, moment)]
    needed = _min_member_at(history, gang, moment)
    if not needed or len(others) + 1 < needed or len(others) >= needed:
        return False
    return not _may_be_evicted(history, gang, pod, others)


def _may_be_evicted(history: History, gang: str, pod: PodHistory, others: list[PodHistory]) -> bool:
    """Whether the mark on the pod says that it was preempted as its gang allows, or taken from outside."""
    mark, moment = pod.disruption, pod.deleting
    if mark is None or moment is None:
        return False
    if mark.type == "DisruptionTarget" and mark.reason in TAKEN_FROM_OUTSIDE:
        return True
    group = _group_at(history, gang, moment)
    is_unit = group is not None and history.conventions.is_evicted_as_unit(group)
    if history.conventions.is_preemption(mark) and not is_unit:
        return True
    return all(
        other.disrupted or other.deleting or other.ended or other.uid in history.removed_on_purpose for other in others
    )


def _is_present(pod: PodHistory, moment: Moment) -> bool:
    """Bound before that moment, and neither deleted nor ended by then."""
    left = min((when for when in (pod.deleting, pod.ended, pod.gone) if when), default=None)
    return pod.bound is not None and pod.bound < moment and (left is None or left > moment)


def _min_member_at(history: History, gang: str, moment: Moment) -> int:
    """The smallest minMember that may have been in force; 1 where no PodGroup was seen, 0 where it was deleted."""
    records = podgroup_records(history, gang)
    if not records:
        return 1
    earliest, latest = history.surely_before(moment), history.surely_after(moment)
    before = sum(record.moment <= earliest for record in records)
    in_force = [record for record in records[max(0, before - 1) :] if record.moment <= latest]
    return min((_minimum(history, record) for record in in_force), default=0)


def _minimum(history: History, record: Record) -> int:
    if record.change == "DELETED" or not isinstance(record.object, CustomObject):
        return 0
    return max(1, history.conventions.min_member(record.object.spec))


def _group_at(history: History, gang: str, moment: Moment) -> CustomObject | None:
    """The PodGroup as it was at that moment."""
    objects = [record.object for record in podgroup_records(history, gang) if record.moment <= moment]
    return objects[-1] if objects and isinstance(objects[-1], CustomObject) else None
