"""The events of a job and its pods, deleted pods included: events outlive the pods they are about.

A deleted pod is matched by its name. Events from before the job's creation are those of an earlier job of that name.
Some recorders write whole seconds, so within a second events are ordered by resourceVersion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from muster.arena.model import parse_time
from muster.cluster.job_kinds import JOB_KINDS, KIND_NAMES

_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NEVER = datetime.min.replace(tzinfo=UTC)
_LAUNCHERS = "|".join(kind.chief for kind in JOB_KINDS if kind.has_launcher)
_OTHERS = "|".join(dict.fromkeys(role.lower() for kind in JOB_KINDS for role in kind.roles[kind.has_launcher :]))
_REPLICA = rf"-(({_OTHERS})-\d+|({_LAUNCHERS})(-[a-z0-9]+)?)"  # the end of a replica's name


@dataclass(frozen=True)
class JobEvent:
    """One event of a job or one of its pods."""

    last_seen: datetime
    type: str
    reason: str
    object: str
    message: str
    related: str | None


def events_of_job(
    name: str,
    events: Iterable[Mapping[str, Any]],
    *,
    since: datetime | None = None,
    members: Iterable[str] = (),
    pods: Mapping[str, str] | None = None,
) -> list[JobEvent]:
    """The events of the job `name` and its pods, oldest first. `pods` maps UIDs in messages to names."""
    known, pattern = set(members), re.compile(re.escape(name) + _REPLICA)
    # creationTimestamp and event times may be truncated to whole seconds: one second of tolerance.
    earliest = since - timedelta(seconds=1) if since else _NEVER
    found = []
    for event in events:
        about, seen = event["involvedObject"], _last_seen(event)
        mine = about.get("kind") in KIND_NAMES and about.get("name") == name
        if about.get("kind") == "Pod":
            mine = about.get("name") in known or bool(pattern.fullmatch(about.get("name", "")))
        if mine and seen >= earliest:
            found.append((seen, _version(event), _job_event(event, seen, pods or {})))
    return [one for _, _, one in sorted(found, key=lambda one: one[:2])]


def _job_event(event: Mapping[str, Any], seen: datetime, pods: Mapping[str, str]) -> JobEvent:
    about, message = event["involvedObject"], " ".join((event.get("message") or "").split())
    related = event.get("related") or {}
    named = f"{related['kind'].lower()}/{related['name']}" if related.get("name") else None
    mentioned = (f"pod/{pods[uid]}" for uid in _UID.findall(message) if uid in pods)
    return JobEvent(
        last_seen=seen,
        type=event.get("type") or "Normal",
        reason=event.get("reason") or "",
        object=f"{about['kind'].lower()}/{about['name']}",
        message=message,
        related=named or next(mentioned, None),
    )


def _last_seen(event: Mapping[str, Any]) -> datetime:
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    seen = parse_time(next((one for one in times if one), event["metadata"].get("creationTimestamp"))) or _NEVER
    return seen.replace(microsecond=0)


def _version(event: Mapping[str, Any]) -> int:
    version = event["metadata"].get("resourceVersion", "")
    return int(version) if version.isdecimal() else 0
