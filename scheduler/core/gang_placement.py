"""Gang placement: a node for every member, or for none.

Necessary first: of each class of requirements, enough members fit somewhere. Then greedy: the largest member first,
each on its best node; or the class with the fewest places to spare first, so that others do not use up its only nodes.
For a heterogeneous gang both can fail although a placement exists: a search over classes follows (`gang_search`). Where
members must be near each other, their topology domain is chosen before (`domain_search`). Where they matter to each
other in other ways, or other pods to them, a search that goes back on its choices follows (`constrained_search`).
The scoring strategy is a preference: a gang that cannot be spread is packed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from scheduler.core.capacity import Capacity, Crowding, largest_first
from scheduler.core.constrained_search import constrained_search
from scheduler.core.domain_search import DomainSearch
from scheduler.core.effort import Effort
from scheduler.core.gang_search import search
from scheduler.core.joining_order import Placed, in_joining_order
from scheduler.core.scheduling_types import Pod, PodRequirements

Placement = dict[str, int]  # by uid, the row of a node

_GREEDY_EFFORT = 2000  # of each member


def place(
    members: Sequence[Pod],
    capacity: Capacity,
    nominated: Mapping[str, int] | None = None,
    crowding: Crowding | None = None,
    *,
    effort: Effort | None = None,
) -> Placement | None:
    """Allocate for all members, on their nominated nodes first; or leave the capacity unchanged and return None.

    `crowding` ranks the nodes for a single pod. The effort is that of one attempt, unless it is given.
    """
    if len(members) == 1:
        return _place_greedily(members, capacity, nominated or {}, crowding)
    effort = effort or Effort.for_gang(len(members), len(capacity.table))
    return _place_gang(members, capacity, nominated or {}, effort)


def rearrange(members: Sequence[Pod], capacity: Capacity, placement: Placement, effort: Effort) -> Placement | None:
    """The same for a gang that has a placement, which has become impossible, and with a limit for several attempts."""
    if effort.left <= 0:
        return None
    return _place_gang(members, capacity, placement, effort)


def _place_gang(
    members: Sequence[Pod], capacity: Capacity, nominated: Mapping[str, int], effort: Effort
) -> Placement | None:
    wanted = Counter(pod.requirements for pod in members)
    places = {requirements: int(capacity.places(requirements).sum()) for requirements in wanted}
    if any(places[requirements] < count for requirements, count in wanted.items()):
        return None
    if any(requirements.concerns_other_pods for requirements in wanted):
        effort.count_filters(len(capacity.table), len(members))
    by_size = sorted(members, key=largest_first)
    placed = _place_greedily(by_size, capacity, nominated)
    if placed is None and (packed := capacity.packed()):  # members that are spread may use up the nodes of others
        return _place_gang(members, packed, nominated, effort)
    if placed is None and len(wanted) > 1:
        spare = {requirements: places[requirements] / count for requirements, count in wanted.items()}
        placed = _place_greedily(sorted(by_size, key=lambda pod: spare[pod.requirements]), capacity, {})
    effort.spend(_GREEDY_EFFORT * len(members))
    if placed is None:
        by_class = {pod.requirements: wanted[pod.requirements] for pod in by_size}
        placed = _allocate(by_size, _search(by_class, capacity, effort), capacity)
    return placed


def _search(wanted: Mapping[PodRequirements, int], capacity: Capacity, effort: Effort) -> Placed | None:
    """A placement that greedy placement has not found, in the order in which the members join."""
    if not any(requirements.concerns_other_pods for requirements in wanted):
        return search(wanted, capacity, effort) if len(wanted) > 1 else None
    domains = DomainSearch(wanted, capacity, effort)
    if domains.is_impossible:
        return None
    found = domains.run()
    if found is None and len(wanted) > 1 and (by_resources := search(wanted, capacity, effort)) is not None:
        found = in_joining_order(by_resources, capacity)
    return found if found is not None else constrained_search(wanted, capacity, effort)


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


def _allocate(members: Sequence[Pod], found: Placed | None, capacity: Capacity) -> Placement | None:
    """The members on the nodes that a search has found for pods like them."""
    waiting: dict[PodRequirements, list[Pod]] = defaultdict(list)
    for pod in reversed(members):
        waiting[pod.requirements].append(pod)
    placed: Placement = {}
    for row, requirements in found or ():
        capacity.allocate(row, requirements)
        placed[waiting[requirements].pop().uid] = row
    return placed or None


def _release_all(members: Sequence[Pod], placed: Mapping[str, int], capacity: Capacity) -> None:
    for pod in members:
        if pod.uid in placed:
            capacity.release(placed[pod.uid], pod.requirements)
