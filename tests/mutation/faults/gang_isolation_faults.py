"""Gang faults across namespaces, and around refused bindings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from scheduler.core import scheduling_units
from scheduler.core.cluster_state import ClusterState
from scheduler.core.scheduling_types import Key, Pod
from scheduler.runtime.executor import Executor
from tests.mutation.faults.registry import Patch, fault


@fault('GNG-13: no pod of the gang "train" is bound')
def gangs_are_known_by_name_only(patch: Patch) -> None:
    """Pods of gangs of equal name count for each other, whatever their namespaces."""
    blocked = scheduling_units._blocked_reason

    def counted_by_name(linked: Sequence[Key], members: Sequence[Pod], cluster: ClusterState) -> tuple[str, bool]:
        _, name = linked[0]
        existing = [pod for pod in cluster.pods.values() if pod.group and pod.group[1] == name]
        enough = len(existing) >= cluster.groups[linked[0]].min_member
        return ("", False) if enough else blocked(linked, members, cluster)

    patch.function(blocked, counted_by_name)


@fault('TEN-01: no pod of the gang "train" is bound')
def pods_join_podgroups_of_other_namespaces(patch: Patch) -> None:
    """A pod that names a PodGroup that its namespace does not have joins one of that name elsewhere."""
    set_pod = ClusterState.set_pod

    def join(cluster: ClusterState, pod: Pod) -> None:
        if pod.group and pod.group not in cluster.groups:
            others = [key for key in cluster.groups if key[1] == pod.group[1]]
            pod = replace(pod, group=others[0]) if others else pod
        set_pod(cluster, pod)

    patch.attribute(ClusterState, "set_pod", join)


@fault('GNG-14: the gang "train" is completed or released, and does not stay partially bound')
def refused_members_are_never_tried_again(patch: Patch) -> None:
    """A pod whose binding was refused counts as bound for good, and the bound members of its gang stay bound."""

    def give_up(executor: Executor, pod: Pod) -> Callable[[Exception], None]:
        return lambda _error: None

    patch.attribute(Executor, "_binding_failed", give_up)
