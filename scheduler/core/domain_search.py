"""The search for a gang with required affinity: its topology domains are chosen first, then nodes in them.

One member after the other, on the fullest node that fits, a gang starts in a domain that may be too full for the rest
of it; and the more nodes there are, the more of such domains must be left again. So every domain is looked at: has it
places for all linked members? Those that have most to spare are tried first, one of several that are alike. In each,
members join in the order that their affinity needs; if that fails everywhere, each is searched.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from scheduler.core.affinity_links import Link, linked_groups
from scheduler.core.capacity import Capacity
from scheduler.core.constrained_search import constrained_search
from scheduler.core.effort import Effort
from scheduler.core.gang_search import search
from scheduler.core.joining_order import Placed, in_joining_order
from scheduler.core.node_kinds import NodeKinds
from scheduler.core.node_table import Mask, Numbers
from scheduler.core.scheduling_types import PodRequirements

_Wanted = Mapping[PodRequirements, int]
_Within = dict[PodRequirements, Mask]


class DomainSearch:
    """For so many members with each of these requirements. The capacity is left unchanged."""

    def __init__(self, wanted: _Wanted, capacity: Capacity, effort: Effort) -> None:
        self._wanted, self._capacity, self._effort = wanted, capacity, effort
        self._groups = linked_groups(wanted, capacity)

    @property
    def is_impossible(self) -> bool:
        """Whether members that can only be in one domain have no domain with places for all of them."""
        necessary = (link for links in self._groups for link in links if link.is_necessary)
        return any(not (self._to_spare(link, self._capacity) >= 1).any() for link in necessary)

    def run(self) -> Placed | None:
        """The largest group of linked members first; None if nothing was found."""
        if not self._groups:
            return None
        self._groups.sort(key=lambda links: -sum(self._wanted[one] for one in _classes(links)))
        ways = (
            [(False, False), (False, True), (True, False)] if len(self._groups) > 1 else [(False, False), (True, False)]
        )
        for thorough, tightest in ways:
            found = self._place_all(thorough=thorough, tightest=tightest)
            if found is not None or self._effort.left <= 0:
                return found
        return None

    def _place_all(self, *, thorough: bool, tightest: bool) -> Placed | None:
        """Groups that are placed stay where they are, while domains for the next ones are tried."""
        placed: Placed = []
        linked = set[PodRequirements]()
        complete = True
        for links in self._groups:
            linked |= _classes(links)
            found = self._place_group(links, thorough=thorough, tightest=tightest)
            if found is None:
                complete = False
                break
            for row, requirements in found:
                self._capacity.allocate(row, requirements)
            placed += found
        others = {one: count for one, count in self._wanted.items() if one not in linked}
        rest = self._place(others, self._capacity, thorough=thorough) if complete else None
        for row, requirements in placed:
            self._capacity.release(row, requirements)
        return None if rest is None else placed + rest

    def _place_group(self, links: list[Link], *, thorough: bool, tightest: bool) -> Placed | None:
        wanted = {one: count for one, count in self._wanted.items() if one in _classes(links)}
        for chosen in self._combinations(links, tightest=tightest):
            found = self._place(wanted, self._capacity.restricted(chosen), thorough=thorough)
            if found is not None or self._effort.left <= 0:
                return found
        return None

    def _place(self, wanted: _Wanted, capacity: Capacity, *, thorough: bool) -> Placed | None:
        if thorough and len(wanted) > 1 and (found := search(wanted, capacity, self._effort)) is not None:
            self._effort.spend_on_filters(len(capacity.table), len(found))
            if (in_order := in_joining_order(found, capacity)) is not None:
                return in_order
        return constrained_search(wanted, capacity, self._effort, going_back=thorough)

    def _combinations(self, links: list[Link], *, tightest: bool) -> Iterator[_Within]:
        """A domain for each of these links, which are in each other."""
        chosen: list[_Within] = [{}]
        domains = [self._domains(links[0], {}, tightest=tightest)]
        while domains:
            mask = next(domains[-1], None)
            if mask is None:
                domains.pop()
                chosen.pop()
                continue
            before = chosen[-1]
            within = before | {
                one: before[one] & mask if one in before else mask for one in links[len(domains) - 1].classes
            }
            if len(domains) == len(links):
                yield within
            else:
                chosen.append(within)
                domains.append(self._domains(links[len(domains)], within, tightest=tightest))

    def _domains(self, link: Link, within: _Within, *, tightest: bool = False) -> Iterator[Mask]:
        """The domains that have places for all of these members, with most to spare first; of like ones the first."""
        to_spare = self._to_spare(link, self._capacity.restricted(within))
        fits = np.flatnonzero(to_spare >= 1)
        order = fits[np.argsort(to_spare[fits] * (1 if tightest else -1), kind="stable")].tolist()
        if order:
            yield link.domain == order[0]
        if len(order) > 1:
            classes = [one for one in self._wanted if one in link.classes]
            self._effort.spend_on_filters(len(self._capacity.table))
            kinds = NodeKinds(classes, self._capacity, link.keys).of(np.arange(len(self._capacity.table)))
            tried = set[tuple[bytes, ...]]()
            for number in order:
                mask: Mask = link.domain == number
                like = tuple(sorted(kinds[row] for row in np.flatnonzero(mask).tolist()))
                if like not in tried and number != order[0]:
                    yield mask
                tried.add(like)

    def _to_spare(self, link: Link, capacity: Capacity) -> npt.NDArray[np.float64]:
        """By domain, how many times what is needed it has: places for each class, and resources for all together."""
        inside = link.domain >= 0

        def of_domains(of_nodes: Numbers) -> npt.NDArray[np.float64]:
            sums = np.bincount(link.domain[inside], weights=of_nodes[inside], minlength=link.domains)
            return sums.astype(np.float64)

        found = np.full(link.domains, np.inf)
        usable: Mask = np.zeros(len(link.domain), np.bool_)
        requested = Counter[int]()
        for one in link.classes:
            self._effort.spend_on_filters(len(link.domain))
            places = capacity.places(one)
            usable |= places > 0
            found = np.minimum(found, of_domains(places) / self._wanted[one])
            for column, amount in capacity.table.known_columns(one):
                requested[column] += amount * self._wanted[one]
        for column, amount in requested.items():
            free = np.where(usable, np.minimum.reduce([layer[column] for layer in capacity.layers]), 0)
            if amount:
                found = np.minimum(found, of_domains(free) / amount)
        return found


def _classes(links: list[Link]) -> set[PodRequirements]:
    return set().union(*(link.classes for link in links))
