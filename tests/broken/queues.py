"""Faults of queues: what they may use, who uses it, and whether they take work at all."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler.core import admit
from scheduler.core.cluster import Cluster
from scheduler.core.draft import Shares
from scheduler.core.model import CPU, MEMORY, Pod
from scheduler.core.policy import Policy
from scheduler.runtime.beliefs import Beliefs
from tests.broken.faults import Patch, fault


@fault("DOC-3", "QUE-01", "QUE-02", "QUE-08", "QUE-18")
def capability_is_ignored(patch: Patch) -> None:
    """A queue uses as much as there is."""
    patch.attribute(Shares, "excess", lambda *_, **__: None)


@fault("QUE-08")
def unnamed_means_none(patch: Patch) -> None:
    """A queue that says nothing about CPUs and memory has none."""
    capability = Shares.capability

    def with_zeros(shares: Shares, queue: str) -> Mapping[str, int]:
        said = capability(shares, queue)
        return {CPU: 0, MEMORY: 0, **said} if said else said

    patch.attribute(Shares, "capability", with_zeros)


@fault("DOC-3", "QUE-04", "QUE-09")
def every_queue_is_strict(patch: Patch) -> None:
    """Nobody overtakes the head of any queue."""

    def wherever_there_is_one(queue: str, cluster: Cluster, _: Policy) -> bool:
        return queue in cluster.queues

    patch.function(admit.is_strict, wherever_there_is_one)


@fault("QUE-05")
def no_queue_is_strict(patch: Patch) -> None:
    """A queue that is to be served strictly in order is served like others."""
    patch.function(admit.is_strict, lambda *_: False)


@fault("QUE-11")
def closed_queues_take_work(patch: Patch) -> None:
    """It makes no difference whether a queue is closed or does not exist."""
    patch.function(admit.refusal, lambda *_: "")


@fault("QUE-12")
def finished_gangs_use_their_share(patch: Patch) -> None:
    """What the pods of a gang have used stays in use as long as the gang's group exists."""
    lost, count, ended = Beliefs.lost, Shares._count, list[Pod]()

    def remember(beliefs: Beliefs, uid: str) -> None:
        pod = beliefs._cluster.pods.get(uid)
        if pod is not None and pod.node and pod.group is not None:
            ended.append(pod)
        lost(beliefs, uid)

    def count_the_ended(shares: Shares) -> None:
        count(shares)
        for pod in ended:
            if pod.group in shares._cluster.groups:
                shares.use(pod, now=True)

    patch.attribute(Beliefs, "lost", remember)
    patch.attribute(Shares, "_count", count_the_ended)


@fault("QUE-18")
def gated_pods_use_their_share(patch: Patch) -> None:
    """Pods that are gated count as if they ran."""
    count = Shares._count

    def count_the_gated(shares: Shares) -> None:
        count(shares)
        for pod in shares._cluster.pods.values():
            if pod.gated:
                shares.use(pod, now=True)

    patch.attribute(Shares, "_count", count_the_gated)
