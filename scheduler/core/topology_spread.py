"""Topology spread, as kube-scheduler's PodTopologySpread decides.

Skew: the matching pods in the node's domain, with the pod itself if it matches, minus the fewest in any domain. Domains
are made up of the nodes that have all topology keys and that the two inclusion policies admit; where there are fewer
than minDomains, the fewest is 0. A required constraint keeps the skew at or below maxSkew; others rank the nodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from scheduler.core.node_table import Mask, NodeTable, Numbers
from scheduler.core.pod_constraints import SpreadConstraint, spread_counter
from scheduler.core.scheduling_types import PodRequirements

_MAX_SCORE = 100


def without_keys(requirements: PodRequirements, table: NodeTable) -> Mask:
    """The nodes that lack the topology key of a required constraint."""
    return ~_has_keys(_constraints(requirements, required=True), table)


def exceeds_skew(
    requirements: PodRequirements, table: NodeTable, layers: Sequence[Numbers], freed: Numbers | None = None
) -> Mask:
    """The nodes on which the pod would exceed the maxSkew of a required constraint.

    A domain that victims leave as the one with the fewest pods has no skew to exceed: the fewest need not be updated.
    """
    found = np.zeros(len(table), np.bool_)
    constraints = _constraints(requirements, required=True)
    has_keys = _has_keys(constraints, table)
    for constraint in constraints:
        included = has_keys & _included(constraint, requirements, table)
        counter = spread_counter(constraint)
        itself = constraint.selector is not None and (counter is None or counter in requirements.counted)
        for layer in layers:
            in_domain, fewest = _spread(constraint, included, table, layer)
            gone = np.where(included, table.freed_counts(counter, freed), 0) if counter else 0
            found |= has_keys & (in_domain - gone + int(itself) - fewest > constraint.max_skew)
    return found


def score(requirements: PodRequirements, table: NodeTable, layer: Numbers, among: Numbers) -> Numbers | None:
    """From 0 to 100 for these rows: the fewer matching pods in the domain, the more."""
    constraints = _constraints(requirements, required=False)
    if not constraints:
        return None
    scored = _has_keys(constraints, table)[among]
    if not scored.any():
        return None
    total = np.zeros(len(among), np.float64)
    has_keys = _has_keys(constraints, table)
    for constraint in constraints:
        included = has_keys & _included(constraint, requirements, table)
        in_domain, _ = _spread(constraint, included, table, layer)
        domains = table.count_domains(constraint.topology_key, among[scored])
        total += in_domain[among] * math.log(domains + 2) + constraint.max_skew - 1
    rounded = np.rint(total).astype(np.int64)
    lowest, highest = int(rounded[scored].min()), int(rounded[scored].max())
    if highest == 0:
        return np.where(scored, _MAX_SCORE, 0)
    return np.where(scored, _MAX_SCORE * (highest + lowest - rounded) // highest, 0)


def _constraints(requirements: PodRequirements, *, required: bool) -> list[SpreadConstraint]:
    found = requirements.constraints.spread if requirements.constraints else ()
    return [constraint for constraint in found if constraint.required == required]


def _has_keys(constraints: Sequence[SpreadConstraint], table: NodeTable) -> Mask:
    found = np.ones(len(table), np.bool_)
    for constraint in constraints:
        found &= table.domains(constraint.topology_key)[0] >= 0
    return found


def _included(constraint: SpreadConstraint, requirements: PodRequirements, table: NodeTable) -> Mask:
    """The nodes that the inclusion policies admit. A cordon is no taint."""
    eligibility, found = table.eligibility(requirements), np.ones(len(table), np.bool_)
    if constraint.honor_affinity:
        found &= ~eligibility.unmatched
    if constraint.honor_taints:
        found &= ~eligibility.tainted
    return found


def _spread(constraint: SpreadConstraint, included: Mask, table: NodeTable, layer: Numbers) -> tuple[Numbers, int]:
    """How many matching pods the domain of each node has, and the fewest in any domain."""
    counter = spread_counter(constraint)
    counts = table.counts(counter, layer) if counter else None
    if counts is None:
        counts = np.zeros(len(table), np.int64)
    in_domain = table.in_domain(constraint.topology_key, np.where(included, counts, 0))
    domains = table.count_domains(constraint.topology_key, included)
    fewest = int(in_domain[included].min()) if domains and domains >= constraint.min_domains else 0
    return in_domain, fewest
