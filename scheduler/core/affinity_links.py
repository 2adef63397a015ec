"""Which members of a gang must be near each other, by which topology keys.

A class of members with a required affinity is linked with the classes that this means, itself among them; and so on,
from these. Linked classes are placed in one topology domain first. Mostly nothing else is possible: then it is enough
that no domain has places for all of them to know that the gang does not fit. A class that may also join pods that run
already, or one of several targets, can do without.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from scheduler.core.capacity import Capacity
from scheduler.core.node_table import NodeTable, Numbers
from scheduler.core.pod_constraints import MatchingPods, matching_all
from scheduler.core.scheduling_types import PodRequirements

_Wanted = Mapping[PodRequirements, int]
_Classes = frozenset[PodRequirements]


@dataclass(frozen=True, slots=True)
class Link:
    """Classes of members in one domain."""

    keys: frozenset[str]
    classes: _Classes
    domain: Numbers  # of each node; -1 for a node without one of the keys
    domains: int
    is_necessary: bool  # no placement has them in several domains


def linked_groups(wanted: _Wanted, capacity: Capacity) -> list[list[Link]]:
    """The links, grouped so that no class is in two groups; in each group the link with the fewest domains first."""
    groups: list[tuple[set[PodRequirements], list[Link]]] = []
    for link in _links(wanted, capacity):
        touched = [one for one in groups if not one[0].isdisjoint(link.classes)]
        groups = [one for one in groups if one[0].isdisjoint(link.classes)]
        classes = set(link.classes).union(*(of_group for of_group, _ in touched))
        groups.append((classes, [*(one for _, links in touched for one in links), link]))
    return [sorted(links, key=lambda link: (link.domains, sorted(link.keys))) for _, links in groups]


def _links(wanted: _Wanted, capacity: Capacity) -> Iterator[Link]:
    keys_of: dict[_Classes, set[str]] = defaultdict(set)
    for key, targets in _targets_by_key(wanted).items():
        for classes in _connected(targets):
            keys_of[classes].add(key)
    for classes, keys in sorted(keys_of.items(), key=lambda one: sorted(one[1])):
        domain, domains = _domains_by(keys, capacity.table)
        necessary = all(_is_necessary(key, classes, wanted, capacity) for key in keys)
        yield Link(frozenset(keys), classes, domain, domains, necessary)


def _targets_by_key(wanted: _Wanted) -> dict[str, dict[PodRequirements, list[PodRequirements]]]:
    """By topology key: the members' required affinities, and the members that they mean."""
    found: dict[str, dict[PodRequirements, list[PodRequirements]]] = defaultdict(dict)
    for one in wanted:
        if (counter := _needed(one)) is None:
            continue
        if targets := [other for other in wanted if counter in other.counted]:
            for key in _keys(one):
                found[key][one] = targets
    return found


def _needed(requirements: PodRequirements) -> MatchingPods | None:
    """Counts the pods of which one must be near."""
    affinity = requirements.constraints.affinity if requirements.constraints else ()
    return matching_all(affinity) if affinity else None


def _keys(requirements: PodRequirements) -> set[str]:
    return {term.topology_key for term in requirements.constraints.affinity} if requirements.constraints else set()


def _connected(targets: Mapping[PodRequirements, Iterable[PodRequirements]]) -> list[_Classes]:
    found: list[set[PodRequirements]] = []
    for one, others in targets.items():
        classes = {one, *others}
        for known in [known for known in found if not known.isdisjoint(classes)]:
            classes |= known
            found.remove(known)
        found.append(classes)
    return [frozenset(classes) for classes in found]


def _domains_by(keys: Iterable[str], table: NodeTable) -> tuple[Numbers, int]:
    """Of several keys: the nodes that agree in all of them are one domain."""
    if len(listed := sorted(keys)) == 1:
        return table.domains(listed[0])
    columns = np.stack([table.domains(key)[0] for key in listed])
    complete = (columns >= 0).all(axis=0)
    _, numbers = np.unique(columns, axis=1, return_inverse=True)
    numbers = np.where(complete, numbers.reshape(-1), -1)
    return numbers, int(numbers.max(initial=-1)) + 1


def _is_necessary(key: str, classes: _Classes, wanted: _Wanted, capacity: Capacity) -> bool:
    """Whether every placement has these classes in one domain: each of them needs each, or all need one single pod."""
    table = capacity.table
    needing = [one for one in classes if key in _keys(one)]
    needed = {counter for one in needing if (counter := _needed(one)) is not None}
    for counter in needed:
        for layer in capacity.layers:
            counts = table.counts(counter, layer)
            if counts is not None and counts.any():
                return False  # pods in other domains may be meant, too
    targets = [one for one in classes if not needed.isdisjoint(one.counted)]
    if len(needing) == len(classes):
        return all(needed <= one.counted for one in classes)
    return len(targets) == 1 and wanted[targets[0]] == 1 and targets[0] not in needing
