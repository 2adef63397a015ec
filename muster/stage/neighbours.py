"""Other people's pods, watched while we are there: the run stops when one of them has to go and it may be our doing.

The fence keeps our pods to our nodes, so that no scheduler has a reason to evict anybody else for them. Should one do
it all the same, the first time must be the last. Pods of other runs are looked after by those. The other way round, a
pod of somebody else (a DaemonSet that puts up with everything) may come to a node of ours: it takes room that no
scenario knows of, and whatever the scheduler makes of that is not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from muster.chronicle.objects import Pod
from muster.chronicle.preemptions import BY_SCHEDULER
from muster.chronicle.recorder import KindRecorder, Recorder
from muster.chronicle.records import Record
from muster.cluster.connections import Connection
from muster.cluster.fences import RUN_LABEL, Fence
from muster.cluster.resources import POD
from muster.errors import HarnessError, NotStaged

_ENDED = ("Succeeded", "Failed")  # phases


class Neighbours(Recorder):
    """`suspects` tells which pods of ours may be the reason when a pod of that priority has to go."""

    def __init__(self, connection: Connection, fence: Fence, suspects: Callable[[int], list[str]]) -> None:
        super().__init__(connection.api, ())
        self._fence = fence
        self.kinds = {POD.kind: KindRecorder(connection.api, POD, self, selector=f"!{RUN_LABEL}")}
        self._suspects = suspects
        self._leaving: set[str] = set()  # uids of those that were on their way already, or have been judged
        self._listed = False
        self._guests: dict[str, Pod] = {}  # by uid: those that hold room on a node of the run
        self.alarm = ""

    def start(self) -> Neighbours:
        super().start()
        self._listed = True
        return self

    def check(self) -> None:
        if self.alarm:
            raise HarnessError(self.alarm)

    def keep_off(self, nodes: Collection[str]) -> None:
        """Raise when a pod of somebody else holds room on one of these nodes, called as in the scenario."""
        for pod in list(self._guests.values()):
            node = pod.spec.node_name.removesuffix(self._fence.suffix)
            if node in nodes:
                raise NotStaged(
                    f"a pod that is not ours, {pod.metadata.namespace}/{pod.metadata.name}, takes room on node {node}: "
                    f"have it keep off nodes with the taint {RUN_LABEL}"
                )

    def take(self, records: list[Record]) -> None:
        for record in records:
            pod = record.object
            if isinstance(pod, Pod):
                self._note_guest(pod, gone=record.change == "DELETED")
            if isinstance(pod, Pod) and pod.metadata.deletion_timestamp and pod.metadata.uid not in self._leaving:
                self._leaving.add(pod.metadata.uid)
                if self._listed and not self.alarm:
                    self.alarm = self._judge(pod)

    def _note_guest(self, pod: Pod, *, gone: bool) -> None:
        if gone or pod.status.phase in _ENDED:
            self._guests.pop(pod.metadata.uid, None)
        elif pod.spec.node_name.endswith(self._fence.suffix):
            self._guests[pod.metadata.uid] = pod

    def _judge(self, pod: Pod) -> str:
        mark = next((one for one in pod.status.conditions if one.type == "DisruptionTarget"), None)
        if mark is None or mark.reason != BY_SCHEDULER:
            return ""
        suspects = self._suspects(pod.spec.priority)
        if not suspects:
            return ""
        return (
            f"a pod that is not ours, {pod.metadata.namespace}/{pod.metadata.name}, was preempted "
            f"({mark.message or mark.reason}) while {', '.join(suspects)} waited: it may be our doing, so the run ends"
        )
