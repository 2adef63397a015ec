"""Gang placement: a node for every member, or for none.

Necessary first: of each class of requirements, enough members fit somewhere. Then greedy: the largest member first,
each on its best node; or the class with the fewest places to spare first, so that others do not use up its only nodes.
For a heterogeneous gang both can fail although a placement exists: a search over classes follows (`gang_search`). Where
members matter to each other, or other pods to them, one that goes back on its choices follows (`constrained_search`).
The scoring strategy is a preference: a gang that cannot be spread is packed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from scheduler.core.capacity import Capacity, Crowding, largest_first
from scheduler.core.constrained_search import constrained_search
from scheduler.core.effort import Effort
from scheduler.core.gang_search import search
from scheduler.core.scheduling_types import Pod, PodRequirements

Placement = dict[str, int]  # by uid, the row of a node

_GREEDY_EFFORT = 2000  # of each member


def place(
    members: Sequence[Pod],
    capacity: Capacity,
    nominated: Mapping[str, int] | None = None,
    crowding: Crowding | None = None,
) -> Placement | None:
    """Allocate for all members, on their nominated nodes first; or leave the capacity unchanged and return None.

    `crowding` ranks the nodes for a single pod.
    """
    if len(members) == 1:
        return _place_greedily(members, capacity, nominated or {}, crowding)
    return _place_gang(members, capacity, nominated or {}, Effort())


def rearrange(members: Sequence[Pod], capacity: Capacity, placement: Placement, effort: Effort) -> Placement | None:
    """The same for a gang that has a placement, which has become impossible, and with a limit for several attempts."""
    if effort.left <= 0:
        return None
    return _place_gang(members, capacity, placement, effort)


def _place_gang(
    members: Sequence[Pod], capacity: Capacity, nominated: Mapping[str, int], effort: Effort
) -> Placement | None:
    wanted = Counter(pod.requirements for pod in members)
    places = {requirements: capacity.max_pods(requirements) for requirements in wanted}
    if any(places[requirements] < count for requirements, count in wanted.items()):
        return None
    by_size = sorted(members, key=largest_first)
    placed = _place_greedily(by_size, capacity, nominated)
    if placed is None and (packed := capacity.packed()):  # members that are spread may use up the nodes of others
        return _place_gang(members, packed, nominated, effort)
    if placed is None and len(wanted) > 1:
        spare = {requirements: places[requirements] / count for requirements, count in wanted.items()}
        by_scarcity = sorted(by_size, key=lambda pod: spare[pod.requirements])
        placed = _place_greedily(by_scarcity, capacity, {}) or _allocate(
            by_size, search(wanted, capacity, effort), capacity
        )
    effort.spend(_GREEDY_EFFORT * len(members))
    if placed is None and any(requirements.concerns_other_pods for requirements in wanted):
        by_class = {pod.requirements: wanted[pod.requirements] for pod in by_size}
        placed = _allocate(by_size, constrained_search(by_class, capacity, effort), capacity)
    return placed


def _place_greedily(
    members: Sequence[Pod], capacity: Capacity, nominated: Mapping[str, int], crowding: Crowding | None = None
) -> Placement | None:
    placed: Placement = {}
    for pod in members:
        row = nominated.get(pod.uid)
        if row is not None and capacity.fits(row, pod.requirements):
            capacity.allocate(row, pod.requirements)
        else:
            row = capacity.allocate_best(pod.requirements, crowding)
        if row is None:
            _release_all(members, placed, capacity)
            return None
        placed[pod.uid] = row
    return placed


def _allocate(
    members: Sequence[Pod], found: Sequence[tuple[int, PodRequirements]] | None, capacity: Capacity
) -> Placement | None:
    """What a search has found, in its order: it may have counted resources only, so each member is still asked for."""
    waiting: dict[PodRequirements, list[Pod]] = defaultdict(list)
    for pod in reversed(members):
        waiting[pod.requirements].append(pod)
    placed: Placement = {}
    for row, requirements in found or ():
        if not capacity.fits(row, requirements):
            _release_all(members, placed, capacity)
            return None
        capacity.allocate(row, requirements)
        placed[waiting[requirements].pop().uid] = row
    return placed or None


def _release_all(members: Sequence[Pod], placed: Mapping[str, int], capacity: Capacity) -> None:
    for pod in members:
        if pod.uid in placed:
            capacity.release(placed[pod.uid], pod.requirements)
