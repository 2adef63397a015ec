"""Queue faults: capability, usage, strict FIFO and admission."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler.core import admission
from scheduler.core.actions import UNSCHEDULABLE
from scheduler.core.cluster_state import ClusterState
from scheduler.core.plan import SchedulingCycle
from scheduler.core.policy import Policy
from scheduler.core.queue_usage import QueueUsage
from scheduler.core.scheduling_types import CPU, MEMORY, Pod
from scheduler.core.scheduling_units import Unit
from scheduler.runtime.assumed_pods import AssumedPods
from tests.mutation.faults.registry import Patch, fault


@fault(
    'DOC-3: the gang "B" is queued',
    'QUE-01: exactly one of the gangs "first", "second", "third" ran with all pods',
    'QUE-02: the gang "low" is queued',
    'QUE-08: the gang "too-many" is queued',
    'QUE-18: the gang "gated" is queued',
)
def capability_is_ignored(patch: Patch) -> None:
    """The capability of a queue is ignored."""
    patch.attribute(QueueUsage, "exceeded", lambda *_, **__: None)


@fault('QUE-08: the whole gang "fits" runs')
def unlisted_resources_are_limited_to_zero(patch: Patch) -> None:
    """A capability without CPU and memory limits both to zero."""
    capability = QueueUsage.capability

    def with_zeros(queue_usage: QueueUsage, queue: str) -> Mapping[str, int]:
        limits = capability(queue_usage, queue)
        return {CPU: 0, MEMORY: 0, **limits} if limits else limits

    patch.attribute(QueueUsage, "capability", with_zeros)


@fault('DOC-3: the whole gang "F" runs', 'QUE-04: the whole gang "small" runs', 'QUE-09: the whole gang "small" runs')
def every_queue_is_strict_fifo(patch: Patch) -> None:
    """Every queue is strict FIFO."""

    def for_every_queue(queue: str, cluster: ClusterState, _: Policy) -> bool:
        return queue in cluster.queues

    patch.function(admission.is_strict, for_every_queue)


@fault('QUE-05: the gang "small" is queued')
def no_queue_is_strict_fifo(patch: Patch) -> None:
    """Strict FIFO is ignored."""
    patch.function(admission.is_strict, lambda *_: False)


@fault('QUE-11: no pod of the gang "late" is bound')
def closed_queues_accept_work(patch: Patch) -> None:
    """Closed and missing queues accept work."""
    patch.function(admission.rejection, lambda *_: "")


@fault('QUE-21: no pod of the gang "lost" is bound')
def missing_queues_accept_work(patch: Patch) -> None:
    """A queue that does not exist accepts work; a closed one does not."""
    rejection = admission.rejection

    def of_known_queues(queue: str, cluster: ClusterState) -> str:
        return rejection(queue, cluster) if queue in cluster.queues else ""

    patch.function(rejection, of_known_queues)


@fault('QUE-22: the whole gang "lost" runs')
def jobs_of_missing_queues_are_rejected_for_good(patch: Patch) -> None:
    """A gang whose queue was missing once is never scheduled, although the queue was created later."""
    rejection, rejected = admission.unit_rejection, dict[str, str]()

    def as_before(unit: Unit, cluster: ClusterState) -> str:
        reason = rejected.get(unit.name) or rejection(unit, cluster)
        if "does not exist" in reason:
            rejected[unit.name] = reason
        return reason

    patch.function(rejection, as_before)


@fault('QUE-12: the whole gang "next" runs')
def finished_gangs_keep_their_quota(patch: Patch) -> None:
    """The quota of a finished gang stays in use as long as its PodGroup exists."""
    lost, count, ended = AssumedPods.remove, QueueUsage._count, list[Pod]()

    def remember(assumed_pods: AssumedPods, uid: str) -> None:
        pod = assumed_pods._cluster.pods.get(uid)
        if pod is not None and pod.node and pod.group is not None:
            ended.append(pod)
        lost(assumed_pods, uid)

    def count_the_ended(queue_usage: QueueUsage) -> None:
        count(queue_usage)
        for pod in ended:
            if pod.group in queue_usage._cluster.groups:
                queue_usage.add(pod, now=True)

    patch.attribute(AssumedPods, "remove", remember)
    patch.attribute(QueueUsage, "_count", count_the_ended)


@fault('QUE-19: the whole gang "next" runs')
def preempted_pods_keep_their_quota(patch: Patch) -> None:
    """The quota of preempted pods stays in use, except for higher-priority pods of their queue."""
    evicted, lost, count = AssumedPods.assume_deleted, AssumedPods.remove, QueueUsage._count
    marked, gone = set[str](), list[tuple[str, int, Pod]]()

    def remember_eviction(assumed_pods: AssumedPods, uid: str) -> None:
        marked.add(uid)
        evicted(assumed_pods, uid)

    def remember(assumed_pods: AssumedPods, uid: str) -> None:
        cluster = assumed_pods._cluster
        pod = cluster.pods.get(uid)
        if pod is not None and uid in marked:
            gone.append((cluster.queue_of(pod), cluster.priority_of(pod), pod))
        lost(assumed_pods, uid)

    def count_the_preempted(queue_usage: QueueUsage) -> None:
        count(queue_usage)
        cluster = queue_usage._cluster
        present = [(cluster.queue_of(pod), cluster.priority_of(pod)) for pod in cluster.pods.values()]
        for queue, priority, pod in gone:
            if not any(other == queue and more > priority for other, more in present):
                queue_usage.add(pod, now=True)

    patch.attribute(AssumedPods, "assume_deleted", remember_eviction)
    patch.attribute(AssumedPods, "remove", remember)
    patch.attribute(QueueUsage, "_count", count_the_preempted)


@fault('ASC-02: no pod of the gang "second" is reported unschedulable')
def missing_quota_is_reported_as_missing_nodes(patch: Patch) -> None:
    """A pod that waits for the quota of its queue is reported as Unschedulable."""
    report = SchedulingCycle._report

    def as_unschedulable(cycle: SchedulingCycle, members: Sequence[Pod], message: str, _: str = UNSCHEDULABLE) -> None:
        report(cycle, members, message, UNSCHEDULABLE)

    patch.attribute(SchedulingCycle, "_report", as_unschedulable)


@fault('QUE-18: the whole gang "ready" runs')
def gated_pods_use_quota(patch: Patch) -> None:
    """Gated pods use quota."""
    count = QueueUsage._count

    def count_the_gated(queue_usage: QueueUsage) -> None:
        count(queue_usage)
        for pod in queue_usage._cluster.pods.values():
            if pod.gated:
                queue_usage.add(pod, now=True)

    patch.attribute(QueueUsage, "_count", count_the_gated)
