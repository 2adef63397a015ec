"""All nodes as columns: allocatable resources, usage, and which pods may be scheduled there.

Rows are sorted by node name, so that "the first of the best" is a defined tie-break. What depends only on labels and
taints is computed once per set of pod requirements, and cached until a node changes or no pending pod needs it.

Beside the resources there is a column for each counter of pods (see `pod_constraints`), of which no node has any to
allocate: what is "free" there is minus the number of pods. So an allocation, its release and a copy of the free
resources need not tell the two apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from scheduler.core.label_matching import compares, requirement_matches
from scheduler.core.pod_constraints import (
    NODE_NAME,
    AntiAffinityOwners,
    Counter,
    MatchingPods,
    PreferenceOwners,
    Selector,
    SelectorRequirement,
    SpreadPods,
    matching,
)
from scheduler.core.scheduling_types import GPU, Node, PodRequirements, Taint, Toleration
from scheduler.core.volume_requirements import UNLIMITED, VolumeRequirement

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]
_K = TypeVar("_K")
_V = TypeVar("_V")

_MAX_USED = (1 << 63) - (1 << 55)  # of one resource of a node: above it, more than a thousand of the largest pods
_CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
_GPU_NODE_PENALTY = 1  # pods without GPUs avoid nodes with GPUs
_TAINT_PENALTY = 1000  # a PreferNoSchedule taint outweighs the usual sum of preference weights


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Which nodes a pod may be scheduled to, resources aside, and why it may not use the others."""

    allowed: Mask
    tainted: Mask  # has an untolerated taint
    cordoned: Mask
    unmatched: Mask  # does not match the pod's node selector or affinity
    penalty: Numbers  # lower is better
    without_volumes: tuple[tuple[str, Mask], ...] = ()  # by reason, the nodes that the pod's volumes exclude


class RecentCache(Generic[_K, _V]):
    """An entry that was not used between two calls of `age` is forgotten at the second of them; no other limit."""

    def __init__(self) -> None:
        self._used: dict[_K, _V] = {}  # since the last call of `age`
        self._before: dict[_K, _V] = {}

    def __len__(self) -> int:
        return len(self._used.keys() | self._before.keys())

    def __setitem__(self, key: _K, value: _V) -> None:
        self._used[key] = value

    def get(self, key: _K) -> _V | None:
        found = self._used.get(key)
        if found is None and key in self._before:
            found = self._used[key] = self._before[key]
        return found

    def age(self) -> None:
        self._before, self._used = self._used, {}


class NodeTable:
    """Columns by resource, rows by node. `used` counts every bound pod; `terminating` its part that is terminating."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes: list[Node] = sorted(nodes, key=lambda node: node.name)
        self.row = {node.name: number for number, node in enumerate(self.nodes)}
        self.resources = sorted({resource for node in self.nodes for resource in node.allocatable})
        self.column = {resource: number for number, resource in enumerate(self.resources)}
        self.counter_column: dict[Counter, int] = {}
        self.owners: dict[MatchingPods, list[AntiAffinityOwners | PreferenceOwners]] = {}  # by the pods that they mean
        self._domains = RecentCache[str, tuple[Numbers, int]]()
        size = (len(self.resources), len(self.nodes))
        self.allocatable: Numbers = np.zeros(size, np.int64)
        self.used: Numbers = np.zeros(size, np.int64)
        self.terminating: Numbers = np.zeros(size, np.int64)
        for number, node in enumerate(self.nodes):
            for resource, amount in node.allocatable.items():
                self.allocatable[self.column[resource], number] = amount
        self._excessive: dict[tuple[int, int], tuple[int, int]] = {}  # used and terminating, by column and row
        self._fits_on_empty_node = RecentCache[PodRequirements, bool]()
        self._eligibility = RecentCache[tuple[object, ...], Eligibility]()
        self._volume_slots = RecentCache[VolumeRequirement, Numbers]()
        self._usage = RecentCache[PodRequirements, tuple[list[tuple[int, int]], list[tuple[int, int]]]]()
        self._label_values = RecentCache[str, tuple[Numbers, dict[str | None, int]]]()
        self._taints: dict[tuple[Taint, ...], list[int]] = {}
        for number, node in enumerate(self.nodes):
            self._taints.setdefault(node.taints, []).append(number)
        self._cordoned = np.array([node.cordoned for node in self.nodes], np.bool_)

    def __len__(self) -> int:
        return len(self.nodes)

    def copy(self) -> NodeTable:
        """With usage and counters of its own. What depends on the nodes alone is shared, caches included."""
        table = copy(self)
        table.used, table.terminating, table._excessive = self.used.copy(), self.terminating.copy(), {**self._excessive}
        table.counter_column = dict(self.counter_column)
        table.owners = {pods: list(owners) for pods, owners in self.owners.items()}
        return table

    def age_caches(self) -> None:
        """Forget the requirements that no pod had in this scheduling cycle and in the last one."""
        self._fits_on_empty_node.age()
        self._eligibility.age()
        self._volume_slots.age()
        self._usage.age()
        self._label_values.age()
        self._domains.age()

    def add_usage(self, name: str, requirements: PodRequirements, *, terminating: bool, sign: int) -> None:
        """Add a bound pod to the usage (+1) or remove it (-1)."""
        row = self.row.get(name)
        if row is None:
            return
        for resource, amount in requirements.requests:
            column = self.column.get(resource)
            if column is not None:
                self._add_amount(column, row, sign * amount, terminating=terminating)
        for counter in requirements.counted:
            column = self.add_counter(counter)
            if not terminating:
                self.used[column, row] += sign
            elif not isinstance(counter, SpreadPods):
                self.used[column, row] += sign
                self.terminating[column, row] += sign

    def _add_amount(self, column: int, row: int, amount: int, *, terminating: bool) -> None:
        """What does not fit into 64 bits is counted beside the columns: a node that is too full must not look free."""
        known = int(self.used[column, row]), int(self.terminating[column, row])
        used, gone = self._excessive.pop((column, row), known)
        used, gone = used + amount, gone + (amount if terminating else 0)
        if used > _MAX_USED:
            self._excessive[column, row] = used, gone
            used, gone = _MAX_USED, _MAX_USED - min(used - gone, _MAX_USED)
        self.used[column, row], self.terminating[column, row] = used, gone

    def add_counter(self, counter: Counter) -> int:
        """The column of the counter: a new one, unless it has one."""
        if counter in self.counter_column:
            return self.counter_column[counter]
        column = self.counter_column[counter] = len(self.column) + len(self.counter_column)
        self._usage = RecentCache()
        if isinstance(counter, AntiAffinityOwners | PreferenceOwners):
            self.owners.setdefault(matching(counter.term), []).append(counter)
        if column >= len(self.used):
            more = np.zeros((len(self.used) + 8, len(self)), np.int64)
            self.allocatable, self.used, self.terminating = (
                np.concatenate((array, more)) for array in (self.allocatable, self.used, self.terminating)
            )
        return column

    def counts(self, counter: Counter, layer: Numbers) -> Numbers | None:
        """How many such pods each node has; None if there are none."""
        column = self.counter_column.get(counter)
        return None if column is None else -layer[column]

    def domains(self, topology_key: str) -> tuple[Numbers, int]:
        """The number of each node's domain, -1 for a node without the label; and how many domains there are."""
        found = self._domains.get(topology_key)
        if found is None:
            numbers: dict[str, int] = {}
            values = (node.labels.get(topology_key) for node in self.nodes)
            rows = [-1 if value is None else numbers.setdefault(value, len(numbers)) for value in values]
            found = self._domains[topology_key] = np.array(rows, np.int64), len(numbers)
        return found

    def count_domains(self, topology_key: str, rows: Mask | Numbers) -> int:
        """How many domains these nodes are in; all of them have the label."""
        numbers, size = self.domains(topology_key)
        return int(np.count_nonzero(np.bincount(numbers[rows], minlength=size)))

    def freed_counts(self, counter: Counter, freed: Numbers | None) -> Numbers | int:
        """How many such pods would be gone from each node itself."""
        column = self.counter_column.get(counter)
        return 0 if freed is None or column is None else freed[column]

    def in_domain(self, topology_key: str, counts: Numbers) -> Numbers:
        """The sum over each node's domain; 0 for a node without the label."""
        numbers, size = self.domains(topology_key)
        if size == len(self):
            return counts  # every node is a domain of its own
        sums = np.bincount(numbers + 1, weights=counts, minlength=size + 1).astype(np.int64)
        sums[0] = 0
        in_domain: Numbers = sums[numbers + 1]
        return in_domain

    def columns(self, requirements: PodRequirements) -> list[tuple[int, int]] | None:
        """The columns and amounts that a pod requests; None when no node has one of the resources."""
        try:
            return [(self.column[resource], amount) for resource, amount in requirements.requests if amount > 0]
        except KeyError:
            return None

    def known_columns(self, requirements: PodRequirements) -> list[tuple[int, int]]:
        """The columns and amounts of what such a pod requests; resources that no node has are left out."""
        return self._columns(requirements)[0]

    def usage(self, requirements: PodRequirements) -> list[tuple[int, int]]:
        """The same, and one in each column of a counter that counts such a pod."""
        return self._columns(requirements)[1]

    def _columns(self, requirements: PodRequirements) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        found = self._usage.get(requirements)
        if found is None:
            known = [(self.column[name], amount) for name, amount in requirements.requests if name in self.column]
            counters = [(self.counter_column[one], 1) for one in requirements.counted if one in self.counter_column]
            found = self._usage[requirements] = known, known + counters
        return found

    def fits_on_empty_node(self, requirements: PodRequirements) -> bool:
        """Whether the pod would fit on an eligible node if that were empty."""
        found = self._fits_on_empty_node.get(requirements)
        if found is None:
            columns = self.columns(requirements)
            fits = self.eligibility(requirements).allowed.copy()
            for column, amount in columns or ():
                fits &= self.allocatable[column] >= amount
            found = self._fits_on_empty_node[requirements] = columns is not None and bool(fits.any())
        return found

    def eligibility(self, requirements: PodRequirements) -> Eligibility:
        requests_gpu = any(resource == GPU and amount for resource, amount in requirements.requests)
        rules = requirements.selector, requirements.affinity, requirements.preferred, requirements.tolerations
        key = (*rules, requests_gpu)
        found = self._eligibility.get(key)
        if found is None:
            found = self._eligibility[key] = self._evaluate(requirements, requests_gpu)
        return self._with_volumes(requirements, key, found) if requirements.volumes else found

    def _with_volumes(self, requirements: PodRequirements, key: tuple[object, ...], base: Eligibility) -> Eligibility:
        """Pods of one job share everything but their volumes, and a volume is usually on few nodes."""
        key = (*key, requirements.volumes)
        found = self._eligibility.get(key)
        if found is None:
            without = tuple((one.reason, self.volume_slots(one) == 0) for one in requirements.volumes)
            allowed = base.allowed & ~np.logical_or.reduce([nodes for _, nodes in without])
            found = self._eligibility[key] = replace(base, allowed=allowed, without_volumes=without)
        return found

    def volume_slots(self, requirement: VolumeRequirement) -> Numbers:
        """For how many pods each node has such volumes."""
        found = self._volume_slots.get(requirement)
        if found is None:
            found = self._volume_slots[requirement] = self._count_slots(requirement)
        return found

    def _count_slots(self, requirement: VolumeRequirement) -> Numbers:
        """There may be a term for each of thousands of local volumes, which lists one node: those are counted first."""
        found: Numbers = np.zeros(len(self), np.int64)
        of_value: dict[str, Numbers] = {}  # by label and the number of its value
        limits = requirement.limits or (UNLIMITED,) * len(requirement.terms)
        for term, limit in zip(requirement.terms, limits, strict=True):
            if len(term) == 1 and term[0].operator == "In":
                key, numbers = term[0].key, self._values(term[0].key)[1]
                slots = of_value.setdefault(key, np.zeros(len(numbers), np.int64))
                for value in dict.fromkeys(term[0].values):
                    if value in numbers:
                        slots[numbers[value]] += limit
            else:
                found[self._matches(term)] += limit
        for key, slots in of_value.items():
            found += slots[self._values(key)[0]]
        return found

    def _evaluate(self, requirements: PodRequirements, requests_gpu: bool) -> Eligibility:
        tainted, penalty = np.zeros(len(self), np.bool_), np.zeros(len(self), np.int64)
        for taints, rows in self._taints.items():
            untolerated = [taint for taint in taints if not tolerated(taint, requirements.tolerations)]
            tainted[rows] = any(taint.effect != "PreferNoSchedule" for taint in untolerated)
            penalty[rows] += _TAINT_PENALTY * sum(taint.effect == "PreferNoSchedule" for taint in untolerated)
        for weight, term in requirements.preferred:
            penalty -= weight * self._matches(term)
        if not requests_gpu and GPU in self.column:
            penalty += _GPU_NODE_PENALTY * (self.allocatable[self.column[GPU]] > 0)
        cordoned = self._cordoned if not tolerated(_CORDON, requirements.tolerations) else np.zeros(len(self), np.bool_)
        unmatched = ~self._matches_affinity(requirements)
        return Eligibility(~(tainted | unmatched | cordoned), tainted, cordoned, unmatched, penalty)

    def _matches_affinity(self, requirements: PodRequirements) -> Mask:
        """The nodes that match the pod's node selector and required affinity."""
        found = self._matches(tuple(SelectorRequirement(key, "In", (value,)) for key, value in requirements.selector))
        if requirements.affinity:
            found &= np.logical_or.reduce([self._matches(term) & bool(term) for term in requirements.affinity])
        return found

    def _matches(self, term: Selector) -> Mask:
        """The nodes that match all of these requirements; each value of a label is looked at once."""
        found = np.ones(len(self), np.bool_)
        for requirement in term:
            number_of, numbers = self._values(requirement.key)
            if requirement.operator == "In":  # of thousands of values, such as host names, it lists a few
                listed = [numbers[value] for value in requirement.values if value in numbers]
            else:
                listed = [
                    number
                    for value, number in numbers.items()
                    if requirement_matches(requirement, {} if value is None else {requirement.key: value})
                ]
            found &= np.isin(number_of, listed)
        return found

    def _values(self, key: str) -> tuple[Numbers, dict[str | None, int]]:
        """The number of each node's value of a label, and the numbers by value; None is no value."""
        found = self._label_values.get(key)
        if found is None:
            numbers: dict[str | None, int] = {}
            rows = [numbers.setdefault(label_of(node, key), len(numbers)) for node in self.nodes]
            found = self._label_values[key] = np.array(rows, np.int64), numbers
        return found


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    if toleration.operator in ("Gt", "Lt"):
        return compares(taint.value, toleration.operator, toleration.value)
    return bool(toleration.key) and toleration.value == taint.value


def label_of(node: Node, key: str) -> str | None:
    """The value of a label, or the node's name."""
    return node.name if key == NODE_NAME else node.labels.get(key)


def term_matches(node: Node, term: Selector) -> bool:
    return all(requirement_matches(requirement, {**node.labels, NODE_NAME: node.name}) for requirement in term)
