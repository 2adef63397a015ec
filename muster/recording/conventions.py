"""How a scheduler reports evictions and unschedulable gangs: Kubernetes' own way by default, others from a dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from muster.recording.objects import Condition, CustomObject

BY_SCHEDULER = "PreemptionByScheduler"  # the reason of DisruptionTarget that every scheduler should use


def preempted_by_scheduler(condition: Condition) -> bool:
    """The condition on a victim says that a scheduler preempted it."""
    return condition.reason == BY_SCHEDULER


def group_unschedulable(condition: Mapping[str, Any]) -> bool:
    """A condition of a PodGroup says that the gang cannot be scheduled: `Unschedulable=True` or `…Scheduled=False`."""
    kind, status = condition.get("type", ""), condition.get("status")
    if kind == "Unschedulable":
        return bool(status == "True")
    return bool(kind.endswith("Scheduled") and status == "False")


def min_member(spec: Mapping[str, Any]) -> int:
    """minMember of a PodGroup; 0 where it is not an integer."""
    value = spec.get("minMember")
    return value if isinstance(value, int) else 0


def evicted_pod_by_pod(_group: CustomObject) -> bool:
    """Preemption may take single pods of the gang."""
    return False


def any_scheduler_name(name: str) -> bool:
    return True


@dataclass(frozen=True)
class Conventions:
    """What a history must know about the scheduler to recognise its victims and its gangs."""

    disruption_conditions: tuple[str, ...] = ("DisruptionTarget",)  # pod conditions that mark a victim, strongest first
    is_preemption: Callable[[Condition], bool] = preempted_by_scheduler
    group_kinds: tuple[str, ...] = ("PodGroup",)  # kinds of the objects that make pods a gang
    group_name_keys: tuple[str, ...] = ()  # labels and annotations of a pod that name its group
    is_group_unschedulable: Callable[[Mapping[str, Any]], bool] = group_unschedulable
    reports_gated_pods_on_groups: bool = False  # a pod that is not admitted says only that; the object it owns says why
    group_wordings: Mapping[str, str] = field(default_factory=dict)  # patterns by which such an object says a term
    min_member: Callable[[Mapping[str, Any]], int] = min_member
    is_evicted_as_unit: Callable[[CustomObject], bool] = evicted_pod_by_pod  # the disruption mode of a gang
    reclaims: bool = False  # it has queues, which take back what they lent whatever the priorities are
    accepts_scheduler_name: Callable[[str], bool] = any_scheduler_name


KUBERNETES = Conventions()
