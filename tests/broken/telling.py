"""Faults of a scheduler that decides well and tells nobody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler.client import Client
from scheduler.core import reasons
from scheduler.core.model import Pod
from scheduler.core.plan import Planning
from scheduler.core.units import title
from scheduler.runtime import writes
from scheduler.runtime.events import Events
from tests.broken.faults import Patch, fault


@fault("JPR-02", "PRE-14")
def victims_say_nothing(patch: Patch) -> None:
    """Victims go without a condition that says why."""

    async def say_nothing(_client: Client, _pod: Pod, _message: str) -> None:
        return

    patch.function(writes.mark_as_victim, say_nothing)


@fault("DOC-5", "JPR-02")
def victims_name_nobody(patch: Patch) -> None:
    """Victims say that they were preempted, and not for whom."""
    mark = writes.mark_as_victim

    async def leave_out_the_name(client: Client, pod: Pod, _message: str) -> None:
        await mark(client, pod, "preempted")

    patch.function(mark, leave_out_the_name)


@fault("DOC-2", "JPR-18", "PRE-15")
def no_event_about_victims(patch: Patch) -> None:
    """No event tells that somebody was preempted."""
    tell = Events.tell

    def but_of_victims(events: Events, *about: Any, reason: str, **more: Any) -> None:
        if reason != "Preempted":
            tell(events, *about, reason=reason, **more)

    patch.attribute(Events, "tell", but_of_victims)


@fault("GNG-02", "PRE-25", "TNT-01")
def nobody_is_told_why(patch: Patch) -> None:
    """Who waits is not told so."""
    patch.attribute(Planning, "_report", lambda *_: None)


@fault("GNG-02")
def the_gang_is_not_named(patch: Patch) -> None:
    """A member is told what is missing, and never which gang it waits with."""
    report = Planning._report

    def unnamed(planning: Planning, members: Sequence[Pod], why: str) -> None:
        for pod in members:
            report(planning, [pod], why.replace(title(pod.group), "somebody") if pod.group else why)

    patch.attribute(Planning, "_report", unnamed)


@fault("DOC-4", "PRE-25")
def reasons_are_empty_words(patch: Patch) -> None:
    """Who waits is told that no node fits, and not why."""
    patch.function(reasons.shortage, lambda *_: "no node fits")
