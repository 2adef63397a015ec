"""Message faults: missing or empty conditions, events and reasons."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from scheduler.client import Client
from scheduler.core import unschedulable
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
    'DOC-2: a Preempted event on the victim among "medium-worker-0" names',
    'JPR-18: each of "left", "right" has a preemption event for the gang "train"',
    'PRE-15: a Preempted event on "victim" names "urgent" and the node',
)
def no_preempted_event(patch: Patch) -> None:
    """No Preempted event is recorded."""
    record = EventRecorder.record

    def except_preempted(events: EventRecorder, *regarding: Any, reason: str, **more: Any) -> None:
        if reason != "Preempted":
            record(events, *regarding, reason=reason, **more)

    patch.attribute(EventRecorder, "record", except_preempted)


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

    def unnamed(cycle: SchedulingCycle, members: Sequence[Pod], reason: str) -> None:
        for pod in members:
            report(cycle, [pod], reason.replace(group_name(pod.group), "it") if pod.group else reason)

    patch.attribute(SchedulingCycle, "_report", unnamed)


@fault("QUE-20")
def reason_does_not_name_the_queue(patch: Patch) -> None:
    """The reason of a pod that is pending for its queue does not name the queue."""
    report = SchedulingCycle._report

    def unnamed(cycle: SchedulingCycle, members: Sequence[Pod], reason: str) -> None:
        report(cycle, members, re.sub(r"queue \S+", "its queue", reason))

    patch.attribute(SchedulingCycle, "_report", unnamed)


@fault(
    'DOC-4: "plain-master-0" is reported unschedulable, and the condition contains',
    'PRE-25: "large" is reported unschedulable, and the condition contains',
)
def reason_names_no_resource(patch: Patch) -> None:
    """The reason of a pending pod does not name the missing resource."""
    patch.function(unschedulable.fit_error, lambda *_: "no node fits")
