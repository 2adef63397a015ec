"""How a group stands, in the words of its kind. What has ended stays ended.

Volcano: Pending, Inqueue, Running, Completed. Koordinator: Pending, Scheduling, Scheduled, Running, Finished or Failed.
Inqueue means that the queue takes the gang, and reserves nothing. To start a gang is to say so at once: if that had to
wait for the next plan, a member that is lost in between would make it a gang that never started.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from scheduler.core.actions import Action, Release, SetGroupPhase
from scheduler.core.admit import refusal_of_group
from scheduler.core.cluster import Cluster
from scheduler.core.model import Counts, Group, Key
from scheduler.core.policy import Policy
from scheduler.core.units import FINISHED, STARTED, counted, has_started, title


def phases(cluster: Cluster, policy: Policy, starting: Collection[Key] = ()) -> Iterator[Action]:
    """What has changed for the groups that something happened to, and for those that are being started."""
    for key in sorted(cluster.touched.union(starting)):
        group = cluster.groups.get(key)
        if group is None or not cluster.is_for(key, policy.schedulers):
            continue
        counts = cluster.counts.get(key, Counts())
        starts = key in starting and group.match != "only-waiting"
        phase, message = _phase(group, counts, cluster, starts=starts)
        if group.phase in FINISHED:
            phase, message = group.phase, ""
        if (phase, counts) != (group.phase, group.counts):
            yield SetGroupPhase(group, phase, counts, message)
        if not starts:
            yield from _abandoned(group, cluster)


def _phase(group: Group, counts: Counts, cluster: Cluster, *, starts: bool) -> tuple[str, str]:
    members = cluster.members(group.key)
    ended = counts.succeeded + counts.failed
    if ended and not members and (group.phase in STARTED or ended >= group.minimum):
        return _end(group, counts), ""
    goes_on = group.phase in STARTED and any(pod.node and not pod.leaving for pod in members)
    if starts or goes_on or has_started(group, cluster):  # those who run are not sent back for one who was lost
        runs = group.kind == "volcano" or counts.running >= group.minimum
        return "Running" if runs else "Scheduled", ""
    if why := refusal_of_group(group, cluster):
        return "Pending", why
    if group.kind == "volcano":
        return "Inqueue", ""
    return ("Scheduling" if len(members) >= group.minimum else "Pending"), ""


def _end(group: Group, counts: Counts) -> str:
    if group.kind == "volcano":
        return "Completed"
    return "Failed" if counts.failed else "Finished"


def _abandoned(group: Group, cluster: Cluster) -> Iterator[Release]:
    """A gang that was started in part, and has nobody left who waits to complete it, gives its room back."""
    if group.phase in STARTED | FINISHED or has_started(group, cluster):
        return
    members = cluster.members(group.key)
    if any(pod.uid in cluster.waiting or pod.gated for pod in members):
        return
    for pod in counted(group, cluster):
        yield Release(pod, f"gang {title(group.key)} was started in part and cannot be completed")
