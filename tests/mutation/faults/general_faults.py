"""General faults: crude ones that kill positive controls, such as a Then that says that the preemptor runs.

Some take the name of a pod, gang or job: the fault concerns only that one, so that the scenario fails at the step about
it and not before. tests/mutation/general_mutants.py finds the steps and the names in the features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from scheduler.client import Client
from scheduler.core import scheduling_units
from scheduler.core.actions import Bind, Evict
from scheduler.core.cluster_state import ClusterState
from scheduler.core.plan import SchedulingCycle
from scheduler.core.policy import Policy
from scheduler.core.scheduling_types import Pod
from scheduler.core.scheduling_units import Unit
from scheduler.operator import replica_manifests, status
from scheduler.operator.api_objects import Job, Json
from scheduler.runtime import requests
from scheduler.runtime.executor import Executor
from tests.mutation.faults.registry import Patch

_HARNESS = "muster-probe"  # its own node and namespace

GeneralFault = Callable[[Patch, str], None]


def stays_pending(patch: Patch, name: str) -> None:
    """Neither the pod of that name nor any pod of the gang or job of that name is ever scheduled."""
    pending = scheduling_units.pending_units

    def blocked(cluster: ClusterState, policy: Policy) -> list[Unit]:
        found = pending(cluster, policy)
        return [replace(unit, blocked="injected fault") if _is_about(unit, name) else unit for unit in found]

    patch.function(pending, blocked)


def binding_is_not_written(patch: Patch, name: str) -> None:
    """The scheduler decides about that pod, gang or job, and evicts for it, but does not write its bindings."""
    bind = requests.bind

    async def bind_others(client: Client, pod: Pod, node: str) -> None:
        if not _is_named(pod, name):
            await bind(client, pod, node)

    patch.function(bind, bind_others)


def is_bound_at_once(patch: Patch, name: str) -> None:
    """The pods of that pod, gang or job are bound at once, whether anything allows it or not."""
    decide = SchedulingCycle.decide

    def decide_or_bind(cycle: SchedulingCycle, unit: Unit) -> None:
        nodes = [node.name for node in cycle.snapshot.table.nodes if _HARNESS not in node.name]
        if _is_about(unit, name) and nodes:
            cycle.actions += [Bind(pod, nodes[-1]) for pod in unit.members]
        else:
            decide(cycle, unit)

    patch.attribute(SchedulingCycle, "decide", decide_or_bind)


def victims_are_not_marked(patch: Patch, _: str) -> None:
    """Victims are deleted without a condition and without an event."""

    async def delete_only(executor: Executor, action: Evict) -> None:
        await requests.delete(executor._client, action.pod)

    async def no_condition(_client: Client, _pod: Pod, _message: str) -> None:
        return

    patch.attribute(Executor, "_evict", delete_only)
    patch.function(requests.mark_preempted, no_condition)


def condition_is_not_set(patch: Patch, type_: str) -> None:
    """The operator never sets the condition of that type on a job."""
    original = status.with_condition

    def without_one(job: Job, current: Json, wanted: str, *rest: Any, **more: Any) -> Json:
        return current if wanted == type_ else original(job, current, wanted, *rest, **more)

    patch.function(original, without_one)


def priority_class_is_missing(patch: Patch, name: str) -> None:
    """The operator creates the pods of that job without their priority class."""
    original = replica_manifests.pod_manifest

    def without_priority(job: Job, *more: Any) -> Json:
        pod = original(job, *more)
        unwanted = ("priorityClassName", "priority") if job.metadata.name == name else ()
        return {**pod, "spec": {field: value for field, value in pod["spec"].items() if field not in unwanted}}

    patch.function(original, without_priority)


def _is_about(unit: Unit, name: str) -> bool:
    return any(_is_named(pod, name) for pod in unit.members) or any(group.key[1] == name for group in unit.groups)


def _is_named(pod: Pod, name: str) -> bool:
    return pod.key[1] == name or pod.key[1].startswith(f"{name}-") or (pod.group is not None and pod.group[1] == name)


GENERAL_FAULTS: dict[str, GeneralFault] = {
    one.__name__.replace("_", "-"): one
    for one in (
        stays_pending, binding_is_not_written, is_bound_at_once, victims_are_not_marked, condition_is_not_set,
        priority_class_is_missing,
    )
}  # fmt: skip
OPERATOR_FAULTS = frozenset({"condition-is-not-set", "priority-class-is-missing"})  # the others are the scheduler's
