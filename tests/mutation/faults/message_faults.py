"""Message faults: missing or empty conditions, events and reasons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from scheduler.client import Client
from scheduler.core import unschedulable
from scheduler.core.actions import UNSCHEDULABLE
from scheduler.core.plan import SchedulingCycle
from scheduler.core.scheduling_types import Pod
from scheduler.core.scheduling_units import group_name
from scheduler.runtime import requests
from scheduler.runtime.event_recorder import EventRecorder
from tests.mutation.faults.registry import Patch, fault


@fault(
    'JPR-02: "left", "right" have a DisruptionTarget message that names the',
    'PRE-14: "victim" has DisruptionTarget=PreemptionByScheduler before deletion',
)
def no_disruption_target_condition(patch: Patch) -> None:
    """Victims get no DisruptionTarget condition."""

    async def no_condition(_client: Client, _pod: Pod, _message: str) -> None:
        return

    patch.function(requests.mark_preempted, no_condition)


@fault(
    'DOC-5: "lp-pod-1", "lp-pod-2" have the DisruptionTarget message',
    'JPR-02: "left", "right" have a DisruptionTarget message that names the',
)
def disruption_target_without_preemptor(patch: Patch) -> None:
    """The DisruptionTarget message does not name the preemptor."""
    mark = requests.mark_preempted

    async def without_preemptor(client: Client, pod: Pod, _message: str) -> None:
        await mark(client, pod, "preempted")

    patch.function(mark, without_preemptor)


@fault(
    "DOC-1: a Preempted event on the victim among",
    'DOC-2: a Preempted event on the victim among "medium-worker-0" names',
    'JPR-18: each of "left", "right" has a preemption event for the gang "train"',
    'PRE-15: a Preempted event on "victim" names "urgent" and the node',
)
def no_preempted_event(patch: Patch) -> None:
    """No Preempted event is recorded."""
    _without_events(patch, "Preempted")


@fault('DOC-2: the events on "medium-worker-0" include, in this order:')
def no_scheduled_event(patch: Patch) -> None:
    """No Scheduled event is recorded."""
    _without_events(patch, "Scheduled")


@fault('PRE-25: a Warning event on "large" contains "Insufficient nvidia.com/gpu"')
def no_failed_scheduling_event(patch: Patch) -> None:
    """No FailedScheduling event is recorded; the condition says why a pod is pending."""
    _without_events(patch, "FailedScheduling")


@fault(
    'GNG-02: an unschedulable message names the gang "train"',
    'PRE-25: "large" is reported unschedulable, and the condition contains',
    'TNT-01: "intolerant" is reported unschedulable, and the condition contains',
)
def no_unschedulable_condition(patch: Patch) -> None:
    """Pending pods get no PodScheduled condition."""
    patch.attribute(SchedulingCycle, "_report", lambda *_: None)


@fault('GNG-02: an unschedulable message names the gang "train"')
def reason_does_not_name_the_gang(patch: Patch) -> None:
    """The reason of a pending member does not name its gang."""
    report = SchedulingCycle._report

    def unnamed(cycle: SchedulingCycle, members: Sequence[Pod], message: str, reason: str = UNSCHEDULABLE) -> None:
        for pod in members:
            report(cycle, [pod], message.replace(group_name(pod.group), "it") if pod.group else message, reason)

    patch.attribute(SchedulingCycle, "_report", unnamed)


@fault('QUE-20: "late-0" reports queue "research" as the reason it is pending')
def reason_does_not_name_the_queue(patch: Patch) -> None:
    """The reason of a pod that is pending for its queue does not name the queue."""
    report = SchedulingCycle._report

    def unnamed(cycle: SchedulingCycle, members: Sequence[Pod], message: str, reason: str = UNSCHEDULABLE) -> None:
        report(cycle, members, re.sub(r"queue \S+", "its queue", message), reason)

    patch.attribute(SchedulingCycle, "_report", unnamed)


@fault(
    'DOC-4: "plain-master-0" is reported unschedulable, and the condition contains',
    'PRE-25: "large" is reported unschedulable, and the condition contains',
)
def reason_names_no_resource(patch: Patch) -> None:
    """The reason of a pending pod does not name the missing resource."""
    patch.function(unschedulable.fit_error, lambda *_: "no node fits")


def _without_events(patch: Patch, unwanted: str) -> None:
    _without_calls(patch, "record", unwanted)
    _without_calls(patch, "record_series", unwanted)


def _without_calls(patch: Patch, method: str, unwanted: str) -> None:
    original = vars(EventRecorder)[method]

    def others(events: EventRecorder, *regarding: Any, reason: str, **more: Any) -> Any:
        return original(events, *regarding, reason=reason, **more) if reason != unwanted else False

    patch.attribute(EventRecorder, method, others)
