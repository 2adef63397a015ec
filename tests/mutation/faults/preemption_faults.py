"""Preemption faults: whether to preempt, for which pods, and how many victims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from scheduler.core import gang_placement, preempt, scheduling_units
from scheduler.core.actions import Action, Evict
from scheduler.core.capacity import Capacity, Crowding, size
from scheduler.core.cluster_state import ClusterState
from scheduler.core.effort import Effort
from scheduler.core.node_table import Eligibility
from scheduler.core.plan import SchedulingCycle, decisions
from scheduler.core.policy import Policy
from scheduler.core.reprieve import PreemptionPlan
from scheduler.core.scheduling_types import Pod, PodRequirements
from scheduler.core.search_turns import SearchTurns
from scheduler.core.snapshot import Snapshot
from scheduler.core.victims import Candidates
from scheduler.runtime import config
from tests.mutation.aims import Aim
from tests.mutation.faults.registry import Patch, fault

_preempt = preempt.preempt


@fault(
    'DOC-1: job "pytorch-priority-critical" is Running',
    'DOC-2: "critical-worker-0" runs',
    'JPR-01: the whole gang "train" runs',
    'PRE-01: "urgent" runs',
    'PRE-11: "urgent" runs',
    'PRE-13: "urgent" runs',
    'PRE-23: "guardian" runs',
    'QUE-14: the whole gang "urgent" runs',
)
def never_preempts(patch: Patch) -> None:
    """Nothing is ever preempted."""
    patch.attribute(SchedulingCycle, "_preempt", lambda *_: False)


@fault('QUE-07: the gang "urgent" is queued')
def preemption_cannot_be_disabled(patch: Patch) -> None:
    """`preemption: false` is ignored."""
    read = config.read_config
    patch.function(read, lambda path: replace(read(path), preemption=True))


@fault('JPR-04: no pod of the gang "policy-never" is bound', 'PRE-12: "ordinary", "policy-never" stay pending')
def preemption_policy_never_is_ignored(patch: Patch) -> None:
    """preemptionPolicy Never is ignored."""
    patch.function(scheduling_units._preempts, lambda *_: True)


@fault(
    'DOC-5: "lp-pod-3" was not evicted',
    "JPR-03: no pod was preempted",
    "JPR-15: no pod was preempted",
    "JPR-22: no pod was preempted",
)
def preempts_for_part_of_a_gang(patch: Patch) -> None:
    """When the whole gang would not fit, pods are preempted for a part of it."""

    def for_a_part(members: Sequence[Pod], candidates: Candidates, snapshot: Snapshot) -> PreemptionPlan | None:
        for number in range(len(members), 0, -1):
            found = _preempt(members[:number], candidates, snapshot)
            if found is not None:
                anywhere = next(iter(found.placement.values()))
                return replace(found, placement={pod.uid: anywhere for pod in members} | found.placement)
        return None

    patch.function(_preempt, for_a_part)


@fault("JPR-03: no pod was preempted", "JPR-22: no pod was preempted", "PRE-19: no pod was preempted")
def preempts_without_effect(patch: Patch) -> None:
    """An unschedulable pod preempts all lower-priority pods, whether that helps or not."""

    def all_candidates(members: Sequence[Pod], candidates: Candidates, snapshot: Snapshot) -> PreemptionPlan | None:
        found, victims = _preempt(members, candidates, snapshot), _candidates_in_namespace(members, candidates)
        if found is not None or not victims:
            return found
        row = snapshot.table.row[victims[0].node]
        return PreemptionPlan({pod.uid: row for pod in members}, tuple(victims))

    patch.function(_preempt, all_candidates)


@fault(
    "FLT-08: no other pod was evicted or failed",
    'DOC-1: exactly one of "pytorch-priority-medium-master-0"',
    'JPR-08: every victim of the gang "train" was necessary',
    'JPR-09: "middle" was not evicted',
    'JPR-11: exactly one of "low-east", "low-west" was preempted for the gang "train"',
    'PRE-04: "middle", "high" were not evicted',
    'PRE-06: every victim of "urgent" was necessary',
    'PRE-17: "urgent" stays pending while exactly one of "first", "second" terminates',
    'PRE-29: exactly one of "east-half", "west-half" was preempted for "urgent"',
)
def no_victim_is_reprieved(patch: Patch) -> None:
    """Every preemption evicts all lower-priority pods."""

    def without_reprieve(members: Sequence[Pod], candidates: Candidates, snapshot: Snapshot) -> PreemptionPlan | None:
        found = _preempt(members, candidates, snapshot)
        return found and replace(found, victims=tuple(_candidates_in_namespace(members, candidates)))

    patch.function(_preempt, without_reprieve)


@fault(
    'PRE-01: exactly one of "left", "right" was preempted for "urgent"',
    'DOC-1: exactly one of "pytorch-priority-medium-master-0"',
)
def preempts_one_pod_too_many(patch: Patch) -> None:
    """Every preemption evicts one lower-priority pod more than it needs, where there is one."""

    def one_more(members: Sequence[Pod], candidates: Candidates, snapshot: Snapshot) -> PreemptionPlan | None:
        found = _preempt(members, candidates, snapshot)
        if found is None:
            return None
        chosen = {pod.uid for pod in found.victims}
        others = [pod for pod in _candidates_in_namespace(members, candidates) if pod.uid not in chosen]
        return replace(found, victims=(*found.victims, *others[:1]))

    patch.function(_preempt, one_more)


@fault('JPR-01: the whole gang "train" runs')
def preempts_on_one_node_only(patch: Patch) -> None:
    """A gang that needs victims on several nodes preempts none."""

    def on_one_node(members: Sequence[Pod], candidates: Candidates, snapshot: Snapshot) -> PreemptionPlan | None:
        found = _preempt(members, candidates, snapshot)
        return found if found is None or len({pod.node for pod in found.victims}) == 1 else None

    patch.function(_preempt, on_one_node)


@fault("JPR-17: no pod was preempted", "TNT-12: no pod was preempted")
def preempts_on_tainted_nodes(patch: Patch) -> None:
    """Pods are preempted on nodes that the preemptor cannot use."""

    def anywhere(members: Sequence[Pod], candidates: Candidates, snapshot: Snapshot) -> PreemptionPlan | None:
        table = snapshot.table
        evaluate = table.eligibility

        def everywhere(requirements: PodRequirements) -> Eligibility:
            return replace(evaluate(requirements), allowed=np.ones(len(table), np.bool_))

        table.eligibility = everywhere  # type: ignore[method-assign]
        try:
            return _preempt(members, candidates, snapshot)
        finally:
            del table.eligibility

    patch.function(_preempt, anywhere)


@fault("PRE-34: no pod was preempted")
def preempts_on_nodes_excluded_by_affinity(patch: Patch) -> None:
    """Pods are preempted on nodes that the preemptor's node selector or required node affinity excludes."""

    def whatever_the_labels(
        members: Sequence[Pod], candidates: Candidates, snapshot: Snapshot
    ) -> PreemptionPlan | None:
        table = snapshot.table
        evaluate = table.eligibility

        def without_labels(requirements: PodRequirements) -> Eligibility:
            found = evaluate(requirements)
            return replace(found, allowed=~(found.tainted | found.cordoned))

        table.eligibility = without_labels  # type: ignore[method-assign]
        try:
            return _preempt(members, candidates, snapshot)
        finally:
            del table.eligibility

    patch.function(_preempt, whatever_the_labels)


@fault(Aim("JPR-19", '"worker" runs on "large"', seen="although it did not fit"))
def member_sizes_are_ignored(patch: Patch) -> None:
    """Every member of a gang counts as large as the smallest."""
    place = gang_placement.place

    def alike(members: Sequence[Pod]) -> list[Pod]:
        smallest = min(members, key=size).requirements
        return [replace(pod, requirements=smallest) for pod in members]

    def place_alike(
        members: Sequence[Pod],
        capacity: Capacity,
        wanted: dict[str, int] | None = None,
        crowding: Crowding | None = None,
        *,
        effort: Effort | None = None,
    ) -> object:
        return place(alike(members), capacity, wanted, crowding, effort=effort)

    patch.function(place, place_alike)
    patch.function(_preempt, lambda members, candidates, snapshot: _preempt(alike(members), candidates, snapshot))


@fault(Aim("PRE-02", '"urgent" runs on "free"', seen="low was preempted for urgent, which was bound already"))
def preempts_although_the_pod_fits(patch: Patch) -> None:
    """A pod that fits preempts one lower-priority pod as well."""
    start = SchedulingCycle._start

    def start_and_evict(cycle: SchedulingCycle, unit: scheduling_units.Unit, members: Sequence[Pod]) -> bool:
        started = start(cycle, unit, members)
        snapshot = cycle.snapshot
        first = scheduling_units._single_pod_unit(members[0], snapshot.cluster.group_of(members[0]), snapshot.cluster)
        for victim in _candidates_in_namespace(members, cycle.candidates(first))[:1] if started else ():
            snapshot.evict([victim])
            cycle.actions.append(cycle._eviction(victim, first, members[0]))
        return started

    patch.attribute(SchedulingCycle, "_start", start_and_evict)


@fault("PRE-01: no other pod was evicted or failed")
def preempts_again_for_a_bound_pod(patch: Patch) -> None:
    """A preemptor that is bound preempts one more pod in a later cycle."""
    original, preemptors = decisions, set[str]()

    def decide_and_preempt_again(
        cluster: ClusterState, policy: Policy, turns: SearchTurns | None = None
    ) -> Iterator[Sequence[Action]]:
        actions = list(chain.from_iterable(original(cluster, policy, turns)))
        for bound in [cluster.pods[uid] for uid in preemptors & cluster.pods.keys() if cluster.pods[uid].node]:
            lower = [pod for pod in cluster.bound() if pod.key[0] == bound.key[0] and pod.priority < bound.priority]
            victims = [pod for pod in lower if not pod.terminating]
            if victims and not bound.binding:
                preemptors.discard(bound.uid)
                actions.append(Evict(victims[0], "/".join(bound.key), bound, "injected fault"))
        preemptors.update(action.trigger.uid for action in actions if isinstance(action, Evict))
        yield actions

    patch.function(original, decide_and_preempt_again)


def _candidates_in_namespace(members: Sequence[Pod], candidates: Candidates) -> list[Pod]:
    """Candidates of the members' own namespace: the harness has its own pods in another one."""
    return [pod for pod in candidates.all_pods() if pod.key[0] == members[0].key[0]]
