"""All nodes as columns: allocatable resources, usage, and which pods may be scheduled there.

Rows are sorted by node name, so that "the first of the best" is a defined tie-break. What depends only on labels and
taints is computed once per set of pod requirements and cached until a node changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scheduler.core.scheduling_types import GPU, Node, PodRequirements, SelectorRequirement, Taint, Toleration

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]

_NAME = "metadata.name"
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


class NodeTable:
    """Columns by resource, rows by node. `used` counts every bound pod; `terminating` its part that is terminating."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes: list[Node] = sorted(nodes, key=lambda node: node.name)
        self.row = {node.name: number for number, node in enumerate(self.nodes)}
        self.resources = sorted({resource for node in self.nodes for resource in node.allocatable})
        self.column = {resource: number for number, resource in enumerate(self.resources)}
        size = (len(self.resources), len(self.nodes))
        self.allocatable: Numbers = np.zeros(size, np.int64)
        self.used: Numbers = np.zeros(size, np.int64)
        self.terminating: Numbers = np.zeros(size, np.int64)
        for number, node in enumerate(self.nodes):
            for resource, amount in node.allocatable.items():
                self.allocatable[self.column[resource], number] = amount
        self._fits_on_empty_node: dict[PodRequirements, bool] = {}
        self._eligibility: dict[tuple[object, ...], Eligibility] = {}
        self._taints: dict[tuple[Taint, ...], list[int]] = {}
        for number, node in enumerate(self.nodes):
            self._taints.setdefault(node.taints, []).append(number)
        self._cordoned = np.array([node.cordoned for node in self.nodes], np.bool_)

    def __len__(self) -> int:
        return len(self.nodes)

    def add_usage(self, name: str, requests: Sequence[tuple[str, int]], *, terminating: bool, sign: int) -> None:
        """Add a bound pod to the usage (+1) or remove it (-1)."""
        row = self.row.get(name)
        if row is None:
            return
        for resource, amount in requests:
            column = self.column.get(resource)
            if column is not None:
                self.used[column, row] += sign * amount
                if terminating:
                    self.terminating[column, row] += sign * amount

    def columns(self, requirements: PodRequirements) -> list[tuple[int, int]] | None:
        """The columns and amounts that a pod requests; None when no node has one of the resources."""
        try:
            return [(self.column[resource], amount) for resource, amount in requirements.requests if amount > 0]
        except KeyError:
            return None

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
        constraints = requirements.selector, requirements.affinity, requirements.preferred, requirements.tolerations
        key = (*constraints, requests_gpu)
        found = self._eligibility.get(key)
        if found is None:
            found = self._eligibility[key] = self._evaluate(requirements, requests_gpu)
        return found

    def _evaluate(self, requirements: PodRequirements, requests_gpu: bool) -> Eligibility:
        tainted, penalty = np.zeros(len(self), np.bool_), np.zeros(len(self), np.int64)
        for taints, rows in self._taints.items():
            untolerated = [taint for taint in taints if not tolerated(taint, requirements.tolerations)]
            tainted[rows] = any(taint.effect != "PreferNoSchedule" for taint in untolerated)
            penalty[rows] += _TAINT_PENALTY * sum(taint.effect == "PreferNoSchedule" for taint in untolerated)
        unmatched = np.zeros(len(self), np.bool_)
        if requirements.selector or requirements.affinity:
            unmatched[:] = [not matches_affinity(node, requirements) for node in self.nodes]
        for weight, term in requirements.preferred:
            penalty -= weight * np.array([_term_matches(node, term) for node in self.nodes], np.int64)
        if not requests_gpu and GPU in self.column:
            penalty += _GPU_NODE_PENALTY * (self.allocatable[self.column[GPU]] > 0)
        cordoned = self._cordoned if not tolerated(_CORDON, requirements.tolerations) else np.zeros(len(self), np.bool_)
        return Eligibility(~(tainted | unmatched | cordoned), tainted, cordoned, unmatched, penalty)


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return bool(toleration.key) and toleration.value == taint.value


def matches_affinity(node: Node, requirements: PodRequirements) -> bool:
    """Whether the node matches the pod's node selector and required affinity."""
    if any(node.labels.get(key) != value for key, value in requirements.selector):
        return False
    return not requirements.affinity or any(term and _term_matches(node, term) for term in requirements.affinity)


def _term_matches(node: Node, term: tuple[SelectorRequirement, ...]) -> bool:
    return all(requirement_matches(requirement, {_NAME: node.name, **node.labels}) for requirement in term)


def requirement_matches(requirement: SelectorRequirement, labels: Mapping[str, str]) -> bool:
    """Evaluate one selector requirement as Kubernetes does: a missing label is in no list, and compares to nothing."""
    value = labels.get(requirement.key)
    match requirement.operator:
        case "In":
            return value in requirement.values
        case "NotIn":
            return value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            try:
                found, bound = int(value or ""), int(requirement.values[0])
            except (ValueError, IndexError):
                return False
            return found > bound if requirement.operator == "Gt" else found < bound
    return False
