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


@dataclass(frozen=True)
class NodeRequest:
    """One node: what it offers and what it asks pods to put up with."""

    name: str
    gpus: int = 0
    cpus: int = 32
    taints: tuple[Taint, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
