"""All nodes as columns: what each offers, and who may go there.

Rows are in the order of the nodes' names, so that "the first of the best" is a written tie-break. What depends on
labels and taints only is worked out once per kind of pod and kept until a node changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scheduler.core.model import GPU, Node, Requirement, Shape, Taint, Toleration

Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]

_NAME = "metadata.name"
_CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
_GPU_NODE_PENALTY = 1  # pods without GPUs keep away from nodes with GPUs while there are others
_TAINT_PENALTY = 1000  # a PreferNoSchedule taint weighs more than the sum of usual preferences


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Where pods of a kind may be, whatever room there is, and what stands in the way elsewhere."""

    allowed: Mask
    tainted: Mask  # kept out by a taint
    cordoned: Mask
    unmatched: Mask  # kept out by the pod's own selector or affinity
    penalty: Numbers  # less is better


class NodeTable:
    """Columns by resource, rows by node. `used` counts every bound pod; `leaving` the part of it that is going."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes: list[Node] = sorted(nodes, key=lambda node: node.name)
        self.row = {node.name: number for number, node in enumerate(self.nodes)}
        self.resources = sorted({resource for node in self.nodes for resource in node.allocatable})
        self.column = {resource: number for number, resource in enumerate(self.resources)}
        size = (len(self.resources), len(self.nodes))
        self.allocatable: Numbers = np.zeros(size, np.int64)
        self.used: Numbers = np.zeros(size, np.int64)
        self.leaving: Numbers = np.zeros(size, np.int64)
        for number, node in enumerate(self.nodes):
            for resource, amount in node.allocatable.items():
                self.allocatable[self.column[resource], number] = amount
        self._possible: dict[Shape, bool] = {}
        self._eligibility: dict[tuple[object, ...], Eligibility] = {}
        self._taints: dict[tuple[Taint, ...], list[int]] = {}
        for number, node in enumerate(self.nodes):
            self._taints.setdefault(node.taints, []).append(number)
        self._cordoned = np.array([node.cordoned for node in self.nodes], np.bool_)

    def __len__(self) -> int:
        return len(self.nodes)

    def hold(self, name: str, requests: Sequence[tuple[str, int]], *, leaving: bool, sign: int) -> None:
        """Count a bound pod in (+1) or out (-1)."""
        row = self.row.get(name)
        if row is None:
            return
        for resource, amount in requests:
            column = self.column.get(resource)
            if column is not None:
                self.used[column, row] += sign * amount
                if leaving:
                    self.leaving[column, row] += sign * amount

    def columns(self, shape: Shape) -> list[tuple[int, int]] | None:
        """The columns and amounts that a pod needs; None when no node has ever offered one of them."""
        try:
            return [(self.column[resource], amount) for resource, amount in shape.requests if amount > 0]
        except KeyError:
            return None

    def could_ever_take(self, shape: Shape) -> bool:
        """Whether some node, if it were empty, would do."""
        found = self._possible.get(shape)
        if found is None:
            columns = self.columns(shape)
            fits = self.eligibility(shape).allowed.copy()
            for column, amount in columns or ():
                fits &= self.allocatable[column] >= amount
            found = self._possible[shape] = columns is not None and bool(fits.any())
        return found

    def eligibility(self, shape: Shape) -> Eligibility:
        wants_gpu = any(resource == GPU and amount for resource, amount in shape.requests)
        kind = (shape.selector, shape.affinity, shape.preferred, shape.tolerations, wants_gpu)
        found = self._eligibility.get(kind)
        if found is None:
            found = self._eligibility[kind] = self._judge(shape, wants_gpu)
        return found

    def _judge(self, shape: Shape, wants_gpu: bool) -> Eligibility:
        tainted, penalty = np.zeros(len(self), np.bool_), np.zeros(len(self), np.int64)
        for taints, rows in self._taints.items():
            unwelcome = [taint for taint in taints if not tolerated(taint, shape.tolerations)]
            tainted[rows] = any(taint.effect != "PreferNoSchedule" for taint in unwelcome)
            penalty[rows] += _TAINT_PENALTY * sum(taint.effect == "PreferNoSchedule" for taint in unwelcome)
        unmatched = np.zeros(len(self), np.bool_)
        if shape.selector or shape.affinity:
            unmatched[:] = [not matches(node, shape) for node in self.nodes]
        for weight, term in shape.preferred:
            penalty -= weight * np.array([_holds_all(node, term) for node in self.nodes], np.int64)
        if not wants_gpu and GPU in self.column:
            penalty += _GPU_NODE_PENALTY * (self.allocatable[self.column[GPU]] > 0)
        cordoned = self._cordoned if not tolerated(_CORDON, shape.tolerations) else np.zeros(len(self), np.bool_)
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


def matches(node: Node, shape: Shape) -> bool:
    """Whether the node is one that the pod asks for."""
    if any(node.labels.get(key) != value for key, value in shape.selector):
        return False
    return not shape.affinity or any(term and _holds_all(node, term) for term in shape.affinity)


def _holds_all(node: Node, term: tuple[Requirement, ...]) -> bool:
    return all(holds(requirement, {_NAME: node.name, **node.labels}) for requirement in term)


def holds(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    """One line of a selector, as Kubernetes reads it: a missing label is not in any list, and is never compared."""
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
