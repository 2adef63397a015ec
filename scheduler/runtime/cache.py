"""The watches, and how what they say reaches the cluster that plans are made of."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from scheduler.client import DELETED, Client, Reflector
from scheduler.core.cluster import Cluster
from scheduler.runtime.beliefs import Beliefs
from scheduler.runtime.customs import KOORDINATOR, VOLCANO, read_queue
from scheduler.runtime.groups import Groups
from scheduler.runtime.objects import ApiBudget, ApiNode, ApiPod, Custom, PriorityClass
from scheduler.runtime.reading import TERMINAL, read_budget, read_node, read_pod

GROUP_PATHS = {VOLCANO: "/apis/scheduling.volcano.sh/v1beta1", KOORDINATOR: "/apis/scheduling.sigs.k8s.io/v1alpha1"}
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"


class World:
    """Everything that is known. `changed` is called when something is not what it was."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.cluster = Cluster()
        self.beliefs = Beliefs(self.cluster, changed)
        self.groups = Groups(self.cluster, changed)
        self.found: dict[str, ApiPod] = {}  # by uid, as the watch showed them last
        self.queues: dict[str, Custom] = {}
        self.on_gone: Callable[[str], None] = lambda _uid: None
        self._changed = changed

    def reflectors(self, client: Client) -> list[Reflector[Any]]:
        follow = partial(Reflector, client)
        groups = [
            Reflector(client, f"{path}/podgroups", Custom, partial(self.groups.saw, kind))
            for kind, path in GROUP_PATHS.items()
        ]
        return [
            *groups,
            follow("/api/v1/nodes", ApiNode, self.saw_node),
            follow("/api/v1/pods", ApiPod, self.saw_pod),
            follow("/apis/scheduling.k8s.io/v1/priorityclasses", PriorityClass, self.groups.saw_class),
            follow("/apis/policy/v1/poddisruptionbudgets", ApiBudget, self.saw_budget),
            follow(QUEUES, Custom, self.saw_queue),
        ]

    def saw_pod(self, change: str, found: ApiPod) -> None:
        uid = found.metadata.uid
        if change == DELETED:
            self.found.pop(uid, None)
            self.groups.lost_member(uid)
            self.beliefs.lost(uid)
            self.on_gone(uid)
            return
        self.found[uid] = found
        self.groups.saw_member(found)
        if found.status.phase in TERMINAL:
            self.beliefs.lost(uid)
        else:
            self.beliefs.saw(read_pod(found), int(found.metadata.resource_version or 0))

    def saw_node(self, change: str, found: ApiNode) -> None:
        name = found.metadata.name
        if change == DELETED:
            self.cluster.remove_node(name)
            self._changed()
            return
        node = read_node(found)
        if self.cluster.nodes.get(name) != node:  # a node says every few seconds that it is alive
            self.cluster.set_node(node)
            self._changed()

    def saw_budget(self, change: str, found: ApiBudget) -> None:
        budget = None if change == DELETED else read_budget(found)
        if budget is None:
            self.cluster.remove_budget(found.metadata.key)
        else:
            self.cluster.set_budget(budget)
        self._changed()

    def saw_queue(self, change: str, found: Custom) -> None:
        name = found.metadata.name
        if change == DELETED:
            self.queues.pop(name, None)
            self.cluster.remove_queue(name)
        else:
            self.queues[name] = found
            queue = read_queue(found)
            if self.cluster.queues.get(name) == queue:
                return
            self.cluster.set_queue(queue)
        self._changed()


async def all_synced(reflectors: list[Reflector[Any]]) -> None:
    for reflector in reflectors:
        await reflector.synced.wait()
