"""PodGroup cache: the API objects, the phases of their members, and the status that is being written.

The PodGroups of both APIs share one namespace: of two with the same name the older one counts, and pods of either
belong to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace

from scheduler.client import DELETED
from scheduler.core.cluster_state import ClusterState
from scheduler.core.scheduling_types import Counts, Group, Key
from scheduler.runtime.api_types import ApiPod, CustomResource, PriorityClass
from scheduler.runtime.convert import group_of
from scheduler.runtime.podgroups_and_queues import convert_podgroup


@dataclass(slots=True, eq=False)
class PendingStatus:
    """A status write in flight. There may be several, one after the other: each is confirmed by its own response."""

    phase: str
    counts: Counts
    version: int | None = None  # resourceVersion returned by the write; None while in flight


class PodGroupCache:
    """Maintains the groups and counts of the cluster state; calls `changed` when one of them changes."""

    def __init__(self, cluster: ClusterState, changed: Callable[[], None]) -> None:
        self.priority_classes: dict[str, PriorityClass] = {}
        self._cluster = cluster
        self._changed = changed
        self._objects: dict[Key, dict[str, CustomResource]] = defaultdict(dict)  # by API
        self._pending_statuses: dict[Key, PendingStatus] = {}
        self._timed_out: set[Key] = set()
        self._phases: dict[Key, dict[str, str]] = defaultdict(dict)  # of the members, by uid
        self._bound: dict[Key, set[str]] = defaultdict(set)
        self._group_of_member: dict[str, Key] = {}

    def observe(self, kind: str, change: str, found: CustomResource) -> None:
        key = found.metadata.key
        if change == DELETED:
            self._objects[key].pop(kind, None)
        else:
            self._objects[key][kind] = found
        self._publish(key)

    def observe_priority_class(self, change: str, found: PriorityClass) -> None:
        if change == DELETED:
            self.priority_classes.pop(found.metadata.name, None)
        else:
            self.priority_classes[found.metadata.name] = found
        for key in list(self._objects):
            self._publish(key)

    def observe_member(self, found: ApiPod) -> None:
        uid, key = found.metadata.uid, group_of(found)
        if self._group_of_member.get(uid) != key:
            self.remove_member(uid)
        if key is None:
            return
        self._group_of_member[uid] = key
        self._cluster.add_scheduler(key, found.spec.scheduler_name)
        if found.spec.node_name:
            self._bound[key].add(uid)
        if self._phases[key].get(uid) != found.status.phase:
            self._phases[key][uid] = found.status.phase
            self._update_counts(key)

    def remove_member(self, uid: str) -> None:
        key = self._group_of_member.pop(uid, None)
        if key is not None:
            self._phases[key].pop(uid, None)
            self._bound[key].discard(uid)
            self._update_counts(key)
            if not self._phases[key]:
                del self._phases[key], self._bound[key]

    def scheduled(self, key: Key) -> int:
        """The number of members that are or were bound, ended ones included."""
        return len(self._bound.get(key, ()))

    def api_object(self, group: Group) -> CustomResource | None:
        return self._objects.get(group.key, {}).get(group.kind)

    def assume_status(self, group: Group, phase: str, counts: Counts) -> PendingStatus:
        self._pending_statuses[group.key] = pending = PendingStatus(phase, counts)
        self._publish(group.key)
        return pending

    def confirm_status(self, key: Key, pending: PendingStatus, version: int) -> None:
        pending.version = version
        self._publish(key)

    def forget_status(self, key: Key, pending: PendingStatus) -> None:
        if self._pending_statuses.get(key) is pending:
            del self._pending_statuses[key]
            self._publish(key)

    def forget_unwritten_status(self, key: Key) -> None:
        pending = self._pending_statuses.get(key)
        if pending is not None and pending.version is None:
            self.forget_status(key, pending)

    def is_superseded(self, key: Key, pending: PendingStatus) -> bool:
        """Whether a later status is waiting that has the same phase: it includes this one."""
        newest = self._pending_statuses.get(key)
        return newest is not None and newest is not pending and newest.phase == pending.phase

    def observed_phase(self, group: Group) -> str:
        """As the watch has shown it last."""
        found = self.api_object(group)
        return str(found.status.get("phase")) if found is not None and isinstance(found.status, dict) else ""

    def set_timed_out(self, key: Key, timed_out: bool) -> None:
        """Whether the gang has kept capacity reserved for too long."""
        if timed_out:
            self._timed_out.add(key)
        else:
            self._timed_out.discard(key)
        self._publish(key)

    def _publish(self, key: Key) -> None:
        kinds = self._objects.get(key)
        if not kinds:
            self._objects.pop(key, None)
            self._pending_statuses.pop(key, None)
            self._timed_out.discard(key)
            if key in self._cluster.groups:
                self._cluster.remove_group(key)
                self._changed()
            return
        kind, found = min(kinds.items(), key=lambda item: (item[1].metadata.creation_timestamp or "", item[0]))
        group = replace(convert_podgroup(found, kind, self.priority_classes), timed_out=key in self._timed_out)
        pending = self._pending_statuses.get(key)
        if pending and pending.version is not None and int(found.metadata.resource_version or 0) >= pending.version:
            del self._pending_statuses[key]
        elif pending:
            group = replace(group, phase=pending.phase, counts=pending.counts)
        if self._cluster.groups.get(key) != group:
            self._cluster.set_group(group)
            self._update_counts(key)  # members may be older than their PodGroup
            self._changed()

    def _update_counts(self, key: Key) -> None:
        phases = list(self._phases.get(key, {}).values())
        counts = Counts(phases.count("Running"), *(phases.count(phase) for phase in ("Succeeded", "Failed")))
        if self._cluster.counts.get(key, Counts()) != counts:
            self._cluster.set_counts(key, counts)
            self._changed()
