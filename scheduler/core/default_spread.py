"""Default topology spread: kube-scheduler's system defaults for the pods of a Service or a controller.

Both constraints are ScheduleAnyway: they rank the nodes and exclude none. A node without one of the labels is still
ranked by the other; only for constraints that a pod declares itself must a node have all topology keys.

Trap: the pods are counted when a pod is placed, among those of its namespace. A counter for each selector, as declared
constraints have, would make every cycle pay for all Services, and pods of two Services would no more be alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from scheduler.core.capacity import Crowding
from scheduler.core.cluster_state import ClusterState
from scheduler.core.node_table import Numbers
from scheduler.core.pod_constraints import Selector
from scheduler.core.pod_counters import matches
from scheduler.core.scheduling_types import Pod

_HOST, _HOST_MAX_SKEW = "kubernetes.io/hostname", 3
_ZONE, _ZONE_MAX_SKEW = "topology.kubernetes.io/zone", 5


class DefaultSpread:
    """Of one scheduling cycle: what is bound, and what the cycle has bound so far."""

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster, self._table = cluster, cluster.table
        self._counts: dict[tuple[str, Selector], Numbers] = {}  # by namespace and selector, the matching pods of a row
        self._bound: dict[tuple[str, str], dict[str | None, list[Pod]]] = {}  # by namespace and key, then by value

    def crowding(self, members: Sequence[Pod]) -> Crowding | None:
        """What ranks the nodes for a single pod; None if it has no default. The members of a gang are packed."""
        return partial(self._crowding, members[0]) if len(members) == 1 and members[0].default_spread else None

    def bind(self, pod: Pod, row: int) -> None:
        for (namespace, selector), counts in self._counts.items():
            if namespace == pod.key[0] and matches(selector, pod.labels):
                counts[row] += 1

    def _crowding(self, pod: Pod, rows: Numbers) -> Numbers:
        """How many matching pods are on the host and in the zone of these rows, weighted as kube-scheduler does."""
        counts = self._matching(pod.key[0], pod.default_spread)
        host, zone = (self._table.domains(key)[0][rows] for key in (_HOST, _ZONE))
        zones = int(np.count_nonzero(np.bincount(zone + 1)))  # the nodes without the label count as one more
        outside = self._table.eligibility(pod.requirements).unmatched
        in_zone = self._table.in_domain(_ZONE, np.where(outside, 0, counts))[rows]
        by_host = counts[rows] * math.log(len(rows) + 2) + (_HOST_MAX_SKEW - 1)
        by_zone = in_zone * math.log(zones + 2) + (_ZONE_MAX_SKEW - 1)
        total: Numbers = np.rint(np.where(host >= 0, by_host, 0) + np.where(zone >= 0, by_zone, 0)).astype(np.int64)
        return total

    def _matching(self, namespace: str, selector: Selector) -> Numbers:
        """By row, the bound pods that match; terminating ones are left out, as by kube-scheduler."""
        counts = self._counts.get((namespace, selector))
        if counts is None:
            counts = self._counts[namespace, selector] = np.zeros(len(self._table), np.int64)
            for pod in self._candidates(namespace, selector):
                row = self._table.row.get(pod.node)
                if row is not None and not pod.terminating and matches(selector, pod.labels):
                    counts[row] += 1
        return counts

    def _candidates(self, namespace: str, selector: Selector) -> list[Pod]:
        """The bound pods that the first requirement may match: a namespace may have many pods of many Services."""
        first = selector[0]
        by_value = self._bound.get((namespace, first.key))
        if by_value is None:
            by_value = self._bound[namespace, first.key] = {}
            for pod in self._cluster.bound_in_namespace(namespace):
                by_value.setdefault(pod.labels.get(first.key), []).append(pod)
        values = first.values if first.operator == "In" else list(by_value)
        return [pod for value in values for pod in by_value.get(value, ())]
