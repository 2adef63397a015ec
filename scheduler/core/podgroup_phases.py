"""PodGroup phases, with the phase names of each API. A terminal phase never changes.

Volcano: Pending, Inqueue, Running, Completed. Koordinator: Pending, Scheduling, Scheduled, Running, Finished or Failed.
Inqueue means that the queue admits the gang; it reserves nothing. A gang that is started gets its phase in the same
decision: otherwise a member that is lost in between would make it a gang that has never started.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from scheduler.core.actions import Action, Release, SetGroupPhase
from scheduler.core.admission import group_rejection
from scheduler.core.cluster_state import ClusterState
from scheduler.core.policy import Policy
from scheduler.core.scheduling_types import Counts, Group, Key
from scheduler.core.scheduling_units import FINISHED, STARTED, counted_members, group_name, has_started


def changed_phases(cluster: ClusterState, policy: Policy, started: Collection[Key] = ()) -> Iterator[Action]:
    """Phase changes of the groups that have changed. Those that this plan has started have theirs already."""
    return _phases(_linked(cluster.changed_groups, cluster) - _linked(started, cluster), cluster, policy)


def starting_phases(cluster: ClusterState, policy: Policy, starting: Collection[Key]) -> Iterator[Action]:
    """Phase changes of the groups that a decision starts."""
    return _phases(_linked(starting, cluster), cluster, policy, starting)


def _linked(keys: Iterable[Key], cluster: ClusterState) -> set[Key]:
    return {one for key in keys if key in cluster.groups for one in cluster.linked(key)}


def _phases(
    keys: Iterable[Key], cluster: ClusterState, policy: Policy, starting: Collection[Key] = ()
) -> Iterator[Action]:
    for key in sorted(keys):
        group = cluster.groups[key]
        if not cluster.is_served_by(key, policy.schedulers):
            continue
        counts = cluster.counts.get(key, Counts())
        starting_now = key in starting and group.match_policy != "only-waiting"
        phase, message = _phase(group, counts, cluster, starting_now=starting_now)
        if group.phase in FINISHED:
            phase, message = group.phase, ""
        if (phase, counts) != (group.phase, group.counts):
            yield SetGroupPhase(group, phase, counts, message)
        if not starting_now:
            yield from _release_partial(group, cluster)


def _phase(group: Group, counts: Counts, cluster: ClusterState, *, starting_now: bool) -> tuple[str, str]:
    members = cluster.members(group.key)
    ended = counts.succeeded + counts.failed
    if ended and not members and (group.phase in STARTED or ended >= group.min_member):
        return _terminal_phase(group, counts), ""
    still_running = group.phase in STARTED and any(pod.node and not pod.terminating for pod in members)
    if starting_now or still_running or has_started(group, cluster):  # a lost member does not stop the others
        runs = group.kind == "volcano" or counts.running >= group.min_member
        return "Running" if runs else "Scheduled", ""
    if reason := group_rejection(group, cluster):
        return "Pending", reason
    if group.kind == "volcano":
        return "Inqueue", ""
    return ("Scheduling" if len(members) >= group.min_member else "Pending"), ""


def _terminal_phase(group: Group, counts: Counts) -> str:
    if group.kind == "volcano":
        return "Completed"
    return "Failed" if counts.failed else "Finished"


def _release_partial(group: Group, cluster: ClusterState) -> Iterator[Release]:
    """Release the bound members of a partially started gang that no pending members, linked ones included, complete.

    A member with a problem, such as a binding that is always rejected, cannot.
    """
    if group.phase in STARTED | FINISHED or has_started(group, cluster):
        return
    members = [pod for key in cluster.linked(group.key) for pod in cluster.members(key)]
    if any((pod.uid in cluster.pending and not pod.problem) or pod.gated for pod in members):
        return
    for pod in counted_members(group, cluster):
        yield Release(pod, f"gang {group_name(group.key)} was partially started and cannot be completed")
