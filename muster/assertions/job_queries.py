"""What a history knows about training jobs: their states, and the objects that an operator made for them.

Ownership is read from owner references: names and labels are themselves among what is tested.
"""

from __future__ import annotations

from typing import Any

import msgspec

from muster.cluster.job_kinds import KIND_NAMES
from muster.recording.history import History
from muster.recording.objects import CustomObject, Event
from muster.recording.pod_history import PodHistory
from muster.recording.records import Record

END_STATES = ("Failed", "Succeeded")
_CREATED = "Created"
_STATES = (*END_STATES, "Suspended", "Restarting", "Running", _CREATED)  # of several true conditions the first counts


def job_records(history: History, job: str) -> list[Record]:
    """The job itself, through its changes."""
    return [record for kind in KIND_NAMES for record in history.custom_objects(kind, job)]


def status_of(record: Record) -> dict[str, Any]:
    assert isinstance(record.object, CustomObject)
    return record.object.status


def latest_status(history: History, job: str) -> dict[str, Any]:
    newest = job_records(history, job)[-1:]
    return status_of(newest[0]) if newest else {}


def job_states(history: History, job: str) -> list[str]:
    """The states that a job went through, repetitions left out.

    Created stays true. The first write of an operator may say Running as well, where the pods were quick.
    """
    states: list[str] = []
    for record in job_records(history, job):
        true = _true_conditions(status_of(record))
        current = next((state for state in _STATES if state in true), "")
        if not states and _CREATED in true and current != _CREATED:
            states.append(_CREATED)
        if current and (not states or states[-1] != current):
            states.append(current)
    return states


def describe_job(history: History, job: str) -> str:
    return f"job {job}: {' → '.join(job_states(history, job)) or 'no conditions'}"


def owned_objects(history: History, job: str, kind: str, *, deleted_too: bool = False) -> dict[str, dict[str, Any]]:
    """The objects of a kind that the job owns, by name, as they were last seen."""
    uids = {record.object.metadata.uid for record in job_records(history, job)}
    found: dict[str, dict[str, Any]] = {}
    for record in history.records.get(kind, []):
        body = msgspec.json.decode(record.raw)
        name = body["metadata"]["name"]
        if not uids.intersection(owner["uid"] for owner in body["metadata"].get("ownerReferences", [])):
            continue
        if record.change != "DELETED" or deleted_too:
            found[name] = body
        else:
            found.pop(name, None)
    return found


def pods_ever_named(history: History, name: str) -> list[PodHistory]:
    """All pods that ever had that name, in the order in which they appeared."""
    return [pod for pod in history.pods if (pod.namespace, pod.name) == (history.namespace, name)]


def job_events(history: History, job: str) -> list[Event]:
    uids = {record.object.metadata.uid for record in job_records(history, job)}
    return [event for _, event in history.events() if event.involved_object.uid in uids]


def job_warnings(history: History, job: str) -> list[str]:
    """The messages of all Warning events about the job."""
    return [event.message for event in job_events(history, job) if event.type == "Warning"]


def _true_conditions(status: dict[str, Any]) -> set[str]:
    return {str(one.get("type")) for one in status.get("conditions", []) if one.get("status") == "True"}
