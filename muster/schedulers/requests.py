"""What a scenario requests, independent of any scheduler: pods, gangs, queues, nodes. A dialect writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from muster.errors import UsageError

_TAINT = re.compile(r"^(?P<key>[^=:]+)(?:=(?P<value>[^:]*))?:(?P<effect>NoSchedule|PreferNoSchedule|NoExecute)$")


@dataclass(frozen=True)
class Toleration:
    """Pod toleration; the empty one with operator Exists tolerates every taint."""

    key: str = ""
    operator: str = "Exists"
    value: str = ""
    effect: str = ""
    seconds: int | None = None  # tolerationSeconds of a NoExecute taint; None: for ever


@dataclass(frozen=True)
class Taint:
    """Node taint: `gpu_node=invalid:NoSchedule`."""

    key: str
    value: str
    effect: str

    @classmethod
    def parse(cls, text: str) -> Taint:
        match = _TAINT.match(text.strip())
        if match is None:
            raise UsageError(f"{text!r} is not a taint: write key=value:NoSchedule (or PreferNoSchedule, NoExecute)")
        return cls(match["key"], match["value"] or "", match["effect"])


@dataclass(frozen=True)
class PodRequest:
    """One pod: its resources, its priority, and how it terminates."""

    name: str
    gpus: int = 0
    priority: int | None = None
    priority_class: str = ""
    may_preempt: bool = True
    node: str = ""  # the only node that it may be bound to
    tolerations: tuple[Toleration, ...] = ()
    long_grace_period: bool = False  # once deleted it terminates until the scenario ends its grace period
    labels: dict[str, str] = field(default_factory=dict)
    cpus: str = ""
    gang: str = ""
    queue: str = ""
    role: str = ""
    non_preemptible: bool = False
    gated: bool = False  # with a scheduling gate
    system: bool = False  # a pod of the cluster itself, such as those of kube-system
    memory: str = ""
    app: str = ""  # its label app, which anti-affinity and topology spread select
    node_selector: dict[str, str] = field(default_factory=dict)  # labels of the nodes that it may be bound to
    node_affinity: dict[str, str] = field(default_factory=dict)  # the same as required node affinity
    anti_affinity_app: str = ""  # required anti-affinity: no node with a pod of this app
    spread: bool = False  # DoNotSchedule topology spread over the nodes, among the pods of its own app
    resource_claim: str = ""  # the name of a ResourceClaim
    volume_claim: str = ""  # the name of a PersistentVolumeClaim that it mounts
    of_another_scheduler: bool = False  # its schedulerName is not that of the scheduler under test
    bound_to: str = ""  # the node to which that other scheduler has bound it
    finalizer: bool = False  # once deleted it stays as an object, although its containers have ended
    namespace: str = ""  # another namespace of the scenario; empty: its own


@dataclass(frozen=True)
class GangRequest:
    """Pods of which at least `min_member` are bound together, or none: the group object. Its members name it."""

    name: str
    min_member: int
    queue: str = ""
    priority: int | None = None
    priority_class: str = ""
    roles: dict[str, int] = field(default_factory=dict)  # minimum for each role
    linked_gangs: tuple[str, ...] = ()  # gangs that are scheduled together with this one
    disruption_mode_all: bool = False  # preempted as a unit
    min_gpus: int = 0  # what min_member pods request in total
    min_other_resources: dict[str, str] = field(default_factory=dict)  # the same of other resources
    members: tuple[PodRequest, ...] = ()  # the pods that are created with it, if any
    namespace: str = ""  # another namespace of the scenario; empty: its own


@dataclass(frozen=True)
class QueueRequest:
    """A queue and its capability."""

    name: str
    gpus: int | None = None
    cpus: int | None = None
    memory: str | None = None
    weight: int = 1
    lends: bool = False  # other queues may borrow what it does not use, until it reclaims it
    guaranteed_gpus: int = 0  # never reclaimed from it
    strict_fifo: bool = False  # a pending head blocks all later jobs
    reserves_for_head: bool = False  # EASY backfill: a later job starts first only if that does not delay the head


@dataclass(frozen=True)
class NodeRequest:
    """One node: its allocatable resources, taints and labels."""

    name: str
    gpus: int = 0
    cpus: int = 32
    memory: str = "256Gi"
    taints: tuple[Taint, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
