"""Convert pods, nodes and PodDisruptionBudgets from API types to the scheduler's types."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from scheduler.core.scheduling_types import DisruptionBudget, Key, Node, Pod, Taint
from scheduler.runtime.api_types import ApiBudget, ApiNode, ApiPod
from scheduler.runtime.field_table import POD
from scheduler.runtime.pod_constraints import pod_constraints, selector_requirement
from scheduler.runtime.pod_requirements import (
    NO_REQUESTS,
    cap_requests,
    pod_requests,
    pod_requirements,
)
from scheduler.runtime.quantities import MAX_AMOUNT, InvalidQuantity, exact
from scheduler.runtime.refused_fields import refusal

VOLCANO_GROUP = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
KOORDINATOR_GROUP = "pod-group.scheduling.sigs.k8s.io"
_ROLE = "volcano.sh/task-spec"
_QUEUE = "scheduling.volcano.sh/queue-name"
_PREEMPTABLE = "volcano.sh/preemptable"
_DISABLE_PREEMPTIBLE = "scheduling.koordinator.sh/disable-preemptible"

TERMINAL = frozenset({"Succeeded", "Failed"})


@lru_cache(maxsize=4096)
def timestamp_seconds(timestamp: str | None) -> float:
    return datetime.fromisoformat(timestamp).timestamp() if timestamp else 0.0


def convert_pod(found: ApiPod) -> Pod:
    meta, spec, status = found.metadata, found.spec, found.status
    annotations, labels = meta.annotations or {}, meta.labels or {}
    try:
        requests, problem = cap_requests(pod_requests(spec, status), has_node=bool(spec.node_name))
    except InvalidQuantity as error:
        requests, problem = NO_REQUESTS, str(error)
    if not problem and not spec.node_name:
        problem = refusal(POD, spec, annotations, labels)
    created = timestamp_seconds(meta.creation_timestamp)
    return Pod(
        key=meta.key,
        uid=meta.uid,
        requirements=pod_requirements(spec, requests, pod_constraints(spec, meta.namespace, labels)),
        created=created,
        priority=spec.priority,
        preempts=spec.preemption_policy != "Never",
        scheduler=spec.scheduler_name,
        node=spec.node_name,
        nominated=status.nominated_node_name,
        started=timestamp_seconds(status.start_time) or created,
        gated=bool(spec.scheduling_gates),
        terminating=meta.deletion_timestamp is not None,
        group=group_of(found),
        role=annotations.get(_ROLE, ""),
        queue=annotations.get(_QUEUE, ""),
        non_preemptible=annotations.get(_PREEMPTABLE, labels.get(_PREEMPTABLE)) == "false"
        or labels.get(_DISABLE_PREEMPTIBLE) == "true",
        labels=labels,
        problem=problem,
    )


def group_of(found: ApiPod) -> Key | None:
    """The PodGroups of both APIs share one namespace (see PodGroupCache)."""
    meta = found.metadata
    annotations, labels = meta.annotations or {}, meta.labels or {}
    name = next((annotations[key] for key in VOLCANO_GROUP if annotations.get(key)), labels.get(KOORDINATOR_GROUP))
    return (meta.namespace, name) if name else None


def pending_reason(found: ApiPod) -> tuple[str, str]:
    """Reason and message of the pod's PodScheduled=False condition; empty if there is none."""
    for condition in found.status.conditions or ():
        if condition.type == "PodScheduled" and condition.status == "False":
            return condition.reason, condition.message
    return "", ""


def convert_node(found: ApiNode) -> Node:
    """A resource with an invalid quantity is left out."""
    allocatable: dict[str, int] = {}
    for resource, quantity in (found.status.allocatable or {}).items():
        try:
            allocatable[resource] = min(exact(resource, quantity), MAX_AMOUNT)
        except InvalidQuantity:
            continue
    return Node(
        name=found.metadata.name,
        allocatable=allocatable,
        labels=found.metadata.labels or {},
        taints=tuple(Taint(one.key, one.value, one.effect) for one in found.spec.taints or ()),
        cordoned=found.spec.unschedulable,
    )


def convert_budget(found: ApiBudget) -> DisruptionBudget | None:
    """None for an empty selector: preemption treats it as matching no pod."""
    selector = found.spec.selector
    if selector is None or not (selector.match_labels or selector.match_expressions):
        return None
    return DisruptionBudget(
        key=found.metadata.key,
        allowed=found.status.disruptions_allowed,
        selector=selector.match_labels or {},
        expressions=tuple(map(selector_requirement, selector.match_expressions or ())),
    )
