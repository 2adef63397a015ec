"""The events on a pod with their messages, in order.

The walk-throughs show the messages of 2019 to 2020. Later releases say the same in other terms: each of these wordings
is listed here and compared as a whole. The trap in the order: every component writes its events a moment late, with
times of a second. So only events of one component have an exact order; between two components a second decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

import msgspec

from muster import timeouts
from muster.recording.history import History
from muster.recording.objects import Event
from muster.recording.questions import Answer, Outcome, Question
from muster.recording.records import Moment

# By reason: the message in a walk-through, and how later kubelets and schedulers word it.
_LATER_WORDINGS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "Pulled": (
        r'Container image (?P<image>".+") already present on machine',
        (
            "Container image {image} already present on machine and can be accessed by the pod",  # 1.34
            "Container image already present on machine and can be accessed by the pod",  # simulated nodes
        ),
    ),
    "Created": (
        r"Created container (?P<container>\S+)",
        ("Created container: {container}", "Container created"),  # 1.34, 1.35
    ),
    "Started": (r"Started container \S+", ("Container started",)),  # 1.35
    "Preempted": (
        r"by \S+/(?P<pod>\S+) on node (?P<node>\S+)",
        ("Preempted {0}", "Preempted by pod {uid} on node {node}"),  # before 1.27, since 1.29
    ),
    "Killing": (r"Stopping container \S+", ("Stopping container",)),  # simulated nodes
}


@dataclass(frozen=True)
class WantedEvent:
    """One line of a table of events."""

    type: str
    reason: str
    message: str


@dataclass(frozen=True)
class _Seen:
    event: Event
    moment: Moment
    component: str

    @property
    def time(self) -> float | None:
        when = self.event.when
        return datetime.fromisoformat(when).replace(microsecond=0).timestamp() if when else None


def events_in_order(name: str, wanted: Sequence[WantedEvent]) -> Question:
    """There is an event of each line, and none of them comes after one that is listed later."""

    def ask(history: History) -> Answer:
        seen = _events_on(history, name)
        shown = "; ".join(f"{one.event.type} {one.event.reason}: {one.event.message}" for one in seen) or "no events"
        found = [next((one for one in seen if _is(history, one.event, line)), None) for line in wanted]
        missing = [line.reason for line, one in zip(wanted, found, strict=True) if one is None]
        if missing:
            return Answer(Outcome.PENDING, f"no such event {', '.join(missing)}", shown)
        for first, second in combinations(filter(None, found), 2):
            if _is_after(first, second):
                return Answer(Outcome.FALSE, f"{second.event.reason} before {first.event.reason}", shown)
        return Answer(Outcome.TRUE, shown)

    reasons = ", ".join(line.reason for line in wanted)
    return Question(f"events on {name} with their messages: {reasons}, in this order", ask, (name,))


def _events_on(history: History, name: str) -> list[_Seen]:
    pod, found = history.pod(name), []
    for record in history.records["Event"]:
        event = record.object
        assert isinstance(event, Event)
        if pod and event.involved_object.uid == pod.uid and record.change != "DELETED":
            body = msgspec.json.decode(record.raw)
            component = body.get("reportingComponent") or (body.get("source") or {}).get("component", "")
            found.append(_Seen(event, record.moment, component))
    return found


def _is(history: History, event: Event, wanted: WantedEvent) -> bool:
    if (event.type, event.reason) != (wanted.type, wanted.reason):
        return False
    return event.message == wanted.message or event.message in _later_wordings(history, wanted)


def _later_wordings(history: History, wanted: WantedEvent) -> list[str]:
    pattern, wordings = _LATER_WORDINGS.get(wanted.reason, ("", ()))
    match = re.fullmatch(pattern, wanted.message)
    if match is None:
        return []
    names = match.groupdict()
    named = history.pod(names.get("pod", ""))
    return [wording.format(match[0], **names, uid=named.uid if named else "unknown") for wording in wordings]


def _is_after(first: _Seen, second: _Seen) -> bool:
    """Whether the event that is listed first certainly came after the second."""
    if first.component and first.component == second.component:
        return first.moment > second.moment
    times = first.time, second.time
    return times[0] is not None and times[1] is not None and times[0] > times[1] + timeouts.EVENT_ORDER_TOLERANCE
