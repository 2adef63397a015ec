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
    asks_gpus: int = 0  # what its minimum asks for, all together


@dataclass(frozen=True)
class QueueRequest:
    """A share of the cluster: what its work may use at most."""

    name: str
    gpus: int | None = None
    cpus: int | None = None
    is_open: bool = True
    weight: int = 1


@dataclass(frozen=True)
class NodeRequest:
    """One node: what it offers and what it asks pods to put up with."""

    name: str
    gpus: int = 0
    cpus: int = 32
    taints: tuple[Taint, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
