"""The reference scheduler's words: those of Volcano or of Koordinator, and two annotations that it reads on either."""

from __future__ import annotations

import json
from dataclasses import replace

from muster.cluster.resources import KOORDINATOR_GROUP, VOLCANO_GROUP, VOLCANO_QUEUE, Resource
from muster.errors import NotSupported
from muster.subject.dialect import Manifest
from muster.subject.koordinator_dialect import KoordinatorDialect
from muster.subject.requests import GangRequest, NodeRequest, QueueRequest
from muster.subject.volcano_dialect import VolcanoDialect

_TOGETHER = "gang.scheduling.koordinator.sh/groups"
NAMES = ("muster-scheduler", "default-scheduler", "volcano", "koord-scheduler")  # it is alone, and answers to them all
_READS = (VOLCANO_GROUP, VOLCANO_QUEUE, KOORDINATOR_GROUP)
_DISRUPTION = "scheduling.muster.dev/disruption-mode"


class VolcanoWords(VolcanoDialect):
    """Queues with a limit and an order; what a weight or a loan means is not its business."""

    eviction_reason = "Preempted"
    eviction_names_preemptor = True
    tells_why_a_queue_refuses = True
    reads: tuple[Resource, ...] = _READS
    other_names: tuple[str, ...] = NAMES

    def gang(self, request: GangRequest, namespace: str) -> Manifest:
        return _annotated(super().gang(_plain(request), namespace), request, namespace)

    def queue(self, request: QueueRequest) -> Manifest:
        if request.weight != 1:
            raise NotSupported("the reference scheduler limits what a queue may use, and knows no weights")
        manifest = super().queue(replace(request, strictly_in_order=False))
        manifest["spec"]["dequeueStrategy"] = "fifo" if request.strictly_in_order else "traverse"
        return manifest

    def blames(self, gang: str, namespace: str) -> tuple[str, ...]:
        return self.scheduler_name, f"preemptor: {namespace}/{gang},"


class KoordinatorWords(KoordinatorDialect):
    """It counts the GPUs that nodes offer: no Device is needed."""

    reads: tuple[Resource, ...] = _READS
    other_names: tuple[str, ...] = NAMES

    def gang(self, request: GangRequest, namespace: str) -> Manifest:
        return _annotated(super().gang(_plain(request), namespace), request, namespace)

    def beside(self, node: NodeRequest) -> list[Manifest]:
        return []


def _plain(request: GangRequest) -> GangRequest:
    return replace(request, with_gangs=(), leaves_whole=False)


def _annotated(manifest: Manifest, request: GangRequest, namespace: str) -> Manifest:
    annotations = manifest["metadata"].setdefault("annotations", {})
    if request.with_gangs:
        annotations[_TOGETHER] = json.dumps([f"{namespace}/{name}" for name in (request.name, *request.with_gangs)])
    if request.leaves_whole:
        annotations[_DISRUPTION] = "all"
    return manifest
