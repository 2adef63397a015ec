"""What keeps a pod off a node beside taints, selectors and resources: the constraints regarding other pods.

One list serves the decision and its explanation. The reasons are kube-scheduler's words, in the order of its filters.

`freed` is for preemption, and has the shape of a layer: what would be free on each node if its own victims were gone.
Each node is judged as if victims went from it alone, as in kube-scheduler's dry run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

import numpy as np

from scheduler.core import pod_affinity, topology_spread
from scheduler.core.node_table import Mask, NodeTable, Numbers
from scheduler.core.pod_constraints import (
    ANY_ADDRESS,
    AntiAffinityOwners,
    Counter,
    ExclusiveClaim,
    HostPort,
    MatchingPods,
    PodConstraints,
    VolumeUsers,
    matching,
    matching_all,
    spread_counter,
)
from scheduler.core.scheduling_types import PodRequirements
from scheduler.core.volume_requirements import CLAIM_IN_USE, NO_VOLUME

_NONE = PodConstraints()


def excluded(
    requirements: PodRequirements, table: NodeTable, layers: Sequence[Numbers], freed: Numbers | None = None
) -> Iterator[tuple[str, Mask]]:
    """By reason, the nodes that are excluded; a reason that cannot apply to such a pod is left out."""
    wanted = requirements.constraints or _NONE
    if wanted.ports:
        yield (
            "node(s) didn't have free ports for the requested pod ports",
            _conflicting_ports(wanted.ports, table, layers, freed),
        )
    if wanted.claims:
        yield CLAIM_IN_USE, _claims_in_use(wanted.claims, table, layers)
    if wanted.volumes:
        yield NO_VOLUME, _volumes_used_up(wanted.volumes, table, layers)
    if wanted.spread:
        yield (
            "node(s) didn't match pod topology spread constraints (missing required label)",
            topology_spread.without_keys(requirements, table),
        )
        yield (
            "node(s) didn't match pod topology spread constraints",
            topology_spread.exceeds_skew(requirements, table, layers, freed),
        )
    if wanted.affinity:
        yield (
            "node(s) didn't match pod affinity rules",
            pod_affinity.violates_affinity(requirements, table, layers, freed),
        )
    if wanted.anti_affinity:
        yield (
            "node(s) didn't match pod anti-affinity rules",
            pod_affinity.violates_anti_affinity(requirements, table, layers, freed),
        )
    if requirements.counted:
        yield (
            "node(s) didn't satisfy existing pods anti-affinity rules",
            pod_affinity.excluded_by_others(requirements, table, layers, freed),
        )


def allowed(
    requirements: PodRequirements, table: NodeTable, layers: Sequence[Numbers], freed: Numbers | None = None
) -> Mask:
    found = np.ones(len(table), np.bool_)
    for _, nodes in excluded(requirements, table, layers, freed):
        found &= ~nodes
    return found


def excluded_for_good(requirements: PodRequirements, table: NodeTable, layers: Sequence[Numbers]) -> Mask:
    """The nodes on which such a pod is excluded whatever pods join: affinity and spread are left out."""
    wanted = requirements.constraints
    if wanted is not None:
        requirements = replace(requirements, constraints=replace(wanted, affinity=(), spread=()))
    return ~allowed(requirements, table, layers)


def takes_one_only(requirements: PodRequirements, table: NodeTable) -> Mask:
    """The nodes on which such a pod excludes another one like it."""
    wanted = requirements.constraints or _NONE
    found = np.full(len(table), bool(wanted.ports or wanted.claims), np.bool_)
    for term in wanted.anti_affinity:
        if matching(term) in requirements.counted:
            found |= table.domains(term.topology_key)[0] >= 0
    return found


def may_exclude(requirements: PodRequirements, table: NodeTable) -> Iterator[Counter]:
    """The counters that exclude such a pod from a node, or from a domain, when they count more pods."""
    wanted = requirements.constraints
    if wanted is not None:
        yield from (matching(term) for term in wanted.anti_affinity)
        if wanted.affinity:  # the first pod of its kind may start anywhere: it is not the first if there is another
            yield matching_all(wanted.affinity)
        yield from (spread for one in wanted.spread if one.required and (spread := spread_counter(one)))
        if wanted.ports:
            yield from (one for one in table.counter_column if any(_ports_conflict(port, one) for port in wanted.ports))
    for counted in requirements.counted:
        if isinstance(counted, MatchingPods):
            yield from (one for one in table.owners.get(counted, ()) if isinstance(one, AntiAffinityOwners))


def may_need(requirements: PodRequirements) -> Iterator[Counter]:
    """The counters that exclude such a pod from a node, or from a domain, when they count fewer pods."""
    wanted = requirements.constraints
    if wanted is not None:
        if wanted.affinity:
            yield matching_all(wanted.affinity)
        yield from (spread for one in wanted.spread if one.required and (spread := spread_counter(one)))


def preference(requirements: PodRequirements, table: NodeTable, layer: Numbers, rows: Numbers) -> Numbers | None:
    """How far these rows are preferred because of other pods; None if they are all alike."""
    scores = [
        found
        for score in (pod_affinity.score, topology_spread.score)
        if (found := score(requirements, table, layer, rows)) is not None
    ]
    return sum(scores[1:], scores[0]) if scores else None


def _conflicting_ports(
    wanted: Set[HostPort], table: NodeTable, layers: Sequence[Numbers], freed: Numbers | None
) -> Mask:
    """The nodes on which a port that the pod wants is in use, or reserved for a nominated pod."""
    found = np.zeros(len(table), np.bool_)
    for counter in table.counter_column:
        if any(_ports_conflict(port, counter) for port in wanted):
            for layer in layers:
                counts = table.counts(counter, layer)
                if counts is not None:
                    found |= counts > table.freed_counts(counter, freed)
    return found


def _claims_in_use(claims: Set[ExclusiveClaim], table: NodeTable, layers: Sequence[Numbers]) -> Mask:
    """All nodes, if a pod on any of them uses a claim that is for one pod only."""
    counts = (table.counts(claim, layer) for claim in claims for layer in layers)
    in_use = any(found is not None and found.any() for found in counts)
    return np.full(len(table), in_use, np.bool_)


def _volumes_used_up(wanted: Set[VolumeUsers], table: NodeTable, layers: Sequence[Numbers]) -> Mask:
    """The nodes that had free volumes, which other pods of this cycle have been given."""
    found = np.zeros(len(table), np.bool_)
    for users in wanted:
        slots = table.volume_slots(users.requirement)
        for layer in layers:
            counts = table.counts(users, layer)
            if counts is not None:
                found |= (counts >= slots) & (slots > 0)
    return found


def _ports_conflict(wanted: HostPort, used: Counter) -> bool:
    """All addresses conflict with every address, and every address with all addresses."""
    return (
        isinstance(used, HostPort)
        and (used.protocol, used.port) == (wanted.protocol, wanted.port)
        and (used.address == wanted.address or ANY_ADDRESS in (used.address, wanted.address))
    )
