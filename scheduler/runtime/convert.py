"""Pods, nodes and budgets of the API as the nouns of a decision."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from scheduler.core.model import Budget, Key, Node, Pod, Taint
from scheduler.runtime.objects import ApiBudget, ApiNode, ApiPod
from scheduler.runtime.quantities import LARGEST_HELD, NotAQuantity, exact
from scheduler.runtime.shapes import NO_REQUESTS, bounded, requests_of, requirement, shape_of

VOLCANO_GROUP = "scheduling.k8s.io/group-name"
KOORDINATOR_GROUP = "pod-group.scheduling.sigs.k8s.io"
_ROLE = "volcano.sh/task-spec"
_QUEUE = "scheduling.volcano.sh/queue-name"
_PREEMPTABLE = "volcano.sh/preemptable"
_NOT_PREEMPTIBLE = "scheduling.koordinator.sh/disable-preemptible"

TERMINAL = frozenset({"Succeeded", "Failed"})


@lru_cache(maxsize=4096)
def seconds(timestamp: str | None) -> float:
    return datetime.fromisoformat(timestamp).timestamp() if timestamp else 0.0


def read_pod(found: ApiPod) -> Pod:
    meta, spec, status = found.metadata, found.spec, found.status
    annotations, labels = meta.annotations or {}, meta.labels or {}
    try:
        requests, problem = bounded(requests_of(spec), has_node=bool(spec.node_name))
    except NotAQuantity as trouble:
        requests, problem = NO_REQUESTS, str(trouble)
    created = seconds(meta.creation_timestamp)
    return Pod(
        key=meta.key,
        uid=meta.uid,
        shape=shape_of(spec, requests),
        created=created,
        priority=spec.priority,
        preempts=spec.preemption_policy != "Never",
        scheduler=spec.scheduler_name,
        node=spec.node_name,
        nominated=status.nominated_node_name,
        started=seconds(status.start_time) or created,
        gated=bool(spec.scheduling_gates),
        leaving=meta.deletion_timestamp is not None,
        group=group_of(found),
        role=annotations.get(_ROLE, ""),
        queue=annotations.get(_QUEUE, ""),
        protected=annotations.get(_PREEMPTABLE) == "false" or labels.get(_NOT_PREEMPTIBLE) == "true",
        labels=labels,
        problem=problem,
    )


def group_of(found: ApiPod) -> Key | None:
    """Both families share one name space of groups (see Groups for namesakes)."""
    meta = found.metadata
    name = (meta.annotations or {}).get(VOLCANO_GROUP) or (meta.labels or {}).get(KOORDINATOR_GROUP)
    return (meta.namespace, name) if name else None


def waits_because(found: ApiPod) -> str:
    """What the pod itself says about why it waits."""
    for condition in found.status.conditions or ():
        if condition.type == "PodScheduled" and condition.status == "False" and condition.reason == "Unschedulable":
            return condition.message
    return ""


def read_node(found: ApiNode) -> Node:
    """A resource that makes no sense is not offered; the others are."""
    offers: dict[str, int] = {}
    for resource, quantity in (found.status.allocatable or {}).items():
        try:
            offers[resource] = min(exact(resource, quantity), LARGEST_HELD)
        except NotAQuantity:
            continue
    return Node(
        name=found.metadata.name,
        allocatable=offers,
        labels=found.metadata.labels or {},
        taints=tuple(Taint(one.key, one.value, one.effect) for one in found.spec.taints or ()),
        cordoned=found.spec.unschedulable,
    )


def read_budget(found: ApiBudget) -> Budget | None:
    """None where there is nothing to match: preemption takes an empty selector to cover nobody."""
    selector = found.spec.selector
    if selector is None or not (selector.match_labels or selector.match_expressions):
        return None
    return Budget(
        key=found.metadata.key,
        allowed=found.status.disruptions_allowed,
        selector=selector.match_labels or {},
        expressions=tuple(map(requirement, selector.match_expressions or ())),
    )
