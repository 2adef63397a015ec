"""Three scenarios made for tests, with everything that a timeline can show, and the outcomes of their steps."""

from __future__ import annotations

from muster.recording.conventions import Conventions
from muster.recording.history import History
from muster.recording.records import Moment, Record
from muster.report.timeline.timeline import StepOutcome
from tests.support.history_builder import NAMESPACE, HistoryBuilder

GROUP = "scheduling.k8s.io/group-name"
CONVENTIONS = Conventions(group_name_keys=(GROUP,))
TimelineInput = tuple[History, list[StepOutcome]]


class GangHistoryBuilder(HistoryBuilder):
    """A builder of histories with gangs."""

    def __init__(self) -> None:
        super().__init__(CONVENTIONS)

    def member(self, name: str, gang: str, gpus: int = 1, priority: int = 0) -> GangHistoryBuilder:
        self.pod(name, gpus, priority)
        self._change(name, "metadata", annotations={GROUP: gang})
        return self

    def idle(self, tenths: int) -> GangHistoryBuilder:
        for _ in range(tenths):
            self.event("none", "Idle", "nothing happens")
        return self


def moved(recorded: TimelineInput, seconds: float) -> TimelineInput:
    """The same, so many seconds later: a builder begins at 0, a scenario at any time."""
    history, steps = recorded
    later = History(history.namespace, conventions=history.conventions)
    later.began = history.began + seconds
    records = [record for kind in history.records.values() for record in kind]
    for record in sorted(records, key=lambda record: record.moment):
        moment = Moment(record.moment.version, record.moment.at + seconds)
        later.append(Record(record.kind, record.change, moment, record.object, record.raw))
    return later, steps


def preemption() -> TimelineInput:
    """One of two pods is preempted for a third; a node is tainted, a pod ends, the last step fails."""
    builder = GangHistoryBuilder()
    builder.node("gpu-1", 2).node("gpu-2", 2)
    builder.running_pod("left", "gpu-1", 1, 10).running_pod("right", "gpu-1", 1, 10).running_pod("sidecar", "gpu-1")
    builder.running_pod("big", "gpu-2", 2, 50)
    builder.pod("urgent", 1, 100).unschedulable("urgent").nominate("urgent", "gpu-1").preempt("left", "urgent")
    builder.idle(8).gone("left").run("urgent", "gpu-1")
    builder.idle(6).node("gpu-2", 2, taints=[{"key": "maintenance", "effect": "NoSchedule"}]).finish("big")
    return builder.history, [
        StepOutcome('Then "urgent" runs', 3.9, "passed"),
        StepOutcome('And exactly one of "left", "right" was preempted for "urgent"', 3.95, "passed"),
        StepOutcome("And no other pod was evicted or failed", 5.0, "failed"),
    ]


def gangs() -> TimelineInput:
    """A gang preempts another one, a third is pending; the capability of their queue grows, then it is closed."""
    builder = GangHistoryBuilder()
    builder.node("gpu-1", 4).node("gpu-2", 4)
    builder.custom_object("Queue", "research", {"state": "Open"}, {"capability": {"nvidia.com/gpu": "4"}})
    builder.custom_object("PodGroup", "low", {"phase": "Pending"})
    for number in range(4):
        builder.member(f"low-{number}", "low", 1, 10)
    builder.custom_object("PodGroup", "low", {"phase": "Inqueue"})
    for number in range(4):
        builder.run(f"low-{number}", f"gpu-{number // 2 + 1}")
    builder.custom_object("PodGroup", "low", {"phase": "Running"}).custom_object(
        "PodGroup", "high", {"phase": "Pending"}
    )
    for number in range(6):
        builder.member(f"high-{number}", "high", 1, 100)
    for number in range(4):
        builder.mark_disruption_target(
            f"low-{number}", message=f"evicted, preemptor: {NAMESPACE}/high, to free resources"
        ).delete(f"low-{number}")
    builder.custom_object("Queue", "research", {"state": "Closed"}, {"capability": {"nvidia.com/gpu": "8"}})
    for number in range(4):
        builder.gone(f"low-{number}")
    for number in range(6):
        builder.run(f"high-{number}", f"gpu-{number // 3 + 1}")
    builder.custom_object("PodGroup", "high", {"phase": "Running"})
    for number in range(4):
        builder.member(f"again-{number}", "again", 1, 10)
    return builder.history, [
        StepOutcome("Then all members of gang high run", 7.4, "passed"),
        StepOutcome("And gang again stays pending", 8.2, "passed"),
    ]


def crowd(nodes: int = 1000) -> TimelineInput:
    """So many nodes that they fold to a heat map; every fifth pod is evicted again."""
    builder = HistoryBuilder()
    for number in range(nodes):
        builder.node(f"gpu-{number:04}", 8)
    builder.history.began = nodes / 10
    for number in range(nodes):
        builder.running_pod(f"pod-{number}", f"gpu-{(number * 7) % nodes:04}", 1 + number % 8, number % 3)
    for number in range(0, nodes, 5):
        builder.mark_disruption_target(f"pod-{number}").delete(f"pod-{number}").gone(f"pod-{number}")
    return builder.history, [StepOutcome("Then all pods run", nodes / 5, "passed")]
