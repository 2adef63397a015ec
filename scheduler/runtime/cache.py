"""The scheduler cache: watches feed the cluster state that plans are made from."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace
from functools import partial
from typing import Any

from scheduler.client import DELETED, IS_SCOPED, MODIFIED, Client, Reflector
from scheduler.core.cluster_state import ClusterState
from scheduler.core.policy import SCHEDULER_NAMES
from scheduler.runtime.api_types import ApiBudget, ApiNode, ApiPod, CustomResource, Namespace, PriorityClass
from scheduler.runtime.assumed_pods import AssumedPods
from scheduler.runtime.convert import TERMINAL, convert_budget, convert_node, convert_pod
from scheduler.runtime.default_spread import (
    REPLICA_SET,
    STATEFUL_SET,
    ApiReplicaSet,
    ApiService,
    DefaultSelectors,
    with_default_spread,
)
from scheduler.runtime.pod_volumes import mounts, with_volumes
from scheduler.runtime.podgroup_cache import PodGroupCache
from scheduler.runtime.podgroups_and_queues import KOORDINATOR, VOLCANO, convert_queue
from scheduler.runtime.volume_cache import VolumeCache
from scheduler.runtime.volume_types import ApiClaim, ApiStorageClass, ApiVolume

GROUP_PATHS = {VOLCANO: "/apis/scheduling.volcano.sh/v1beta1", KOORDINATOR: "/apis/scheduling.sigs.k8s.io/v1alpha1"}
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"


class Cache:
    """All observed and assumed objects. Calls `changed` when something has changed."""

    def __init__(
        self, changed: Callable[[], None], *, schedulers: Set[str] = SCHEDULER_NAMES, strict_queues: bool = False
    ) -> None:
        self.cluster = ClusterState()
        self.assumed_pods = AssumedPods(self.cluster, changed, strict_queues=strict_queues)
        self.podgroups = PodGroupCache(self.cluster, changed)
        self.volumes = VolumeCache(changed)
        self.selectors = DefaultSelectors(changed, schedulers)
        self.api_pods: dict[str, ApiPod] = {}  # by uid, as last observed
        self.queues: dict[str, CustomResource] = {}
        self._assumed_closed: set[str] = set()
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
            reflector("/api/v1/namespaces", Namespace, self.observe_namespace),
            reflector(
                "/apis/scheduling.k8s.io/v1/priorityclasses", PriorityClass, self.podgroups.observe_priority_class
            ),
            reflector("/apis/policy/v1/poddisruptionbudgets", ApiBudget, self.observe_budget),
            reflector(QUEUES, CustomResource, self.observe_queue),
            reflector("/api/v1/persistentvolumeclaims", ApiClaim, self.volumes.observe_claim),
            reflector("/api/v1/persistentvolumes", ApiVolume, self.volumes.observe_volume),
            reflector("/apis/storage.k8s.io/v1/storageclasses", ApiStorageClass, self.volumes.observe_class),
            *self._selector_reflectors(partial(Reflector, client, optional=True)),
        ]

    def _selector_reflectors(self, reflector: Callable[..., Reflector[Any]]) -> list[Reflector[Any]]:
        """Of what only ranks nodes: a scheduler that may not list these kinds does without default spread.

        On an existing cluster they are not even asked for: a run has no permissions that it does not need.
        """
        if IS_SCOPED:
            return []
        selectors = self.selectors
        replica_set, stateful_set = (partial(selectors.observe_controller, one) for one in (REPLICA_SET, STATEFUL_SET))
        return [
            reflector("/api/v1/services", ApiService, selectors.observe_service),
            reflector("/api/v1/replicationcontrollers", ApiService, selectors.observe_replication_controller),
            reflector("/apis/apps/v1/replicasets", ApiReplicaSet, replica_set),
            reflector("/apis/apps/v1/statefulsets", ApiReplicaSet, stateful_set),
        ]

    def observe_pod(self, change: str, found: ApiPod) -> None:
        uid = found.metadata.uid
        if change == DELETED:
            self.api_pods.pop(uid, None)
            self.podgroups.remove_member(uid)
            self.assumed_pods.remove(uid)
            self.volumes.set_claims(uid, ())
            self.selectors.remove_pod(uid)
            self.on_pod_deleted(uid)
            return
        self.api_pods[uid] = found
        self.podgroups.observe_member(found)
        self.selectors.set_pod(found)
        if found.status.phase in TERMINAL:
            self.assumed_pods.remove(uid)
            self.volumes.set_claims(uid, ())
        else:
            self.volumes.set_claims(uid, (mount.key for mount in mounts(found)))
            self._publish_pod(found)

    def update_pods(self) -> None:
        """Convert the pods again whose claims, or what these can be bound to, or whose default spread have changed."""
        for uid in {*self.volumes.take_outdated(), *self.selectors.take_outdated()}:
            self._publish_pod(self.api_pods[uid])

    def _publish_pod(self, found: ApiPod) -> None:
        pod = with_volumes(with_default_spread(convert_pod(found), found, self.selectors), found, self.volumes)
        self.assumed_pods.observe(pod, int(found.metadata.resource_version or 0))

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

    def observe_namespace(self, change: str, found: Namespace) -> None:
        """Labels of namespaces matter to the namespace selectors of pod affinity terms."""
        name, labels = found.metadata.name, None if change == DELETED else found.metadata.labels or {}
        if self.cluster.counters.namespaces.get(name) != labels:
            self.cluster.set_namespace(name, labels)
            if self.cluster.counters.outdated:
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
            self._changed()
        elif not _is_older(found, self.queues.get(name)):
            self.queues[name] = found
            self._update_queue(name)

    def confirm_queue(self, written: CustomResource) -> None:
        """The response to a write: the watch may be late or broken."""
        known = self.queues.get(written.metadata.name)
        if known is not None and known.metadata.uid == written.metadata.uid:
            self.observe_queue(MODIFIED, written)

    def assume_queue_closed(self, name: str) -> None:
        """Before the write: no job starts between the status that says so and its arrival on the watch."""
        self._assumed_closed.add(name)
        self._update_queue(name)

    def forget_queue_closed(self, name: str) -> None:
        self._assumed_closed.discard(name)
        self._update_queue(name)

    def _update_queue(self, name: str) -> None:
        if name not in self.queues:
            return
        queue = convert_queue(self.queues[name])
        if name in self._assumed_closed:
            queue = replace(queue, is_open=False)
        if self.cluster.queues.get(name) != queue:
            self.cluster.set_queue(queue)
            self._changed()


def _is_older(found: CustomResource, known: CustomResource | None) -> bool:
    """True for a watch event that is behind the response to a write."""
    if known is None or found.metadata.uid != known.metadata.uid:
        return False
    return int(found.metadata.resource_version or 0) < int(known.metadata.resource_version or 0)
