"""Other people's pods, watched while we are there: the run stops when one of them has to go and it may be our doing.

The fence keeps our pods to our nodes, so that no scheduler has a reason to evict anybody else for them. Should one do
it all the same, the first time must be the last. Pods of other runs are looked after by those.
"""

from __future__ import annotations

from collections.abc import Callable

from muster.chronicle.objects import Pod
from muster.chronicle.preemptions import BY_SCHEDULER
from muster.chronicle.recorder import KindRecorder, Recorder
from muster.chronicle.records import Record
from muster.cluster.connections import Connection
from muster.cluster.fences import RUN_LABEL
from muster.cluster.resources import POD
from muster.errors import HarnessError


class Neighbours(Recorder):
    """`suspects` tells which pods of ours may be the reason when a pod of that priority has to go."""

    def __init__(self, connection: Connection, suspects: Callable[[int], list[str]]) -> None:
        super().__init__(connection.api, ())
        self.kinds = {POD.kind: KindRecorder(connection.api, POD, self, selector=f"!{RUN_LABEL}")}
        self._suspects = suspects
        self._leaving: set[str] = set()  # uids of those that were on their way already, or have been judged
        self._listed = False
        self.alarm = ""

    def start(self) -> Neighbours:
        super().start()
        self._listed = True
        return self

    def check(self) -> None:
        if self.alarm:
            raise HarnessError(self.alarm)

    def take(self, records: list[Record]) -> None:
        for record in records:
            pod = record.object
            if isinstance(pod, Pod) and pod.metadata.deletion_timestamp and pod.metadata.uid not in self._leaving:
                self._leaving.add(pod.metadata.uid)
                if self._listed and not self.alarm:
                    self.alarm = self._judge(pod)

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
