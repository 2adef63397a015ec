"""Which free volumes of a storage class fit a pod's claims, and on which nodes: by node, and for all nodes at once.

Claims are matched as kube-scheduler does it: the smallest claim first, each with the smallest volume that fits.

For all nodes at once, volumes with the same node affinity are one group: local volumes of one node, say. A node can be
used if the volumes of one group, with those that every node can use, suffice for all claims. Volumes of two groups with
different affinities are not combined for one pod. On the node that is chosen all volumes count, which can only add to a
group.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scheduler.core.label_matching import requirement_matches
from scheduler.core.node_table import label_of, term_matches
from scheduler.core.pod_constraints import Selector
from scheduler.core.scheduling_types import Key, Node
from scheduler.core.volume_requirements import NO_VOLUME, UNLIMITED, VolumeRequirement
from scheduler.runtime.volume_types import Claim, StorageClass, Volume

_MAX_CACHED = 1000


class ClassVolumes:
    """The free volumes of one storage class."""

    def __init__(self) -> None:
        self._groups: dict[tuple[Selector, ...] | None, dict[str, Volume]] = {}  # by node affinity
        self._by_label: dict[str, dict[str, set[tuple[Selector, ...]]]] = {}  # groups by a label that a term lists
        self._not_listed: set[tuple[Selector, ...]] = set()  # groups with a term that lists no values
        self._requirements: dict[object, VolumeRequirement | None] = {}

    def __bool__(self) -> bool:
        return bool(self._groups)

    def add(self, volume: Volume) -> None:
        self._requirements.clear()
        if volume.terms not in self._groups and volume.terms is not None:
            self._index(volume.terms)
        self._groups.setdefault(volume.terms, {})[volume.name] = volume

    def remove(self, volume: Volume) -> None:
        self._requirements.clear()
        group = self._groups.get(volume.terms, {})
        group.pop(volume.name, None)
        if not group:
            self._groups.pop(volume.terms, None)
            if volume.terms is not None:
                self._remove_from_index(volume.terms)

    def requirement(self, claims: Sequence[Claim], storage_class: StorageClass) -> VolumeRequirement | None:
        """On which nodes these claims can be bound; None: on every node. Pods with like claims share the object."""
        key = storage_class, tuple((one.shape, one.selector) for one in sorted(claims, key=_smallest_first))
        if key not in self._requirements:
            if len(self._requirements) >= _MAX_CACHED:
                self._requirements.clear()
            limits = self._limits(claims, storage_class)
            self._requirements[key] = (
                None if limits is None else VolumeRequirement(NO_VOLUME, tuple(limits), tuple(limits.values()))
            )
        return self._requirements[key]

    def match(self, claims: Iterable[Claim], node: Node) -> dict[Key, Volume]:
        """By claim, the volumes that this node can use; a claim for which there is none is missing."""
        groups = self._not_listed.union(
            *(by_value.get(label_of(node, key) or "", ()) for key, by_value in self._by_label.items())
        )
        usable = [*self._groups.get(None, {}).values()]
        for terms in groups:
            if any(term_matches(node, term) for term in terms):
                usable += self._groups[terms].values()
        return _match(claims, usable)

    def _limits(self, claims: Sequence[Claim], storage_class: StorageClass) -> dict[Selector, int] | None:
        """By term, how many pods with such claims there are volumes for."""
        everywhere = [one for one in self._groups.get(None, {}).values() if any(fits(claim, one) for claim in claims)]
        if storage_class.provisions and storage_class.topologies is None:
            return None
        if len(_match(claims, everywhere)) == len(claims):
            return None
        provisioned = storage_class.topologies or () if storage_class.provisions else ()
        limits = dict.fromkeys(provisioned, UNLIMITED)
        for group, volumes in self._groups.items():
            if group is not None and (limit := _pods(claims, [*everywhere, *volumes.values()])):
                for term in group:
                    limits[term] = limits.get(term, 0) + limit
        return limits

    def _index(self, terms: tuple[Selector, ...]) -> None:
        for label, values in _listed(terms):
            for value in values:
                self._by_label.setdefault(label, {}).setdefault(value, set()).add(terms)
            if not label:
                self._not_listed.add(terms)

    def _remove_from_index(self, terms: tuple[Selector, ...]) -> None:
        self._not_listed.discard(terms)
        for label, values in _listed(terms):
            by_value = self._by_label.get(label, {})
            for value in values:
                by_value.get(value, set()).discard(terms)
                if not by_value.get(value, True):
                    del by_value[value]


def _listed(terms: tuple[Selector, ...]) -> Iterable[tuple[str, tuple[str, ...]]]:
    """For each term, a label of which it lists the values; an empty label where it lists none."""
    for term in terms:
        requirement = next((one for one in term if one.operator == "In"), None)
        yield (requirement.key, requirement.values) if requirement else ("", ())


def _pods(claims: Sequence[Claim], volumes: Sequence[Volume]) -> int:
    """How many pods with such claims these volumes are enough for."""
    pods, free = 0, {volume.name: volume for volume in volumes}
    while len(matched := _match(claims, free.values())) == len(claims):
        pods += 1
        for volume in matched.values():
            del free[volume.name]
    return pods


def _match(claims: Iterable[Claim], volumes: Iterable[Volume]) -> dict[Key, Volume]:
    free = sorted(volumes, key=lambda volume: (volume.shape.size, volume.name))
    found: dict[Key, Volume] = {}
    for claim in sorted(claims, key=_smallest_first):
        volume = next((one for one in free if fits(claim, one)), None)
        if volume is not None:
            free.remove(volume)
            found[claim.key] = volume
    return found


def _smallest_first(claim: Claim) -> tuple[int, Key]:
    return claim.shape.size, claim.key


def fits(claim: Claim, volume: Volume) -> bool:
    """Whether the volume, which is free and of the claim's class, has what the claim asks for."""
    wanted, offered = claim.shape, volume.shape
    return (
        offered.size >= wanted.size
        and wanted.access_modes <= offered.access_modes
        and (offered.mode, offered.attributes_class) == (wanted.mode, wanted.attributes_class)
        and (not claim.selector or _selects(claim.selector, volume))
    )


def _selects(selector: Selector, volume: Volume) -> bool:
    labels = dict(volume.labels)
    return all(requirement_matches(requirement, labels) for requirement in selector)
