"""Faults of constraints regarding other pods: anti-affinity and topology spread."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scheduler.core import pod_affinity, topology_spread
from scheduler.core.node_table import Mask, NodeTable, Numbers
from scheduler.core.scheduling_types import PodRequirements
from tests.mutation.faults.registry import Patch, fault


@fault('PRE-35: "urgent" stays pending')
def anti_affinity_is_ignored(patch: Patch) -> None:
    """Required pod anti-affinity is ignored."""
    patch.attribute(pod_affinity, "violates_anti_affinity", _no_node)


@fault('PRE-36: "urgent" stays pending')
def topology_spread_is_ignored(patch: Patch) -> None:
    """DoNotSchedule topology spread is ignored."""
    patch.attribute(topology_spread, "exceeds_skew", _no_node)


def _no_node(
    _requirements: PodRequirements, table: NodeTable, _layers: Sequence[Numbers], _freed: Numbers | None = None
) -> Mask:
    return np.zeros(len(table), np.bool_)
