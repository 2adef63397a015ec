"""The types that decisions are made of, converted once from API objects.

Amounts are whole numbers: millicores, bytes, pieces of everything else; none is above 2**53, so that the sum of a
thousand of them fits into 64 bits, and the node table limits what more of them use. Times are the API's, in seconds. An
object that could not be converted keeps the reason in `problem`: its pods stay pending with that reason, and no other
object is affected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scheduler.core.pod_constraints import Counter, PodConstraints, Selector, SelectorRequirement
from scheduler.core.volume_requirements import VolumeRequirement

Amounts = Mapping[str, int]
Key = tuple[str, str]  # namespace and name

PODS = "pods"  # every pod requests one; a node has a limited number
CPU = "cpu"
MEMORY = "memory"
GPU = "nvidia.com/gpu"
DEFAULT_QUEUE = "default"


def format_amount(resource: str, amount: int) -> str:
    """An amount for messages: CPUs in cores, memory in Gi, Mi or Ki where it is a whole number."""
    if resource == CPU:
        return f"{amount / 1000:g}"
    if resource == MEMORY:
        for unit, size in (("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)):
            if amount % size == 0 and amount:
                return f"{amount // size}{unit}"
    return str(amount)


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of a node."""

    key: str
    value: str
    effect: str  # NoSchedule, PreferNoSchedule or NoExecute


@dataclass(frozen=True, slots=True)
class Toleration:
    """A toleration of a pod. An empty key matches every key, an empty effect every effect."""

    key: str = ""
    operator: str = "Equal"  # or Exists
    value: str = ""
    effect: str = ""


@dataclass(frozen=True, slots=True)
class PodRequirements:
    """Everything that decides where a pod fits. Pods of one job share one object, so a node search serves them all."""

    requests: tuple[tuple[str, int], ...]  # sorted by resource, always with PODS
    selector: tuple[tuple[str, str], ...] = ()
    affinity: tuple[tuple[SelectorRequirement, ...], ...] = ()  # required: at least one term must match
    preferred: tuple[tuple[int, tuple[SelectorRequirement, ...]], ...] = ()  # weights and terms
    tolerations: tuple[Toleration, ...] = ()
    volumes: tuple[VolumeRequirement, ...] = ()  # all must hold
    constraints: PodConstraints | None = None  # regarding other pods
    counted: frozenset[Counter] = frozenset()  # the counters that count such a pod; set by the cluster state
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Decisions look requirements up all the time, and their hash never changes."""
        rules = self.selector, self.affinity, self.preferred, self.tolerations, self.volumes, self.constraints
        object.__setattr__(self, "_hash", hash((self.requests, rules, self.counted)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def concerns_other_pods(self) -> bool:
        """Whether other pods matter to it, or it to them."""
        return self.constraints is not None or bool(self.counted)


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod that has not ended. It uses its requests from binding until it is gone."""

    key: Key
    uid: str
    requirements: PodRequirements
    created: float
    priority: int = 0
    preempts: bool = True  # false: preemptionPolicy Never
    scheduler: str = ""
    node: str = ""  # nodeName
    binding: bool = False  # assumed; not yet confirmed by the API server
    nominated: str = ""
    started: float = 0.0
    gated: bool = False
    terminating: bool = False  # has a deletionTimestamp
    group: Key | None = None
    role: str = ""
    queue: str = ""  # by its own annotation; its group's queue has precedence
    non_preemptible: bool = False  # never a victim
    labels: Mapping[str, str] = field(default_factory=dict)
    default_spread: Selector = ()  # while it is pending: the pods of its namespace among which it is spread by default
    unbound_claims: bool = False  # has claims that are bound only once a node is selected for the pod
    problem: str = ""

    @property
    def requests(self) -> tuple[tuple[str, int], ...]:
        return self.requirements.requests


@dataclass(frozen=True, slots=True)
class Node:
    """A node: allocatable resources, labels, taints."""

    name: str
    allocatable: Amounts
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    cordoned: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """How many members of a group are running, and how many have ended, by their phase in the API."""

    running: int = 0
    succeeded: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """A PodGroup: its pods start all together or not at all."""

    key: Key
    kind: str  # "volcano" or "koordinator": which API its phases belong to
    min_member: int
    created: float
    uid: str = ""
    roles: Mapping[str, int] = field(default_factory=dict)  # minTaskMember: at least so many of each role
    queue: str = ""
    priority: int | None = None  # of its PriorityClass; None: that of its pods
    preempts: bool | None = None  # of its PriorityClass; None: as its pods specify
    linked_groups: frozenset[Key] = frozenset()  # linked PodGroups, which start together with it
    match_policy: str = "once-satisfied"  # or waiting-and-running, only-waiting
    scheduler: str = ""  # that it names itself: serves it until it has members
    disruption_mode_all: bool = False  # evicted as a unit or not at all
    min_resources: Amounts = field(default_factory=dict)  # minResources, if specified
    phase: str = ""  # as the API has it
    counts: Counts = Counts()  # as the API has it
    timed_out: bool = False  # its reservation has exceeded scheduleTimeoutSeconds: for now it reserves nothing
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue: its capability limits what its pods use."""

    name: str
    capability: Amounts = field(default_factory=dict)  # a resource that is not listed is not limited
    is_open: bool = True
    strict: bool | None = None  # strict FIFO; None: as the policy says
    problem: str = ""


@dataclass(frozen=True, slots=True)
class DisruptionBudget:
    """A PodDisruptionBudget: which pods it selects, and how many of them may be disrupted now."""

    key: Key
    allowed: int
    selector: Mapping[str, str] = field(default_factory=dict)
    expressions: tuple[SelectorRequirement, ...] = ()
