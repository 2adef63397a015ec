"""The scheduler cache: watches feed the cluster state that plans are made from."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from scheduler.client import DELETED, Client, Reflector
from scheduler.core.cluster_state import ClusterState
from scheduler.runtime.api_types import ApiBudget, ApiNode, ApiPod, CustomResource, PriorityClass
from scheduler.runtime.assumed_pods import AssumedPods
from scheduler.runtime.convert import TERMINAL, convert_budget, convert_node, convert_pod
from scheduler.runtime.podgroup_cache import PodGroupCache
from scheduler.runtime.podgroups_and_queues import KOORDINATOR, VOLCANO, convert_queue

GROUP_PATHS = {VOLCANO: "/apis/scheduling.volcano.sh/v1beta1", KOORDINATOR: "/apis/scheduling.sigs.k8s.io/v1alpha1"}
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"


class Cache:
    """All observed and assumed objects. Calls `changed` when something has changed."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.cluster = ClusterState()
        self.assumed_pods = AssumedPods(self.cluster, changed)
        self.podgroups = PodGroupCache(self.cluster, changed)
        self.api_pods: dict[str, ApiPod] = {}  # by uid, as last observed
        self.queues: dict[str, CustomResource] = {}
        self.on_pod_deleted: Callable[[str], None] = lambda _uid: None
        self._changed = changed

    def reflectors(self, client: Client) -> list[Reflector[Any]]:
        reflector = partial(Reflector, client)
        podgroups = [
            Reflector(client, f"{path}/podgroups", CustomResource, partial(self.podgroups.observe, kind))
            for kind, path in GROUP_PATHS.items()
        ]
        return [
            *podgroups,
            reflector("/api/v1/nodes", ApiNode, self.observe_node),
            reflector("/api/v1/pods", ApiPod, self.observe_pod),
            reflector(
                "/apis/scheduling.k8s.io/v1/priorityclasses", PriorityClass, self.podgroups.observe_priority_class
            ),
            reflector("/apis/policy/v1/poddisruptionbudgets", ApiBudget, self.observe_budget),
            reflector(QUEUES, CustomResource, self.observe_queue),
        ]

    def observe_pod(self, change: str, found: ApiPod) -> None:
        uid = found.metadata.uid
        if change == DELETED:
            self.api_pods.pop(uid, None)
            self.podgroups.remove_member(uid)
            self.assumed_pods.remove(uid)
            self.on_pod_deleted(uid)
            return
        self.api_pods[uid] = found
        self.podgroups.observe_member(found)
        if found.status.phase in TERMINAL:
            self.assumed_pods.remove(uid)
        else:
            self.assumed_pods.observe(convert_pod(found), int(found.metadata.resource_version or 0))

    def observe_node(self, change: str, found: ApiNode) -> None:
        name = found.metadata.name
        if change == DELETED:
            self.cluster.remove_node(name)
            self._changed()
            return
        node = convert_node(found)
        if self.cluster.nodes.get(name) != node:  # ignore heartbeats
            self.cluster.set_node(node)
            self._changed()

    def observe_budget(self, change: str, found: ApiBudget) -> None:
        budget = None if change == DELETED else convert_budget(found)
        if budget is None:
            self.cluster.remove_budget(found.metadata.key)
        else:
            self.cluster.set_budget(budget)
        self._changed()

    def observe_queue(self, change: str, found: CustomResource) -> None:
        name = found.metadata.name
        if change == DELETED:
            self.queues.pop(name, None)
            self.cluster.remove_queue(name)
        else:
            self.queues[name] = found
            queue = convert_queue(found)
            if self.cluster.queues.get(name) == queue:
                return
            self.cluster.set_queue(queue)
        self._changed()


async def all_synced(reflectors: list[Reflector[Any]]) -> None:
    for reflector in reflectors:
        await reflector.synced.wait()
