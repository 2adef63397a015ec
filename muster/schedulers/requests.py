"""The neutral nouns: what a scenario asks for, before any scheduler's dialect gives it a shape."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from muster.errors import UsageError

_TAINT = re.compile(r"^(?P<key>[^=:]+)(?:=(?P<value>[^:]*))?:(?P<effect>NoSchedule|PreferNoSchedule|NoExecute)$")


@dataclass(frozen=True)
class Toleration:
    """What a pod puts up with; the empty toleration with operator Exists puts up with everything."""

    key: str = ""
    operator: str = "Exists"
    value: str = ""
    effect: str = ""
    seconds: int | None = None  # how long it puts up with a NoExecute taint; None: for ever


@dataclass(frozen=True)
class Taint:
    """What a node asks for: `gpu_node=invalid:NoSchedule`."""

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
    """One pod: what it needs, how important it is, and how it leaves."""

    name: str
    gpus: int = 0
    priority: int | None = None
    priority_class: str = ""
    may_preempt: bool = True
    node: str = ""  # only this node will do
    tolerations: tuple[Toleration, ...] = ()
    leaves_within: str = ""  # a Go duration such as 2s: how long it takes to terminate
    labels: dict[str, str] = field(default_factory=dict)
    cpus: str = ""
    gang: str = ""
    queue: str = ""
    role: str = ""
    protected: bool = False  # may not be evicted
    gated: bool = False  # not to be looked at yet
    system: bool = False  # belongs to the cluster itself
    memory: str = ""


@dataclass(frozen=True)
class GangRequest:
    """Pods that start together or not at all: the group object. Its members are pods that name it."""

    name: str
    minimum: int
    queue: str = ""
    priority: int | None = None
    priority_class: str = ""
    roles: dict[str, int] = field(default_factory=dict)  # how many of each role must start together
    with_gangs: tuple[str, ...] = ()  # gangs that start together with this one
    leaves_whole: bool = False  # evicted entirely or not at all
    asks_gpus: int = 0  # what its minimum asks for, all together
    asks_beside: dict[str, str] = field(default_factory=dict)  # and of other resources
    members: tuple[PodRequest, ...] = ()  # the pods that come with it, where they do


@dataclass(frozen=True)
class QueueRequest:
    """A share of the cluster: what its work may use at most."""

    name: str
    gpus: int | None = None
    cpus: int | None = None
    memory: str | None = None
    weight: int = 1
    lends: bool = False  # what it does not use others may, until it asks for it back
    guaranteed_gpus: int = 0  # which nobody takes from it, however much it uses
    strictly_in_order: bool = False  # nobody overtakes the job at the head
    protects_head: bool = False  # a later job starts first only where the head is not delayed by it


@dataclass(frozen=True)
class NodeRequest:
    """One node: what it offers and what it asks pods to put up with."""

    name: str
    gpus: int = 0
    cpus: int = 32
    taints: tuple[Taint, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
