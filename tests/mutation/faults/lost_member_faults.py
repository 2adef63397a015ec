"""Faults about gangs that lose or finish members, or whose scheduler restarts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from scheduler.core import podgroup_phases, scheduling_units
from scheduler.core.actions import UNSCHEDULABLE, Action, Release
from scheduler.core.cluster_state import ClusterState
from scheduler.core.plan import SchedulingCycle, decisions
from scheduler.core.policy import Policy
from scheduler.core.scheduling_types import Group, Key, Pod
from scheduler.core.scheduling_units import Unit, counted_members, effective_min_member, reaches_min_member
from scheduler.core.search_turns import SearchTurns
from scheduler.runtime import convert
from scheduler.runtime.api_types import ApiPod
from tests.mutation.faults.registry import Patch, fault


@fault('FLT-01: "train-1", "train-2" run')
def finished_members_do_not_count(patch: Patch) -> None:
    """A gang of which members have finished counts as one that never started, and is below minMember."""

    def by_bound_members(group: Group, cluster: ClusterState) -> bool:
        return reaches_min_member(group, counted_members(group, cluster))

    patch.function(scheduling_units.has_started, by_bound_members)


@fault('FLT-02: "train-1", "train-2" were not evicted')
def gangs_below_min_member_are_evicted(patch: Patch) -> None:
    """When members finish and fewer than minMember are left, these are evicted."""
    release = podgroup_phases._release_partial

    def release_rest(group: Group, cluster: ClusterState) -> Iterator[Release]:
        members = counted_members(group, cluster)
        ended = cluster.counts[group.key].succeeded if group.key in cluster.counts else 0
        if ended and len(members) < effective_min_member(group):
            yield from (Release(pod, "the gang is below minMember") for pod in members)
        yield from release(group, cluster)

    patch.function(release, release_rest)


@fault('GNG-01: the whole gang "train" runs')
def started_gangs_lose_a_member(patch: Patch) -> None:
    """One member of a started gang is evicted in a later cycle, for no pod."""
    original, done = decisions, set[Key]()

    def decide_and_release(
        cluster: ClusterState, policy: Policy, turns: SearchTurns | None = None
    ) -> Iterator[Sequence[Action]]:
        yield from original(cluster, policy, turns)
        for key, group in cluster.groups.items():
            bound = [pod for pod in counted_members(group, cluster) if not pod.binding]
            if key not in done and reaches_min_member(group, bound):
                done.add(key)
                yield [Release(bound[-1], "injected fault")]

    patch.function(original, decide_and_release)


@fault('FLT-03: the whole gang "train" runs')
def recreated_members_come_last(patch: Patch) -> None:
    """A re-created member comes after all older pods of equal priority."""
    single = scheduling_units._single_pod_unit

    def like_any_pod(pod: Pod, group: Group | None, cluster: ClusterState) -> Unit:
        return replace(single(pod, group, cluster), completes_gang=False)

    patch.function(single, like_any_pod)


@fault('ASC-01: every pod of the gang "train" is reported unschedulable')
def one_member_reports_for_the_gang(patch: Patch) -> None:
    """Why a gang is pending is reported on its first member only."""
    report = SchedulingCycle._report

    def on_first(cycle: SchedulingCycle, members: Sequence[Pod], message: str, reason: str = UNSCHEDULABLE) -> None:
        report(cycle, members[:1], message, reason)

    patch.attribute(SchedulingCycle, "_report", on_first)


@fault('GNG-16: the gang "train" stays pending while exactly two of "first", "second", "third", "fourth" terminate')
def victims_of_gangs_are_forgotten_at_a_restart(patch: Patch) -> None:
    """After a restart a gang expects nothing of its terminating victims, and preempts other pods."""
    read = convert.convert_pod
    seen_running = set[str]()

    def without_older_victims(found: ApiPod) -> Pod:
        pod = read(found)
        if not pod.terminating:
            seen_running.add(pod.uid)
        forgotten = pod.terminating and pod.uid not in seen_running
        return replace(pod, terminating=False, non_preemptible=True) if forgotten else pod

    patch.function(read, without_older_victims)
