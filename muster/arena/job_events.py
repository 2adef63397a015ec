"""What happened to a job and its pods, those that are gone included: events outlive the pods they speak of.

A pod that is gone cannot be asked whose it was, so its name decides. Events from before the job's creation are those of
an earlier job of that name. Half of the recorders write whole seconds, so the order within a second is the order in
which the API server stored them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from muster.jobs.durations import moment
from muster.jobs.kinds import KINDS

_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Happening:
    """One event, with when it was seen last."""

    seen: datetime
    type: str
    reason: str
    object: str
    message: str
    related: str | None


def happenings(
    name: str,
    events: Iterable[Mapping[str, Any]],
    *,
    since: datetime | None = None,
    members: Iterable[str] = (),
    pods: Mapping[str, str] | None = None,
) -> list[Happening]:
    """Those of the job `name` and its pods, oldest first. `pods` tells who is behind a UID in a message."""
    known, pattern = set(members), re.compile(re.escape(name) + r"-((master|worker)-\d+|launcher(-[a-z0-9]+)?)")
    kinds = {kind.kind for kind in KINDS}
    # Created and event are both cut to whole seconds by somebody: one second of grace.
    earliest = since - timedelta(seconds=1) if since else _NEVER
    found = []
    for event in events:
        about, seen = event["involvedObject"], _last_seen(event)
        mine = about.get("kind") in kinds and about.get("name") == name
        if about.get("kind") == "Pod":
            mine = about.get("name") in known or bool(pattern.fullmatch(about.get("name", "")))
        if mine and seen >= earliest:
            found.append((seen, _version(event), _happening(event, seen, pods or {})))
    return [happening for _, _, happening in sorted(found, key=lambda one: one[:2])]


def _happening(event: Mapping[str, Any], seen: datetime, pods: Mapping[str, str]) -> Happening:
    about, message = event["involvedObject"], " ".join((event.get("message") or "").split())
    related = event.get("related") or {}
    named = f"{related['kind'].lower()}/{related['name']}" if related.get("name") else None
    meant = (f"pod/{pods[uid]}" for uid in _UID.findall(message) if uid in pods)
    return Happening(
        seen=seen,
        type=event.get("type") or "Normal",
        reason=event.get("reason") or "",
        object=f"{about['kind'].lower()}/{about['name']}",
        message=message,
        related=named or next(meant, None),
    )


def _last_seen(event: Mapping[str, Any]) -> datetime:
    series = event.get("series") or {}
    written = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    seen = moment(next((one for one in written if one), event["metadata"].get("creationTimestamp"))) or _NEVER
    return seen.replace(microsecond=0)


def _version(event: Mapping[str, Any]) -> int:
    version = event["metadata"].get("resourceVersion", "")
    return int(version) if version.isdecimal() else 0
