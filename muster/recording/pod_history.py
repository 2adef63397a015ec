"""The life of one pod or node, told by its moments: created, nominated, bound, running, marked, deleting, gone.

A lifeline belongs to a uid: a pod that is deleted and created again under its name has two of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from muster.chronicle.objects import Condition, Node, Pod
from muster.chronicle.quantities import amounts, asked_by
from muster.chronicle.records import Moment, Record

CANARY_ROLE = "canary"
ROLE_LABEL = "muster.dev/role"
STANDS_FOR_LABEL = "muster.dev/stands-for"
_MARKS = ("DisruptionTarget", "TerminationTarget")  # conditions of pods that have to go; the second one is Kueue's


@dataclass(slots=True)
class PodLife:
    """Everything the questions ask about one pod."""

    name: str
    namespace: str
    uid: str
    created: Moment
    pod: Pod  # the newest state
    asks: dict[str, int]
    states: list[tuple[Moment, Pod]] = field(default_factory=list)
    nominations: list[tuple[Moment, str]] = field(default_factory=list)  # "" where a nomination was cleared
    bound: Moment | None = None
    running: Moment | None = None
    ended: Moment | None = None
    marked: Moment | None = None
    mark: Condition | None = None
    deleting: Moment | None = None
    gone: Moment | None = None
    refused: Moment | None = None  # the newest PodScheduled=False
    refusal: Condition | None = None

    @classmethod
    def begin(cls, record: Record) -> PodLife:
        pod = record.object
        assert isinstance(pod, Pod)
        meta = pod.metadata
        return cls(meta.name, meta.namespace, meta.uid, record.moment, pod, asked_by(pod))

    @property
    def node(self) -> str:
        return self.pod.spec.node_name

    @property
    def priority(self) -> int:
        return self.pod.spec.priority

    @property
    def is_canary(self) -> bool:
        return self.pod.metadata.labels.get(ROLE_LABEL) == CANARY_ROLE

    @property
    def stands_for(self) -> str:
        """The gang that a pod of the scheduler's own holds room for; empty for all other pods."""
        return self.pod.metadata.labels.get(STANDS_FOR_LABEL, "")

    @property
    def let_go(self) -> Moment | None:
        """When it stopped holding its room: gone, or in a terminal phase."""
        return min((moment for moment in (self.gone, self.ended) if moment), default=None)

    def holds_room_at(self, moment: Moment) -> bool:
        if self.bound is None or self.bound > moment:
            return False
        return self.let_go is None or self.let_go > moment

    @property
    def milestones(self) -> tuple[Moment | None, ...]:
        """What has become of it. Words and nominations may flap without end; these do not."""
        return self.bound, self.running, self.ended, self.deleting, self.gone

    def add(self, record: Record) -> None:
        pod, moment = record.object, record.moment
        assert isinstance(pod, Pod)
        self.pod = pod
        self.states.append((moment, pod))
        if pod.spec.node_name and self.bound is None:
            self.bound = moment
        if pod.status.phase == "Running" and self.running is None:
            self.running = moment
        if pod.status.phase in ("Succeeded", "Failed") and self.ended is None:
            self.ended = moment
        if pod.metadata.deletion_timestamp and self.deleting is None:
            self.deleting = moment
        if record.change == "DELETED":
            self.gone = moment
            self.deleting = self.deleting or moment
        self._note_nomination(moment, pod.status.nominated_node_name)
        for condition in pod.status.conditions:
            self._note_condition(moment, condition)

    def _says_more(self, condition: Condition) -> bool:
        """The first mark counts, and Kubernetes' own before that of others."""
        return self.mark is None or _MARKS.index(condition.type) < _MARKS.index(self.mark.type)

    def _note_nomination(self, moment: Moment, node: str) -> None:
        if node != (self.nominations[-1][1] if self.nominations else ""):
            self.nominations.append((moment, node))

    def _note_condition(self, moment: Moment, condition: Condition) -> None:
        if condition.type in _MARKS and condition.status == "True" and self._says_more(condition):
            self.marked, self.mark = moment, condition
        if condition.type == "PodScheduled" and condition.status == "False" and condition != self.refusal:
            self.refused, self.refusal = moment, condition


@dataclass(slots=True)
class NodeLife:
    """A node through its changes: what it offered and which taints it had, at any moment."""

    name: str
    states: list[tuple[Moment, Node]] = field(default_factory=list)
    gone: Moment | None = None

    def add(self, record: Record) -> None:
        node = record.object
        assert isinstance(node, Node)
        self.states.append((record.moment, node))
        self.gone = record.moment if record.change == "DELETED" else None

    @property
    def node(self) -> Node:
        return self.states[-1][1]

    @property
    def ready(self) -> bool:
        """Ready, and without the taint that every new node carries until the node controller has seen it."""
        ready = any(one.type == "Ready" and one.status == "True" for one in self.node.status.conditions)
        return self.gone is None and ready and not any("not-ready" in taint.key for taint in self.node.spec.taints)

    def at(self, moment: Moment) -> Node | None:
        """The newest state at that moment."""
        found = None
        for when, node in self.states:
            if when > moment:
                break
            found = node
        return found

    def offers_at(self, moment: Moment) -> dict[str, int]:
        node = self.at(moment)
        return amounts(node.status.allocatable) if node else {}
