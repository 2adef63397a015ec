"""The nouns of a decision, read once from whatever objects describe them.

Amounts are whole numbers: thousandths of a CPU, bytes, pieces of everything else; none is above 2**53, so that sums fit
into 64 bits. Times are the API's, in seconds. A
noun that could not be read keeps the reason in `problem`: it waits, its owner is told, and nobody else is held up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Amounts = Mapping[str, int]
Key = tuple[str, str]  # namespace and name

PODS = "pods"  # every pod needs one of these: a node offers so many
CPU = "cpu"
MEMORY = "memory"
GPU = "nvidia.com/gpu"
DEFAULT_QUEUE = "default"


def shown(resource: str, amount: int) -> str:
    """An amount as people write it: CPUs, and memory in Gi or Mi where it comes out even."""
    if resource == CPU:
        return f"{amount / 1000:g}"
    if resource == MEMORY:
        for unit, size in (("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)):
            if amount % size == 0 and amount:
                return f"{amount // size}{unit}"
    return str(amount)


@dataclass(frozen=True, slots=True)
class Taint:
    """What a node asks its pods to put up with."""

    key: str
    value: str
    effect: str  # NoSchedule, PreferNoSchedule or NoExecute


@dataclass(frozen=True, slots=True)
class Toleration:
    """What a pod puts up with. No key at all means every key, no effect means every effect."""

    key: str = ""
    operator: str = "Equal"  # or Exists
    value: str = ""
    effect: str = ""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One line of a node selector term: `key operator values`; the key `metadata.name` means the node's name."""

    key: str
    operator: str  # In, NotIn, Exists, DoesNotExist, Gt, Lt
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """All that decides where a pod can be. Pods of one job share theirs, and so does the work of finding a node."""

    requests: tuple[tuple[str, int], ...]  # sorted by resource, always with PODS
    selector: tuple[tuple[str, str], ...] = ()
    affinity: tuple[tuple[Requirement, ...], ...] = ()  # required: one of these terms holds in all its lines
    preferred: tuple[tuple[int, tuple[Requirement, ...]], ...] = ()  # weights and terms
    tolerations: tuple[Toleration, ...] = ()


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod that is not at its end. It holds what it asks for from binding until it is gone."""

    key: Key
    uid: str
    shape: Shape
    created: float
    priority: int = 0
    preempts: bool = True  # false: preemptionPolicy Never
    scheduler: str = ""
    node: str = ""  # where it is bound
    binding: bool = False  # by our decision so far; the API has not said so yet
    nominated: str = ""
    started: float = 0.0
    gated: bool = False
    leaving: bool = False  # being deleted
    group: Key | None = None
    role: str = ""
    queue: str = ""  # by its own annotation; a group's queue comes first
    protected: bool = False  # never a victim
    labels: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""

    @property
    def requests(self) -> tuple[tuple[str, int], ...]:
        return self.shape.requests


@dataclass(frozen=True, slots=True)
class Node:
    """What a node offers, to whom."""

    name: str
    allocatable: Amounts
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    cordoned: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """How the members of a group stand, as the API shows it: who runs by the word of its node, who came to an end."""

    running: int = 0
    succeeded: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """Pods that start together or not at all."""

    key: Key
    kind: str  # "volcano" or "koordinator": whose words its phases are in
    minimum: int
    created: float
    uid: str = ""
    roles: Mapping[str, int] = field(default_factory=dict)  # how many of each role at least
    queue: str = ""
    priority: int | None = None  # by its own class; None: that of its pods
    preempts: bool | None = None  # by its own class; None: as its pods say
    partners: frozenset[Key] = frozenset()  # groups that start together with it
    match: str = "once-satisfied"  # or waiting-and-running, only-waiting
    leaves_whole: bool = False  # evicted entirely or not at all
    least: Amounts = field(default_factory=dict)  # what its minimum asks for all together, where it says so
    phase: str = ""  # as the API has it
    counts: Counts = Counts()  # as the API has it
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Queue:
    """A share of the cluster: what its work may use at most."""

    name: str
    capability: Amounts = field(default_factory=dict)  # a resource that is left out is not limited
    opened: bool = True
    strict: bool | None = None  # whether nobody overtakes the head; None: as the policy says
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Budget:
    """A disruption budget: which pods it covers, and how many of them may go now."""

    key: Key
    allowed: int
    selector: Mapping[str, str] = field(default_factory=dict)
    expressions: tuple[Requirement, ...] = ()
