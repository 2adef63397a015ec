"""General faults: crude ones that kill positive controls, such as a Then that says that the preemptor runs.

Some take the name of a pod, gang or job: the fault concerns only that one, so that the scenario fails at the step about
it and not before. tests/mutation/general_mutants.py finds the steps and the names in the features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from scheduler.client import Client
from scheduler.core import scheduling_units
from scheduler.core.actions import Action, Bind, Evict, Report
from scheduler.core.cluster_state import ClusterState
from scheduler.core.plan import SchedulingCycle, plan
from scheduler.core.policy import Policy
from scheduler.core.scheduling_types import Pod
from scheduler.core.scheduling_units import Unit
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


def one_more_pod_is_deleted(patch: Patch, _: str) -> None:
    """With the first victim of a preemption, the highest-priority running pod of the namespace is deleted as well."""
    evict, done = Executor._evict, set[str]()

    async def evict_and_delete(executor: Executor, action: Evict) -> None:
        namespace = action.pod.key[0]
        others = [
            pod
            for pod in executor._cache.cluster.bound()
            if pod.key[0] == namespace and pod.uid != action.pod.uid and not pod.terminating
        ]
        if namespace not in done and others:
            done.add(namespace)
            await requests.delete(executor._client, max(others, key=lambda pod: (pod.priority, pod.key)))
        await evict(executor, action)

    patch.attribute(Executor, "_evict", evict_and_delete)


def evicts_in_vain(patch: Patch, _: str) -> None:
    """An unschedulable pod evicts the lowest-priority pod of its namespace, and is not scheduled after that."""
    given_up = set[tuple[str, str]]()

    def plan_and_evict(cluster: ClusterState, policy: Policy) -> list[Action]:
        actions = [one for one in plan(cluster, policy) if not (isinstance(one, Bind) and one.pod.key in given_up)]
        for report in [one for one in actions if isinstance(one, Report) and one.pod.key not in given_up]:
            mine = [pod for pod in cluster.bound() if pod.key[0] == report.pod.key[0] and not pod.terminating]
            if mine and not any(pod.key[0] == report.pod.key[0] for pod in cluster.binding.values()):
                victim = min(mine, key=lambda pod: (cluster.priority_of(pod), pod.key))
                given_up.update(one.pod.key for one in actions if isinstance(one, Report))
                actions.append(Evict(victim, "/".join(report.pod.key), report.pod, "injected fault"))
                break
        return actions

    patch.function(plan, plan_and_evict)


def _is_about(unit: Unit, name: str) -> bool:
    return any(pod.key[1] == name or pod.key[1].startswith(f"{name}-") for pod in unit.members) or any(
        group.key[1] == name for group in unit.groups
    )


GENERAL_FAULTS: dict[str, GeneralFault] = {
    one.__name__.replace("_", "-"): one
    for one in (stays_pending, is_bound_at_once, victims_are_not_marked, one_more_pod_is_deleted, evicts_in_vain)
}
