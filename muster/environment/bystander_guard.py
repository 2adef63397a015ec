"""Watches other tenants' pods on an existing cluster: the run stops when one is preempted, possibly because of it.

The run scope confines the run's pods to the run's nodes, so that no scheduler has a reason to preempt other pods for
them. Should one do so all the same, the first time must be the last. Pods of other runs are watched by those runs. In
the other direction, a bystander's pod (a DaemonSet that tolerates everything) may be bound to a node of the run: it
uses capacity that the scenario does not know of, and the scenario is not staged. A pod that does not tolerate the taint
of the run's nodes is another matter: if the scheduler under test bound it there, that is a failure of the scheduler.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from muster import timeouts
from muster.assertions.failure_report import failure_report
from muster.assertions.invariants import tolerated
from muster.cluster.interface import Connection
from muster.cluster.resources import POD
from muster.cluster.run_scope import RUN_LABEL, RunScope
from muster.errors import ConformanceFailure, HarnessError, NotStaged
from muster.recording.conventions import BY_SCHEDULER
from muster.recording.history import History
from muster.recording.objects import Pod, Taint
from muster.recording.quantities import GPU, requests_of
from muster.recording.recorder import KindRecorder, Recorder
from muster.recording.records import Record

_ENDED = ("Succeeded", "Failed")  # phases


class BystanderGuard(Recorder):
    """`find_preemptors` returns the run's pods for which a pod of that priority may have been preempted.

    `scheduler_names` are those of the scheduler under test, as bystanders' pods may have them.
    """

    def __init__(
        self,
        connection: Connection,
        scope: RunScope,
        scheduler_names: frozenset[str],
        find_preemptors: Callable[[int], list[str]],
    ) -> None:
        super().__init__(connection.api, ())
        self._scope, self._scheduler_names = scope, scheduler_names
        self.kinds = {POD.kind: KindRecorder(connection.api, POD, self, selector=f"!{RUN_LABEL}")}
        self._find_preemptors = find_preemptors
        self._seen: set[str] = set()  # uids of pods that were terminating before the run, or have been checked
        self._listed = False
        self._pending: set[str] = set()  # uids of pods that were seen before they were bound
        self._on_run_nodes: dict[str, Pod] = {}  # by uid: pods that use capacity of the run's nodes
        self._bound: set[str] = set()  # uids of pods that the scheduler under test has bound since then
        self.last_binding = float("-inf")  # when it last bound one of them
        self.alarm = ""

    def start(self) -> BystanderGuard:
        super().start()
        self._listed = True
        return self

    def check(self) -> None:
        if self.alarm:
            raise HarnessError(self.alarm)
        super().check()

    def check_nodes(self, history: History, reproduce: str) -> None:
        """NotStaged if another tenant's pod uses capacity on a node of the scenario.

        ConformanceFailure if the scheduler under test bound it there against the taint of the run's nodes.
        """
        with history.changed:
            existing = [node for node in history.nodes.values() if node.gone is None]
            nodes = {node.name for node in existing if not node.is_probe}
        bystanders = [(pod, self._node_of(pod)) for pod in list(self._on_run_nodes.values())]
        bystanders = [(pod, node) for pod, node in bystanders if node in nodes and self._takes_capacity(pod)]
        for pod, node in bystanders:
            if self._was_bound_against_taint(pod):
                raise self._failure(history, pod, node, reproduce)
        for pod, node in bystanders:
            raise NotStaged(
                f"another tenant's pod, {pod.metadata.namespace}/{pod.metadata.name}, uses capacity of node {node}:"
                f" keep it off {self._taint_of(pod)}"
            )

    def pods_on(self, node: str) -> list[Pod]:
        """Other tenants' pods on a node that the run uses."""
        return [pod for pod in list(self._on_run_nodes.values()) if pod.spec.node_name == node]

    def _takes_capacity(self, pod: Pod) -> bool:
        """Of a real node only its GPUs: it has pods of its cluster, and the CPUs that they leave were counted."""
        return pod.spec.node_name.endswith(self._scope.suffix) or bool(requests_of(pod).get(GPU))

    def _node_of(self, pod: Pod) -> str:
        return pod.spec.node_name.removesuffix(self._scope.suffix)

    @property
    def _taint(self) -> Taint:
        return Taint(RUN_LABEL, "NoSchedule", self._scope.run)

    def _taint_of(self, pod: Pod) -> str:
        on_run_node = pod.spec.node_name.endswith(self._scope.suffix)
        return f"nodes with the taint {RUN_LABEL}" if on_run_node else "the nodes of --node-selector"

    def _was_bound_against_taint(self, pod: Pod) -> bool:
        """Bound by the scheduler under test: a pod that was created with a nodeName was never pending."""
        if not pod.spec.node_name.endswith(self._scope.suffix):
            return False  # a real node has the taint of its owner
        bound_by_it = pod.metadata.uid in self._pending and pod.spec.scheduler_name in self._scheduler_names
        return bound_by_it and not tolerated(self._taint, pod)

    def _failure(self, history: History, pod: Pod, node: str, reproduce: str) -> ConformanceFailure:
        taint, name = self._taint, f"{pod.metadata.namespace}/{pod.metadata.name}"
        with history.changed:
            report = failure_report(
                history,
                wanted="no pod is bound against a NoSchedule taint",
                seen=f"{pod.spec.scheduler_name} bound another tenant's pod, {name}, to node {node} against its taint"
                f" {taint.key}={taint.value}:{taint.effect}, which the pod does not tolerate",
                reproduce=reproduce,
            )
        return ConformanceFailure(report)

    def take(self, records: list[Record]) -> None:
        for record in records:
            pod = record.object
            if isinstance(pod, Pod):
                self._note_placement(pod, gone=record.change == "DELETED")
            if isinstance(pod, Pod) and pod.metadata.deletion_timestamp and pod.metadata.uid not in self._seen:
                self._seen.add(pod.metadata.uid)
                if self._listed and not self.alarm:
                    self.alarm = self._alarm_for(pod)

    def _note_placement(self, pod: Pod, *, gone: bool) -> None:
        uid = pod.metadata.uid
        if (
            pod.spec.node_name
            and uid in self._pending - self._bound
            and pod.spec.scheduler_name in self._scheduler_names
        ):
            self._bound.add(uid)
            self.last_binding = time.monotonic()
        if gone or pod.status.phase in _ENDED:
            self._on_run_nodes.pop(uid, None)
            self._pending.discard(uid)
            self._bound.discard(uid)
        elif not pod.spec.node_name:
            self._pending.add(uid)
        elif self._scope.holds_node(pod.spec.node_name):
            self._on_run_nodes[uid] = pod

    def _alarm_for(self, pod: Pod) -> str:
        target = next((one for one in pod.status.conditions if one.type == "DisruptionTarget"), None)
        if target is None or target.reason != BY_SCHEDULER:
            return ""
        preemptors = self._find_preemptors(pod.spec.priority)
        if not preemptors:
            return ""
        return (
            f"another tenant's pod, {pod.metadata.namespace}/{pod.metadata.name}, was preempted "
            f"({target.message or target.reason}) while {', '.join(preemptors)} of this run was pending: the run may "
            "be the cause, so it ends"
        )


def possible_preemptors_of(history: History, priority: int, *, reclaims: bool) -> list[str]:
    """Pods of the run for which a pod of that priority may just have been preempted.

    `reclaims`: the scheduler also preempts for a queue, whatever the priority.
    """
    with history.changed:
        return [
            pod.name
            for pod in history.pods
            if (pod.priority > priority or reclaims)
            and pod.gone is None
            and (pod.bound is None or time.monotonic() - pod.bound.at < timeouts.RECENTLY_BOUND)
        ]
