"""Three made-up scenarios with all that a timeline can show, and the sentences that were judged in them."""

from __future__ import annotations

from muster.chronicle.history import History
from muster.chronicle.records import Moment, Record
from muster.report.timeline import Sentence
from tests.tales import NAMESPACE, Tale

GROUP = "scheduling.k8s.io/group-name"
Told = tuple[History, list[Sentence]]


class GangTale(Tale):
    """A tale in which pods can belong to a gang from the first moment on."""

    def member(self, name: str, gang: str, gpus: int = 1, priority: int = 0) -> GangTale:
        self.pod(name, gpus, priority)
        self._change(name, "metadata", annotations={GROUP: gang})
        return self

    def idle(self, tenths: int) -> GangTale:
        for _ in range(tenths):
            self.event("nobody", "Waiting", "nothing happens")
        return self


def moved(told: Told, seconds: float) -> Told:
    """The same, so many seconds later: a tale begins at 0, a scenario whenever its turn has come."""
    history, sentences = told
    later = History(history.namespace)
    later.began = history.began + seconds
    records = [record for kind in history.records.values() for record in kind]
    for record in sorted(records, key=lambda record: record.moment):
        moment = Moment(record.moment.version, record.moment.at + seconds)
        later.append(Record(record.kind, record.change, moment, record.object, record.raw))
    return later, sentences


def preemption() -> Told:
    """One of two goes for a third; a node is tainted, a pod comes to its end, the last promise is broken."""
    tale = GangTale()
    tale.node("gpu-1", 2).node("gpu-2", 2)
    tale.settled("left", "gpu-1", 1, 10).settled("right", "gpu-1", 1, 10).settled("sidecar", "gpu-1")
    tale.settled("big", "gpu-2", 2, 50)
    tale.pod("urgent", 1, 100).refuse("urgent").nominate("urgent", "gpu-1").preempted("left", "urgent")
    tale.idle(8).gone("left").run("urgent", "gpu-1")
    tale.idle(6).node("gpu-2", 2, taints=[{"key": "maintenance", "effect": "NoSchedule"}]).end("big")
    return tale.history, [
        Sentence('Then "urgent" runs', 3.9, "passed"),
        Sentence('And exactly one of "left", "right" was preempted for "urgent"', 3.95, "passed"),
        Sentence("And nothing else was disturbed", 5.0, "failed"),
    ]


def gangs() -> Told:
    """A gang takes the place of another one, a third waits; their queue is made larger and closed."""
    tale = GangTale()
    tale.node("gpu-1", 4).node("gpu-2", 4)
    tale.thing("Queue", "research", {"state": "Open"}, {"capability": {"nvidia.com/gpu": "4"}})
    tale.thing("PodGroup", "low", {"phase": "Pending"})
    for number in range(4):
        tale.member(f"low-{number}", "low", 1, 10)
    tale.thing("PodGroup", "low", {"phase": "Inqueue"})
    for number in range(4):
        tale.run(f"low-{number}", f"gpu-{number // 2 + 1}")
    tale.thing("PodGroup", "low", {"phase": "Running"}).thing("PodGroup", "high", {"phase": "Pending"})
    for number in range(6):
        tale.member(f"high-{number}", "high", 1, 100)
    for number in range(4):
        tale.confess(f"low-{number}", f"evicted, preemptor: {NAMESPACE}/high, to make room").delete(f"low-{number}")
    tale.thing("Queue", "research", {"state": "Closed"}, {"capability": {"nvidia.com/gpu": "8"}})
    for number in range(4):
        tale.gone(f"low-{number}")
    for number in range(6):
        tale.run(f"high-{number}", f"gpu-{number // 3 + 1}")
    tale.thing("PodGroup", "high", {"phase": "Running"})
    for number in range(4):
        tale.member(f"again-{number}", "again", 1, 10)
    return tale.history, [
        Sentence("Then gang high runs whole", 7.4, "passed"),
        Sentence("And gang again stays queued", 8.2, "passed"),
    ]


def crowd(nodes: int = 1000) -> Told:
    """So many nodes that they fold to a heat map; every fifth pod has to go again."""
    tale = Tale()
    for number in range(nodes):
        tale.node(f"gpu-{number:04}", 8)
    tale.history.began = nodes / 10
    for number in range(nodes):
        tale.settled(f"pod-{number}", f"gpu-{(number * 7) % nodes:04}", 1 + number % 8, number % 3)
    for number in range(0, nodes, 5):
        tale.mark(f"pod-{number}").delete(f"pod-{number}").gone(f"pod-{number}")
    return tale.history, [Sentence("Then all of them run", nodes / 5, "passed")]
