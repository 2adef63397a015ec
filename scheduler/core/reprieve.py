"""Reprieve: of the victims that were selected for a gang, keep every one that is not needed.

From the highest-priority victim down, a victim is kept if it fits beside the members; else if the members on its node
fit elsewhere; else if another placement of all members is found. For identical members moving is exact. For others the
number of new placements is limited, and beyond it a victim may go that could have been kept.

Where other pods matter to members, all of them are checked again beside a victim that is kept, if that counts for them;
and members move only all together. A single pod never moves: its node was chosen by the cost.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scheduler.core.capacity import Capacity, largest_first
from scheduler.core.effort import Effort
from scheduler.core.gang_placement import Placement, rearrange
from scheduler.core.placement_filters import may_exclude
from scheduler.core.queue_usage import QuotaToFree
from scheduler.core.scheduling_types import Pod, PodRequirements
from scheduler.core.snapshot import Snapshot
from scheduler.core.victims import Candidates

_LEAST_EFFORT = 4_000_000  # for all new placements of one gang together: about 40 ms


@dataclass(frozen=True, slots=True)
class PreemptionPlan:
    """Where the members will be placed, and which pods are evicted for them."""

    placement: Placement
    victims: tuple[Pod, ...]


def reprieve(
    members: Sequence[Pod], placement: Placement, victims: Sequence[Pod], candidates: Candidates, snapshot: Snapshot
) -> PreemptionPlan:
    return _Reprieve(members, placement, victims, candidates, snapshot).run()


class _Reprieve:
    def __init__(
        self,
        members: Sequence[Pod],
        placement: Placement,
        victims: Sequence[Pod],
        candidates: Candidates,
        snapshot: Snapshot,
    ) -> None:
        self._candidates, self._snapshot = candidates, snapshot
        self._members, self._placement = members, dict(placement)
        self._victims = {pod.uid: pod for pod in candidates.with_group_victims(victims)}
        self._left = Capacity(snapshot.table, snapshot.free_later.layers[0].copy())  # beside members and kept pods
        self._left.release_all(self._victims.values())
        self._on_row: dict[int, list[Pod]] = defaultdict(list)  # the members, by row
        self._requested: Counter[tuple[int, int]] = Counter()  # by column and row, how many members request it there
        for pod in members:
            self._put(pod, placement[pod.uid])
        requirements = {pod.requirements for pod in members}
        self._among_others = any(one.concerns_other_pods for one in requirements)
        self._can_be_rearranged = len(members) > 1 and (self._among_others or len(requirements) > 1)
        self._excluding = set().union(*(may_exclude(one, snapshot.table) for one in requirements))
        self._nowhere: set[PodRequirements] = set()  # known to fit on no other node, until a member moves
        self._needed: set[tuple[str, PodRequirements]] = set()  # by node, such victims cannot be kept, until one moves
        self._effort = Effort.for_gang(len(members), len(snapshot.table), _LEAST_EFFORT)

    def run(self) -> PreemptionPlan:
        quota = QuotaToFree(self._snapshot.queue_usage, self._members, self._victims.values())
        while self._keep_some(quota) and self._among_others and self._effort.left > 0:
            pass  # a pod that a member must be near may allow another one to be kept
        self._snapshot.effort_spent += self._effort.spent
        return PreemptionPlan(self._placement, tuple(self._victims.values()))

    def _keep_some(self, quota: QuotaToFree) -> bool:
        """Keep each victim that can be kept; whether there was one."""
        tried, before = set[str](), len(self._victims)
        for pod in self._candidates.reprieve_order(list(self._victims.values())):
            if pod.uid in tried or (pod.node, pod.requirements) in self._needed:
                continue
            group = self._candidates.group_victims(pod)
            tried.update(one.uid for one in group)
            if quota.allows(group) and self._keep(group):
                quota.keep(group)
                for kept in group:
                    del self._victims[kept.uid]
        return len(self._victims) < before

    def _keep(self, group: Sequence[Pod]) -> bool:
        """Keep these victims, which are evicted together or not at all, if all members still have a node.

        Members that are all alike have no other placement if moving finds none, and what is kept elsewhere only leaves
        less: then a like victim on the same node need not be tried.
        """
        for pod in group:
            self._left.allocate(self._row(pod), pod.requirements)
        overcommitted = {self._row(pod) for pod in group if self._is_overcommitted(pod)}
        counts_for_members = any(not self._excluding.isdisjoint(pod.requirements.counted) for pod in group)
        in_place = not overcommitted and (not counts_for_members or self._all_fit())
        if in_place or (not self._among_others and self._move_from(overcommitted)) or self._place_again():
            return True
        for pod in group:
            self._left.release(self._row(pod), pod.requirements)
        if len(group) == 1 and not self._among_others and not self._can_be_rearranged:
            self._needed.add((group[0].node, group[0].requirements))
        return False

    def _all_fit(self) -> bool:
        """Whether all members may be where they are, one joining after the other."""
        if not self._effort.spend_on_filters(len(self._left.table), len(self._members)):
            return False
        for pod in self._members:
            self._left.release(self._placement[pod.uid], pod.requirements)
        fit = True
        for pod in self._members:
            fit = fit and self._left.fits(self._placement[pod.uid], pod.requirements)
            self._left.allocate(self._placement[pod.uid], pod.requirements)
        return fit

    def _is_overcommitted(self, pod: Pod) -> bool:
        """A resource that no member requests may be overcommitted already: it is no reason to evict."""
        row, free = self._row(pod), self._left.layers[0]
        columns = (column for column, _ in self._left.table.known_columns(pod.requirements))
        return any(free[column, row] < 0 for column in columns if self._requested[column, row])

    def _move_from(self, rows: Iterable[int]) -> bool:
        """Move as many members from these rows as do not fit any more, the smallest first; or leave all in place."""
        if all(pod.requirements in self._nowhere for row in rows for pod in self._on_row[row]):
            return False
        moved: list[tuple[Pod, int]] = []
        for row in rows:
            on_row = sorted(self._on_row[row], key=largest_first)
            while on_row and self._lacks(row):
                pod = on_row.pop()
                self._take(pod, row)
                moved.append((pod, row))
        placed: list[Pod] = []
        for pod, _ in reversed(moved):
            there = self._best_node(pod.requirements)
            if there is None:
                break
            self._put(pod, there)
            placed.append(pod)
        else:
            self._nowhere.clear()
            self._needed.clear()
            return True
        for one in placed:
            self._take(one, self._placement[one.uid])
        for one, row in moved:
            self._put(one, row)
        if not any(self._left.fits(row, pod.requirements) for row in rows):
            self._nowhere.add(pod.requirements)
        return False

    def _best_node(self, requirements: PodRequirements) -> int | None:
        if requirements in self._nowhere:
            return None
        return self._left.best(requirements, self._left.fitting(requirements))

    def _lacks(self, row: int) -> bool:
        free = self._left.layers[0]
        return any(free[column, row] < 0 for column in range(len(free)) if self._requested[column, row])

    def _place_again(self) -> bool:
        """Another placement of all members; identical ones have none, if moving has not found it."""
        if not self._can_be_rearranged or self._effort.left <= 0:
            return False
        before = dict(self._placement)
        for pod in self._members:
            self._take(pod, before[pod.uid])
        found = rearrange(self._members, self._left, before, self._effort)
        for pod in self._members:
            if found is None:
                self._put(pod, before[pod.uid])
            else:
                self._left.release(found[pod.uid], pod.requirements)
                self._put(pod, found[pod.uid])
        if found is not None:
            self._nowhere.clear()
        return found is not None

    def _put(self, pod: Pod, row: int) -> None:
        self._left.allocate(row, pod.requirements)
        self._on_row[row].append(pod)
        self._requested.update((column, row) for column, _ in self._left.table.known_columns(pod.requirements))
        self._placement[pod.uid] = row

    def _take(self, pod: Pod, row: int) -> None:
        self._left.release(row, pod.requirements)
        self._on_row[row].remove(pod)
        self._requested.subtract((column, row) for column, _ in self._left.table.known_columns(pod.requirements))

    def _row(self, pod: Pod) -> int:
        return self._snapshot.table.row[pod.node]
