"""What a pod's volumes require of its node: a list of requirements that must all hold, each with several ways to do so.

Claims, volumes and storage classes are the runtime's business. It turns them into terms on node labels, so that a
decision treats a volume as it treats node affinity; only the reason differs, and that one volume has one requirement.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a pod's constraints name its volumes, and these the selectors that constraints are made of
    from scheduler.core.pod_constraints import Selector

# kube-scheduler's words, for what keeps a pod off a node.
VOLUME_AFFINITY = "node(s) didn't match PersistentVolume's node affinity"
VOLUME_ZONE = "node(s) had no available volume zone"
NO_VOLUME = "node(s) didn't find available persistent volumes to bind"
CLAIM_IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)


UNLIMITED = 1 << 40  # pods


@dataclass(frozen=True, slots=True)
class VolumeRequirement:
    """The nodes that match one of the terms; none if there are no terms."""

    reason: str  # why the other nodes are excluded
    terms: tuple[Selector, ...]
    limits: tuple[int, ...] = ()  # for each term, how many pods there are free volumes for; empty: volumes in use
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """There may be a term for each of thousands of local volumes, and pods share the requirement."""
        object.__setattr__(self, "_hash", hash((self.reason, self.terms, self.limits)))

    def __hash__(self) -> int:
        return self._hash
