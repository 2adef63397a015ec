"""What a plan asks for. The runtime carries it out; nothing here knows how."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.core.model import Counts, Group, Pod


@dataclass(frozen=True, slots=True)
class Bind:
    """The pod goes to the node, now: the room is there."""

    pod: Pod
    node: str


@dataclass(frozen=True, slots=True)
class Evict:
    """The pod goes, so that somebody more important can have its room."""

    pod: Pod
    beneficiary: str  # namespace/name of the pod, or of the group, that it goes for
    trigger: Pod  # the pod whose place it was, or the first member of the group
    message: str


@dataclass(frozen=True, slots=True)
class Release:
    """The pod is part of a gang that was started in part and cannot be completed: it gives its room back."""

    pod: Pod
    message: str


@dataclass(frozen=True, slots=True)
class Nominate:
    """The pod will go to the node when those who leave it are gone; an empty name takes that back."""

    pod: Pod
    node: str


@dataclass(frozen=True, slots=True)
class Report:
    """Why the pod waits."""

    pod: Pod
    message: str


@dataclass(frozen=True, slots=True)
class SetGroupPhase:
    """How a group stands, in the words of its kind."""

    group: Group
    phase: str
    counts: Counts
    message: str = ""


Action = Bind | Evict | Release | Nominate | Report | SetGroupPhase
