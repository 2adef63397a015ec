"""Pod affinity and anti-affinity, as kube-scheduler's InterPodAffinity decides.

A domain is the set of nodes with the same value of the term's topology key. Required anti-affinity holds in both
directions: no pod joins a domain with a pod that it must avoid, or that must avoid it.

Layers: the first is what is bound, terminating pods included; the second has nominated pods instead. A pod that must be
avoided counts in either. A pod that must be near has to be bound; but while none is, the first pod of its kind may
start anywhere, and then a nominated pod decides for the next ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from scheduler.core.node_table import Mask, NodeTable, Numbers
from scheduler.core.pod_constraints import (
    AntiAffinityOwners,
    MatchingPods,
    PodTerm,
    PreferenceOwners,
    matching,
    matching_all,
)
from scheduler.core.scheduling_types import PodRequirements

_MAX_SCORE = 100


def excluded_by_others(
    requirements: PodRequirements, table: NodeTable, layers: Sequence[Numbers], freed: Numbers | None = None
) -> Mask:
    """The nodes in a domain with a pod whose required anti-affinity means this pod."""
    found = np.zeros(len(table), np.bool_)
    for owners in _owners(requirements, table):
        if isinstance(owners, AntiAffinityOwners):
            for layer in layers:
                counts = table.counts(owners, layer)
                if counts is not None:
                    found |= table.in_domain(owners.term.topology_key, counts) > table.freed_counts(owners, freed)
    return found


def violates_anti_affinity(
    requirements: PodRequirements, table: NodeTable, layers: Sequence[Numbers], freed: Numbers | None = None
) -> Mask:
    """The nodes in a domain with a pod that the pod's required anti-affinity means."""
    found = np.zeros(len(table), np.bool_)
    for term in requirements.constraints.anti_affinity if requirements.constraints else ():
        for layer in layers:
            counts = table.counts(matching(term), layer)
            if counts is not None:
                found |= table.in_domain(term.topology_key, counts) > table.freed_counts(matching(term), freed)
    return found


def violates_affinity(
    requirements: PodRequirements, table: NodeTable, layers: Sequence[Numbers], freed: Numbers | None = None
) -> Mask:
    """The nodes without one of the topology keys, or in a domain without a pod that matches all terms."""
    terms = requirements.constraints.affinity if requirements.constraints else ()
    if not terms:
        return np.zeros(len(table), np.bool_)
    wanted = matching_all(terms)
    counts = [found for layer in layers if (found := table.counts(wanted, layer)) is not None]
    is_one_itself = wanted in requirements.counted
    gone = table.freed_counts(wanted, freed) if counts else 0
    violated = ~_near(terms, table, counts[:1], gone, is_one_itself)
    if len(counts) > 1:
        violated |= ~_near(terms, table, [np.maximum.reduce(counts)], gone, is_one_itself)
    return violated


def _near(
    terms: Sequence[PodTerm], table: NodeTable, counts: Sequence[Numbers], gone: Numbers | int, is_one_itself: bool
) -> Mask:
    has_keys, near = np.ones(len(table), np.bool_), np.ones(len(table), np.bool_)
    exists = np.zeros(len(table), np.bool_)  # whether any is left in the cluster: victims are on the node itself only
    for term in terms:
        has_key = table.domains(term.topology_key)[0] >= 0
        has_keys &= has_key
        if not counts:
            near[:] = False
            continue
        exists |= counts[0][has_key].sum() > np.where(has_key, gone, 0)
        near &= table.in_domain(term.topology_key, counts[0]) > gone
    return has_keys & (near | ~exists) if is_one_itself else has_keys & near


def score(requirements: PodRequirements, table: NodeTable, layer: Numbers, among: Numbers) -> Numbers | None:
    """From 0 to 100 for these rows, by the weights of preferred terms: its own and those of other pods that mean it."""
    total = np.zeros(len(table), np.int64)
    for weight, term in requirements.constraints.preferred if requirements.constraints else ():
        counts = table.counts(matching(term), layer)
        if counts is not None:
            total += weight * table.in_domain(term.topology_key, counts)
    for owners in _owners(requirements, table):
        if isinstance(owners, PreferenceOwners):
            counts = table.counts(owners, layer)
            if counts is not None:
                total += owners.weight * table.in_domain(owners.term.topology_key, counts)
    scores = total[among]
    lowest, highest = int(scores.min()), int(scores.max())
    if lowest == highest:
        return None
    normalized: Numbers = _MAX_SCORE * (scores - lowest) // (highest - lowest)
    return normalized


def _owners(requirements: PodRequirements, table: NodeTable) -> Iterator[AntiAffinityOwners | PreferenceOwners]:
    """The terms of existing pods that mean such a pod."""
    for counter in requirements.counted:
        if isinstance(counter, MatchingPods):
            yield from table.owners.get(counter, ())
