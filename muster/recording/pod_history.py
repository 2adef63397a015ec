"""The history of one pod or node: when it was created, nominated, bound, running, disrupted, deleted and gone.

A history belongs to a uid: a pod that is deleted and created again under the same name has two of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from muster.recording.conventions import KUBERNETES
from muster.recording.objects import Condition, Node, Pod
from muster.recording.quantities import amounts, requests_of
from muster.recording.records import Moment, Record

PROBE_ROLE = "probe"
ROLE_LABEL = "muster.dev/role"
PLACEHOLDER_LABEL = "muster.dev/placeholder-for"


@dataclass(slots=True)
class PodHistory:
    """The milestones of one pod, and all states in which it was seen."""

    name: str
    namespace: str
    uid: str
    created: Moment
    latest: Pod  # the newest state
    requests: dict[str, int]
    disruption_conditions: tuple[str, ...] = KUBERNETES.disruption_conditions
    states: list[tuple[Moment, Pod]] = field(default_factory=list)
    nominations: list[tuple[Moment, str]] = field(default_factory=list)  # "" where a nomination was cleared
    bound: Moment | None = None
    running: Moment | None = None
    ended: Moment | None = None
    disrupted: Moment | None = None  # when the condition came that marks it as a victim
    disruption: Condition | None = None
    deleting: Moment | None = None
    gone: Moment | None = None
    scheduling_failed: Moment | None = None  # the newest PodScheduled=False
    scheduling_failure: Condition | None = None

    @classmethod
    def begin(
        cls, record: Record, disruption_conditions: tuple[str, ...] = KUBERNETES.disruption_conditions
    ) -> PodHistory:
        pod = record.object
        assert isinstance(pod, Pod)
        meta = pod.metadata
        return cls(meta.name, meta.namespace, meta.uid, record.moment, pod, requests_of(pod), disruption_conditions)

    @property
    def node(self) -> str:
        return self.latest.spec.node_name

    @property
    def priority(self) -> int:
        return self.latest.spec.priority

    @property
    def is_probe(self) -> bool:
        return self.latest.metadata.labels.get(ROLE_LABEL) == PROBE_ROLE

    @property
    def placeholder_for(self) -> str:
        """The gang for which the scheduler's own placeholder pod reserves capacity; empty for all other pods."""
        return self.latest.metadata.labels.get(PLACEHOLDER_LABEL, "")

    @property
    def nominated_node(self) -> str:
        """The node of the newest nomination; empty where there is none or it was cleared."""
        return self.nominations[-1][1] if self.nominations else ""

    @property
    def nominated_nodes(self) -> list[str]:
        """Every node that it was nominated to, in order."""
        return [node for _, node in self.nominations if node]

    @property
    def released(self) -> Moment | None:
        """When it stopped holding its resources: gone, or in a terminal phase."""
        return min((moment for moment in (self.gone, self.ended) if moment), default=None)

    def holds_resources_at(self, moment: Moment) -> bool:
        if self.bound is None or self.bound > moment:
            return False
        return self.released is None or self.released > moment

    @property
    def milestones(self) -> tuple[Moment | None, ...]:
        """The changes that count as activity. Conditions and nominations may flap without end; these do not."""
        return self.bound, self.running, self.ended, self.deleting, self.gone

    def add(self, record: Record) -> None:
        pod, moment = record.object, record.moment
        assert isinstance(pod, Pod)
        self.latest = pod
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
        if pod.status.nominated_node_name != self.nominated_node:
            self.nominations.append((moment, pod.status.nominated_node_name))
        for condition in pod.status.conditions:
            self._note_condition(moment, condition)

    def _note_condition(self, moment: Moment, condition: Condition) -> None:
        if condition.status == "True" and self._is_stronger_disruption(condition):
            self.disrupted, self.disruption = moment, condition
        if condition.type == "PodScheduled" and condition.status == "False" and condition != self.scheduling_failure:
            self.scheduling_failed, self.scheduling_failure = moment, condition

    def _is_stronger_disruption(self, condition: Condition) -> bool:
        """The first such condition counts, and Kubernetes' own before those of others."""
        types = self.disruption_conditions
        if condition.type not in types:
            return False
        return self.disruption is None or types.index(condition.type) < types.index(self.disruption.type)


@dataclass(slots=True)
class NodeHistory:
    """All states of a node: its allocatable resources and its taints at any moment."""

    name: str
    states: list[tuple[Moment, Node]] = field(default_factory=list)
    gone: Moment | None = None

    def add(self, record: Record) -> None:
        node = record.object
        assert isinstance(node, Node)
        self.states.append((record.moment, node))
        self.gone = record.moment if record.change == "DELETED" else None

    @property
    def latest(self) -> Node:
        return self.states[-1][1]

    @property
    def is_probe(self) -> bool:
        """The node that only probe pods may use."""
        return ROLE_LABEL in self.latest.metadata.labels

    @property
    def ready(self) -> bool:
        """Ready, and without the taint that every new node carries until the node controller has seen it."""
        ready = any(one.type == "Ready" and one.status == "True" for one in self.latest.status.conditions)
        return self.gone is None and ready and not any("not-ready" in taint.key for taint in self.latest.spec.taints)

    @property
    def relevant(self) -> tuple[object, ...]:
        """What scheduling depends on. A kubelet also reports heartbeats and images, which change nothing."""
        node = self.latest
        return node.metadata.labels, node.spec, node.status.allocatable, self.ready, self.gone

    def at(self, moment: Moment) -> Node | None:
        """The newest state at that moment."""
        found = None
        for when, node in self.states:
            if when > moment:
                break
            found = node
        return found

    def allocatable_at(self, moment: Moment) -> dict[str, int]:
        node = self.at(moment)
        return amounts(node.status.allocatable) if node else {}
