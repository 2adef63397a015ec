"""The actions that a plan consists of. The runtime executes them; nothing here knows how."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.core.scheduling_types import Counts, Group, Pod

# Reasons of the condition PodScheduled=False. Autoscalers add nodes for the first, and more nodes would not help with
# the others.
UNSCHEDULABLE, QUOTA_EXCEEDED = "Unschedulable", "QuotaExceeded"
WAITING_FOR_MEMBERS, WAITING_FOR_VOLUMES = "WaitingForMembers", "WaitingForVolumes"


@dataclass(frozen=True, slots=True)
class Bind:
    """Bind the pod to the node: the resources are free now."""

    pod: Pod
    node: str
    after: tuple[str, ...] = ()  # uids: the bindings of the unit ahead in a strict-FIFO queue, which must be done first


@dataclass(frozen=True, slots=True)
class Evict:
    """Preempt the pod for a higher-priority pod or gang."""

    pod: Pod
    beneficiary: str  # namespace/name of the preemptor: a pod, or a PodGroup
    trigger: Pod  # the pod that is nominated to the victim's node, or the first member of the gang
    message: str


@dataclass(frozen=True, slots=True)
class Release:
    """Delete a bound pod of a partially started gang that cannot be completed, so that it frees its resources."""

    pod: Pod
    message: str


@dataclass(frozen=True, slots=True)
class Nominate:
    """Nominate the pod to a node whose pods are still terminating, or where its volumes are being bound.

    An empty name clears the nomination.
    """

    pod: Pod
    node: str


@dataclass(frozen=True, slots=True)
class BindVolumes:
    """Bind the claims of a pod that has a place on this node: to volumes that exist there, or by provisioning some."""

    pod: Pod
    node: str


@dataclass(frozen=True, slots=True)
class Report:
    """Report why the pod is pending."""

    pod: Pod
    message: str
    reason: str = UNSCHEDULABLE


@dataclass(frozen=True, slots=True)
class SetGroupPhase:
    """Set the phase of a PodGroup, with the phase names of its API."""

    group: Group
    phase: str
    counts: Counts
    message: str = ""


Action = Bind | BindVolumes | Evict | Release | Nominate | Report | SetGroupPhase
