"""Preemption: one decision for a pod or for a whole gang. Victim selection is all or nothing.

1. All members are placed, one after the other, on the cluster without its lower-priority pods. If one does not fit,
   nothing is preempted.
2. Each member uses free capacity, where there is some; else it takes the node with the lowest cost (see `victims`),
   counting only additional victims. Where one victim frees enough for several members, the cost is that for each of
   them: two members that need one victim together are cheaper than two with one each.
3. Reprieve: from the highest-priority victim down, victims that still fit are kept, even if members must move for it
   (see `reprieve`).

The result is minimal: no single victim can be reprieved any more. A single pod is a gang of one: then step 2 is the
node choice that kube-scheduler documents, and step 3 changes nothing.

Where other pods matter to a member, or it to them, victims are also selected for that, by the dry run of each node
(see `dry_run`): victims are then pods on the nodes of members, and never those on other nodes of a topology domain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from scheduler.core.capacity import Capacity, largest_first
from scheduler.core.cost_bounds import CheapestNodes, Cost
from scheduler.core.dry_run import DryRun
from scheduler.core.effort import Effort, filter_effort
from scheduler.core.gang_placement import Placement, place, rearrange
from scheduler.core.node_table import Numbers
from scheduler.core.placement_filters import may_need
from scheduler.core.queue_usage import QuotaToFree
from scheduler.core.reprieve import PreemptionPlan, reprieve
from scheduler.core.scheduling_types import Pod, PodRequirements
from scheduler.core.snapshot import Snapshot
from scheduler.core.victims import Candidates

_MAX_BLOCK = 16  # members that a node is asked to take at once


def preempt(members: Sequence[Pod], candidates: Candidates, snapshot: Snapshot) -> PreemptionPlan | None:
    """How to place all of these members; None when no evictions would help. The snapshot is not changed."""
    if not candidates:
        return None
    usage = snapshot.queue_usage
    if usage.exceeded(members, later=True, freed=candidates.freeable_quota()):
        return None
    members = sorted(members, key=largest_first)
    if any(pod.requirements.concerns_other_pods for pod in members):
        return _among_other_pods(members, candidates, snapshot)
    selection = _VictimSelection(members, candidates, snapshot)
    placement = selection.cheapest_placement()
    victims = selection.victims()
    if placement is None:
        placement = _place(members, _without_candidates(candidates, snapshot), snapshot)
        if placement is None:
            return None
        victims = _candidates_on(placement.values(), candidates)
    if usage.exceeded(members, later=True, freed=usage.freed(victims)):
        victims = candidates.all_pods()
    return reprieve(members, placement, victims, candidates, snapshot)


def _among_other_pods(members: Sequence[Pod], candidates: Candidates, snapshot: Snapshot) -> PreemptionPlan | None:
    """The same where constraints regarding other pods have to be met, by victims if need be."""
    remaining = Capacity(snapshot.table, snapshot.free_later.layers[0].copy())
    dry_run, placement, victims = DryRun(candidates, remaining, snapshot), Placement(), list[Pod]()
    snapshot.effort_spent += len(members) * filter_effort(len(snapshot.table))
    for pod in members:
        row = remaining.allocate_best(pod.requirements)
        if row is None:
            found = dry_run.cheapest(pod.requirements)
            if found is None:
                break
            row, additional = found
            additional = candidates.with_group_victims(additional)
            dry_run.select(additional)
            remaining.allocate(row, pod.requirements)
            victims += additional
        placement[pod.uid] = row
    complete = len(placement) == len(members)
    settled = _settle(members, placement, victims, snapshot) if complete else None
    if settled is None and len(members) > 1:
        placement = _place(members, _without_candidates(candidates, snapshot), snapshot) or {}
        victims = candidates.with_group_victims(_candidates_on(placement.values(), candidates))
        settled = _settle(members, placement, victims, snapshot) if placement else None
    if settled is None:
        return None
    enough = _with_victims_for_quota(members, settled, victims, candidates, snapshot)
    return reprieve(members, settled, enough, candidates, snapshot) if enough is not None else None


def _settle(
    members: Sequence[Pod], placement: Placement, victims: Iterable[Pod], snapshot: Snapshot
) -> Placement | None:
    """A placement of the members on the cluster without just these victims; a single pod does not move for it."""
    capacity = Capacity(snapshot.table, snapshot.free_later.layers[0].copy())
    capacity.release_all(victims)
    if len(members) == 1:
        return placement if capacity.fits(placement[members[0].uid], members[0].requirements) else None
    effort = Effort.for_gang(len(members), len(capacity.table))
    found = rearrange(members, capacity, placement, effort)
    snapshot.effort_spent += effort.spent
    return found


def _place(members: Sequence[Pod], capacity: Capacity, snapshot: Snapshot) -> Placement | None:
    effort = Effort.for_gang(len(members), len(capacity.table))
    found = place(members, capacity, effort=effort)
    snapshot.effort_spent += effort.spent
    return found


def _with_victims_for_quota(
    members: Sequence[Pod], placement: Placement, victims: list[Pod], candidates: Candidates, snapshot: Snapshot
) -> list[Pod] | None:
    """As many more victims as the quota needs, those that are reprieved last first, if no member must be near them."""
    quota, found = QuotaToFree(snapshot.queue_usage, members, victims), {pod.uid: pod for pod in victims}
    if quota.is_enough:
        return victims
    needed = frozenset(counter for pod in members for counter in may_need(pod.requirements))
    for pod in reversed(candidates.reprieve_order(candidates.all_pods())):
        more = [one for one in candidates.group_victims(pod) if one.uid not in found]
        together = [*found.values(), *more]
        if all(needed.isdisjoint(one.requirements.counted) for one in more) or (
            _settle(members, placement, together, snapshot) == placement
        ):
            found |= {one.uid: one for one in more}
            quota.evict(more)
            if quota.is_enough:
                return list(found.values())
    return None


def _candidates_on(rows: Iterable[int], candidates: Candidates) -> list[Pod]:
    return [pod for row in sorted(set(rows)) for pod in candidates.on(row)]


def _without_candidates(candidates: Candidates, snapshot: Snapshot) -> Capacity:
    return Capacity(snapshot.table, snapshot.free_later.layers[0] + candidates.freeable)


@dataclass(frozen=True, slots=True)
class _Block:
    """Members that a node would take at once, and the victims there, for these and for the members before them."""

    members: int
    victims: list[Pod]


class _VictimSelection:
    """Victims for members to which other pods do not matter: resources are all that is missing."""

    def __init__(self, members: Sequence[Pod], candidates: Candidates, snapshot: Snapshot) -> None:
        self._snapshot, self._candidates = snapshot, candidates
        self._members = members
        self._cleared = _without_candidates(candidates, snapshot)  # beside the members so far, if all candidates go
        self._remaining = Capacity(snapshot.table, snapshot.free_later.layers[0].copy())  # if only the victims go
        self._victims: dict[int, list[Pod]] = {}  # by row, for the members placed so far
        self._unplaced = Counter(pod.requirements for pod in members)
        self._selected: dict[tuple[int, PodRequirements], _Block] = {}  # by row, what is cheapest there at the moment
        self._requested: dict[int, set[int]] = {}  # by row, the columns that members request there
        self._changed: dict[PodRequirements, set[int]] = {}  # rows that changed since such a member fitted nowhere

    def victims(self) -> list[Pod]:
        return [pod for row in sorted(self._victims) for pod in self._victims[row]]

    def cheapest_placement(self) -> Placement | None:
        """Steps 1 and 2 together: the cheapest node for each member, with all members before it placed."""
        placement: Placement = {}
        nodes: dict[PodRequirements, CheapestNodes] = {}
        for pod in self._members:
            requirements = pod.requirements
            row = self._allocate_free(requirements)
            if row is None:
                if requirements not in nodes:
                    nodes[requirements] = self._cheapest_nodes(requirements)
                row = self._cheapest(requirements, nodes[requirements])
                if row is None:
                    return None
                self._evict_on(row, self._selected[row, requirements].victims)
                self._remaining.allocate(row, requirements)
            self._cleared.allocate(row, requirements)
            self._unplaced[requirements] -= 1
            self._requested.setdefault(row, set()).update(
                column for column, _ in self._snapshot.table.known_columns(pod.requirements)
            )
            placement[pod.uid] = row
            for changed in self._changed.values():
                changed.add(row)
            for others in nodes.values() if len(self._members) > 1 else ():
                others.changed(row)
        return placement

    def _allocate_free(self, requirements: PodRequirements) -> int | None:
        """The best node that such a member fits on without further victims."""
        changed = self._changed.get(requirements)
        if changed is None or any(self._remaining.fits(row, requirements) for row in changed):
            row = self._remaining.allocate_best(requirements)
            if row is not None:
                return row
        self._changed[requirements] = set()
        return None

    def _cheapest(self, requirements: PodRequirements, nodes: CheapestNodes) -> int | None:
        """The node with the lowest cost for each member, of as many members as are left at most."""
        while (row := nodes.cheapest()) is not None:
            if self._selected[row, requirements].members <= self._unplaced[requirements]:
                break
            nodes.changed(row)
        return row

    def _cheapest_nodes(self, requirements: PodRequirements) -> CheapestNodes:
        def cost(row: int) -> Cost | None:
            is_wanted = self._unplaced[requirements] > 0 and self._cleared.fits(row, requirements)
            return self._cost(row, requirements) if is_wanted else None

        found = CheapestNodes(self._bounds(requirements), cost)
        for row in self._requested:
            found.changed(row)
        return found

    def _bounds(self, requirements: PodRequirements) -> Iterator[tuple[Cost, int]]:
        rows = np.flatnonzero(self._cleared.fitting(requirements))
        if not len(rows):
            return iter(())
        requested = np.array(self._snapshot.table.columns(requirements), np.int64)
        columns, amounts = requested[:, 0], requested[:, 1]
        missing: Numbers = amounts[:, None] - self._remaining.layers[0][np.ix_(columns, rows)]
        most = min(self._unplaced[requirements], _MAX_BLOCK)
        return self._candidates.bounds.ascending(rows, missing, columns, amounts, most)

    def _cost(self, row: int, requirements: PodRequirements) -> Cost:
        """The cost of one more such pod on this node; or of several, for each, if together they need fewer victims."""
        before = {pod.uid for pod in self._victims.get(row, ())}
        columns = self._snapshot.table.columns(requirements) or ()
        free = min(int(self._cleared.layers[0][column, row]) // amount for column, amount in columns)
        best: tuple[Cost, _Block] | None = None
        for members in range(1, min(free, self._unplaced[requirements], _MAX_BLOCK) + 1):
            missing = [
                (column, members * amount - self._remaining.layers[0][column, row]) for column, amount in columns
            ]
            if best and self._candidates.bounds.fewest(row, missing) >= members * best[0][3]:
                continue
            victims = self._select_victims(row, requirements, members)
            additional = [pod for pod in self._candidates.with_group_victims(victims) if pod.uid not in before]
            violations, highest, total, number, start = self._candidates.cost(additional)
            cost = violations, highest, total / members, number / members, start
            if best is None or cost < best[0]:
                best = cost, _Block(members, victims)
        assert best is not None
        self._selected[row, requirements] = best[1]
        return best[0]

    def _select_victims(self, row: int, requirements: PodRequirements, members: int) -> list[Pod]:
        """The candidates on the node that do not fit beside the members and so many more of them."""
        free = self._cleared.layers[0][:, row].tolist()
        columns = self._snapshot.table.columns(requirements) or ()
        requested = self._requested.get(row, set()) | {column for column, _ in columns}
        for column, amount in columns:
            free[column] -= members * amount
        victims = []
        for pod in self._candidates.reprieve_order_on(row):
            amounts = self._snapshot.table.known_columns(pod.requirements)
            if all(free[column] >= amount for column, amount in amounts if column in requested):
                for column, amount in amounts:
                    free[column] -= amount
            else:
                victims.append(pod)
        return sorted(victims, key=self._candidates.priority_key)

    def _evict_on(self, row: int, victims: list[Pod]) -> None:
        """Select these victims on the node, instead of those that were selected for fewer members."""
        for pod in self._victims.get(row, ()):
            self._remaining.allocate(row, pod.requirements)
        self._remaining.release_all(victims)
        self._victims[row] = victims
